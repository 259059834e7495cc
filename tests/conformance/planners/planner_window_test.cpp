// Planners of windows: which period is launched when, what becomes of one that fails, and what
// people see.
#include "conformance/planning_window.hpp"

#include "core/tx/transact.hpp"
#include "service/engine.hpp"

namespace conformance {
namespace {

using daybook::candidate;
using daybook::check_decision;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using windowed = planning_window;
using unit = window_strategy::unit;

TEST_P(windowed, days_are_launched_when_they_are_over) {
  auto plan = make();
  auto const sum = plan.pass();
  EXPECT_EQ(sum.launched, 3);
  EXPECT_TRUE(sum.complete);
  EXPECT_EQ(export_.find(key("2026-03-29")).value().payload,
            R"({"plan": "days", "from": "2026-03-28T23:00:00Z", "to": "2026-03-29T22:00:00Z"})");
  EXPECT_EQ(plan.pass().seen, 0);
  clock_.stop_at(utc(2026, 3, 30) + 22h - 1s);
  EXPECT_EQ(plan.pass().launched, 0);
  clock_.advance(1s);
  EXPECT_EQ(plan.pass().launched, 1);
  EXPECT_THAT(work(), ElementsAre("2026-03-27", "2026-03-28", "2026-03-29", "2026-03-30"));
  EXPECT_THAT(plan.refusals(), IsEmpty());
}

TEST_P(windowed, a_day_that_failed_is_due_again_and_holds_the_watermark) {
  auto plan = make();
  EXPECT_EQ(plan.watermark(), utc(2026, 3, 26) + 23h);
  plan.pass();
  EXPECT_EQ(plan.watermark(), utc(2026, 3, 26) + 23h) << "launched is not done";
  work([](std::string const& day) { return day == "2026-03-28" ? fails(day) : succeeds(day); });
  clock_.advance(30min);
  EXPECT_EQ(plan.pass().launched, 0) << "again_after is an hour";
  EXPECT_EQ(plan.watermark(), utc(2026, 3, 27) + 23h);
  EXPECT_THAT(lines(plan.grid()),
              ElementsAre("2026-03-27 done", "2026-03-28 failed", "2026-03-29 done"));
  EXPECT_EQ(plan.grid()[1].remark, "the partner is away");
  clock_.advance(30min);
  EXPECT_EQ(plan.pass().launched, 1);
  EXPECT_EQ(plan.grid()[1].launches, 2);
  EXPECT_EQ(lines(plan.grid())[1], "2026-03-28 waiting");
  clock_.advance(24h);
  EXPECT_EQ(plan.pass().launched, 1) << "the next day waits for nothing";
  EXPECT_THAT(work(), SizeIs(2));
  EXPECT_EQ(plan.watermark(), utc(2026, 3, 27) + 23h) << "as of the last pass";
  EXPECT_EQ(plan.pass().seen, 0);
  EXPECT_EQ(plan.watermark(), utc(2026, 3, 30) + 22h);
  EXPECT_THAT(plan.refusals(), IsEmpty());
}

TEST_P(windowed, once_is_never_again) {
  auto plan = make({.rule = launch_rule::once}, {.retry_after = 0s});
  EXPECT_EQ(plan.pass().launched, 3);
  work(fails);
  EXPECT_EQ(plan.pass().seen, 0);
  EXPECT_EQ(plan.watermark(), utc(2026, 3, 26) + 23h);
  EXPECT_TRUE(export_.retry(key("2026-03-27")));
  EXPECT_THAT(work(), SizeIs(1));
  plan.pass();
  EXPECT_EQ(plan.watermark(), utc(2026, 3, 27) + 23h) << "a person saw to it";
  EXPECT_EQ(make({}, {.retry_after = 0s}).pass().launched, 2) << "the rule is another now";
}

TEST_P(windowed, a_pass_launches_so_many_in_order) {
  auto plan = make({}, {.max_periods = 2});
  auto sum = plan.pass();
  EXPECT_EQ(sum.launched, 2);
  EXPECT_FALSE(sum.complete);
  EXPECT_THAT(work(), ElementsAre("2026-03-27", "2026-03-28"));
  EXPECT_TRUE(plan.pass().complete);
  EXPECT_THAT(work(), ElementsAre("2026-03-29"));
  auto newest = make({}, {.since = utc(2026, 3, 1), .newest_first = true, .max_periods = 2});
  EXPECT_FALSE(newest.pass().complete);
  EXPECT_THAT(work(), ElementsAre("2026-03-26", "2026-03-25"));
  EXPECT_EQ(make({}, {.max_periods = 2}).pass().launched, 0) << "this one begins where it began";
}

TEST_P(windowed, refused_days_are_walked_past) {
  auto plan = make({.page = 2}, {.since = utc(2026, 2, 28) + 23h, .max_periods = 4});
  auto const holidays = [](transaction&, candidate& of) {
    return of.key.str() < "2026-03-10" ? check_decision::refuse("no data yet")
                                       : check_decision::launch();
  };
  EXPECT_EQ(plan.pass({.check = holidays}).launched, 4);
  EXPECT_THAT(work(), ElementsAre("2026-03-10", "2026-03-11", "2026-03-12", "2026-03-13"));
  EXPECT_THAT(plan.refusals(), SizeIs(9));
  EXPECT_EQ(plan.pass().launched, 4);
  EXPECT_EQ(work().front(), "2026-03-01") << "what was refused is not forgotten";
}

TEST_P(windowed, late_data_reopens_a_day_once) {
  auto plan = make();
  key const day("2026-03-28");
  EXPECT_FALSE(plan.reopen(day, anna())) << "it is due anyway";
  plan.pass();
  work();
  EXPECT_FALSE(plan.reopen(key("2026-03-26"), anna())) << "it is none of its";
  EXPECT_TRUE(plan.reopen(day, anna()));
  EXPECT_FALSE(plan.reopen(day, anna()));
  EXPECT_EQ(plan.watermark(), utc(2026, 3, 26) + 23h);
  EXPECT_EQ(plan.pass().launched, 1);
  EXPECT_EQ(plan.watermark(), utc(2026, 3, 27) + 23h) << "it is not done any more";
  EXPECT_THAT(work(), ElementsAre("2026-03-28"));
  EXPECT_EQ(plan.pass().launched, 0);
  EXPECT_EQ(plan.watermark(), utc(2026, 3, 29) + 22h);
  EXPECT_EQ(plan.find(day).value().launches, 2);
  ASSERT_THAT(plan.changes(), SizeIs(1));
  EXPECT_EQ(plan.changes()[0].actor, "anna");
  EXPECT_EQ(plan.changes()[0].action, "reopen");
  EXPECT_THAT(plan.changes()[0].detail, HasSubstr("period 2026-03-28"));
  EXPECT_TRUE(plan.reopen(day, anna())) << "also of a day that a pass has seen done";
  EXPECT_EQ(make({.rule = launch_rule::once}).pass().launched, 1) << "no rule is asked";
}

TEST_P(windowed, what_is_reopened_under_way_is_launched_after_that) {
  auto plan = make();
  plan.pass();
  auto batch = export_.claim().value();
  EXPECT_THAT(lines(plan.grid({.limit = 1})), ElementsAre("2026-03-27 running"));
  EXPECT_TRUE(plan.reopen(key("2026-03-27"), anna()));
  EXPECT_EQ(plan.pass().launched, 0);
  for (auto const& one : batch.tasks()) batch.finish(one, daybook::result::success());
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(plan.pass().launched, 1);
  EXPECT_THAT(work(), ElementsAre("2026-03-27"));
}

TEST_P(windowed, what_others_do_to_a_task_is_followed) {
  export_.add(key("2026-03-27"), {.payload = "mine"});
  auto plan = make();
  auto const sum = plan.pass();
  EXPECT_EQ(sum.launched, 2);
  EXPECT_EQ(sum.present, 1);
  work([](std::string const& day) { return day == "2026-03-29" ? succeeds(day) : fails(day); });
  EXPECT_TRUE(export_.remove(key("2026-03-28")));
  EXPECT_THAT(lines(plan.grid()),
              ElementsAre("2026-03-27 failed", "2026-03-28 failed", "2026-03-29 done"));
  clock_.advance(1h);
  EXPECT_EQ(plan.pass().launched, 2);
  EXPECT_EQ(export_.find(key("2026-03-27")).value().payload, "mine");
  work(fails);
  clock_.advance(1h);
  EXPECT_EQ(plan.pass({.check =
                           [&](transaction&, candidate& of) {
                             return of.key.str() == "2026-03-27" ? check_decision::refuse("wait")
                                                                 : check_decision::launch();
                           }})
                .launched,
            1);
  EXPECT_TRUE(export_.retry(key("2026-03-27")));
  EXPECT_EQ(plan.pass().seen, 0) << "a person asked for it";
  EXPECT_THAT(work(), SizeIs(2));
  plan.pass();
  EXPECT_EQ(plan.watermark(), utc(2026, 3, 29) + 22h);
}

TEST_P(windowed, a_plan_that_begins_sooner_or_later) {
  make().pass();
  auto sooner = make({.page = 2}, {.since = utc(2026, 3, 20) + 23h});
  EXPECT_EQ(sooner.watermark(), utc(2026, 3, 20) + 23h);
  EXPECT_EQ(sooner.grid({.limit = 1})[0].state, period_state::missing);
  EXPECT_EQ(sooner.pass().launched, 6);
  EXPECT_EQ(rows_of("planned_period"), "9");
  work(fails);
  clock_.advance(1h);
  auto later = make({}, {.since = utc(2026, 3, 28) + 23h, .newest_first = true});
  EXPECT_EQ(later.pass().launched, 1);
  EXPECT_EQ(later.watermark(), utc(2026, 3, 28) + 23h);
  EXPECT_THAT(lines(later.grid()), ElementsAre("2026-03-29 waiting"));
  EXPECT_THAT(work(), ElementsAre("2026-03-29"));
  EXPECT_TRUE(later.pass().complete);
}

TEST_P(windowed, no_day_is_lost_when_a_plan_begins_later_and_sooner_again) {
  auto const first = utc(2026, 3, 20) + 23h;
  clock_.stop_at(utc(2026, 3, 24) + 10h);
  EXPECT_EQ(make({}, {.since = first}).pass().launched, 3);
  clock_.stop_at(utc(2026, 3, 30) + 10h);
  auto later = make({}, {.since = utc(2026, 3, 27) + 23h});
  EXPECT_EQ(later.watermark(), utc(2026, 3, 27) + 23h);
  EXPECT_THAT(later.preview(), SizeIs(2)) << "none of those that it does not have any more";
  EXPECT_EQ(later.pass().launched, 2);
  EXPECT_THAT(lines(later.grid()), ElementsAre("2026-03-28 waiting", "2026-03-29 waiting"));
  auto sooner = make({}, {.since = first});
  EXPECT_THAT(sooner.preview(), SizeIs(4));
  EXPECT_EQ(sooner.pass().launched, 4);
  EXPECT_EQ(rows_of("planned_period"), "9");
  EXPECT_THAT(work(), SizeIs(9));
  sooner.pass();
  EXPECT_EQ(sooner.watermark(), utc(2026, 3, 29) + 22h);
}

TEST_P(windowed, what_a_queue_forgets_stays_done) {
  book_.make_queue("export", {.attempts = 1, .done_retention = 12h});
  clock_.stop_at(utc(2026, 3, 28) + 10h);
  auto plan = make();
  EXPECT_EQ(plan.pass().launched, 1);
  clock_.advance(1h);
  EXPECT_THAT(work(), ElementsAre("2026-03-27"));
  clock_.advance(13h);
  EXPECT_EQ(export_.upkeep().removed, 0) << "its plan has not seen yet that it is done";
  clock_.advance(10h);
  EXPECT_EQ(plan.pass().launched, 1) << "the next day, and no other";
  EXPECT_THAT(work(), ElementsAre("2026-03-28"));
  EXPECT_EQ(export_.upkeep().removed, 1);
  clock_.advance(13h);
  plan.pass();
  EXPECT_EQ(export_.upkeep().removed, 1);
  EXPECT_THAT(lines(plan.grid({.limit = 2})), ElementsAre("2026-03-27 done", "2026-03-28 done"));
}

/// Also where a check held back what a person did again.
TEST_P(windowed, what_a_queue_forgets_stays_done_while_it_is_refused) {
  book_.make_queue("export", {.attempts = 1, .done_retention = 12h});
  clock_.stop_at(utc(2026, 3, 28) + 8h);
  auto plan = make();
  EXPECT_EQ(plan.pass().launched, 1);
  EXPECT_EQ(work(fails).size(), 1U);
  clock_.advance(1h);
  auto const not_now = [](transaction&, candidate&) { return check_decision::refuse("not now"); };
  EXPECT_EQ(plan.pass({.check = not_now}).refused, 1);
  EXPECT_TRUE(export_.retry(key("2026-03-27")));
  EXPECT_THAT(work(), ElementsAre("2026-03-27"));
  clock_.advance(12h + 1min);
  static_cast<void>(export_.upkeep());
  EXPECT_EQ(plan.pass().launched, 0) << "it was done";
  plan.pass();
  EXPECT_EQ(plan.watermark(), utc(2026, 3, 27) + 23h);
}

TEST_P(windowed, what_was_launched_before_the_plan_begins_is_seen_to_be_done) {
  book_.make_queue("export", {.attempts = 1, .done_retention = 12h});
  book_.make_queue("other", {.attempts = 1});
  make().pass();
  auto const begins = utc(2026, 3, 28) + 23h;
  auto later = make({}, {.since = begins});
  EXPECT_THAT(work(), SizeIs(3));
  later.pass();
  EXPECT_THAT(lines(later.grid()), ElementsAre("2026-03-29 done"));
  clock_.advance(12h + 1min);
  EXPECT_EQ(export_.upkeep().removed, 3);
  book_.make_planner("days", {.queue = "other", .strategy = days({.since = begins})});
  EXPECT_EQ(make({}, {.since = begins}).pass().launched, 1) << "the next day";
}

TEST_P(windowed, what_was_discarded_is_forgotten) {
  book_.make_queue("export", {.attempts = 1, .done_retention = 12h});
  auto plan = make({.rule = launch_rule::once});
  plan.pass();
  EXPECT_TRUE(export_.discard(key("2026-03-27")));
  EXPECT_THAT(work(), SizeIs(2));
  clock_.advance(12h + 1min);
  EXPECT_EQ(export_.upkeep().removed, 1) << "the plan has not seen yet that the others are done";
}

TEST_P(windowed, what_is_launched_holds_the_plan_to_its_queue) {
  book_.make_queue("other", {.attempts = 1});
  auto const moved = [&] {
    return book_.make_planner("days", {.queue = "other", .strategy = days({.retry_after = 0s})});
  };
  make().pass();
  EXPECT_THAT(message_of(moved),
              testing::AllOf(HasSubstr("plan 'days': the task of period 2026-03-27 is in queue "
                                       "'export', and the plan has not seen its end"),
                             HasSubstr("make another plan")));
  EXPECT_THAT(
      work([](std::string const& day) { return day == "2026-03-28" ? fails(day) : succeeds(day); }),
      SizeIs(3));
  EXPECT_EQ(fault_of(moved), error_code::bad_argument) << "no pass has seen it";
  make().pass();
  EXPECT_EQ(moved().pass().launched, 1) << "what failed goes on there";
  EXPECT_FALSE(book_.queue("other")->find(key("2026-03-27")).has_value());
  EXPECT_TRUE(book_.queue("other")->find(key("2026-03-28")).has_value());
}

TEST_P(windowed, what_is_asked_for_again_holds_the_plan_to_its_queue) {
  book_.make_queue("other", {.attempts = 1});
  auto const moved = [&] {
    return book_.make_planner("days", {.queue = "other", .strategy = days({.retry_after = 0s})});
  };
  auto plan = make({}, {.retry_after = 0s});
  plan.pass();
  work(fails);
  auto const not_now = [](transaction&, candidate&) { return check_decision::refuse("not now"); };
  EXPECT_EQ(plan.pass({.check = not_now}).refused, 3);
  EXPECT_TRUE(export_.retry(key("2026-03-29")));
  EXPECT_THAT(message_of(moved), HasSubstr("the task of period 2026-03-29"));
  EXPECT_THAT(work(fails), SizeIs(1));
  EXPECT_EQ(moved().pass().launched, 3);
}

TEST_P(windowed, hours_are_made_page_by_page) {
  clock_.stop_at(utc(2026, 10, 25) + 3h);
  auto plan = make({.page = 7},
                   {.each = unit::hour, .since = utc(2026, 10, 23) + 22h, .max_periods = 100'000});
  EXPECT_EQ(plan.pass().launched, 29);
  EXPECT_EQ(rows_of("planned_period"), "29");
  EXPECT_TRUE(export_.find(key("2026-10-25T02+02:00")));
  EXPECT_TRUE(export_.find(key("2026-10-25T02+01:00")));
  EXPECT_THAT(work(), SizeIs(29));
  plan.pass();
  EXPECT_EQ(plan.watermark(), utc(2026, 10, 25) + 3h);
  EXPECT_THAT(lines(plan.grid({.from = utc(2026, 10, 25), .limit = 2})),
              ElementsAre("2026-10-25T02+02:00 done", "2026-10-25T02+01:00 done"));
}

TEST_P(windowed, the_grid_goes_from_either_end) {
  auto plan = make();
  EXPECT_THAT(lines(plan.grid({.newest_first = true, .limit = 2})),
              ElementsAre("2026-03-29 missing", "2026-03-28 missing"));
  plan.pass();
  EXPECT_THAT(lines(plan.grid({.from = utc(2026, 3, 27), .to = utc(2026, 3, 29)})),
              ElementsAre("2026-03-28 waiting"))
      << "whole ones: it is from 23:00 to 23:00";
  EXPECT_THAT(plan.grid({.to = utc(2026, 3, 27)}), IsEmpty());
  auto const day = plan.grid({.from = utc(2026, 3, 28) + 12h}).at(0);
  EXPECT_EQ(day.to - day.from, 23h);
  EXPECT_EQ(day.launched, clock_.now());
}

TEST_P(windowed, a_preview_changes_nothing) {
  auto plan = make({}, {.since = utc(2026, 3, 20) + 23h});
  auto const keys = [](std::vector<daybook::plan_preview> const& of) {
    std::vector<std::string> out;
    for (auto const& one : of) out.push_back(one.key + (one.launched ? "" : " " + one.reason));
    return out;
  };
  auto const one_not = [](transaction&, candidate& of) {
    return of.key.str() == "2026-03-22" ? check_decision::refuse("not this")
                                        : check_decision::launch();
  };
  EXPECT_THAT(keys(plan.preview(3, one_not)),
              ElementsAre("2026-03-21", "2026-03-22 not this", "2026-03-23"));
  EXPECT_EQ(rows_of("planned_period"), "0");
  EXPECT_EQ(plan.pass().launched, 9);
  work([](std::string const& day) { return day == "2026-03-22" ? fails(day) : succeeds(day); });
  clock_.advance(24h);
  EXPECT_THAT(keys(plan.preview()), ElementsAre("2026-03-22", "2026-03-30"));
  auto newest = make({}, {.since = utc(2026, 3, 18) + 23h, .newest_first = true});
  EXPECT_THAT(keys(newest.preview()),
              ElementsAre("2026-03-22", "2026-03-30", "2026-03-20", "2026-03-19"));
  EXPECT_EQ(rows_of("planned_period"), "9");
  EXPECT_EQ(newest.pass().launched, 4);
}

TEST_P(windowed, what_is_forgotten_is_launched_as_if_never_before) {
  auto plan = make({.rule = launch_rule::once});
  plan.pass();
  work();
  plan.pass();
  EXPECT_TRUE(export_.remove(key("2026-03-27")));
  EXPECT_TRUE(plan.forget(key("2026-03-27"), anna()));
  EXPECT_EQ(plan.pass().launched, 1);
  EXPECT_THAT(work(), ElementsAre("2026-03-27"));
}

TEST_P(windowed, what_a_window_may_not_be) {
  auto const refused = [&](window_strategy of, std::string const& with) {
    auto const what = message_of([&] { make({}, of); });
    EXPECT_THAT(what, HasSubstr("plan 'days'"));
    EXPECT_THAT(what, HasSubstr(with));
  };
  refused({.since = utc(2026, 3, 30) + 11h},
          "its periods begin in the future (since): at 2026-03-30T11:00:00Z, when the database's "
          "clock says 2026-03-30T10:00:00Z");
  refused({.each = unit::minute, .count = 1, .since = utc(2024, 3, 30)}, "1051800 periods");
  refused({.zone = "Europe/Berlln"}, "Europe/Berlln");
  refused({.each = unit::minute, .count = 7}, "periods of 7 minutes");
  refused({.each = unit::day, .count = 2}, "must be between 1 and 1");
  refused({.max_periods = 0}, "most");
  EXPECT_THAT(book_.planners(), IsEmpty());
  make();
  refused({.each = unit::hour}, "how its periods are cut (each, count, zone)");
  refused({.zone = "Asia/Tokyo"}, "how its periods are cut (each, count, zone)");
  auto other = book_.make_planner(
      "query", {.queue = "export", .strategy = daybook::query_strategy{"select 'a'"}});
  EXPECT_THAT(message_of([&] { static_cast<void>(other.grid()); }),
              HasSubstr("plan 'query': it has no periods: it is no window"));
  EXPECT_THAT(message_of([&] { other.reopen(key("a"), anna()); }), HasSubstr("no window"));
  EXPECT_THAT(message_of([&] { static_cast<void>(make().grid({.limit = 0})); }),
              HasSubstr("between 1 and 10000"));
}

TEST_P(windowed, a_plan_of_minutes_goes_on_for_years) {
  window_strategy const minutes{.each = unit::minute, .since = utc(2020, 1, 1), .max_periods = 1};
  clock_.stop_at(utc(2020, 1, 1) + 1min);
  EXPECT_EQ(make({}, minutes).pass().launched, 1);
  // As if passes had made all its periods until a day ago.
  database_.execute("update daybook_planned_period set end_us = " +
                    std::to_string(utc(2026, 3, 29).time_since_epoch().count()));
  clock_.stop_at(utc(2026, 3, 30));
  EXPECT_FALSE(make({.page = 500}, minutes).pass().complete);
  EXPECT_EQ(rows_of("planned_period"), "1441");
  clock_.stop_at(utc(2029, 3, 30));
  auto later = minutes;
  later.since = utc(2029, 3, 29);
  EXPECT_THAT(message_of([&] { make({}, later); }),
              testing::AllOf(HasSubstr("periods since 2026-03-30T00:00:00Z (since)"),
                             HasSubstr("they go on where the last one ends: make another plan")));
}

/// By the primary key a pass would read all that was ever done.
TEST_P(windowed, a_pass_reads_what_is_open_by_its_index) {
  make({}, {.since = utc(2021, 1, 1)}).pass();
  work();
  make({}, {.since = utc(2021, 1, 1)}).pass();
  auto const in = book_.internals().ready();
  daybook::core::transact(in, {.name = "plans"}, [&](daybook::db::session& on) {
    if (on_postgres()) {
      on.run({"plans", "analyze daybook_planned_period", {}, {}}, {});
      on.run({"plans", "set local enable_bitmapscan = off", {}, {}}, {});
    }
    for (auto const& [beyond, order] : {std::pair(">", "asc"), std::pair("<", "desc")}) {
      auto what =
          in.sql.made("period.open", {{"beyond", beyond}, {"order", order}}).parts.at(0).what;
      what.text = (explain()) + what.text;
      std::vector<daybook::value> const values(what.inputs.size(), std::int64_t{1});
      auto const plan = on.run(what, values);
      std::string text;
      for (std::size_t i = 0; i < plan.size(); ++i) {
        for (auto const& cell : plan.row(i)) {
          if (auto const* const one = std::get_if<std::string>(&cell)) text += *one + " ";
        }
      }
      EXPECT_THAT(text, HasSubstr(on_mariadb() ? "planned_period_state" : "planned_period_open"));
      EXPECT_THAT(text, testing::Not(HasSubstr("filesort")));
    }
    return daybook::core::decision::rollback;
  });
}

DAYBOOK_ON_EVERY_ENGINE(windowed);

}  // namespace
}  // namespace conformance
