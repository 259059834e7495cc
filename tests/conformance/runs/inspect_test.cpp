// What people look at: runs in their order, one run with its steps and its history.
#include "conformance/fixture.hpp"

namespace conformance {
namespace {

class inspect : public on_engine {
 protected:
  inspect() : clock_(book_) { clock_.stop_at(noon_); }
  static std::vector<std::string> keys(std::vector<daybook::run_info> const& of) {
    std::vector<std::string> out;
    for (auto const& one : of) out.push_back(one.process + "/" + one.key);
    return out;
  }

  daybook::timestamp const noon_ =
      daybook::timestamp(std::chrono::sys_days(std::chrono::year(2026) / 11 / 21)) + 12h;
  daybook::testing::manual_clock clock_;
};

TEST_P(inspect, nothing_yet) {
  EXPECT_TRUE(book_.runs().empty());
  EXPECT_FALSE(book_.find(nightly_, day_));
}

TEST_P(inspect, runs_newest_first_by_process_and_state) {
  EXPECT_TRUE(taken(book_.start(nightly_, key{"1"})).finish());
  clock_.advance(1min);
  EXPECT_TRUE(taken(book_.start(process{"weekly"}, key{"1"})).fail("no"));
  auto held = taken(book_.start(process{"weekly"}, key{"0"}));
  clock_.advance(1min);
  EXPECT_TRUE(taken(book_.start(nightly_, key{"2"})).fail("no"));
  using strings = std::vector<std::string>;
  EXPECT_EQ(keys(book_.runs()), (strings{"nightly/2", "weekly/0", "weekly/1", "nightly/1"}));
  EXPECT_EQ(keys(book_.runs({.process = "weekly"})), (strings{"weekly/0", "weekly/1"}));
  EXPECT_EQ(keys(book_.runs({.state = run_state::failed})), (strings{"nightly/2", "weekly/1"}));
  EXPECT_EQ(keys(book_.runs({.process = "weekly", .state = run_state::ready})),
            (strings{"weekly/0"}));
  EXPECT_EQ(keys(book_.runs({.limit = 2})), (strings{"nightly/2", "weekly/0"}));
  EXPECT_TRUE(book_.runs({.limit = 0}).empty());
  EXPECT_TRUE(book_.runs({.limit = -1}).empty());
  EXPECT_TRUE(book_.runs({.process = "week%"}).empty());
  EXPECT_TRUE(book_.runs({.process = "weekly' or '1'='1"}).empty());
  // A second attempt makes a run the newest.
  clock_.advance(1min);
  EXPECT_TRUE(taken(book_.start(nightly_, key{"1"})).finish());
  EXPECT_EQ(book_.runs().front().key, "1");
}

TEST_P(inspect, one_run_with_all_its_times) {
  {
    auto run = taken(book_.start(nightly_, day_));
    ASSERT_TRUE(run.step("b", [](transaction&) { return 1; }));
    clock_.advance(1s);
    ASSERT_TRUE(run.step("a", [](transaction&) { return std::string("x"); }));
    clock_.advance(1s);
    EXPECT_TRUE(std::move(run).fail("first"));
  }
  clock_.advance(1s);
  auto run = taken(book_.start(nightly_, day_));
  ASSERT_TRUE(run.step("c", [](transaction&) {}));
  auto const now = seen();
  EXPECT_EQ(now.info.process, "nightly");
  EXPECT_EQ(now.info.key, "2026-11-21");
  EXPECT_EQ(now.info.state, run_state::running);
  EXPECT_EQ(now.info.number, 1);
  EXPECT_EQ(now.info.attempt, 2);
  EXPECT_EQ(now.info.steps_done, 3);
  EXPECT_EQ(now.info.first_started, noon_);
  EXPECT_EQ(now.info.started, noon_);
  EXPECT_EQ(now.info.attempt_started, noon_ + 3s);
  EXPECT_FALSE(now.info.ended);
  EXPECT_FALSE(now.info.succeeded);
  EXPECT_EQ(now.info.error, "");
  ASSERT_EQ(now.steps.size(), 3U);
  EXPECT_EQ(now.steps[0].name, "b");
  EXPECT_EQ(now.steps[0].value, "1");
  EXPECT_EQ(now.steps[0].attempt, 1);
  EXPECT_EQ(now.steps[0].ended, noon_);
  EXPECT_EQ(now.steps[1].name, "a");
  EXPECT_EQ(now.steps[1].ended, noon_ + 1s);
  EXPECT_EQ(now.steps[2].name, "c");
  EXPECT_EQ(now.steps[2].attempt, 2);
  EXPECT_EQ(now.steps[2].epoch, run.epoch());
  ASSERT_EQ(now.attempts.size(), 1U);
  EXPECT_EQ(now.attempts[0].started, noon_);
  EXPECT_EQ(now.attempts[0].ended, noon_ + 2s);
  EXPECT_EQ(now.attempts[0].state, run_state::failed);
  EXPECT_EQ(now.attempts[0].error, "first");
  EXPECT_EQ(now.attempts[0].pid, ::getpid());
  EXPECT_EQ(now.attempts[0].holder.size(), 36U);
  ASSERT_TRUE(now.info.holder);
  EXPECT_EQ(now.info.holder->since, noon_ + 3s);
  EXPECT_TRUE(now.info.holder_alive);
  clock_.advance(31s);
  EXPECT_FALSE(seen().info.holder_alive);
  ASSERT_TRUE(seen().info.holder);

  EXPECT_TRUE(std::move(run).finish());
  auto const ended = seen();
  EXPECT_EQ(ended.info.ended, noon_ + 34s);
  EXPECT_EQ(ended.info.succeeded, noon_ + 34s);
  EXPECT_FALSE(ended.info.holder);
  EXPECT_FALSE(ended.info.holder_alive);

  clock_.advance(1s);
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).fail("second"));
  auto const next = seen();
  EXPECT_EQ(next.info.number, 2);
  EXPECT_EQ(next.info.first_started, noon_);
  EXPECT_EQ(next.info.started, noon_ + 35s);
  EXPECT_EQ(next.info.succeeded, noon_ + 34s);
  EXPECT_TRUE(next.steps.empty());
  ASSERT_EQ(next.attempts.size(), 3U);
  EXPECT_EQ(next.attempts[2].number, 2);
}

TEST_P(inspect, the_error_is_cut_at_2000_bytes_and_stays_utf8) {
  std::string why;
  while (why.size() < 5000) why += "\xf0\x9d\x84\x9e\xc3\xa4";
  for (std::size_t const shift : {0U, 1U, 2U, 3U}) {
    key const piece{std::to_string(shift)};
    EXPECT_TRUE(taken(book_.start(nightly_, piece)).fail(std::string(shift, 'x') + why));
    auto const& text = seen(piece).info.error;
    EXPECT_LE(text.size(), 2000U);
    EXPECT_GT(text.size(), 1990U);
    EXPECT_TRUE(text.ends_with("..."));
    auto const last = text.substr(0, text.size() - 3);
    EXPECT_TRUE(last.ends_with("\xc3\xa4") || last.ends_with("\x9e"));
    EXPECT_EQ(seen(piece).attempts[0].error, text);
  }
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).fail(std::string(2000, 'x')));
  EXPECT_EQ(seen().info.error, std::string(2000, 'x'));
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).fail(std::string("a\0b\xff\n", 5)));
  EXPECT_EQ(seen().info.error, "a?b?\n");
}

TEST_P(inspect, a_library_table_edited_by_hand_does_not_hide_the_run) {
  auto run = taken(book_.start(nightly_, day_));
  database_.execute("delete from daybook_holder");
  auto const now = seen();
  ASSERT_TRUE(now.info.holder);
  EXPECT_FALSE(now.info.holder_alive);
  EXPECT_EQ(now.info.holder->node, "");
}

DAYBOOK_ON_EVERY_ENGINE(inspect);

}  // namespace
}  // namespace conformance
