// When people are told of a problem, look by look, without a database.
#include "service/signals/alerts.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace daybook {
namespace {

using namespace std::chrono_literals;
using work::compare;
using work::look_result;
using work::seen_problem;

problem paused(std::string subject, std::optional<timestamp> since = {}) {
  return {problem_kind::queue_paused,   urgency::look_today, std::move(subject), since, "is paused",
          "daybook queues resume stock"};
}

class looks : public testing::Test {
 protected:
  /// What this look tells: "stands queue a", in order.
  std::vector<std::string> look(std::vector<problem> now, std::chrono::microseconds after = 30s) {
    at_ += after;
    auto found = compare(std::move(seen_), std::move(now), at_, options_);
    seen_ = std::move(found.kept);
    ended_ = std::move(found.ended);
    last_ = found.alerts;
    std::vector<std::string> out;
    for (auto const& one : last_) {
      out.push_back((one.state == alert_state::ended ? "ended " : "stands ") + one.problem.subject);
      EXPECT_EQ(one.at, at_);
    }
    return out;
  }

  alert_options options_;
  timestamp at_{};
  std::vector<seen_problem> seen_;
  std::vector<std::string> ended_;
  std::vector<alert> last_;
};

using told = std::vector<std::string>;

TEST_F(looks, it_is_told_when_two_looks_have_found_it_and_not_again) {
  EXPECT_EQ(look({paused("queue a")}), told{});
  EXPECT_EQ(look({paused("queue a")}), told{"stands queue a"});
  EXPECT_EQ(last_[0].since, timestamp{} + 30s) << "seen first";
  EXPECT_EQ(look({paused("queue a")}), told{});
  EXPECT_EQ(look({paused("queue a")}, 4h - 31s), told{});
  EXPECT_EQ(look({paused("queue a")}, 1s), told{"stands queue a"});
}

TEST_F(looks, it_has_ended_when_two_looks_have_not_found_it) {
  look({paused("queue a")});
  look({paused("queue a")});
  EXPECT_EQ(look({}), told{});
  EXPECT_EQ(look({paused("queue a")}), told{}) << "it was away for one look";
  EXPECT_EQ(look({}), told{});
  EXPECT_EQ(look({}), told{"ended queue a"});
  EXPECT_EQ(ended_.size(), 1U);
  EXPECT_TRUE(seen_.empty());
  EXPECT_EQ(look({paused("queue a")}), told{}) << "a new one";
  EXPECT_EQ(look({paused("queue a")}), told{"stands queue a"});
}

TEST_F(looks, one_look_is_not_enough_for_either) {
  look({paused("queue a")});
  EXPECT_EQ(look({}), told{});
  EXPECT_TRUE(seen_.empty());
  EXPECT_EQ(look({paused("queue a")}), told{}) << "the looks are one after the other";
}

TEST_F(looks, each_has_its_own_count_and_print) {
  look({paused("queue a")});
  EXPECT_EQ(look({paused("queue a"), paused("queue b", timestamp{} + 1s)}), told{"stands queue a"});
  auto const print = last_[0].print;
  EXPECT_EQ(look({paused("queue a"), paused("queue b")}), told{"stands queue b"});
  EXPECT_NE(last_[0].print, print);
  EXPECT_EQ(last_[0].since, timestamp{} + 1s) << "what the book said first";
}

}  // namespace
}  // namespace daybook
