#include "aggregation/keys.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>

#include <gtest/gtest.h>

namespace daybook {
inline namespace v1 {
namespace aggregations {
namespace {

constexpr std::int64_t now_us = 1'795'000'000'000'000;

TEST(keys_of_parents, numbers_of_one_call_never_meet_though_its_clock_stands_still) {
  numbers drawn;
  std::int64_t last = 0;
  for (int chunk = 0; chunk < 400; ++chunk) {
    auto const found = drawn.next(now_us - chunk, 10'000);
    ASSERT_EQ(found.size(), 10'000U);
    ASSERT_GT(found.front(), last);
    ASSERT_EQ(std::adjacent_find(found.begin(), found.end(), std::greater_equal<>()), found.end());
    last = found.back();
  }
  // As those that are made a second later are after all of them.
  EXPECT_GT(numbers().next(now_us + 1'000'000, 1).front(), last);
}

TEST(keys_of_parents, numbers_of_two_calls_begin_anywhere) {
  EXPECT_NE(numbers().next(now_us, 1), numbers().next(now_us, 1));
}

}  // namespace
}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
