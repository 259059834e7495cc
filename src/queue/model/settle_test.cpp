#include "queue/model/settle.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace daybook {
namespace {

using queues::backoff_us;
using queues::policy;

constexpr std::int64_t second = 1'000'000;

policy after_30_seconds() {
  policy out;
  out.backoff_us = 30 * second;
  out.longest_backoff_us = 3600 * second;
  return out;
}

TEST(backoff, doubles_up_to_the_longest) {
  auto const by = after_30_seconds();
  for (auto const& [failed, wait] : {std::pair{1, 30}, {2, 60}, {3, 120}, {8, 3600}, {900, 3600}}) {
    auto const chosen = backoff_us(by, 17, 5, failed);
    EXPECT_THAT(chosen, ::testing::AllOf(::testing::Ge(wait * second),
                                         ::testing::Lt(wait * second * 11 / 10)))
        << failed;
  }
}

/// Ten thousand neighbours that fail at one instant, as in an outage, do not come back at one.
TEST(backoff, spreads_those_that_failed_together) {
  constexpr int tasks = 10'000;
  std::array<int, 20> slices{};
  auto const by = after_30_seconds();
  for (std::int64_t id = 1; id <= tasks; ++id) {
    auto const beyond = backoff_us(by, id, 5, 1) - by.backoff_us;
    ++slices.at(
        static_cast<std::size_t>(beyond * static_cast<int>(slices.size()) / (by.backoff_us / 10)));
  }
  auto const mean = tasks / static_cast<int>(slices.size());
  EXPECT_LT(*std::max_element(slices.begin(), slices.end()), mean * 5 / 4);
  EXPECT_GT(*std::min_element(slices.begin(), slices.end()), mean * 3 / 4);
}

/// The same for everybody who works out what becomes of it.
TEST(backoff, is_the_task_s_and_its_turn_s_own) {
  auto const by = after_30_seconds();
  EXPECT_EQ(backoff_us(by, 17, 5, 1), backoff_us(by, 17, 5, 1));
  EXPECT_NE(backoff_us(by, 17, 5, 1), backoff_us(by, 17, 6, 1));
}

}  // namespace
}  // namespace daybook
