// The hand-made control table and task lock that this replaces had these defects, A1 to A21 and
// B1 to B10; one test for each, named after it, says what happens instead.
#include "conformance/fixture.hpp"

#include <atomic>
#include <barrier>
#include <thread>

namespace conformance {
namespace {

class seeds : public on_engine {
 protected:
  seeds() : other_(database_.open()), clock_(book_) {}

  /// The state of one run, as the table has it.
  [[nodiscard]] std::string state_of(std::string const& piece) const {
    return database_.query("select state from daybook_run where run_key = '" + piece + "'");
  }
  /// Many at once; how many of them got the run.
  int contest(int threads, key const& piece) {
    std::atomic<int> got = 0;
    std::barrier together(threads);
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&] {
        auto mine = database_.open();
        together.arrive_and_wait();
        if (auto attempt = mine.start(nightly_, piece)) {
          auto const run = std::move(attempt).take();
          ++got;
          together.arrive_and_wait();  // nobody lets go before all have tried
        } else {
          together.arrive_and_wait();
        }
      });
    }
    all.clear();
    return got;
  }

  daybook::book other_;
  daybook::testing::manual_clock clock_;
};

TEST_P(seeds, A1_two_nodes_cannot_both_pass_the_check) {
  EXPECT_EQ(contest(4, day_), 1);
  EXPECT_EQ(contest(4, day_), 1) << "also where the row is there";
}

TEST_P(seeds, A2_a_ready_run_refuses_too) {
  auto const run = taken(book_.start(nightly_, day_));
  EXPECT_EQ(state_of(day_.str()), "9");
  EXPECT_EQ(other_.start(nightly_, day_).why(), start_refusal::running_elsewhere);
}

TEST_P(seeds, A3_a_zombie_writes_nothing_into_its_successors_run) {
  for (std::string const last : {"step", "finish", "fail"}) {
    key const piece{last};
    auto zombie = taken(book_.start(nightly_, piece));
    clock_.advance(1h);
    auto heir = taken(other_.start(nightly_, piece));
    bool const written = last == "step"     ? bool(zombie.step("load", insert("zombie")))
                         : last == "finish" ? bool(std::move(zombie).finish())
                                            : bool(std::move(zombie).fail("zombie"));
    EXPECT_FALSE(written);
    EXPECT_EQ(seen(piece).info.state, run_state::ready);
    EXPECT_EQ(seen(piece).info.error, "");
    EXPECT_TRUE(std::move(heir).finish());
  }
  EXPECT_EQ(effects("zombie"), "0");
}

TEST_P(seeds, A4_one_row_for_a_process_and_key) {
  EXPECT_EQ(contest(4, day_), 1);
  EXPECT_EQ(rows_of("run"), "1");
}

TEST_P(seeds, A5_partitions_neither_exclude_nor_overwrite_each_other) {
  auto one = taken(book_.start(nightly_, key{"1"}));
  auto two = taken(other_.start(nightly_, key{"2"}));
  EXPECT_TRUE(one.step("load", insert("one")));
  EXPECT_FALSE(two.done("load"));
  EXPECT_TRUE(two.step("load", insert("two")));
  EXPECT_TRUE(std::move(one).finish());
  EXPECT_EQ(seen(key{"2"}).info.state, run_state::running);
  EXPECT_TRUE(std::move(two).finish());
}

TEST_P(seeds, A6_after_a_success_every_step_is_done_again) {
  for (int round = 1; round <= 2; ++round) {
    auto run = taken(book_.start(nightly_, day_));
    EXPECT_EQ(run.number(), round);
    EXPECT_EQ(run.step("load", insert("load")).what(), outcome::done);
    EXPECT_TRUE(std::move(run).finish());
  }
  EXPECT_EQ(effects("load"), "2");
}

TEST_P(seeds, A7_after_a_failure_it_resumes_unless_told_to_restart) {
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_TRUE(run.step("load", insert("load")));
  EXPECT_TRUE(std::move(run).fail("no"));
  auto resumed = taken(book_.start(nightly_, day_));
  EXPECT_EQ(resumed.step("load", insert("load")).what(), outcome::skipped);
  EXPECT_TRUE(std::move(resumed).fail("no"));
  auto restarted = taken(book_.start(nightly_, day_, {.restart = true}));
  EXPECT_EQ(restarted.step("load", insert("load")).what(), outcome::done);
  EXPECT_EQ(effects("load"), "2");
}

TEST_P(seeds, A8_a_row_that_is_gone_is_lost_and_not_a_crash) {
  auto run = taken(book_.start(nightly_, day_));
  database_.execute("delete from daybook_run");
  EXPECT_EQ(run.step("load", insert("load")).what(), outcome::lost);
  EXPECT_EQ(std::move(run).finish().what(), outcome::lost);
  EXPECT_EQ(effects("load"), "0");
}

TEST_P(seeds, A9_a_crash_before_the_record_leaves_no_effect_and_one_after_it_loses_none) {
  using daybook::testing::arm;
  for (std::string const place : {"step.effect_done", "step.before_commit", "step.committed"}) {
    key const piece{place};
    {
      auto run = taken(book_.start(nightly_, piece));
      arm(place, failpoint_action::fail);
      EXPECT_EQ(fault_of([&] { static_cast<void>(run.step("load", insert("load"))); }),
                error_code::internal);
    }
    auto const effect = effects("load") == "1";
    auto next = taken(book_.start(nightly_, piece));
    EXPECT_EQ(next.done("load"), effect) << "effect and record are there together, or neither";
    EXPECT_TRUE(next.step("load", insert("load")));
    EXPECT_EQ(effects("load"), "1");
    database_.execute("delete from effect");
  }
}

TEST_P(seeds, A10_steps_go_by_name_and_not_by_number) {
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_TRUE(run.step("10", insert("ten")));
  EXPECT_TRUE(std::move(run).fail("no"));
  auto next = taken(book_.start(nightly_, day_));
  EXPECT_EQ(next.step("9", insert("nine")).what(), outcome::done) << "inserted later, before 10";
  EXPECT_EQ(next.step("10", insert("ten")).what(), outcome::skipped);
  EXPECT_EQ(fault_of([&] { static_cast<void>(next.step("9", insert("nine"))); }),
            error_code::bad_argument);
}

TEST_P(seeds, A11_done_before_not_owner_and_done_now_are_told_apart) {
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_EQ(run.step("load", insert("load")).what(), outcome::done);
  EXPECT_TRUE(std::move(run).fail("no"));
  auto next = taken(book_.start(nightly_, day_));
  EXPECT_EQ(next.step("load", insert("load")).what(), outcome::skipped);
  clock_.advance(1h);
  auto const heir = taken(other_.start(nightly_, day_));
  EXPECT_EQ(next.step("more", insert("more")).what(), outcome::lost);
}

TEST_P(seeds, A12_a_run_without_steps_ends_and_an_open_step_keeps_it_from_succeeding) {
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).finish());
  EXPECT_EQ(state_of(day_.str()), "0");
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_TRUE(run.intend("pay"));
  EXPECT_EQ(std::move(run).finish().what(), outcome::unknown);
}

TEST_P(seeds, A13_a_failure_says_whether_it_was_recorded_and_keeps_its_text) {
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).fail(std::string(5000, 'x')));
  EXPECT_LE(seen().info.error.size(), 2000U);
  EXPECT_TRUE(seen().info.error.starts_with("xxx"));
  EXPECT_EQ(seen().attempts.at(0).state, run_state::failed);
  auto run = taken(book_.start(nightly_, day_));
  clock_.advance(1h);
  auto const heir = taken(other_.start(nightly_, day_));
  EXPECT_FALSE(std::move(run).fail("nobody hears this"));
}

TEST_P(seeds, A14_a_lease_has_a_unit) {
  clock_.stop_at(clock_.now());
  auto options = support::fresh_database::manual();
  options.lease = 90s;
  auto slow = database_.open(options);
  auto const run = taken(slow.start(nightly_, day_));
  EXPECT_EQ(database_.query("select lease_until_us - renewed_us from daybook_holder"), "90000000");
  clock_.advance(90s);
  EXPECT_FALSE(book_.start(nightly_, day_));
  clock_.advance(1us);
  EXPECT_TRUE(book_.start(nightly_, day_));
}

TEST_P(seeds, A15_instants_are_numbers_and_no_zone_or_repeated_hour_matters) {
  // The hour that New York had twice on 2026-11-01: 05:30 and 06:30 in UTC.
  clock_.stop_at(daybook::timestamp(std::chrono::sys_days{std::chrono::year{2026} / 11 / 1} +
                                    std::chrono::minutes{5 * 60 + 30}));
  auto const first = taken(book_.start(nightly_, key{"1"}));
  clock_.advance(1h);
  auto const second = taken(other_.start(nightly_, key{"2"}));
  EXPECT_EQ(seen(key{"2"}).info.started - seen(key{"1"}).info.started, 1h);
  auto const heir = book_.start(nightly_, key{"2"});
  EXPECT_EQ(heir.why(), start_refusal::running_elsewhere) << "an hour later, not at the same time";
  EXPECT_EQ(database_.query("select started_us from daybook_run where run_key = '1'"),
            "1793511000000000");
}

TEST_P(seeds, A16_the_clock_is_the_databases) {
  // This machine's clock stays where it is; the database's goes on.
  auto const before = clock_.now();
  clock_.advance(48h);
  auto const run = taken(book_.start(nightly_, day_));
  EXPECT_GE(seen().info.started - before, 48h);
}

TEST_P(seeds, A17_a_run_longer_than_its_lease_is_not_taken_from_the_living) {
  auto run = taken(book_.start(nightly_, day_));
  for (int i = 0; i < 10; ++i) {
    clock_.advance(20s);
    ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
    EXPECT_FALSE(other_.start(nightly_, day_));
  }
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(seeds, A18_a_write_that_found_no_row_is_noticed_and_one_that_did_is_not_taken_for_none) {
  auto run = taken(book_.start(nightly_, day_));
  // The same values twice in the same microsecond: rows found, nothing changed on MariaDB.
  clock_.stop_at(clock_.now());
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  EXPECT_TRUE(run.set_value("cursor", "7"));
  EXPECT_TRUE(run.set_value("cursor", "7"));
  database_.execute("update daybook_run set acquisition = 'somebody else'");
  EXPECT_EQ(run.set_value("cursor", "8").what(), outcome::lost);
  EXPECT_EQ(seen().values.at(0).value, "7");
}

TEST_P(seeds, A19_a_crash_between_start_and_the_first_step_has_an_owner_and_a_lease) {
  auto const zombie = taken(book_.start(nightly_, day_));
  EXPECT_EQ(state_of(day_.str()), "9");
  ASSERT_TRUE(seen().info.holder);
  EXPECT_EQ(seen().info.holder->pid, ::getpid());
  EXPECT_EQ(other_.start(nightly_, day_).why(), start_refusal::running_elsewhere)
      << "it may be alive";
  clock_.advance(1h);
  EXPECT_TRUE(other_.start(nightly_, day_));
}

TEST_P(seeds, A20_history_is_kept_and_each_state_means_one_thing) {
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).fail("first"));
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).release("second"));
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).finish());
  ASSERT_EQ(seen().attempts.size(), 3U);
  EXPECT_EQ(seen().attempts[0].error, "first");
  EXPECT_EQ(seen().attempts[1].state, run_state::interrupted);
  EXPECT_EQ(seen().attempts[2].state, run_state::succeeded);
  EXPECT_FALSE(book_.find(nightly_, key{"never"})) << "no row is no success";
  EXPECT_THROW(database_.execute("update daybook_run set state = 7"), std::exception);
}

TEST_P(seeds, A21_a_lease_far_in_the_future_does_not_block_for_ever) {
  auto const zombie = taken(book_.start(nightly_, day_));
  clock_.advance(-24h);  // the clock stepped back, or the server was replaced
  EXPECT_TRUE(other_.start(nightly_, day_));
}

TEST_P(seeds, B1_B2_of_many_that_contend_one_wins_and_the_late_writer_writes_nothing) {
  EXPECT_EQ(contest(5, day_), 1);
  auto late = taken(book_.start(nightly_, day_));
  clock_.advance(1h);  // a pause of any length: no second passes unnoticed
  auto heir = taken(other_.start(nightly_, day_));
  EXPECT_FALSE(late.step("load", insert("load")));
  EXPECT_TRUE(heir.step("load", insert("load")));
  EXPECT_EQ(effects("load"), "1");
}

TEST_P(seeds, B3_B4_an_owner_that_lives_keeps_it_and_a_dead_ones_is_free_after_the_lease) {
  clock_.stop_at(clock_.now());
  auto const run = taken(book_.start(nightly_, day_));
  clock_.advance(29s);
  ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  clock_.advance(30s);
  EXPECT_FALSE(other_.start(nightly_, day_));
  clock_.advance(1us);
  EXPECT_TRUE(other_.start(nightly_, day_));
}

TEST_P(seeds, B5_two_holders_with_one_process_id_are_two) {
  // As in two containers, where each is process 1: these two books are of one process.
  auto const run = taken(book_.start(nightly_, day_));
  EXPECT_EQ(other_.start(nightly_, day_).why(), start_refusal::running_elsewhere);
  EXPECT_TRUE(other_.start(nightly_, key{"other"}));
  EXPECT_EQ(database_.query("select count(distinct pid) from daybook_holder"), "1");
  EXPECT_EQ(database_.query("select count(distinct uuid) from daybook_holder"), "2");
}

TEST_P(seeds, B6_a_slow_node_does_not_run_the_same_tick_again) {
  key const tick{"2026-11-21T02:00:00Z"};
  EXPECT_TRUE(taken(book_.start(nightly_, tick, {.once = true})).finish());
  EXPECT_EQ(other_.start(nightly_, tick, {.once = true}).why(), start_refusal::done_before);
}

TEST_P(seeds, B9_who_and_what_state_are_written_together) {
  using daybook::testing::arm;
  for (std::string const place : {"start.begun", "start.before_commit", "start.committed"}) {
    key const piece{place};
    arm(place, failpoint_action::fail);
    EXPECT_EQ(fault_of([&] { static_cast<void>(book_.start(nightly_, piece)); }),
              error_code::internal);
    auto const found = book_.find(nightly_, piece);
    EXPECT_TRUE(!found || found->info.holder) << "no state without its owner";
  }
}

TEST_P(seeds, B10_asking_for_what_is_held_writes_nothing) {
  auto const run = taken(book_.start(nightly_, day_));
  EXPECT_FALSE(other_.start(nightly_, day_));  // now it is a holder
  auto const before = database_.query("select version from daybook_run");
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(other_.start(nightly_, day_));
  EXPECT_EQ(database_.query("select version from daybook_run"), before);
  EXPECT_EQ(rows_of("attempt"), "0");
}

DAYBOOK_ON_EVERY_ENGINE(seeds);

}  // namespace
}  // namespace conformance
