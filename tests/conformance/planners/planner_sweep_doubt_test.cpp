// Sweeps while writers commit late or never, planners are cut off, and two of them sweep at a time.
#include "conformance/sweeping.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <iostream>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace conformance {
namespace {

class swept_in_doubt : public swept {
 protected:
  static bool is_over(planner const& of) {
    auto const last = of.sweeps(1);
    return !last.empty() && last[0].state == sweep_state::over;
  }
  /// A pass; false: it was cut short.
  static bool passes(planner& of, daybook::pass_options const& how = {}) {
    try {
      of.pass(how);
      return true;
    } catch (daybook::error const&) {
      return false;
    }
  }
};

TEST_P(swept_in_doubt, a_pass_that_is_cut_short_anywhere_is_gone_on_with) {
  rows(25, 10, 10);
  auto plan = make(10);
  struct place {
    char const* name;
    failpoint_action what;
  };
  int sweeps = 0;
  int cuts = 0;
  for (auto const& at : {place{"step.begun", failpoint_action::fail},
                         place{"step.effect_done", failpoint_action::fail},
                         place{"step.before_commit", failpoint_action::cut},
                         place{"step.committed", failpoint_action::cut},
                         place{"step.committed", failpoint_action::fail}}) {
    for (unsigned skip = 0; skip < 6; ++skip) {
      SCOPED_TRACE(std::string(at.name) + " " + std::to_string(skip));
      ++sweeps;
      if (sweeps > 1) plan.sweep_now(anna);
      daybook::testing::arm(at.name, at.what, skip);
      for (int round = 0; round < 20; ++round) {
        if (!passes(plan)) ++cuts;
        if (round == 0) rows(3, 1000 * sweeps + 1);
        daybook::testing::disarm();
        work(plan);
        if (is_over(plan)) break;
        // What was skipped by the first pass may be met by the second.
        if (round == 0) daybook::testing::arm(at.name, at.what, skip > 1 ? skip - 2 : 0);
      }
      auto const now = plan.sweeps(1).at(0);
      EXPECT_EQ(now.number, sweeps);
      EXPECT_EQ(now.state, sweep_state::over);
      EXPECT_EQ(now.done, now.pages);
      EXPECT_EQ(now.rows, 25 + 3 * sweeps);
      EXPECT_EQ(ended_.size(), static_cast<std::size_t>(sweeps)) << "one last task for each";
      EXPECT_EQ(
          database_.query("select count(*) from item where done <> case when id < 1000 then " +
                          std::to_string(sweeps) + " else " + std::to_string(sweeps) +
                          " + 1 - floor(id / 1000) end"),
          "0");
    }
  }
  EXPECT_GE(cuts, 10) << "the failpoints were met";
}

TEST_P(swept_in_doubt, a_dead_pass_launches_nothing_more) {
  rows(120);
  auto plan = make({.table = "item", .page = 10});
  auto other = database_.open(support::fresh_database::manual());
  auto theirs = other.planner("all", plan.options()).value();
  plan.pass();
  work(plan);
  for (int from = 1000; from < 1012; ++from) rows(1, from);
  rows(1, -5);
  rows(1, -6);
  pass_report taken;
  bool thrown = false;
  try {
    plan.pass({.on_progress = [&](pass_report const&) {
      if (taken.ran) return;
      ASSERT_TRUE(daybook::testing::expire(book_, process("plan all")));
      taken = theirs.pass();
    }});
  } catch (daybook::error const& e) {
    thrown = true;
    EXPECT_NE(std::string(e.what()).find("taken over by another"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(thrown);
  EXPECT_TRUE(taken.ran);
  finish(theirs);
  expect_all_once();
  EXPECT_EQ(plan.sweeps().at(0).rows, 134);
}

/// Ids are drawn in one order and committed in another, or never.
class writers {
 public:
  writers(std::string url, bool one_writer, int count, int each)
      : url_(std::move(url)), one_writer_(one_writer), running_(count) {
    for (int i = 0; i < count; ++i) {
      all_.emplace_back([this, i, each] {
        write(static_cast<unsigned>(i), each);
        --running_;
      });
    }
  }
  [[nodiscard]] bool running() const { return running_ > 0; }
  void join() {
    for (auto& one : all_) one.join();
  }

 private:
  void write(unsigned seed, int each) {
    std::mt19937 random(seed);
    support::raw_connection on(url_);
    for (int i = 0; i < each; ++i) {
      auto const id = std::to_string(++drawn_ * 3);
      auto const late = std::chrono::milliseconds(random() % 40);
      bool const keep = random() % 4 != 0;
      auto const insert = "insert into item values (" + id + ", 0)";
      if (one_writer_) {
        // A transaction that is open keeps all others out: there it is the id alone that waits.
        std::this_thread::sleep_for(late);
        if (keep) on.execute(insert);
        continue;
      }
      on.execute("begin");
      on.execute(insert);
      std::this_thread::sleep_for(late);
      on.execute(keep ? "commit" : "rollback");
    }
  }

  std::string url_;
  bool one_writer_;
  std::atomic<int> running_;
  std::atomic<int> drawn_ = 0;
  std::vector<std::thread> all_;
};

TEST_P(swept_in_doubt, every_row_that_is_committed_is_in_one_page) {
  rows(20, -100);
  auto plan = make(7);
  auto other_book = database_.open(support::fresh_database::manual());
  auto other = other_book.planner("all", plan.options()).value();
  writers all(direct_url(), on_sqlite(), 6, 40);
  std::mt19937 random(7);
  std::int64_t cursor = -1'000'000;
  std::int64_t naive = 0;
  // What is owed is what was there when the last comparison began: so the end waits for the one
  // after that which ends when nobody writes any more.
  bool quiet = false;
  int asked = 0;
  auto const not_yet = [&](transaction&, daybook::candidate& of) {
    if (of.key.str() != "all/1/done") return check_decision::launch();
    if (quiet) ++asked;
    return asked > 1 ? check_decision::launch() : check_decision::refuse("not yet");
  };
  int cuts = 0;
  bool over = false;
  for (int round = 0, rest = 30; rest > 0 && !over; ++round) {
    bool const last = quiet = !all.running();
    if (last) --rest;
    auto const above = " from item where id > " + std::to_string(cursor);
    if (auto const seen = database_.query("select max(id)" + above); !seen.empty()) {
      naive += std::stoll(database_.query("select count(*)" + above + " and id <= " + seen));
      cursor = std::stoll(seen);
    }
    static constexpr std::array places{"step.begun", "step.effect_done", "step.before_commit",
                                       "step.committed"};
    if (!last) {
      daybook::testing::arm(places.at(random() % 4),
                            random() % 2 == 0 ? failpoint_action::fail : failpoint_action::cut,
                            random() % 4);
    }
    if (!passes(round % 2 == 0 ? plan : other, {.check = not_yet})) ++cuts;
    daybook::testing::disarm();
    work(plan);
    over = is_over(plan);
  }
  all.join();
  EXPECT_TRUE(over);
  expect_all_once();
  auto const count = database_.query("select count(*) from item");
  auto const shown = plan.sweeps().at(0);
  EXPECT_EQ(std::to_string(shown.rows), count);
  EXPECT_EQ(ended_.size(), 1U);
  std::cout << "  " << GetParam().name << ": " << count << " rows, " << shown.late
            << " found by comparisons, missed 0; a cursor would have missed "
            << std::stoll(count) - naive << "; " << cuts << " passes cut short\n";
}

DAYBOOK_ON_EVERY_ENGINE(swept_in_doubt);

}  // namespace
}  // namespace conformance
