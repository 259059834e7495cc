// What people do to queues and tasks, with who and why; and what they look at.
#include "conformance/handing.hpp"

namespace conformance {
namespace {

using daybook::audit_note;
using daybook::result;
using daybook::task_request;
using daybook::task_state;

class queued_people : public handing {
 protected:
  static audit_note anna() { return {.actor = "anna", .reason = "the partner says so"}; }
  /// Claims all that is due and fails it for good.
  static void kill_all(daybook::queue& of) {
    while (auto batch = of.claim({.limit = 100})) {
      for (auto const& one : batch->tasks()) batch->finish(one, result::failure("no"));
      EXPECT_EQ(std::move(*batch).complete(), outcome::done);
    }
  }
};

TEST_P(queued_people, what_is_asked_for_is_written_down_with_who_and_why) {
  auto q = book_.make_queue("stock", {.attempts = 1});
  q.import(keys(0, 3));
  kill_all(q);
  EXPECT_TRUE(q.ask(key("k1"), task_request::retry, anna()));
  EXPECT_FALSE(q.ask(key("k9"), task_request::retry, anna()));
  EXPECT_TRUE(q.changes(key("k9")).empty()) << "of what was not done";
  auto batch = q.claim().value();
  ASSERT_EQ(batch.tasks().size(), 1U);
  EXPECT_EQ(batch.tasks()[0].key, "k1");
  auto const told = q.changes(key("k1"));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].actor, "anna");
  EXPECT_EQ(told[0].reason, "the partner says so");
  EXPECT_EQ(told[0].action, "retry");
  EXPECT_TRUE(q.changes().empty()) << "that is not of the queue";
  EXPECT_TRUE(book_.changes(process("stock"), key("k1")).empty()) << "nor of a run";
}

TEST_P(queued_people, every_request_is_known_by_its_word) {
  auto q = book_.make_queue("words", {.mode = daybook::step_mode::at_most_once});
  q.import(keys(0, 1));
  for (auto const what : {task_request::run_now, task_request::discard, task_request::was_done,
                          task_request::was_not_done}) {
    EXPECT_TRUE(q.ask(key("k0"), what, {}));
  }
  std::string words;
  for (auto const& one : q.changes(key("k0"))) {
    words += one.action + ": " + one.detail.substr(0, one.detail.find("request")) + "|";
  }
  EXPECT_EQ(words, "run-now: |discard: |resolve: done; |resolve: not done; |");
}

TEST_P(queued_people, what_was_asked_for_is_asked_for_once_whatever_reply_is_lost) {
  auto q = book_.make_queue("doubt", {.attempts = 1});
  q.import(keys(0, 2));
  kill_all(q);
  daybook::testing::arm("ask.committed", failpoint_action::cut);
  EXPECT_TRUE(q.ask(key("k0"), task_request::retry, anna()));
  EXPECT_EQ(q.changes(key("k0")).size(), 1U);
  EXPECT_EQ(database_.query("select count(*) from daybook_request"), "1");
  daybook::testing::arm("ask.before_commit", failpoint_action::cut);
  EXPECT_TRUE(q.ask(key("k1"), task_request::retry, anna()));
  EXPECT_EQ(q.changes(key("k1")).size(), 1U);
  EXPECT_EQ(q.claim().value().tasks().size(), 2U);
}

TEST_P(queued_people, what_is_due_after_the_year_9999_is_refused) {
  auto q = book_.make_queue("late");
  constexpr daybook::timestamp latest =
      std::chrono::sys_days{std::chrono::year{10'000} / 1 / 1} - std::chrono::seconds{1};
  for (auto const at : {latest + 1s, daybook::timestamp::max()}) {
    EXPECT_EQ(fault_of([&] { q.add(key("never"), {.at = at}); }), error_code::bad_argument);
    EXPECT_EQ(fault_of([&] { q.import({{key("never")}}, {.at = at}); }), error_code::bad_argument);
  }
  EXPECT_TRUE(q.add(key("late"), {.at = latest}));
  EXPECT_EQ(q.find(key("late")).value().due, latest);
  EXPECT_EQ(q.counts().members, 1);
}

TEST_P(queued_people, all_of_a_state_are_asked_for_at_once) {
  auto q = book_.make_queue("many", {.attempts = 1, .segment = 5});
  auto other = book_.make_queue("others", {.attempts = 1});
  q.import(keys(0, 120));
  other.import(keys(0, 10));
  kill_all(q);
  kill_all(other);
  q.add(key("waits"), {.at = daybook::timestamp(std::chrono::seconds{4'000'000'000})});
  std::vector<std::int64_t> told;
  EXPECT_EQ(q.ask(task_state::dead, task_request::retry, anna(),
                  [&](std::int64_t count) { told.push_back(count); }),
            120);
  EXPECT_GT(told.size(), 1U) << "in pieces";
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), 120);
  auto const changes = q.changes();
  ASSERT_EQ(changes.size(), 1U) << "one change, however many pieces";
  EXPECT_EQ(changes[0].action, "retry");
  EXPECT_TRUE(changes[0].detail.starts_with("all that are dead")) << changes[0].detail;
  EXPECT_EQ(q.claim({.limit = 1000}).value().tasks().size(), 120U);
  EXPECT_FALSE(other.claim());
  EXPECT_EQ(other.ask(task_state::unknown, task_request::was_done, anna()), 0);
  EXPECT_TRUE(other.changes().empty()) << "nothing was asked for";
  EXPECT_THROW(q.ask(task_state::running, task_request::retry, anna()), daybook::error);
}

TEST_P(queued_people, a_pause_and_its_end_are_changes) {
  auto q = book_.make_queue("rests");
  q.import(keys(0, 1));
  daybook::testing::arm("operate.committed", failpoint_action::cut);
  EXPECT_TRUE(q.pause(anna())) << "although its reply was lost";
  EXPECT_FALSE(q.pause(anna()));
  EXPECT_TRUE(q.info().paused);
  EXPECT_TRUE(other_.queue("rests").value().info().paused);
  EXPECT_FALSE(q.claim());
  EXPECT_TRUE(q.resume({.actor = "bob", .reason = ""}));
  EXPECT_FALSE(q.resume({.actor = "bob", .reason = ""}));
  EXPECT_FALSE(q.info().paused);
  auto const changes = q.changes();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].actor + " " + changes[0].action, "anna pause");
  EXPECT_EQ(changes[1].actor + " " + changes[1].action, "bob resume");
  EXPECT_TRUE(q.claim());
}

TEST_P(queued_people, who_makes_a_queue_and_what_it_follows_are_changes) {
  for (auto const* const table : {"product", "article"}) {
    database_.execute("create table " + std::string(table) + "(code int not null primary key)" +
                      innodb());
  }
  auto q = book_.make_queue("made", {.attempts = 2}, anna());
  book_.make_queue("made", {.attempts = 2}, anna());  // as it is already
  daybook::testing::arm("ask.committed", failpoint_action::cut);
  book_.make_queue("made", {.attempts = 3}, anna());
  for (auto const* const place : {"ask.before_commit", "ask.committed"}) {
    daybook::testing::arm(place, failpoint_action::cut);
    q.follow({.table = "product", .key = "code"}, anna());
    q.follow({.table = "product", .key = "code"}, anna());
    q.follow({.table = "article", .key = "code"}, anna());
    daybook::testing::arm(place, failpoint_action::cut);
    EXPECT_TRUE(q.unfollow(anna()));
    EXPECT_FALSE(q.unfollow(anna()));
  }
  EXPECT_EQ(q.info().options.attempts, 3);
  EXPECT_FALSE(q.followed());
  std::string words;
  for (auto const& one : q.changes()) {
    EXPECT_EQ(one.actor, "anna");
    EXPECT_EQ(one.reason, "the partner says so");
    words += one.action + ": " + one.detail.substr(0, one.detail.find(';')) + "|";
  }
  std::string const followed = "watch: product.code|watch: article.code|unwatch: article.code|";
  EXPECT_EQ(words, "make: a new queue|make: other options|" + followed + followed);
}

TEST_P(queued_people, a_removed_key_leaves_who_and_why) {
  auto q = book_.make_queue("shrinks");
  q.import(keys(0, 2));
  daybook::testing::arm("operate.committed", failpoint_action::cut);
  EXPECT_TRUE(q.remove(key("k0"), anna())) << "although its reply was lost";
  EXPECT_FALSE(q.remove(key("k0"), anna()));
  EXPECT_EQ(q.changes(key("k0")).size(), 1U);
  EXPECT_EQ(q.counts().members, 1);
}

TEST_P(queued_people, outcomes_are_listed_the_newest_first) {
  auto q = book_.make_queue("tells", {.attempts = 5, .backoff = 1s, .longest_backoff = 1s});
  q.import(keys(0, 3));
  for (int i = 1; i <= 3; ++i) {
    auto batch = q.claim().value();
    for (auto const& one : batch.tasks()) {
      if (one.key == "k1" && i < 3) {
        batch.finish(one, result::failure("try " + std::to_string(i)));
      } else {
        batch.finish(one, result::success());
      }
    }
    ASSERT_EQ(std::move(batch).complete(), outcome::done);
    clock_.advance(1min);
  }
  auto const all = q.outcomes(key("k1"));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].state, task_state::succeeded);
  EXPECT_EQ(all[1].remark, "try 2");
  EXPECT_EQ(all[1].attempts, 2);
  EXPECT_EQ(all[2].remark, "try 1");
  EXPECT_LT(all[2].finished.value(), all[1].finished.value());
  EXPECT_NE(all[2].claim, all[1].claim);
  ASSERT_EQ(q.outcomes(key("k1"), 2).size(), 2U);
  EXPECT_EQ(q.outcomes(key("k1"), 2)[1].remark, "try 2");
  EXPECT_EQ(q.outcomes(key("k0")).size(), 1U);
  EXPECT_TRUE(q.outcomes(key("k9")).empty());
  EXPECT_THROW(static_cast<void>(q.outcomes(key("k1"), 0)), daybook::error);
}

TEST_P(queued_people, counts_say_since_when_and_until_when) {
  auto q = book_.make_queue("times");
  auto const early = daybook::timestamp(std::chrono::seconds{1'000'000'000});
  auto const late = daybook::timestamp(std::chrono::seconds{4'000'000'000});
  EXPECT_FALSE(q.counts().oldest_due);
  q.add(key("a"), {.at = early + 1h, .priority = 0});
  q.add(key("b"), {.at = early});
  q.add(key("c"), {.at = late});
  q.add(key("d"), {.at = late + 1h, .priority = 9});
  EXPECT_EQ(q.counts().oldest_due, early);
  EXPECT_EQ(q.counts().next_due, late);
  EXPECT_EQ(q.claim().value().tasks().size(), 1U);
}

DAYBOOK_ON_EVERY_ENGINE(queued_people);

}  // namespace
}  // namespace conformance
