// What people should know of now: who works, and what nobody does.
#include "conformance/scheduling.hpp"
#include "conformance/waiting.hpp"

namespace conformance {
namespace {

using daybook::holder_state;
using daybook::problem_kind;
using testing::HasSubstr;

class problems : public scheduling {
 protected:
  /// "queue_not_worked queue stock", in the order told.
  [[nodiscard]] std::vector<std::string> told() const {
    std::vector<std::string> out;
    for (auto const& one : book_.problems()) {
      EXPECT_FALSE(one.why.empty());
      EXPECT_THAT(one.remedy, HasSubstr("daybook "));
      out.push_back(std::string(word_of(one.kind)) + " " + one.subject);
    }
    return out;
  }
  [[nodiscard]] daybook::problem only() const {
    auto const all = book_.problems();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? daybook::problem{} : all.front();
  }

  /// A process elsewhere, with a lease of 30 s.
  void add_holder(std::string const& uuid, timestamp renewed) {
    auto const us = renewed.time_since_epoch().count();
    database_.execute(
        "insert into daybook_holder (uuid, lease_until_us, ttl_us, node, pid, started_us, "
        "renewed_us, in_hand) values ('" +
        uuid + "', " + std::to_string(us + 30'000'000) + ", 30000000, 'elsewhere', 77, 1, " +
        std::to_string(us) + ", '')");
  }
  /// All that is in hand is in the name of a process elsewhere, whose lease was over at `at`.
  void leave_all_to_the_dead(timestamp at) {
    add_holder("gone", at - 30s);
    database_.execute("update daybook_run set holder = 'gone' where ended_us is null");
    database_.execute("update daybook_claim set holder = 'gone'");
  }
  /// A queue with one task that is due.
  daybook::queue waiting(daybook::queue_options const& options = {},
                         std::string const& name = "stock") {
    auto q = book_.make_queue(name, options);
    EXPECT_TRUE(q.add(key{"a"}));
    return q;
  }
  static void finish(daybook::queue& queue, daybook::result const& result, int limit = 1000) {
    auto batch = queue.claim({.limit = limit}).value();
    for (auto const& one : batch.tasks()) batch.finish(one, result);
    EXPECT_EQ(std::move(batch).complete(), outcome::done);
  }
  /// Its tick of 12:01 is nobody's since 12:00:30.
  void expect_interrupted(daybook::schedule const& leads) {
    auto const now = leads.info();
    EXPECT_EQ(now.running, noon + 1min);
    EXPECT_EQ(now.interrupted, noon + 30s);
    EXPECT_EQ(now.overdue, noon + 30s);
    EXPECT_EQ(now.node, "elsewhere");
    EXPECT_EQ(now.pid, 77);
    auto const left = leads.ticks().front();
    EXPECT_EQ(left.state, tick_state::running);
    EXPECT_EQ(left.interrupted, noon + 30s);
    EXPECT_EQ(left.node, "elsewhere");
    EXPECT_EQ(leads.find(noon + 1min)->interrupted, noon + 30s);
    wait();
    EXPECT_EQ(told(), (std::vector<std::string>{"holder_dead process 77 on elsewhere",
                                                "schedule_late schedule leads"}));
    for (auto const& one : book_.problems()) EXPECT_THAT(one.remedy, HasSubstr("daybook daemon"));
  }
  /// Longer than what is due may wait.
  void wait() {
    clock_.advance(2min);
    EXPECT_EQ(book_.renew(), daybook::lease_state::held);
  }
};

using strings = std::vector<std::string>;

TEST_P(problems, a_process_that_works_is_none) {
  EXPECT_THAT(told(), testing::IsEmpty());
  EXPECT_THAT(book_.holders(), testing::IsEmpty());
  auto q = waiting();
  auto run = taken(book_.start(nightly_, day_));
  auto batch = q.claim().value();
  auto const all = book_.holders();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].state, holder_state::alive);
  EXPECT_EQ(all[0].pid, ::getpid());
  EXPECT_FALSE(all[0].node.empty());
  EXPECT_FALSE(all[0].ended);
  ASSERT_EQ(all[0].work.size(), 2U);
  for (auto const& one : all[0].work) {
    bool const is_run = one.kind == daybook::work_kind::run;
    EXPECT_EQ(one.name, is_run ? "nightly" : "stock");
    EXPECT_EQ(one.key, is_run ? "2026-11-21" : "");
    EXPECT_EQ(one.tasks, is_run ? 0 : 1);
    EXPECT_EQ(one.since, noon);
  }
  EXPECT_THAT(told(), testing::IsEmpty());
  batch.finish(batch.tasks()[0], daybook::result::success());
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_THAT(book_.holders().at(0).work, testing::IsEmpty());
}

TEST_P(problems, a_dead_process_that_has_work) {
  auto q = waiting();
  auto run = taken(book_.start(nightly_, day_));
  auto const batch = q.claim();
  EXPECT_FALSE(seen().info.abandoned);
  leave_all_to_the_dead(noon - 1s);
  auto const one = only();
  EXPECT_EQ(one.kind, problem_kind::holder_dead);
  EXPECT_EQ(one.urgency, daybook::urgency::act_now);
  EXPECT_EQ(one.subject, "process 77 on elsewhere");
  EXPECT_EQ(one.since, noon - 1s);
  EXPECT_THAT(one.why, HasSubstr("run nightly 2026-11-21"));
  EXPECT_THAT(one.why, HasSubstr("1 task of queue stock"));
  EXPECT_THAT(one.remedy, HasSubstr("daybook run nightly --key 2026-11-21 -- "));
  EXPECT_EQ(seen().info.abandoned, noon - 1s);
  EXPECT_EQ(q.counts().running, 1);
  EXPECT_EQ(q.counts().abandoned, 1);
  // Declared dead, it is listed while it has work; then only among all.
  database_.execute(
      "update daybook_holder set ended_us = " + std::to_string(noon.time_since_epoch().count()) +
      ", ended_how = 'dead' where uuid = 'gone'");
  EXPECT_EQ(only().since, noon - 1s);
  auto const dead = [this](bool all) {
    auto const found = book_.holders({.all = all});
    return std::count_if(found.begin(), found.end(), [](auto const& each) {
      return each.state == holder_state::dead && each.node == "elsewhere";
    });
  };
  EXPECT_EQ(dead(false), 1);
  EXPECT_GE(q.reclaim(), 1);
  EXPECT_EQ(q.counts().abandoned, 0);
  EXPECT_EQ(taken(book_.start(nightly_, day_)).number(), 1);
  EXPECT_EQ(dead(false), 0);
  EXPECT_EQ(dead(true), 1);
  EXPECT_THAT(told(), testing::Not(testing::Contains(HasSubstr("holder_dead"))));
}

TEST_P(problems, a_holder_whose_row_is_gone_is_dead) {
  auto run = taken(book_.start(nightly_, day_));
  database_.execute("delete from daybook_holder");
  EXPECT_EQ(only().kind, problem_kind::holder_dead);
  EXPECT_EQ(seen().info.abandoned, noon);
}

TEST_P(problems, a_holder_is_alive_late_or_dead_by_its_last_renewal) {
  for (auto const ago : {20, 21, 30, 31}) {
    add_holder(std::to_string(ago), noon - std::chrono::seconds(ago));
  }
  add_holder("99", noon + 2min);  // before the clock stepped back
  strings states;
  for (auto const& one : book_.holders()) {
    states.push_back(one.holder + " " + std::string(word_of(one.state)));
    EXPECT_EQ(one.until, one.renewed + 30s);
  }
  EXPECT_EQ(states, (strings{"20 alive", "21 late", "30 late", "31 dead", "99 dead"}));
  EXPECT_THAT(told(), testing::IsEmpty());
}

TEST_P(problems, a_run_past_its_deadline_or_unknown) {
  auto run = taken(book_.start(nightly_, day_, {.deadline = 10s}));
  auto other = taken(book_.start(process{"pay day"}, key{"it's"}));
  EXPECT_TRUE(other.intend("pay"));
  EXPECT_EQ(std::move(other).finish().what(), outcome::unknown);
  auto const unknown = only();
  EXPECT_EQ(unknown.kind, problem_kind::run_unknown);
  EXPECT_EQ(unknown.subject, "run pay day it's");
  EXPECT_EQ(unknown.since, noon);
  EXPECT_THAT(unknown.remedy, HasSubstr("daybook runs resolve 'pay day' --key 'it'\\''s' --done"));
  clock_.advance(10s);
  EXPECT_EQ(told(),
            (strings{"run_unknown run pay day it's", "run_overdue run nightly 2026-11-21"}));
}

/// Nothing that was settled later hides it, however much that is.
TEST_P(problems, an_unknown_outcome_is_found_behind_many_that_were_settled) {
  auto const leave_open = [&](std::string const& day) {
    auto run = taken(book_.start(nightly_, key{day}));
    EXPECT_TRUE(run.intend("pay"));
    EXPECT_EQ(std::move(run).finish().what(), outcome::unknown);
  };
  leave_open("first");
  for (int i = 0; i < 201; ++i) {
    auto const day = "day " + std::to_string(i);
    clock_.advance(1s);
    EXPECT_EQ(book_.renew(), daybook::lease_state::held);
    leave_open(day);
    EXPECT_EQ(book_.resolve(nightly_, key{day}, {.effect = daybook::effect_state::done}, anna),
              daybook::change_outcome::changed);
  }
  EXPECT_EQ(only().subject, "run nightly first");
  EXPECT_EQ(book_.status().runs_unknown, 1);
}

TEST_P(problems, a_schedule_that_nobody_serves) {
  auto const leads = make();
  EXPECT_FALSE(leads.info().overdue);
  clock_.advance(90s);
  EXPECT_EQ(leads.info().overdue, noon + 1min);
  EXPECT_THAT(told(), testing::IsEmpty());
  clock_.advance(1min);
  auto const one = only();
  EXPECT_EQ(one.kind, problem_kind::schedule_late);
  EXPECT_EQ(one.subject, "schedule leads");
  EXPECT_EQ(one.since, noon + 1min);
  EXPECT_THAT(one.why, HasSubstr("no process is alive"));
  EXPECT_TRUE(book_.problems({.patience = 1h}).empty());
  serve("leads");
  EXPECT_GE(first_.drain(), 1);
  EXPECT_FALSE(leads.info().overdue);
  EXPECT_THAT(told(), testing::IsEmpty());
}

TEST_P(problems, a_tick_in_hand_and_one_that_nobody_goes_on_with) {
  auto const leads = make();
  clock_.advance(1min);
  int calls = 0;
  first_.serve("leads", [&](tick&) {
    if (++calls > 1) return;  // it was taken over
    auto const now = leads.info();
    EXPECT_EQ(now.running, noon + 1min);
    EXPECT_EQ(now.pid, ::getpid());
    EXPECT_FALSE(now.node.empty());
    EXPECT_FALSE(now.interrupted);
    EXPECT_FALSE(now.overdue);
    auto const running = leads.ticks().front();
    EXPECT_EQ(running.pid, ::getpid());
    EXPECT_FALSE(running.interrupted);
    leave_all_to_the_dead(noon + 30s);
    expect_interrupted(leads);
  });
  EXPECT_GE(first_.drain(), 1);
  EXPECT_GT(calls, 1);
  EXPECT_FALSE(leads.info().interrupted);
  EXPECT_THAT(told(), testing::IsEmpty());
}

TEST_P(problems, a_schedule_that_is_paused) {
  auto leads = make();
  clock_.advance(1s);
  EXPECT_TRUE(leads.pause(anna));
  EXPECT_THAT(told(), testing::IsEmpty());
  clock_.advance(3min);
  auto const one = only();
  EXPECT_EQ(one.kind, problem_kind::schedule_paused);
  EXPECT_EQ(one.urgency, daybook::urgency::look_today);
  EXPECT_EQ(one.since, noon + 1s);
  EXPECT_EQ(one.remedy, "daybook schedules resume leads");
  EXPECT_TRUE(leads.resume(anna));
  EXPECT_THAT(told(), testing::IsEmpty());
}

TEST_P(problems, a_queue_that_nobody_works) {
  auto q = waiting({}, "it's stock");
  EXPECT_EQ(q.counts().overdue, noon);
  clock_.advance(50s);
  EXPECT_THAT(told(), testing::IsEmpty());
  wait();
  auto const one = only();
  EXPECT_EQ(one.kind, problem_kind::queue_not_worked);
  EXPECT_EQ(one.subject, "queue it's stock");
  EXPECT_EQ(one.since, noon);
  {
    auto const batch = q.claim();
    EXPECT_TRUE(q.add(key{"b"}));
    wait();
    EXPECT_FALSE(q.counts().overdue);
    EXPECT_THAT(told(), testing::IsEmpty());
  }
  EXPECT_TRUE(q.pause(anna));
  clock_.advance(1h);
  EXPECT_FALSE(q.counts().overdue);
  auto const paused = only();
  EXPECT_EQ(paused.kind, problem_kind::queue_paused);
  EXPECT_EQ(paused.since, noon + 50s + 4min);
  EXPECT_EQ(paused.remedy, "daybook queues resume 'it'\\''s stock'");
}

TEST_P(problems, what_was_asked_for_hides_no_other) {
  auto q = waiting();
  wait();
  EXPECT_TRUE(q.add(key{"b"}));
  EXPECT_TRUE(q.run_now(key{"b"}));
  {
    auto const batch = q.claim({.limit = 1}).value();
    EXPECT_EQ(batch.tasks()[0].key, "b");
  }
  EXPECT_EQ(q.counts().overdue, noon);
}

TEST_P(problems, what_may_not_start_yet_is_none) {
  auto slow = waiting({.rate = daybook::rate{1, 1h}}, "slow");
  EXPECT_TRUE(slow.add(key{"b"}));
  finish(slow, daybook::result::success(), 1);
  static_cast<void>(waiting({.rounds = true}, "rounds"));
  auto in_order = book_.make_queue("in order", {.attempts = 2, .backoff = 1h, .in_order = true});
  EXPECT_TRUE(in_order.add(key{"a/1"}));
  EXPECT_TRUE(in_order.add(key{"a/2"}));
  finish(in_order, daybook::result::failure("no"));
  auto later = book_.make_queue("later");
  EXPECT_TRUE(later.add(key{"a"}, {.at = noon + 1h}));
  wait();
  EXPECT_THAT(told(), testing::IsEmpty());
  clock_.advance(2h);
  EXPECT_EQ(told().size(), 3U);
  EXPECT_TRUE(book_.queue("rounds")->open_round(noon + 2h));
  EXPECT_EQ(told().size(), 4U);
}

TEST_P(problems, tasks_that_wait_for_a_person) {
  auto q = waiting({.attempts = 1});
  clock_.advance(5s);
  finish(q, daybook::result::failure("no"));
  EXPECT_TRUE(q.add(key{"b"}));
  EXPECT_TRUE(q.add(key{"c"}));
  finish(q, daybook::result::unknown("who knows"));
  EXPECT_EQ(told(), (strings{"tasks_dead queue stock", "tasks_unknown queue stock"}));
  for (auto const& one : book_.problems()) {
    EXPECT_EQ(one.since, noon + 5s);
    bool const dead = one.kind == problem_kind::tasks_dead;
    EXPECT_THAT(one.why, HasSubstr(dead ? "1 dead task:" : "2 unknown tasks:"));
    EXPECT_THAT(one.remedy, HasSubstr("daybook tasks list stock --state "));
  }
}

TEST_P(problems, a_node_is_seen_before_it_has_work) {
  EXPECT_THAT(book_.holders(), testing::IsEmpty());
  first_.start();
  ASSERT_TRUE(comes_true([this] { return !book_.holders().empty(); }));
  EXPECT_THAT(book_.holders().at(0).work, testing::IsEmpty());
  first_.stop();
}

DAYBOOK_ON_EVERY_ENGINE(problems);

}  // namespace
}  // namespace conformance
