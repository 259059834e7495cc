// Each day once, whatever dies: planners killed between any two transactions of a pass, replies
// that are lost, several at once, and days that fail at random. What was done is written down by
// the workers, and compared with what the plan believes.
#include "conformance/planning_window.hpp"
#include "conformance/waiting.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace conformance {
namespace {

using testing::SizeIs;

class window_proof : public planning_window {
 protected:
  /// A pass by a process that dies where the failpoint says. False: it came to its end.
  bool pass_that_dies(std::string const& failpoint, int skip) {
    std::vector<std::string> words{DAYBOOK_CONTENDER, database_.url(), "pass", "days"};
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    auto armed = "DAYBOOK_FAILPOINT=" + failpoint + "=kill:" + std::to_string(skip);
    std::vector<char*> environment{armed.data()};
    for (char** one = environ; *one != nullptr; ++one) environment.push_back(*one);
    environment.push_back(nullptr);
    pid_t pid = 0;
    EXPECT_EQ(
        ::posix_spawn(&pid, arguments[0], nullptr, nullptr, arguments.data(), environment.data()),
        0);
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return true;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << failpoint << ": " << status;
    return false;
  }

  /// A worker that fails at random, and writes down what it did.
  void work_badly(int percent) {
    std::uniform_int_distribution<int> chance(1, 100);
    work([&](std::string const& day) {
      auto& of = ledger_[day];
      ++of.attempts;
      if (of.done == 0 && chance(random_) <= percent) return fails(day);
      ++of.done;
      return succeeds(day);
    });
  }

  /// Each day of the grid was done once, and launched as often as it was tried.
  void expect_exact(planner const& plan, std::size_t days) const {
    auto const grid = plan.grid({.limit = 10'000});
    EXPECT_THAT(grid, SizeIs(days));
    EXPECT_THAT(ledger_, SizeIs(days));
    for (auto const& day : grid) {
      EXPECT_EQ(day.state, period_state::done) << day.key;
      auto const found = ledger_.find(day.key);
      ASSERT_NE(found, ledger_.end()) << day.key;
      EXPECT_EQ(found->second.done, 1) << day.key;
      EXPECT_EQ(day.launches, found->second.attempts) << day.key;
      EXPECT_EQ(plan.find(key(day.key)).value().launches, day.launches) << day.key;
    }
    EXPECT_EQ(plan.watermark(), grid.back().to);
    EXPECT_EQ(export_.counts().members, static_cast<std::int64_t>(days));
    for (std::size_t i = 1; i < grid.size(); ++i) EXPECT_EQ(grid[i - 1].to, grid[i].from);
  }

  struct tried {
    int attempts = 0;
    int done = 0;
  };
  std::map<std::string, tried> ledger_;
  std::minstd_rand random_{20260330};
};

TEST_P(window_proof, a_planner_that_is_killed_anywhere_loses_no_day_and_doubles_none) {
  auto plan = make({.every = 100ms, .page = 3}, {.retry_after = 0s});
  int deaths = 0;
  for (auto const* place :
       {"start.begun", "start.before_commit", "start.committed", "block.before_commit",
        "block.committed", "step.begun", "step.effect_done", "step.before_commit", "step.committed",
        "end.begun", "end.before_commit", "end.committed"}) {
    bool const step = std::string(place).starts_with("step.");
    // Each step of a pass: makes rows, sees what was done, sees what failed, launches.
    for (int skip = 0; skip < (step ? 6 : 1); ++skip) {
      clock_.advance(48h);
      if (pass_that_dies(place, skip)) {
        ++deaths;
        daybook::testing::expire(book_, process("plan days"));
      }
      work_badly(40);
    }
  }
  EXPECT_GE(deaths, 25) << "else it shows little";
  auto const days = plan.grid({.limit = 10'000}).size();
  for (int i = 0; i < 50 && plan.watermark() != plan.grid({.newest_first = true}).front().to; ++i) {
    EXPECT_TRUE(plan.pass().ran);
    work_badly(20);
    clock_.advance(1s);
  }
  expect_exact(plan, days);
}

TEST_P(window_proof, a_reply_that_is_lost_launches_nothing_twice) {
  auto plan = make({.page = 3}, {.retry_after = 0s});
  for (auto const* place : {"start.committed", "step.begun", "step.before_commit", "step.committed",
                            "end.before_commit", "end.committed"}) {
    for (unsigned skip = 0; skip < (std::string(place).starts_with("step.") ? 4U : 1U); ++skip) {
      clock_.advance(48h);
      daybook::testing::arm(place, failpoint_action::cut, skip);
      plan.pass();
      daybook::testing::disarm();
      work_badly(30);
    }
  }
  for (int i = 0; i < 50 && plan.watermark() != plan.grid({.newest_first = true}).front().to; ++i) {
    plan.pass();
    work_badly(10);
  }
  expect_exact(plan, plan.grid({.limit = 10'000}).size());
}

TEST_P(window_proof, passes_of_two_nodes_at_once_are_one_after_the_other) {
  auto plan =
      make({.page = 5}, {.since = utc(2026, 2, 28) + 23h, .max_periods = 10, .retry_after = 0s});
  std::array<daybook::book, 2> books{database_.open(support::fresh_database::manual()),
                                     database_.open(support::fresh_database::manual())};
  std::atomic<bool> over = false;
  std::atomic<int> passes = 0;
  std::vector<std::thread> nodes;
  for (auto& one : books) {
    nodes.emplace_back([&] {
      auto mine = one.planner("days").value();
      while (!over) {
        if (mine.pass().ran) ++passes;
      }
    });
  }
  auto const until = std::chrono::steady_clock::now() + for_ever;
  while (plan.watermark() < utc(2026, 3, 29) + 22h && std::chrono::steady_clock::now() < until) {
    work_badly(40);
    std::this_thread::sleep_for(5ms);
  }
  over = true;
  for (auto& one : nodes) one.join();
  EXPECT_GE(passes, 4);
  expect_exact(plan, 29);
}

DAYBOOK_ON_EVERY_ENGINE(window_proof);

}  // namespace
}  // namespace conformance
