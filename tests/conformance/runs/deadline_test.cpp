// A run past its deadline counts as failed however alive its holder is.
#include "conformance/fixture.hpp"
#include "conformance/waiting.hpp"

#include <future>
#include <thread>

namespace conformance {
namespace {

class deadline : public on_engine {
 protected:
  deadline() : other_(database_.open()), clock_(book_) { clock_.stop_at(clock_.now()); }

  daybook::book other_;
  daybook::testing::manual_clock clock_;
};

TEST_P(deadline, until_then_nobody_else_gets_the_run) {
  auto run = taken(book_.start(nightly_, day_, {.deadline = 10s}));
  EXPECT_EQ(run.time_left(), 10s);
  clock_.advance(10s - 1us);
  EXPECT_EQ(other_.start(nightly_, day_).why(), start_refusal::running_elsewhere);
  EXPECT_FALSE(seen().info.deadline_over);
  EXPECT_TRUE(run.step("load", insert("load")));
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(deadline, from_then_on_anybody_resumes_it_and_the_holder_writes_nothing) {
  auto run = taken(book_.start(nightly_, day_, {.deadline = 10s}));
  ASSERT_TRUE(run.step("load", insert("load")));
  clock_.advance(10s);
  EXPECT_TRUE(seen().info.deadline_over);
  EXPECT_TRUE(seen().info.holder_alive);
  auto heir = taken(other_.start(nightly_, day_));
  EXPECT_EQ(heir.attempt(), 2);
  EXPECT_FALSE(heir.time_left()) << "it was given none";
  EXPECT_EQ(heir.step("load", insert("load")).what(), outcome::skipped);
  EXPECT_EQ(seen().attempts.at(0).state, run_state::deadline_passed);
  EXPECT_EQ(seen().attempts.at(0).error, "its deadline passed");
  EXPECT_EQ(run.step("post", insert("post")).what(), outcome::lost);
  EXPECT_EQ(effects("post"), "0");
  EXPECT_TRUE(std::move(heir).finish());
  // The holder itself is alive, and may start other work.
  EXPECT_TRUE(book_.start(nightly_, key{"other"}));
  EXPECT_EQ(database_.query("select count(*) from daybook_holder where ended_us is not null"), "0");
}

TEST_P(deadline, a_holder_that_comes_late_by_itself_says_so) {
  for (std::string const last : {"step", "finish", "fail", "release"}) {
    key const piece{last};
    auto run = taken(book_.start(nightly_, piece, {.deadline = 10s}));
    run.keep(3, "last words");
    clock_.advance(10s);
    if (last == "step") {
      EXPECT_EQ(run.step("post", insert("post")).what(), outcome::lost);
      continue;  // recorded where its own clock agrees, or by whoever starts next
    }
    auto const what = last == "finish" ? std::move(run).finish().what()
                      : last == "fail" ? std::move(run).fail("no").what()
                                       : std::move(run).release("no").what();
    EXPECT_EQ(what, outcome::lost);
    EXPECT_EQ(seen(piece).info.state, run_state::deadline_passed);
    EXPECT_EQ(seen(piece).attempts.at(0).output, "last words");
    EXPECT_EQ(seen(piece).attempts.at(0).exit_code, 3);
  }
  EXPECT_EQ(effects("post"), "0");
}

TEST_P(deadline, is_looked_at_again_by_who_has_waited_for_the_row) {
  if (on_sqlite()) return;  // who writes has the whole file
  support::raw_connection another(direct_url());
  auto const waits = lock_waits();
  for (std::string const last : {"step", "record", "once", "finish", "fail"}) {
    key const piece{last};
    auto run = taken(book_.start(nightly_, piece, {.deadline = 10s}));
    another.execute("begin");
    another.execute("update daybook_run set version = version + 1 where run_key = '" + last + "'");
    auto coming = std::async(std::launch::async, [&] {
      if (last == "step") return run.step("post", insert("post")).what();
      if (last == "record") return run.record("post").what();
      if (last == "once") {
        return run
            .at_most_once("post", [](daybook::effect const&) { ADD_FAILURE() << "is too late"; })
            .what();
      }
      return last == "finish" ? std::move(run).finish().what() : std::move(run).fail("no").what();
    });
    EXPECT_TRUE(comes_true(waits)) << last;
    clock_.advance(10s);
    another.execute("rollback");
    EXPECT_EQ(coming.get(), outcome::lost) << last;
  }
  EXPECT_EQ(effects("post"), "0");
  EXPECT_EQ(rows_of("step"), "0");
  EXPECT_EQ(rows_of("intent"), "0");
}

TEST_P(deadline, an_interrupted_run_keeps_it) {
  EXPECT_TRUE(taken(book_.start(nightly_, day_, {.deadline = 10s})).release("for a while"));
  clock_.advance(4s);
  auto run = taken(book_.start(nightly_, day_, {.deadline = 10s}));
  EXPECT_EQ(run.time_left(), 6s);
  EXPECT_TRUE(std::move(run).release("again"));
  EXPECT_EQ(taken(book_.start(nightly_, day_)).time_left(), 6s) << "also when it is given none";
}

TEST_P(deadline, a_failed_run_or_one_past_it_gets_a_new_one) {
  EXPECT_TRUE(taken(book_.start(nightly_, day_, {.deadline = 10s})).fail("no"));
  clock_.advance(4s);
  auto run = taken(book_.start(nightly_, day_, {.deadline = 10s}));
  EXPECT_EQ(run.time_left(), 10s);
  clock_.advance(20s);
  EXPECT_EQ(taken(other_.start(nightly_, day_, {.deadline = 7s})).time_left(), 7s);
}

TEST_P(deadline, is_recorded_by_the_renewal_of_a_process_that_hangs) {
  auto run = taken(book_.start(nightly_, day_, {.deadline = 1ms}));
  clock_.advance(1s);
  std::this_thread::sleep_for(2ms);  // the process's own clock cannot be moved
  ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  EXPECT_TRUE(run.stop().stop_requested());
  EXPECT_EQ(std::move(run).finish().what(), outcome::lost);
  EXPECT_EQ(seen().info.state, run_state::deadline_passed);
}

TEST_P(deadline, must_be_a_length_of_time) {
  for (auto const wrong : {0ms, -1ms, std::chrono::milliseconds(24h * 3654)}) {
    EXPECT_EQ(
        fault_of([&] { static_cast<void>(book_.start(nightly_, day_, {.deadline = wrong})); }),
        error_code::bad_argument);
  }
  EXPECT_EQ(rows_of("run"), "0");
}

DAYBOOK_ON_EVERY_ENGINE(deadline);

}  // namespace
}  // namespace conformance
