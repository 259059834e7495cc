// Sweeps: every row of a table in one page, whatever is added or deleted meanwhile.
#include "conformance/sweeping.hpp"

#include <string>
#include <vector>

namespace conformance {
namespace {

TEST_P(swept, every_row_is_in_one_page) {
  rows(250, -1000, 7);
  rows(1, 2'000'000'000);
  auto plan = make();
  auto const first = plan.pass();
  EXPECT_EQ(first.launched, 3);
  EXPECT_TRUE(first.complete);
  auto const task = work_.find(key("all/1/1")).value();
  EXPECT_EQ(task.payload,
            R"({"plan":"all","sweep":1,"page":1,"rows":100,"from":["-1000"],"to":["-307"]})");
  auto const last = plan.page(key("all/1/3")).value();
  EXPECT_EQ(last.number(), 3);
  EXPECT_EQ(last.keys().size(), 51U);
  EXPECT_EQ(last.keys().back(), row_key{"2000000000"});
  EXPECT_EQ(last.present(), last.keys());
  for (auto const* none : {"all/1/4", "all/2/1", "all/1/done", "all/1", "other/1/1", "all/1/x"}) {
    EXPECT_FALSE(plan.page(key(none)).has_value()) << none;
  }
  EXPECT_EQ(plan.pass().seen, 0) << "its pages are not done";
  EXPECT_EQ(work(plan), 3);
  EXPECT_TRUE(plan.page(key("all/1/3")).value().done());
  EXPECT_EQ(plan.pass().launched, 1);
  EXPECT_EQ(work(plan), 1);
  EXPECT_EQ(ended_, std::vector<std::string>{"all/1/done"});
  expect_all_once();
  auto const shown = plan.sweeps();
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0].state, sweep_state::over);
  EXPECT_EQ(shown[0].pages, 3);
  EXPECT_EQ(shown[0].done, 3);
  EXPECT_EQ(shown[0].rows, 251);
  EXPECT_EQ(shown[0].late, 0);
  EXPECT_EQ(shown[0].comparisons, 1);
  EXPECT_TRUE(shown[0].ended.has_value());
  rows(5, 5000);
  EXPECT_EQ(plan.pass().seen, 0) << "once, and no more until somebody asks";
  expect_covered();
}

TEST_P(swept, what_comes_late_is_found_and_what_goes_is_counted) {
  rows(300, 10, 10);
  auto plan = make();
  EXPECT_EQ(plan.pass().launched, 3);
  database_.execute("delete from item where id in (20, 30, 1500, 3000)");
  rows(150, 2001, 2);  // in the range of the third page, and more than a page
  rows(1, 5);          // before the first
  rows(1, 3001);       // after the last
  EXPECT_EQ(work(plan), 3);
  EXPECT_EQ(plan.pass().launched, 4);
  auto shown = plan.sweeps().at(0);
  EXPECT_EQ(shown.state, sweep_state::working);
  EXPECT_EQ(shown.late, 150 + 2);
  EXPECT_EQ(shown.vanished, 4);
  EXPECT_EQ(work(plan), 4);
  rows(1, 4000);
  rows(1, 2999);
  EXPECT_EQ(finish(plan), 2);
  expect_all_once();
  shown = plan.sweeps().at(0);
  EXPECT_EQ(shown.comparisons, 3);
  EXPECT_EQ(shown.pages, 9);
  EXPECT_EQ(ended_.size(), 1U);
}

TEST_P(swept, a_page_in_whose_range_very_many_rows_came_still_knows_its_own) {
  rows(105, 1, 1'000'000);
  auto plan = make(105);
  EXPECT_EQ(plan.pass().launched, 1);
  // 11 025 rows, more than are read at once; the first ones of the page's own are gone.
  database_.execute(
      "insert into item(id, done) select a.id + b.id / 1000000 + 1, 0 from item a, item b");
  database_.execute("delete from item where id = 1 or id = 1000001");
  auto const page = plan.page(key("all/1/1")).value();
  EXPECT_EQ(page.keys().size(), 105U);
  auto const there = page.present();
  ASSERT_EQ(there.size(), 103U);
  EXPECT_EQ(there.front(), row_key{"2000001"});
  EXPECT_EQ(there.back(), row_key{"104000001"});
}

TEST_P(swept, a_page_is_as_it_was_cut_and_is_done_singly) {
  rows(30);
  auto plan = make(10);
  plan.pass();
  auto const before = plan.page(key("all/1/2")).value().keys();
  database_.execute("delete from item where id = 15");
  database_.execute("update item set id = -id where id between 21 and 22");
  EXPECT_EQ(plan.page(key("all/1/2")).value().keys(), before);
  EXPECT_EQ(plan.page(key("all/1/2")).value().present().size(), 9U);
  auto batch = work_.claim().value();
  for (auto const& one : batch.tasks()) {
    auto const page = plan.page(key(one.key)).value();
    if (page.number() != 2) {
      batch.finish(one, daybook::result::failure("no"));
      continue;
    }
    EXPECT_EQ(page.perform(batch, one, [](transaction&, auto const&) {}), outcome::done);
    EXPECT_EQ(page.keys(), before);
  }
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(plan.pass().seen, 0);
  EXPECT_EQ(plan.sweeps().at(0).done, 1);
  EXPECT_EQ(plan.sweeps().at(0).failed, 2);
  EXPECT_EQ(plan.sweeps().at(0).vanished, 1);
  EXPECT_TRUE(work_.retry(key("all/1/1")));
  EXPECT_TRUE(work_.retry(key("all/1/3")));
  EXPECT_EQ(work(plan), 2);
  EXPECT_EQ(database_.query("select count(*) from item where done = 1"), "18");
  EXPECT_EQ(plan.sweeps().at(0).vanished, 3);
}

TEST_P(swept, a_handler_that_throws_leaves_its_page_undone) {
  rows(5);
  auto plan = make(10);
  plan.pass();
  auto batch = work_.claim().value();
  auto const& task = batch.tasks()[0];
  auto const page = plan.page(key(task.key)).value();
  EXPECT_THROW(page.perform(batch, task,
                            [](transaction& tx, auto const&) {
                              tx.exec("update item set done = 7");
                              throw std::runtime_error("no");
                            }),
               std::runtime_error);
  EXPECT_FALSE(plan.page(key(task.key)).value().done());
  EXPECT_EQ(page.perform(batch, task, [](transaction&, auto const&) {}), outcome::done);
  EXPECT_TRUE(plan.page(key(task.key)).value().done());
  EXPECT_EQ(database_.query("select count(*) from item where done = 7"), "0");
}

TEST_P(swept, tasks_that_end_without_a_word_of_their_page_count) {
  rows(40);
  auto plan = make(10);
  plan.pass();
  EXPECT_TRUE(work_.remove(key("all/1/2")));
  EXPECT_TRUE(work_.discard(key("all/1/3")));
  EXPECT_EQ(drain(work_), 2) << "as a child process would do them";
  auto const sum = plan.pass();
  EXPECT_EQ(sum.launched, 1);
  auto const shown = plan.sweeps().at(0);
  EXPECT_EQ(shown.state, sweep_state::over);
  EXPECT_EQ(shown.done, 2);
  EXPECT_EQ(shown.given_up, 2);
}

TEST_P(swept, what_the_queue_forgets_was_done_all_the_same) {
  work_ = book_.make_queue("pages", {.attempts = 1, .done_retention = 1h});
  rows(30);
  auto plan = make(10);
  plan.pass();
  EXPECT_TRUE(work_.add(key("all/2/1"))) << "what looks like it, and is none of it";
  EXPECT_EQ(drain(work_), 4);
  clock_.advance(2h);
  EXPECT_EQ(work_.upkeep().removed, 1) << "the plan has not seen yet that they are done";
  plan.pass();
  EXPECT_EQ(plan.sweeps().at(0).state, sweep_state::over);
  EXPECT_EQ(plan.sweeps().at(0).done, 3);
  EXPECT_EQ(plan.sweeps().at(0).given_up, 0);
  EXPECT_EQ(work_.upkeep().removed, 3);
}

TEST_P(swept, an_empty_table_has_its_end_too) {
  auto plan = make();
  EXPECT_EQ(plan.pass().launched, 1);
  EXPECT_EQ(work(plan), 1);
  EXPECT_EQ(plan.sweeps().at(0).pages, 0);
  EXPECT_EQ(ended_.size(), 1U);
}

TEST_P(swept, the_next_begins_when_asked_for_or_when_it_is_time) {
  rows(10);
  auto plan = make();
  finish(plan);
  EXPECT_TRUE(plan.sweep_now(anna));
  EXPECT_FALSE(plan.sweep_now(anna)) << "one is under way";
  EXPECT_EQ(plan.changes().size(), 1U);
  finish(plan);
  EXPECT_EQ(database_.query("select count(*) from item where done = 2"), "10");
  EXPECT_EQ(ended_, (std::vector<std::string>{"all/1/done", "all/2/done"}));
  auto again = make({.table = "item", .repeat_after = 1h});
  clock_.advance(59min);
  EXPECT_EQ(again.pass().seen, 0);
  clock_.advance(2min);
  EXPECT_EQ(again.pass().launched, 1);
  EXPECT_EQ(again.sweeps().size(), 2U + 1U);
  EXPECT_EQ(again.sweeps(1).at(0).number, 3);
}

/// More pages than are forgotten at once. Numbers go on: 1 is not 10.
TEST_P(swept, sweeps_are_forgotten_when_the_queues_history_is_but_for_the_last) {
  auto plan = make(1);
  rows(1200);
  finish(plan);
  auto const pages_of = [&](std::string const& sweep) {
    return database_.query("select count(*) from daybook_sweep_page where sweep = " + sweep) + " " +
           database_.query("select count(*) from daybook_planned where planned_key like 'all/" +
                           sweep + "/%'");
  };
  EXPECT_EQ(pages_of("1"), "1200 1201");
  database_.execute("delete from item where id > 3");
  auto const sweep_to = [&](int last) {
    while (plan.sweeps(1).at(0).number < last) {
      EXPECT_TRUE(plan.sweep_now(anna));
      finish(plan);
    }
  };
  sweep_to(9);
  clock_.advance(std::chrono::hours(24 * 30) - 1min);
  sweep_to(11);
  EXPECT_EQ(plan.sweeps(100).size(), 11U);
  clock_.advance(1min);
  static_cast<void>(plan.preview(10));  // which changes nothing
  EXPECT_EQ(plan.sweeps(100).size(), 11U);
  plan.pass();
  EXPECT_EQ(plan.sweeps(100).size(), 2U);
  EXPECT_EQ(pages_of("1"), "0 0");
  EXPECT_EQ(pages_of("9"), "0 0");
  EXPECT_EQ(pages_of("10"), "3 4");
  EXPECT_FALSE(plan.page(key("all/1/1")));
  clock_.advance(std::chrono::hours(24 * 300));
  plan.pass();
  EXPECT_EQ(plan.sweeps(100).size(), 1U);
  EXPECT_EQ(pages_of("10"), "0 0");
  EXPECT_EQ(pages_of("11"), "3 4");
  sweep_to(12);
}

TEST_P(swept, comparisons_may_be_bounded_where_rows_come_without_end) {
  rows(10);
  auto plan = make({.table = "item", .page = 10, .comparisons = 2});
  int passes = 0;
  for (; passes < 20; ++passes) {
    plan.pass();
    work(plan);
    if (plan.sweeps().at(0).state == sweep_state::over) break;
    rows(3, 1000 - 10 * passes);
  }
  EXPECT_EQ(passes, 3);
  EXPECT_EQ(plan.sweeps().at(0).comparisons, 2);
  EXPECT_EQ(database_.query("select count(*) from item where done = 0"), "3")
      << "those that came after the last comparison";
}

TEST_P(swept, refused_pages_are_offered_again) {
  rows(30);
  auto plan = make(10);
  auto const some = [](transaction&, daybook::candidate& of) {
    return of.key.str() == "all/1/2" || of.key.str() == "all/1/done"
               ? check_decision::refuse("not yet")
               : check_decision::launch();
  };
  EXPECT_EQ(plan.pass({.check = some}).launched, 2);
  EXPECT_EQ(work(plan), 2);
  EXPECT_EQ(plan.pass({.check = some}).refused, 1);
  EXPECT_EQ(plan.pass().launched, 1);
  EXPECT_EQ(work(plan), 1);
  EXPECT_EQ(plan.pass({.check = some}).refused, 1);
  EXPECT_EQ(plan.sweeps().at(0).state, sweep_state::working);
  EXPECT_EQ(plan.pass().launched, 1);
  EXPECT_EQ(work(plan), 1);
  expect_all_once();
}

TEST_P(swept, a_preview_changes_nothing) {
  rows(30);
  auto plan = make(10);
  EXPECT_EQ(plan.preview().size(), 3U);
  EXPECT_EQ(plan.preview(2).size(), 2U);
  EXPECT_TRUE(plan.sweeps().empty());
  EXPECT_EQ(rows_of("sweep_page"), "0");
  plan.pass();
  EXPECT_TRUE(plan.preview().empty());
  work(plan);
  rows(1, 100);
  auto const late = plan.preview();
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].key, "all/1/4");
  EXPECT_EQ(work_.counts().members, 3);
  finish(plan);
  expect_all_once();
}

TEST_P(swept, a_queue_that_is_paused_or_slow_stands_between_pages) {
  rows(60);
  work_ = book_.make_queue("pages", {.attempts = 1, .running_limit = 2});
  auto plan = make(10);
  plan.pass();
  {
    auto first = work_.claim().value();
    EXPECT_EQ(first.tasks().size(), 2U);
    EXPECT_FALSE(work_.claim().has_value()) << "two pages at once, and no more";
    EXPECT_TRUE(work_.pause(anna));
    for (auto const& one : first.tasks()) {
      EXPECT_EQ(plan.page(key(one.key))->perform(first, one, [](transaction&, auto const&) {}),
                outcome::done)
          << "what was begun ends";
    }
    EXPECT_EQ(std::move(first).complete(), outcome::done);
  }
  EXPECT_EQ(work(plan), 0);
  EXPECT_EQ(plan.sweeps().at(0).done, 2);
  EXPECT_TRUE(work_.resume(anna));
  work_ = book_.make_queue("pages", {.attempts = 1, .rate = daybook::rate{1, 10s}});
  int pages = 0;
  int waits = 0;
  while (pages < 4 && waits < 20) {
    if (work(plan) > 0) {
      ++pages;
    } else {
      ++waits;
      clock_.advance(5s);
    }
  }
  EXPECT_EQ(pages, 4);
  EXPECT_GE(waits, 6) << "one page in ten seconds";
}

DAYBOOK_ON_EVERY_ENGINE(swept);

}  // namespace
}  // namespace conformance
