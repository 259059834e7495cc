// A planner that is declared anew while others go on by the old declaration, as in a rolling
// deployment: they pass by the new one, and what is under way is waited for.
#include "conformance/planning_window.hpp"

#include <daybook/sweep.hpp>

#include <chrono>
#include <future>
#include <string>
#include <utility>
#include <vector>

namespace conformance {
namespace {

using daybook::check_decision;
using daybook::inbox_strategy;
using daybook::sweep_strategy;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class declared_anew : public planning_window {
 protected:
  /// Into the queue to come, by another process.
  planner anew(window_strategy const& window = {}) {
    return theirs_.make_planner("days", {.queue = "import", .strategy = days(window)});
  }
  /// Keys that are in a queue.
  static std::vector<std::string> keys(daybook::queue const& of) {
    std::vector<std::string> out;
    for (auto const& one : of.tasks()) out.push_back(one.key);
    return out;
  }
  void make_items() {
    database_.execute("create table item(id bigint not null primary key)" + innodb());
    database_.execute("insert into item values (1), (2), (3), (4), (5)");
  }

  daybook::queue import_{book_.make_queue("import", {.attempts = 1})};
  daybook::book theirs_{database_.open(watched())};
};

TEST_P(declared_anew, a_window_is_passed_as_it_is_declared_now) {
  auto old = make({}, {.retry_after = 0s});
  EXPECT_EQ(anew({.retry_after = 0s}).pass().launched, 3);
  EXPECT_EQ(old.preview().size(), 0U) << "as a pass would";
  EXPECT_EQ(old.pass().launched, 0) << "they wait in the new queue";
  EXPECT_THAT(keys(export_), IsEmpty());
  EXPECT_THAT(keys(import_), SizeIs(3));
  clock_.advance(24h);
  EXPECT_EQ(old.pass().launched, 1);
  EXPECT_THAT(keys(import_), SizeIs(4));
  EXPECT_EQ(old.options().queue, "export") << "as it was declared there";
}

TEST_P(declared_anew, a_sweep_is_passed_as_it_is_declared_now) {
  make_items();
  sweep_strategy const how{.table = "item", .page = 2};
  auto old = book_.make_planner("all", {.queue = "export", .strategy = how});
  auto now = theirs_.make_planner("all", {.queue = "import", .strategy = how});
  EXPECT_EQ(now.pass().launched, 3);
  EXPECT_EQ(old.pass().launched, 0);
  auto const sweep = now.sweeps().at(0);
  EXPECT_EQ(sweep.pages, 3);
  EXPECT_EQ(sweep.given_up, 0);
  EXPECT_NE(sweep.state, daybook::sweep_state::over);
  EXPECT_THAT(keys(export_), IsEmpty());
}

/// Else none of its rows were found, and all pages done without a look at one.
TEST_P(declared_anew, a_page_is_of_the_table_that_is_declared_now) {
  make_items();
  database_.execute("create table other(id bigint not null primary key)" + innodb());
  database_.execute("insert into other values (9)");
  auto old =
      book_.make_planner("all", {.queue = "export", .strategy = sweep_strategy{.table = "other"}});
  old.pass();
  EXPECT_THAT(old.page(key("all/1/1")).value().present(), SizeIs(1));
  work();
  old.pass();
  work();
  ASSERT_EQ(old.sweeps().at(0).state, daybook::sweep_state::over);
  auto const now =
      theirs_.make_planner("all", {.queue = "export", .strategy = sweep_strategy{.table = "item"}});
  EXPECT_TRUE(book_.planner("all", now.options()).has_value());
  EXPECT_TRUE(old.sweep_now(anna()));
  EXPECT_EQ(old.pass().launched, 1);
  EXPECT_THAT(old.page(key("all/2/1")).value().present(), SizeIs(5));
}

TEST_P(declared_anew, an_inbox_is_passed_as_it_is_declared_now) {
  auto events = book_.make_queue("events");
  auto others = book_.make_queue("others");
  auto old = book_.make_planner("in", {.queue = "export", .strategy = inbox_strategy{"events"}});
  events.add(key("a"));
  EXPECT_EQ(old.pass().launched, 1);
  theirs_.make_planner("in", {.queue = "import", .strategy = inbox_strategy{"others"}});
  events.add(key("b"));
  others.add(key("c"));
  EXPECT_EQ(old.pass().launched, 1);
  EXPECT_THAT(keys(export_), ElementsAre("a"));
  EXPECT_THAT(keys(import_), ElementsAre("c"));
}

/// Nothing had been launched when the declaration looked, and the pass goes on: without the wait
/// its days would be worked once in each queue.
TEST_P(declared_anew, what_changes_the_queue_waits_for_the_pass_under_way) {
  auto old = make({.page = 1}, {.retry_after = 0s});
  auto const not_the_first = [](transaction&, daybook::candidate& of) {
    return of.key.str() == "2026-03-27" ? check_decision::refuse("not now")
                                        : check_decision::launch();
  };
  std::future<std::string> declared;
  auto const declare = [&](pass_report const&) {
    if (declared.valid()) return;
    declared = std::async(std::launch::async, [&]() -> std::string {
      try {
        static_cast<void>(anew({.retry_after = 0s}));
      } catch (daybook::error const& e) {
        return e.what();
      }
      return "done";
    });
    // Long enough for one that does not wait.
    EXPECT_EQ(declared.wait_for(1s), std::future_status::timeout);
  };
  EXPECT_EQ(old.pass({.check = not_the_first, .on_progress = declare}).launched, 2);
  EXPECT_THAT(declared.get(), HasSubstr("the task of period 2026-03-28 is in queue 'export'"));
  EXPECT_EQ(old.info().options.queue, "export");
  EXPECT_EQ(old.pass().launched, 1) << "it was let go";
  EXPECT_THAT(work(), SizeIs(3));
  old.pass();
  EXPECT_EQ(anew({.retry_after = 0s}).pass().launched, 0);
  EXPECT_EQ(old.pass().launched, 0);
  EXPECT_THAT(keys(import_), IsEmpty());
}

TEST_P(declared_anew, what_does_not_change_the_queue_waits_for_nobody) {
  auto old = make({.page = 1});
  int declared = 0;
  old.pass({.on_progress = [&](pass_report const&) {
    theirs_.make_planner("days", {.queue = "export", .strategy = days(), .every = 2min});
    ++declared;
  }});
  EXPECT_EQ(declared, 3);
  EXPECT_EQ(old.info().options.every, 2min);
  EXPECT_EQ(old.info().passes, 1);
}

TEST_P(declared_anew, a_pass_that_takes_too_long_is_named) {
  if (!on_sqlite()) return;  // ten seconds, which are the same on all
  auto old = make();
  auto const held = taken(book_.start(process("plan days")));
  try {
    static_cast<void>(anew());
    FAIL() << "it must throw";
  } catch (daybook::error const& e) {
    EXPECT_EQ(e.kind(), error_code::configuration) << e.what();
    EXPECT_THAT(
        e.what(),
        AllOf(HasSubstr("plan 'days': a pass by process " + std::to_string(::getpid()) + " on "),
              HasSubstr("is under way since 20"), HasSubstr("declare it again when it is over")));
  }
  EXPECT_EQ(old.info().options.queue, "export");
}

TEST_P(declared_anew, who_is_taken_for_dead_while_it_declares_changes_nothing) {
  auto old = make();
  bool over = false;
  log_.on_retry = [&] {
    if (std::exchange(over, true)) return;
    EXPECT_TRUE(daybook::testing::expire(book_, process("plan days")));
    EXPECT_EQ(old.pass().launched, 3);
  };
  daybook::testing::arm("end.begun", failpoint_action::cut);
  EXPECT_THAT(message_of([&] { static_cast<void>(anew()); }), HasSubstr("nothing was changed"));
  EXPECT_TRUE(over);
  EXPECT_EQ(old.info().options.queue, "export");
  EXPECT_THAT(keys(export_), SizeIs(3));
}

TEST_P(declared_anew, whose_reply_is_lost_has_declared) {
  for (auto const* const place : {"end.begun", "end.before_commit", "end.committed"}) {
    SCOPED_TRACE(place);
    auto old = make();
    daybook::testing::arm(place, failpoint_action::cut);
    auto const now = anew();
    daybook::testing::disarm();
    EXPECT_EQ(now.options().queue, "import");
    EXPECT_EQ(book_.find(process("plan days"), key()).value().info.state, run_state::succeeded);
    EXPECT_TRUE(now.info().last_pass == std::nullopt) << "it is no pass";
  }
}

DAYBOOK_ON_EVERY_ENGINE(declared_anew);

}  // namespace
}  // namespace conformance
