// What the observer is told, and the help for tests: a book in memory, a clock, expiry.
#include "conformance/fixture.hpp"

#include <thread>

namespace conformance {
namespace {

class observer : public on_engine {
 protected:
  /// The events, without how long transactions took.
  [[nodiscard]] std::vector<std::string> events() const {
    auto lines = log_.lines();
    std::erase_if(lines, [](std::string const& line) { return line.starts_with("timed"); });
    return lines;
  }
};

TEST_P(observer, is_told_the_whole_life_of_a_run) {
  auto other = database_.open(watched());
  {
    auto run = taken(book_.start(nightly_, day_));
    ASSERT_TRUE(run.step("one", insert("one")));
    ASSERT_TRUE(run.record("two"));
    EXPECT_TRUE(std::move(run).fail("no paper"));
  }
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).release("lunch"));
  { auto const dropped = taken(book_.start(nightly_, day_)); }
  auto zombie = taken(book_.start(nightly_, day_));
  daybook::testing::manual_clock clock(book_);
  clock.advance(2 * daybook::book_options().lease);
  auto heir = taken(other.start(nightly_, day_));
  EXPECT_FALSE(std::move(zombie).finish());
  EXPECT_TRUE(std::move(heir).finish());
  auto const node = seen().attempts.back().node;
  EXPECT_EQ(
      events(),
      (std::vector<std::string>{
          "started nightly/2026-11-21 1.1", "step_done nightly/2026-11-21:one 1.1",
          "step_done nightly/2026-11-21:two 1.1", "failed nightly/2026-11-21 1.1 no paper",
          "started nightly/2026-11-21 1.2", "released nightly/2026-11-21 1.2 lunch",
          "started nightly/2026-11-21 1.3", "released nightly/2026-11-21 1.3 let go without an end",
          "started nightly/2026-11-21 1.4", "taken_over nightly/2026-11-21 0.0 " + node,
          "started nightly/2026-11-21 1.5", "lost nightly/2026-11-21 1.4",
          "finished nightly/2026-11-21 1.5"}));
  for (std::string const name : {"register", "start", "step", "record", "end", "mark_dead"}) {
    EXPECT_GE(log_.count("timed " + name), 1U) << name;
  }
}

TEST_P(observer, is_not_told_of_a_step_that_was_not_done) {
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_THROW(static_cast<void>(run.step("bad", [](transaction&) { throw 1; })), int);
  EXPECT_EQ(log_.count("step_done"), 0U);
  ASSERT_TRUE(run.step("good", insert("good")));
  EXPECT_TRUE(std::move(run).fail("no"));
  auto next = taken(book_.start(nightly_, day_));
  EXPECT_EQ(next.step("good", insert("good")).what(), outcome::skipped);
  EXPECT_EQ(log_.count("step_done"), 1U);
}

TEST_P(observer, hears_of_late_renewals_and_the_run_is_asked_to_stop) {
  // The background cannot renew: somebody has locked the holder's row (SQLite: the file).
  auto options = watched();
  options.lease = 1s;
  options.prefix = "late_";
  options.renew_in_background = true;
  auto book = database_.open(options);
  auto run = taken(book.start(nightly_, day_));
  support::raw_connection rival(direct_url());
  rival.execute(on_sqlite() ? "begin immediate" : "begin");
  rival.execute("update late_holder set pid = pid");
  auto const until = std::chrono::steady_clock::now() + 60s;
  // Twice on SQLite, where the lease is still ours.
  auto const wanted = on_sqlite() ? 2U : 1U;
  while (log_.count("renewal_late") < wanted && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(20ms);
  }
  std::vector<std::string> late;
  for (auto const& line : log_.lines()) {
    if (line.starts_with("renewal_late ")) late.push_back(line.substr(13));
  }
  ASSERT_GE(late.size(), wanted);
  if (on_sqlite()) {
    EXPECT_NE(late[0].find("where one writes at a time"), std::string::npos) << late[0];
    EXPECT_GT(std::stoll(late[1]) - std::stoll(late[0]), 1000) << "once in a lease";
    EXPECT_FALSE(run.stop().stop_requested());
  } else {
    while (!run.stop().stop_requested() && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(20ms);
    }
    EXPECT_TRUE(run.stop().stop_requested());
  }
  rival.execute("rollback");
  // Nobody took it: the fence still holds.
  EXPECT_TRUE(run.step("one", insert("one")));
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(observer, the_clock_of_a_real_book_cannot_be_moved) {
  auto options = watched();
  options.prefix = "real_";
  options.movable_clock = false;
  auto book = database_.open(options);
  EXPECT_EQ(fault_of([&] { daybook::testing::manual_clock const clock(book); }),
            error_code::configuration);
  EXPECT_EQ(fault_of([&] { daybook::testing::expire(book, nightly_, day_); }),
            error_code::configuration);
  // The kind of clock is the book's, whatever who opens it asks for.
  options.movable_clock = true;
  auto again = database_.open(options);
  EXPECT_EQ(fault_of([&] { daybook::testing::manual_clock const clock(again); }),
            error_code::configuration);
}

TEST_P(observer, the_manual_clock) {
  daybook::testing::manual_clock clock(book_);
  auto const close = [](daybook::timestamp a, daybook::timestamp b) {
    return a - b < 10s && b - a < 10s;
  };
  auto const host = [] {
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  };
  EXPECT_TRUE(close(clock.now(), host()));
  clock.advance(1h);
  EXPECT_TRUE(close(clock.now(), host() + 1h));
  clock.advance(-2h);
  EXPECT_TRUE(close(clock.now(), host() - 1h));
  auto const instant = daybook::timestamp(123456789us);
  clock.stop_at(instant);
  EXPECT_EQ(clock.now(), instant);
  EXPECT_EQ(clock.now(), instant);
  clock.advance(1us);
  EXPECT_EQ(clock.now(), instant + 1us);
}

TEST_P(observer, expire_and_renew) {
  EXPECT_FALSE(daybook::testing::expire(book_, nightly_, day_));
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_TRUE(daybook::testing::expire(book_, nightly_, day_));
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_FALSE(daybook::testing::expire(book_, nightly_, day_));
}

TEST_P(observer, failpoints_are_armed_by_name) {
  EXPECT_EQ(fault_of([] { daybook::testing::arm("no.such", failpoint_action::cut); }),
            error_code::bad_argument);
  daybook::testing::arm("step.begun", failpoint_action::fail, 1);
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_TRUE(run.step("one", insert("one")));
  EXPECT_EQ(fault_of([&] { static_cast<void>(run.step("two", insert("two"))); }),
            error_code::internal);
  EXPECT_TRUE(run.step("three", insert("three")));
  EXPECT_EQ(effects("two"), "0");
}

TEST_P(observer, a_book_in_memory_is_of_its_own) {
  auto one = daybook::testing::open_in_memory();
  auto two = daybook::testing::open_in_memory({.lease = 5s});
  EXPECT_TRUE(std::move(one.start(process{"a"})).take().finish());
  EXPECT_TRUE(two.runs().empty());
  auto zombie = std::move(two.start(process{"a"})).take();
  EXPECT_FALSE(two.start(process{"a"}));
  ASSERT_TRUE(daybook::testing::expire(two, process{"a"}));
  auto heir = std::move(two.start(process{"a"})).take();
  EXPECT_EQ(heir.attempt(), 2);
  EXPECT_FALSE(std::move(zombie).finish());
  EXPECT_TRUE(std::move(heir).finish());
  EXPECT_EQ(one.url(), two.url());
}

DAYBOOK_ON_EVERY_ENGINE(observer);

}  // namespace
}  // namespace conformance
