#include "base/numbers.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace daybook {
namespace {

TEST(numbers, are_the_whole_text_or_none) {
  std::vector<std::pair<std::string, std::optional<std::int64_t>>> const table{
      {"0", 0},
      {"-17", -17},
      {"007", 7},
      {"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
      {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
      {"9223372036854775808", std::nullopt},
      {"", std::nullopt},
      {"-", std::nullopt},
      {"+1", std::nullopt},
      {" 1", std::nullopt},
      {"1 ", std::nullopt},
      {"1x", std::nullopt},
      {"1.5", std::nullopt},
  };
  for (auto const& [text, number] : table) EXPECT_EQ(base::number_of(text), number) << text;
}

TEST(numbers, know_what_they_are_to_be) {
  EXPECT_EQ(base::number_of<std::uint16_t>("65535"), 65535);
  EXPECT_EQ(base::number_of<std::uint16_t>("65536"), std::nullopt);
  EXPECT_EQ(base::number_of<unsigned>("-1"), std::nullopt);
  EXPECT_EQ(base::number_of<double>("1.5"), 1.5);
}

}  // namespace
}  // namespace daybook
