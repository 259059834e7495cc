// What people do to schedules, and what is kept of them.
#include "conformance/scheduling.hpp"
#include "conformance/waiting.hpp"

#include <algorithm>
#include <cstdlib>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace conformance {
namespace {

class schedules_of_people : public scheduling {
 protected:
  /// As a lock or a lack of rights would.
  void refuse_to_forget_ticks() {
    std::string const trigger = "create trigger no_tick_goes before update on daybook_tick ";
    if (on_sqlite()) {
      database_.execute(trigger + "when new.state = 5 begin select raise(abort, 'not now'); end");
    } else if (on_mariadb()) {
      database_.execute(trigger +
                        "for each row begin if new.state = 5 then "
                        "signal sqlstate '45000' set message_text = 'not now'; end if; end");
    } else {
      database_.execute(
          "create function not_now() returns trigger language plpgsql as $$ begin "
          "raise exception 'not now'; end $$");
      database_.execute(trigger + "for each row when (new.state = 5) execute function not_now()");
    }
  }
};

/// A system whose zones are not there.
class without_zones {
 public:
  without_zones() { ::setenv("TZDIR", "/nowhere", 1); }
  without_zones(without_zones const&) = delete;
  without_zones& operator=(without_zones const&) = delete;
  ~without_zones() { ::unsetenv("TZDIR"); }
};

TEST_P(schedules_of_people, a_tick_of_a_removed_schedule_is_taken_over_all_the_same) {
  auto leads = make();
  int attempts = 0;
  serve("leads", [&](tick&) {
    if (++attempts > 1) return;
    EXPECT_TRUE(leads.remove(anna));
    clock_.advance(31s);
    EXPECT_EQ(second_.drain(), 1);
  });
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_THAT(lines(leads), ElementsAre("12:01 done"));
  EXPECT_EQ(second_.counts().done, 1);
}

TEST_P(schedules_of_people, a_zone_that_is_not_here_keeps_nobody_from_pausing_it) {
  auto leads = make({.zone = "Europe/Prague"});
  auto nowhere = std::make_optional<without_zones>();
  serve("leads");
  clock_.advance(1min);
  EXPECT_EQ(fault_of([&] { first_.drain(); }), error_code::bad_argument);
  EXPECT_TRUE(leads.pause(anna));
  EXPECT_FALSE(leads.info().next);
  make({.zone = "UTC"});
  nowhere.reset();
  EXPECT_TRUE(leads.resume(anna));
  EXPECT_EQ(first_.drain(), 0);
}

TEST_P(schedules_of_people, a_free_tick_is_left_to_those_who_have_its_zone) {
  auto leads = make({.zone = "Europe/Prague"});
  bool away = true;
  serve("leads", [&](tick& one) {
    if (std::exchange(away, false)) one.hand_back();
  });
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1);
  auto nowhere = std::make_optional<without_zones>();
  second_.serve("leads", [&](tick&) { ADD_FAILURE() << "its zone is not here"; });
  EXPECT_EQ(fault_of([&] { second_.drain(); }), error_code::bad_argument);
  EXPECT_EQ(rows_of("attempt"), "1");
  nowhere.reset();
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_THAT(lines(leads), ElementsAre("12:01 done"));
  // Where nothing of it depends on the zone any more, everybody may go on with it.
  away = true;
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_TRUE(leads.remove(anna));
  nowhere.emplace();
  serve("leads");
  EXPECT_EQ(second_.drain(), 1);
  EXPECT_EQ(second_.counts().done, 1);
}

TEST_P(schedules_of_people, no_tick_goes_unsaid_where_its_zone_is_not_here) {
  auto leads = make({.zone = "Europe/Prague"});
  clock_.advance(2min);
  auto nowhere = std::make_optional<without_zones>();
  auto const refused = message_of([&] { static_cast<void>(leads.trigger(anna)); });
  EXPECT_THAT(refused, testing::HasSubstr("Europe/Prague"));
  EXPECT_THAT(lines(leads), ElementsAre());
  make({.zone = "UTC"});
  EXPECT_THAT(lines(leads), ElementsAre("12:02 skipped (what was missed until now is not known: "
                                        "its zone, Europe/Prague, is not on this machine)"));
  serve("leads");
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_THAT(instants(), ElementsAre(noon + 3min));
  nowhere.reset();
}

TEST_P(schedules_of_people, what_went_by_in_a_pause_is_not_launched_where_its_zone_is_not_here) {
  auto leads = make({.zone = "Europe/Prague", .catch_up = catch_up::all});
  serve("leads");
  EXPECT_TRUE(leads.pause(anna));
  clock_.advance(3min);
  auto nowhere = std::make_optional<without_zones>();
  EXPECT_TRUE(leads.resume(anna));
  nowhere.reset();
  EXPECT_EQ(first_.drain(), 0);
  clock_.advance(2min);
  nowhere.emplace();
  EXPECT_TRUE(leads.remove(anna));
  nowhere.reset();
  std::string const unknown =
      " skipped (what was missed until now is not known: its zone, "
      "Europe/Prague, is not on this machine)";
  EXPECT_THAT(lines(leads), ElementsAre("12:05" + unknown, "12:03" + unknown));
}

TEST_P(schedules_of_people, by_hand_a_window_ends_now_and_the_next_begins_there) {
  auto leads = make();
  serve("leads");
  clock_.advance(90s);
  EXPECT_EQ(first_.drain(), 1);
  auto const at = leads.trigger(anna);
  EXPECT_EQ(at, noon + 90s);
  EXPECT_EQ(second_.drain(), 1);
  EXPECT_TRUE(leads.find(at)->by_hand);
  clock_.advance(30s);
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_THAT(instants(), ElementsAre(noon + 1min, noon + 90s, noon + 2min));
  expect_tiled();
}

TEST_P(schedules_of_people, by_hand_is_after_all_that_was_due) {
  auto leads = make();
  serve("leads");
  clock_.advance(2min);
  auto const at = leads.trigger(anna);
  EXPECT_EQ(at, noon + 2min);
  EXPECT_EQ(first_.drain(), 1);
  expect_tiled();
  EXPECT_THAT(
      lines(leads),
      ElementsAre("12:02 done", "12:01 skipped (missed; one was asked for by hand after it)"));
}

TEST_P(schedules_of_people, while_it_is_paused_ticks_go_by) {
  auto leads = make();
  serve("leads");
  EXPECT_TRUE(leads.pause(anna));
  EXPECT_FALSE(leads.pause(anna));
  clock_.advance(3min);
  EXPECT_EQ(first_.drain(), 0);
  static_cast<void>(leads.trigger(anna));
  EXPECT_EQ(first_.drain(), 1) << "but for what is asked for by hand";
  clock_.advance(3min);
  EXPECT_TRUE(leads.resume(anna));
  EXPECT_EQ(first_.drain(), 0);
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1);
  expect_tiled();
  EXPECT_THAT(lines(leads), ElementsAre("12:07 done", "12:06 skipped 3 (it was paused)",
                                        "12:03 done", "12:02 skipped 2 (it was paused)"));
  EXPECT_EQ(book_.changes(process("leads"), key("-")).size(), 2U);
}

TEST_P(schedules_of_people, a_new_expression_applies_from_the_change_on) {
  auto const leads = make();
  serve("leads");
  clock_.advance(2min + 10s);
  book_.make_schedule("leads", daybook::cron("*/5 * * * *"));
  EXPECT_EQ(first_.drain(), 0);
  clock_.advance(3min);
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_THAT(instants(), ElementsAre(noon + 5min));
  expect_tiled();
  EXPECT_EQ(lines(leads).back(), "12:02 skipped 2 (missed; the expression changed)");
}

TEST_P(schedules_of_people, made_again_as_it_is_nothing_changes) {
  auto const leads = make({.attempts = 7});
  clock_.advance(90s);
  auto const again = make({.attempts = 7});
  EXPECT_EQ(again.info().decided, noon);
  EXPECT_TRUE(leads.ticks().empty());
}

TEST_P(schedules_of_people, one_that_was_removed_and_made_again_launches_no_tick_twice) {
  auto leads = make();
  serve("leads");
  clock_.advance(2min);
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_TRUE(leads.remove(anna));
  EXPECT_FALSE(leads.remove(anna));
  EXPECT_TRUE(book_.schedules().empty());
  clock_.advance(2min);
  EXPECT_EQ(first_.drain(), 0);
  clock_.advance(-3min);  // someone sets the clock back
  make();
  EXPECT_EQ(book_.schedules().size(), 1U);
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 0) << "12:02 was done";
  clock_.advance(1min);
  EXPECT_EQ(second_.drain(), 1);
  EXPECT_THAT(instants(), ElementsAre(noon + 2min, noon + 3min));
  expect_tiled();
}

TEST_P(schedules_of_people, one_that_is_removed_while_a_tick_runs_lets_it_end) {
  auto leads = make();
  serve("leads", [&](tick&) { EXPECT_TRUE(leads.remove(anna)); });
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_EQ(first_.counts().done, 1);
  EXPECT_THAT(lines(leads), ElementsAre("12:01 done"));
}

TEST_P(schedules_of_people, what_is_forgotten_never_comes_again) {
  auto const leads = make({.keep = 10});
  serve("leads");
  for (int i = 0; i < 70; ++i) {
    clock_.advance(1min);
    ASSERT_EQ(first_.drain(), 1);
  }
  EXPECT_LE(leads.ticks().size(), 10U + 32U);
  EXPECT_EQ(rows_of("run"), rows_of("tick"));
  EXPECT_EQ(rows_of("attempt"), rows_of("tick"));
  clock_.advance(-60min);
  EXPECT_EQ(first_.drain(), 0);
  EXPECT_EQ(second_.drain(), 0);
  EXPECT_EQ(done_.size(), 70U);
  expect_tiled();
}

TEST_P(schedules_of_people, what_cannot_be_forgotten_holds_up_no_launch) {
  auto const leads = make({.keep = 10});
  serve("leads");
  auto const ticks = [&](int count) {
    for (int i = 0; i < count; ++i) {
      clock_.advance(1min);
      ASSERT_EQ(first_.drain(), 1);
    }
  };
  refuse_to_forget_ticks();
  ticks(150);
  EXPECT_EQ(rows_of("tick"), "150");
  EXPECT_EQ(log_.count("retried prune"), 150U - 31U) << "from the first time on, after each launch";
  EXPECT_EQ(log_.count("retried launch"), 0U);
  database_.execute("drop trigger no_tick_goes" +
                    std::string(on_postgres() ? " on daybook_tick" : ""));
  // At once, and no more than four times what comes from one pruning to the next.
  ticks(1);
  EXPECT_EQ(rows_of("tick"), std::to_string(151 - 4 * 32));
  EXPECT_EQ(rows_of("run"), rows_of("tick"));
  ticks(9);  // the 160th
  EXPECT_EQ(rows_of("tick"), "10");
  expect_tiled();
}

TEST_P(schedules_of_people, what_is_begun_again_while_others_are_forgotten_stays) {
  if (on_sqlite()) return;  // one writer
  make({.keep = 10});
  serve("leads");
  for (int i = 0; i < 31; ++i) {
    clock_.advance(1min);
    ASSERT_EQ(first_.drain(), 1);
  }
  auto const first = " where schedule = 'leads' and tick_us = " +
                     std::to_string((noon + 1min).time_since_epoch().count());
  support::raw_connection theirs(direct_url());
  theirs.execute("begin");
  theirs.execute("update daybook_tick set state = 0, by_hand = 2" + first);
  clock_.advance(1min);
  auto drained = std::async(std::launch::async, [this] { return first_.drain(); });
  auto const waits = lock_waits();
  while (drained.wait_for(1ms) != std::future_status::ready && !waits()) {
  }
  EXPECT_EQ(database_.query("select count(*) from daybook_tick where state = 2"), "32")
      << "what was launched does not wait for that";
  theirs.execute("commit");
  EXPECT_GE(drained.get(), 1);
  EXPECT_EQ(database_.query("select count(*) from daybook_tick" + first), "1");
}

TEST_P(schedules_of_people, what_failed_is_kept_for_longer_than_what_is_done) {
  auto const leads = make({.attempts = 1, .keep = 10});
  serve("leads", [&](tick& one) {
    if (one.at() == noon + 1min) throw std::runtime_error("the partner is away");
  });
  for (int i = 0; i < 70; ++i) {
    clock_.advance(1min);
    ASSERT_EQ(first_.drain(), 1);
  }
  EXPECT_FALSE(leads.find(noon + 2min));
  EXPECT_EQ(leads.find(noon + 1min)->state, tick_state::failed);
  for (int i = 0; i < 70; ++i) {
    clock_.advance(1min);
    ASSERT_EQ(first_.drain(), 1);
  }
}

TEST_P(schedules_of_people, what_waits_to_be_tried_again_is_not_forgotten) {
  auto const leads = make({.backoff = 2h, .longest_backoff = 2h, .keep = 10});
  bool away = true;
  serve("leads", [&](tick& one) {
    if (away && one.at() == noon + 1min) throw std::runtime_error("the partner is away");
  });
  auto const ticks = [&](int count) {
    for (int i = 0; i < count; ++i) {
      clock_.advance(1min);
      ASSERT_EQ(first_.drain(), 1);
    }
  };
  ticks(70);
  EXPECT_FALSE(leads.find(noon + 2min)) << "it was after the one that waits";
  ASSERT_TRUE(leads.find(noon + 1min));
  EXPECT_EQ(leads.find(noon + 1min)->state, tick_state::due);
  away = false;
  clock_.advance(2h);
  EXPECT_EQ(first_.drain(), 2);
  auto const again = std::ranges::find(done_, noon + 1min, &done::at);
  ASSERT_NE(again, done_.end());
  EXPECT_EQ(again->window.from, noon);
  EXPECT_EQ(leads.find(noon + 1min)->state, tick_state::done);
  done_.erase(again);
  expect_tiled(noon + 1min);
  ticks(40);
  EXPECT_FALSE(leads.find(noon + 1min));
}

TEST_P(schedules_of_people, bad_input_is_refused_by_name) {
  using daybook::cron;
  auto const refused = [&](cron const& when, schedule_options const& options,
                           std::string const& name = "leads") {
    EXPECT_EQ(fault_of([&] { book_.make_schedule(name, when, options); }),
              error_code::bad_argument);
  };
  refused("* * * * *", {}, "");
  refused("* * * * *", {.zone = "Mars/Olympus"});
  refused("* * * * *", {.max_ticks = 0});
  refused("* * * * *", {.grace = 0s});
  refused("* * * * *", {.attempts = 0});
  refused("* * * * *", {.backoff = 2h});  // above the longest
  refused("* * * * *", {.keep = 1});
  EXPECT_THAT(message_of([&] { make({.crash_limit = 0}); }),
              testing::HasSubstr("schedule 'leads': the crash limit is 0"));
  EXPECT_TRUE(book_.schedules().empty());
  EXPECT_FALSE(book_.schedule("leads"));
}

DAYBOOK_ON_EVERY_ENGINE(schedules_of_people);

}  // namespace
}  // namespace conformance
