#include "core/run/token.hpp"

#include "base/uuid.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace daybook {
namespace {

core::run_identity identity(std::string name, std::string piece) {
  return {process(std::move(name)), key(std::move(piece)), 3, 7};
}

TEST(token, comes_back) {
  for (std::string const name : {"a", "with space", "a.b", "\xc3\xa4\xf0\x9d\x84\x9e", "=;$(x)"}) {
    for (auto const& piece : {std::string("-"), std::string(255, '.'), std::string("\"'\\%")}) {
      core::acquisition const held{42, base::new_uuid()};
      auto const text = core::write_token(identity(name, piece), held);
      // Fit for an environment variable and a shell.
      EXPECT_EQ(text.find_first_not_of("0123456789abcdef.-"), std::string::npos) << text;
      auto const back = core::read_token(text);
      ASSERT_TRUE(back) << text;
      EXPECT_EQ(back->identity.process.str(), name);
      EXPECT_EQ(back->identity.key.str(), piece);
      EXPECT_EQ(back->identity.number, 3);
      EXPECT_EQ(back->identity.attempt, 7);
      EXPECT_EQ(back->held.epoch, 42);
      EXPECT_EQ(back->held.uuid, held.uuid);
    }
  }
}

TEST(token, garbage_is_none) {
  auto const uuid = base::new_uuid();
  auto const good = "1.61.62.1.1.1." + uuid;
  ASSERT_TRUE(core::read_token(good));
  for (auto const& bad : {std::string(),
                          std::string("."),
                          std::string("......"),
                          "2.61.62.1.1.1." + uuid,  // another version
                          "1.6.62.1.1.1." + uuid,   // half a byte
                          "1.6g.62.1.1.1." + uuid,
                          "1.6A.62.1.1.1." + uuid,  // upper case was never written
                          "1..62.1.1.1." + uuid,    // an empty name
                          "1.0a.62.1.1.1." + uuid,  // a control character
                          "1.ff.62.1.1.1." + uuid,  // not UTF-8
                          "1.61.62.x.1.1." + uuid,
                          "1.61.62..1.1." + uuid,
                          "1.61.62.1.1.99999999999999999999." + uuid,
                          "1.61.62.1.1.1." + uuid + "x",
                          "1.61.62.1.1.1." + uuid + ".",
                          "1.61.62.1.1.1." + uuid.substr(1),
                          " " + good,
                          good + " ",
                          good + "\n",
                          "1." + std::string(512, '6') + ".62.1.1.1." + uuid}) {
    EXPECT_FALSE(core::read_token(bad)) << bad;
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(core::read_token(std::string_view(good).substr(0, size)));
  }
}

}  // namespace
}  // namespace daybook
