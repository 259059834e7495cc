// The keys of a page as bytes, and back.
#include "planner/sources/keys_coded.hpp"

#include <daybook/error.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace daybook {
namespace {

using planners::coded;
using planners::decoded;

std::vector<row_key> numbers(std::vector<std::int64_t> const& ids) {
  std::vector<row_key> out;
  for (auto const one : ids) out.push_back({std::to_string(one)});
  return out;
}

void expect_same(std::vector<row_key> const& keys) { EXPECT_EQ(decoded(coded(keys)), keys); }

TEST(keys_coded, comes_back_as_it_was) {
  auto const least = std::numeric_limits<std::int64_t>::min();
  auto const most = std::numeric_limits<std::int64_t>::max();
  expect_same({});
  expect_same(numbers({0}));
  expect_same(numbers({least, most, least, -1, 0, 1, most, most}));
  expect_same({{""}, {""}, {"a"}, {""}});
  expect_same({{"007"}, {"7"}, {"+7"}, {"-0"}, {"18446744073709551615"}});
  expect_same({{"7", "abc", "2026-11-22"}, {"8", "abd", "2026-11-23"}, {"8", "ab", "x"}});
  expect_same({{std::string("\0\x1f\xff", 3)}, {std::string(100'000, 'x')}, {"x"}});
}

TEST(keys_coded, neighbours_take_a_byte) {
  std::vector<std::int64_t> near;
  std::vector<row_key> names;
  for (std::int64_t i = 0; i < 1000; ++i) {
    near.push_back(9'000'000'000'000'000'000 + i * 7);
    names.push_back({"customer/2026/" + std::to_string(100'000 + i)});
  }
  EXPECT_LT(coded(numbers(near)).size(), 1020U);
  EXPECT_LT(coded(names).size(), 3500U);
}

TEST(keys_coded, other_bytes_are_refused_and_never_read_past) {
  std::mt19937_64 random(8);
  auto const good = coded({{"1", "ab"}, {"5", "abc"}, {"-3", "b"}});
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THROW(static_cast<void>(decoded(good.substr(0, size))), error) << size;
  }
  EXPECT_THROW(static_cast<void>(decoded(good + "x")), error);
  for (int i = 0; i < 20'000; ++i) {
    auto bytes = good;
    for (int changes = 0; changes < 3; ++changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    try {
      static_cast<void>(decoded(bytes));
    } catch (error const& e) {
      EXPECT_EQ(e.kind(), error_code::internal);
    }
  }
}

}  // namespace
}  // namespace daybook
