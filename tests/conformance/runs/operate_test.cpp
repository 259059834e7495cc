// What people change: a run taken from its holder, given up, settled; history deleted; and what
// is written down of it.
#include "conformance/fixture.hpp"

#include "core/tx/transact.hpp"
#include "service/engine.hpp"

#include <atomic>
#include <cstdint>
#include <thread>
#include <variant>

namespace conformance {
namespace {

class operate : public on_engine {
 protected:
  operate() : clock_(book_) { clock_.stop_at(noon_); }

  [[nodiscard]] std::vector<std::string> actions() const {
    std::vector<std::string> out;
    for (auto const& one : book_.changes(nightly_, day_)) out.push_back(one.action);
    return out;
  }
  /// Leaves the run unknown, with an intent for each name.
  void leave_unknown(std::vector<std::string> const& names) {
    auto run = taken(book_.start(nightly_, day_));
    ASSERT_TRUE(run.step("load", insert("load")));
    for (auto const& one : names) ASSERT_TRUE(run.intend(one));
    EXPECT_EQ(std::move(run).finish().what(), outcome::unknown);
    ASSERT_EQ(book_.start(nightly_, day_).why(), start_refusal::unknown_outcome);
  }
  void finished(key const& piece, process const& name) {
    auto run = taken(book_.start(name, piece));
    EXPECT_TRUE(run.step("one", insert("one")));
    EXPECT_TRUE(run.set_value("cursor", "17"));
    EXPECT_TRUE(std::move(run).finish());
  }

  daybook::audit_note const anna_{.actor = "anna@node", .reason = "the node hangs"};
  daybook::timestamp const noon_ =
      daybook::timestamp(std::chrono::sys_days(std::chrono::year(2026) / 11 / 21)) + 12h;
  daybook::testing::manual_clock clock_;
};

TEST_P(operate, nothing_there) {
  EXPECT_EQ(book_.release(nightly_, day_, anna_), daybook::change_outcome::no_such_run);
  EXPECT_EQ(book_.restart(nightly_, day_, anna_), daybook::change_outcome::no_such_run);
  EXPECT_EQ(book_.resolve(nightly_, day_, {}, anna_), daybook::change_outcome::no_such_run);
  EXPECT_TRUE(book_.changes(nightly_, day_).empty());
  EXPECT_EQ(rows_of("change"), "0");
}

TEST_P(operate, a_released_run_is_lost_to_its_live_holder) {
  auto other = database_.open(watched());
  auto run = taken(book_.start(nightly_, day_));
  ASSERT_TRUE(run.step("load", insert("load")));
  EXPECT_EQ(other.start(nightly_, day_).why(), start_refusal::running_elsewhere);
  EXPECT_EQ(other.release(nightly_, day_, anna_), daybook::change_outcome::changed);
  EXPECT_EQ(seen().info.state, run_state::interrupted);
  EXPECT_EQ(seen().info.error, "released by anna@node: the node hangs");

  auto heir = taken(other.start(nightly_, day_));
  EXPECT_EQ(heir.attempt(), 2);
  EXPECT_EQ(run.step("post", insert("post")).what(), outcome::lost);
  EXPECT_FALSE(std::move(run).finish());
  EXPECT_EQ(effects("post"), "0");
  EXPECT_EQ(heir.step("load", insert("load")).what(), outcome::skipped);
  EXPECT_TRUE(std::move(heir).finish());

  auto const history = seen().attempts;
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].state, run_state::interrupted);
  EXPECT_EQ(history[0].error, "released by anna@node: the node hangs");
  auto const changes = book_.changes(nightly_, day_);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].at, noon_);
  EXPECT_EQ(changes[0].actor, "anna@node");
  EXPECT_EQ(changes[0].action, "release");
  EXPECT_EQ(changes[0].reason, "the node hangs");
  EXPECT_EQ(changes[0].detail, "run 1, attempt 1, epoch 1");
  EXPECT_EQ(book_.release(nightly_, day_, anna_), daybook::change_outcome::unchanged);
  EXPECT_EQ(rows_of("change"), "1");
}

TEST_P(operate, a_released_run_loses_before_anybody_takes_it) {
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_EQ(book_.release(nightly_, day_, anna_), daybook::change_outcome::changed);
  EXPECT_EQ(run.step("post", insert("post")).what(), outcome::lost);
  EXPECT_EQ(effects("post"), "0");
}

TEST_P(operate, a_remark_is_cut_and_kept_as_text) {
  auto run = taken(book_.start(nightly_, day_));
  auto const actor = std::string(300, 'a');
  EXPECT_EQ(book_.release(nightly_, day_, {actor, "b\xff\xc3\xa4"}),
            daybook::change_outcome::changed);
  auto const changes = book_.changes(nightly_, day_);
  EXPECT_EQ(changes.at(0).actor, std::string(252, 'a') + "...");
  EXPECT_EQ(changes.at(0).reason, "b?\xc3\xa4");
}

/// Whatever is lost on the way, a change is made once and written down once.
TEST_P(operate, a_lost_reply_leaves_one_change) {
  for (auto const* at : {"operate.begun", "operate.before_commit", "operate.committed"}) {
    SCOPED_TRACE(at);
    database_.execute("delete from daybook_change");
    {
      auto run = taken(book_.start(nightly_, day_));
      daybook::testing::arm(at, failpoint_action::cut);
      EXPECT_EQ(book_.release(nightly_, day_, anna_), daybook::change_outcome::changed);
      EXPECT_EQ(run.step("post", insert("post")).what(), outcome::lost);
    }
    daybook::testing::arm(at, failpoint_action::cut);
    EXPECT_EQ(book_.restart(nightly_, day_, anna_), daybook::change_outcome::changed);
    EXPECT_EQ(actions(), (std::vector<std::string>{"release", "restart"}));
    leave_unknown({"pay"});
    daybook::testing::arm(at, failpoint_action::cut);
    EXPECT_EQ(
        book_.resolve(nightly_, day_, {.effect = daybook::effect_state::done, .value = "7"}, anna_),
        daybook::change_outcome::changed);
    EXPECT_EQ(actions(), (std::vector<std::string>{"release", "restart", "resolve"}));
    EXPECT_EQ(seen().info.state, run_state::interrupted);
    EXPECT_EQ(seen().info.steps_done, 2);
    EXPECT_TRUE(taken(book_.start(nightly_, day_)).finish());
    daybook::testing::arm(at, failpoint_action::cut, 1);
    static_cast<void>(book_.prune({.older_than = 1h}, anna_));
    EXPECT_EQ(database_.query("select count(*) from daybook_change where action = 'prune'"), "1");
  }
}

TEST_P(operate, restart_begins_afresh_and_past_once) {
  {
    auto run = taken(book_.start(nightly_, day_));
    ASSERT_TRUE(run.step("load", insert("load")));
    EXPECT_EQ(book_.restart(nightly_, day_, anna_), daybook::change_outcome::unchanged);
    EXPECT_TRUE(std::move(run).fail("broken"));
  }
  EXPECT_EQ(book_.restart(nightly_, day_, anna_), daybook::change_outcome::changed);
  EXPECT_EQ(seen().info.state, run_state::discarded);
  EXPECT_EQ(book_.restart(nightly_, day_, anna_), daybook::change_outcome::changed);
  EXPECT_EQ(rows_of("change"), "1");
  {
    auto run = taken(book_.start(nightly_, day_, {.once = true}));
    EXPECT_EQ(run.number(), 2);
    EXPECT_EQ(run.attempt(), 1);
    EXPECT_EQ(run.step("load", insert("load")).what(), outcome::done);
    EXPECT_TRUE(std::move(run).finish());
  }
  EXPECT_EQ(effects("load"), "2");
  EXPECT_EQ(book_.start(nightly_, day_, {.once = true}).why(), start_refusal::done_before);
  EXPECT_EQ(book_.restart(nightly_, day_, anna_), daybook::change_outcome::changed);
  auto run = taken(book_.start(nightly_, day_, {.once = true}));
  EXPECT_EQ(run.number(), 3);
  EXPECT_EQ(database_.query("select count(*) from daybook_step"), "2");
}

TEST_P(operate, resolve_as_done_gives_the_value_to_the_next_attempt) {
  leave_unknown({"pay"});
  EXPECT_EQ(book_.resolve(nightly_, day_, {.step = "other", .effect = daybook::effect_state::done},
                          anna_),
            daybook::change_outcome::unchanged);
  EXPECT_EQ(rows_of("change"), "0");
  EXPECT_EQ(
      book_.resolve(nightly_, day_,
                    {.step = "pay", .effect = daybook::effect_state::done, .value = "receipt 9"},
                    anna_),
      daybook::change_outcome::changed);
  EXPECT_EQ(seen().info.state, run_state::interrupted);
  auto const steps = seen().steps;
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[1].name, "pay");
  EXPECT_EQ(steps[1].mode, daybook::step_mode::at_most_once);
  EXPECT_EQ(steps[1].attempt, 1);
  EXPECT_EQ(rows_of("intent"), "0");
  EXPECT_EQ(book_.changes(nightly_, day_).at(0).detail,
            "step pay: done; run 1, attempt 1, epoch 1");
  EXPECT_EQ(book_.resolve(nightly_, day_, {.step = "pay"}, anna_),
            daybook::change_outcome::unchanged);
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_EQ(run.attempt(), 2);
  EXPECT_EQ(run.intend("pay").what(), outcome::skipped);
  EXPECT_EQ(run.value("pay"), std::optional(std::string("receipt 9")));
  ASSERT_TRUE(run.step("after", insert("after")));
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(operate, resolve_as_not_done_lets_it_be_done) {
  leave_unknown({"pay"});
  EXPECT_EQ(book_.resolve(nightly_, day_, {}, anna_), daybook::change_outcome::changed);
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_EQ(run.intend("pay").what(), outcome::done);
  EXPECT_TRUE(run.record("pay"));
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(operate, a_run_waits_for_the_last_of_its_unknown_steps) {
  leave_unknown({"pay", "mail"});
  EXPECT_EQ(fault_of([&] { book_.resolve(nightly_, day_, {}, anna_); }), error_code::bad_argument);
  EXPECT_EQ(book_.resolve(nightly_, day_, {.step = "mail"}, anna_),
            daybook::change_outcome::changed);
  EXPECT_EQ(book_.start(nightly_, day_).why(), start_refusal::unknown_outcome);
  EXPECT_EQ(
      book_.resolve(nightly_, day_, {.step = "pay", .effect = daybook::effect_state::done}, anna_),
      daybook::change_outcome::changed);
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).finish());
}

TEST_P(operate, resolve_keeps_off_a_run_in_hand) {
  auto run = taken(book_.start(nightly_, day_));
  ASSERT_TRUE(run.intend("pay"));
  EXPECT_EQ(book_.resolve(nightly_, day_, {.step = "pay"}, anna_),
            daybook::change_outcome::unchanged);
  EXPECT_EQ(rows_of("intent"), "1");
  EXPECT_TRUE(run.record("pay"));
  EXPECT_TRUE(std::move(run).finish());
}

/// A step and a release at the same moment: whoever is first, both tell the truth.
TEST_P(operate, a_step_and_a_release_never_both_win) {
  auto other = database_.open(watched());
  for (int i = 0; i < 15; ++i) {
    auto const name = "race" + std::to_string(i);
    auto const piece = key{name};
    auto run = taken(book_.start(nightly_, piece));
    std::atomic<int> done = 0;
    std::thread worker([&] {
      while (run.step("s" + std::to_string(done), insert(name.c_str()))) ++done;
    });
    while (done < i % 3) std::this_thread::yield();
    EXPECT_EQ(other.release(nightly_, piece, anna_), daybook::change_outcome::changed);
    auto const at_release = std::stoi(effects(name));
    worker.join();
    EXPECT_EQ(effects(name), std::to_string(done));
    EXPECT_EQ(at_release, done);
    EXPECT_EQ(seen(piece).info.steps_done, done);
    EXPECT_EQ(other.changes(nightly_, piece).size(), 1U);
  }
}

TEST_P(operate, prune_takes_what_is_old_and_over) {
  process const weekly{"weekly"};
  finished(key{"old"}, nightly_);
  finished(key{"old"}, nightly_);
  finished(key{"old"}, weekly);
  {
    auto run = taken(book_.start(nightly_, key{"broken"}));
    EXPECT_TRUE(run.step("one", insert("one")));
    EXPECT_TRUE(run.set_value("cursor", "17"));
    EXPECT_TRUE(std::move(run).fail("no"));
  }
  EXPECT_TRUE(taken(book_.start(nightly_, key{"held"})).fail("no"));
  auto held = taken(book_.start(nightly_, key{"held"}));
  EXPECT_TRUE(held.step("one", insert("one")));
  clock_.advance(48h);
  finished(key{"new"}, nightly_);

  auto const none = book_.prune({.older_than = 72h}, anna_);
  EXPECT_EQ(none.attempts + none.steps + none.values + none.holders + none.runs, 0);
  auto const some = book_.prune({.older_than = 24h, .process = "nightly"}, anna_);
  EXPECT_EQ(some.attempts, 3);
  EXPECT_EQ(some.steps, 2);
  EXPECT_EQ(some.values, 2);
  EXPECT_EQ(some.runs, 0);
  EXPECT_EQ(seen(key{"old"}).info.state, run_state::succeeded);
  EXPECT_EQ(seen(key{"broken"}).steps.size(), 1U);
  EXPECT_EQ(seen(key{"broken"}).values.size(), 1U);
  EXPECT_EQ(seen(key{"new"}).steps.size(), 1U);
  EXPECT_EQ(seen(key{"held"}).steps.size(), 1U);
  EXPECT_EQ(seen(key{"held"}).attempts.size(), 1U);
  EXPECT_EQ(book_.find(weekly, key{"old"})->steps.size(), 1U);
  EXPECT_EQ(book_.start(nightly_, key{"old"}, {.once = true}).why(), start_refusal::done_before);

  auto const all = book_.prune({.older_than = 24h, .forget_runs = true}, anna_);
  EXPECT_EQ(all.attempts, 1);
  EXPECT_EQ(all.steps, 1);
  EXPECT_EQ(all.runs, 2);
  EXPECT_FALSE(book_.find(nightly_, key{"old"}));
  EXPECT_TRUE(book_.find(nightly_, key{"broken"}));
  EXPECT_TRUE(book_.find(nightly_, key{"new"}));
  auto again = taken(book_.start(nightly_, key{"old"}, {.once = true}));
  EXPECT_EQ(again.number(), 1);
  EXPECT_EQ(again.step("one", insert("one")).what(), outcome::done);
  EXPECT_EQ(database_.query("select detail from daybook_change where id = "
                            "(select max(id) from daybook_change)"),
            "older than 24 h: 1 attempts, 1 steps, 1 carried values, 0 holders, 2 runs");
  EXPECT_EQ(fault_of([&] { book_.prune({.older_than = 0h}, anna_); }), error_code::bad_argument);
}

TEST_P(operate, prune_takes_holders_that_nothing_names) {
  { EXPECT_TRUE(taken(database_.open(watched()).start(nightly_, key{"1"})).finish()); }
  EXPECT_TRUE(taken(book_.start(nightly_, key{"1"})).finish());
  clock_.advance(48h);
  EXPECT_EQ(book_.prune({.older_than = 72h}, anna_).holders, 0);
  EXPECT_EQ(book_.prune({.older_than = 24h}, anna_).holders, 1);
  EXPECT_EQ(rows_of("holder"), "1");
}

/// More than are looked for at once.
TEST_P(operate, prune_takes_all_holders_but_those_that_are_named_or_live) {
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).finish());
  constexpr int count = 10'007;
  std::string rows;
  for (int i = 0; i < count; ++i) {
    rows += (i == 0 ? "('" : ", ('") + std::to_string(i) + "', 1, 1, 'n', 1, 1, 1, '', " +
            // The last one's lease is over, and it has not been found dead.
            (i == count - 1 ? "null" : "1") + ", null)";
  }
  database_.execute(
      "insert into daybook_holder (uuid, lease_until_us, ttl_us, node, pid, started_us, "
      "renewed_us, "
      "in_hand, ended_us, ended_how) values " +
      rows);
  database_.execute(
      "insert into daybook_attempt (process, run_key, epoch, run_no, attempt, acquisition, holder, "
      "started_us, ended_us, state, error) select process, run_key, epoch + 1, 1, 1, 'a', '77', 1, "
      "ended_us, -1, '' from daybook_run");
  EXPECT_TRUE(taken(book_.start(nightly_, key{"of 7"})).finish());
  database_.execute("update daybook_run set holder = '7' where run_key = 'of 7'");
  EXPECT_EQ(book_.prune({.older_than = 24h}, anna_).holders, count - 2);
  EXPECT_EQ(rows_of("holder where uuid in ('7', '77')"), "2");
  EXPECT_EQ(rows_of("holder"), "3") << "and who prunes";
}

/// Not for each holder anew, which is quadratic.
TEST_P(operate, what_names_a_holder_is_read_once_for_all) {
  auto options = watched();
  options.movable_clock = false;
  options.prefix = "real_";
  auto const book = database_.open(options);
  std::string holders;
  std::string attempts;
  for (int i = 0; i < 3000; ++i) {
    auto const n = std::to_string(i);
    holders += (i == 0 ? "('h" : ", ('h") + n + "', 1, 1, 'n', 1, 1, 1, '')";
    attempts +=
        (i == 0 ? "('p', 'k" : ", ('p', 'k") + n + "', 1, 1, 1, 'a', 'h" + n + "', 1, 1, -1, '')";
  }
  database_.execute(
      "insert into real_holder (uuid, lease_until_us, ttl_us, node, pid, started_us, renewed_us, "
      "in_hand) values " +
      holders);
  database_.execute(
      "insert into real_attempt (process, run_key, epoch, run_no, attempt, acquisition, holder, "
      "started_us, ended_us, state, error) values " +
      attempts);
  if (on_postgres()) database_.execute("analyze real_holder, real_attempt, real_run");
  if (on_mariadb()) database_.execute("analyze table real_holder, real_attempt, real_run");
  auto const in = book.internals().ready();
  daybook::core::transact(in, {.name = "plans"}, [&](daybook::db::session& on) {
    // With more than goes into this PostgreSQL would not gather what a "not in" looks for.
    if (on_postgres()) on.run({"plans", "set local work_mem = '64kB'", {}, {}}, {});
    auto look = in.sql["operate.idle_holders"].parts[0].what;
    look.text = (on_sqlite() ? "explain query plan " : "explain ") + look.text;
    std::vector<daybook::value> const values{std::int64_t{2}, std::string_view(),
                                             std::int64_t{10'000}};
    auto const plan = on.run(look, values);
    std::string all;
    for (auto const& one : plan.cells) {
      if (auto const* text = std::get_if<std::string>(&one)) all += *text + "\n";
    }
    for (auto const* each : {"DEPENDENT", "SubPlan", "CORRELATED"}) {
      EXPECT_EQ(all.find(each), std::string::npos) << all;
    }
    return daybook::core::decision::rollback;
  });
}

TEST_P(operate, prune_goes_on_until_all_is_gone) {
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).finish());
  std::string rows;
  for (int i = 2; i < 2502; ++i) {
    rows += (rows.empty() ? "" : ", ") + std::string("('nightly', '2026-11-21', ") +
            std::to_string(i) + ", 1, 1, 'a', 'h', 1, 1, -1, '')";
  }
  database_.execute(
      "insert into daybook_attempt (process, run_key, epoch, run_no, attempt, acquisition, "
      "holder, started_us, ended_us, state, error) values " +
      rows);
  EXPECT_EQ(book_.prune({.older_than = 1h}, anna_).attempts, 2500);
  EXPECT_EQ(rows_of("attempt"), "1");
}

TEST_P(operate, status_counts_what_runs_are_worth) {
  EXPECT_EQ(book_.status().runs_in_hand, 0);
  EXPECT_TRUE(taken(book_.start(nightly_, key{"good"})).finish());
  EXPECT_TRUE(taken(book_.start(nightly_, key{"bad"})).fail("no"));
  EXPECT_TRUE(taken(book_.start(nightly_, key{"back"})).release("later"));
  leave_unknown({"pay"});
  auto held = taken(book_.start(nightly_, key{"held"}));
  auto late = taken(book_.start(nightly_, key{"late"}, {.deadline = 10s}));
  auto now = book_.status();
  EXPECT_EQ(now.now, noon_);
  EXPECT_EQ(now.holders_alive, 1);
  EXPECT_EQ(now.runs_in_hand, 2);
  EXPECT_EQ(now.runs_overdue, 0);
  clock_.advance(15s);
  now = book_.status();
  EXPECT_EQ(now.runs_in_hand, 1);
  EXPECT_EQ(now.runs_overdue, 1);
  clock_.advance(20s);
  now = book_.status();
  EXPECT_EQ(now.holders_alive, 0);
  EXPECT_EQ(now.runs_in_hand, 0);
  EXPECT_EQ(now.runs_abandoned, 1);
  EXPECT_EQ(now.runs_overdue, 1);
  EXPECT_EQ(now.runs_succeeded, 1);
  EXPECT_EQ(now.runs_failed, 1);
  EXPECT_EQ(now.runs_interrupted, 1);
  EXPECT_EQ(now.runs_unknown, 1);
}

TEST_P(operate, status_counts_the_newest_or_all) {
  EXPECT_FALSE(book_.status().runs_capped);
  std::string runs;
  std::string attempts;
  constexpr int count = 250;
  for (int i = 0; i < count; ++i) {
    auto const key = "'k" + std::to_string(i) + "'";
    auto const comma = i == 0 ? "" : ", ";
    runs += comma + ("('nightly', " + key + ", 1, 1, 1, 1, 0, -1, 'a', 'h', '', 1, 1, 1, 1)");
    attempts += comma + ("('nightly', " + key + ", 1, 1, 1, 'a', 'h', 1, 1, -1, '')");
  }
  database_.execute(
      "insert into daybook_run (process, run_key, run_no, epoch, version, attempt, steps_done, "
      "state, acquisition, holder, error, first_started_us, started_us, attempt_started_us, "
      "ended_us) values " +
      runs);
  database_.execute(
      "insert into daybook_attempt (process, run_key, epoch, run_no, attempt, acquisition, "
      "holder, started_us, ended_us, state, error) values " +
      attempts);
  auto const newest = book_.status();
  EXPECT_EQ(newest.runs_failed, 200);
  EXPECT_TRUE(newest.runs_capped);
  auto const all = book_.status(daybook::status_depth::all);
  EXPECT_EQ(all.runs_failed, count);
  EXPECT_FALSE(all.runs_capped);
  // One that is tried again counts no more, though its attempt stays.
  database_.execute("update daybook_run set epoch = 2, state = 0");
  EXPECT_EQ(book_.status().runs_failed, 0);
}

DAYBOOK_ON_EVERY_ENGINE(operate);

}  // namespace
}  // namespace conformance
