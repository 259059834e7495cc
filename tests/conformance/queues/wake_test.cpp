// Waking: work that comes is started without waiting for the poll, which is an hour here. What is
// never heard of never comes.
#include "conformance/adopt.hpp"
#include "conformance/waiting.hpp"

#include <future>
#include <thread>

namespace conformance {
namespace {

using daybook::claimed_task;
using daybook::queue;
using daybook::result;
using daybook::task_fetcher;
using daybook::task_fetcher_options;

constexpr task_fetcher_options hourly{.flush_every = 100ms, .poll = 3'600'000ms};

class waking : public adoption {
 protected:
  waking() : adoption(30min), other_(database_.open()) {
    book_.migrate();
    here_.emplace(book_.make_queue("woken"));
    there_.emplace(other_.queue("woken").value());
  }

  /// Whether other processes are heard. MariaDB has nothing for it; a pooler takes it away.
  [[nodiscard]] bool hears() const { return on_sqlite() || GetParam().name == "postgresql"; }

  /// The next task is this one, while a thread has waited for it since before `give`.
  template <class F>
  void comes(task_fetcher& to, std::string const& name, F const& give) {
    SCOPED_TRACE(name);
    std::stop_source late;
    auto waiting = std::async(std::launch::async, [&] { return to.next(late.get_token()); });
    give();
    if (waiting.wait_for(for_ever) != std::future_status::ready) late.request_stop();
    auto one = waiting.get();
    ASSERT_TRUE(one) << "nobody was woken";
    EXPECT_EQ(one->task().key, name);
    EXPECT_EQ(one->finish(result::success()), outcome::done);
  }
  void comes(task_fetcher& to, queue& from, std::string const& name) {
    comes(to, name, [&] { from.add(key(name)); });
  }

  /// On PostgreSQL: the server's processes that those who add see asleep.
  [[nodiscard]] std::string sleepers() const {
    return database_.query(
        "select coalesce(string_agg(pid::text, ','), '') from pg_locks where locktype = 'advisory' "
        "and granted and mode = 'ShareLock' "
        "and classid::bigint = hashtext('public.daybook_sleeps')::bigint & 4294967295 "
        "and database = (select oid from pg_database where datname = current_database())");
  }
  [[nodiscard]] bool falls_asleep() const {
    return !on_postgres() || comes_true([&] { return !sleepers().empty(); });
  }
  /// Gives it time to fall asleep. Were that too short, the test would be easier, and not wrong.
  static void let_sleep(task_fetcher& out) {
    EXPECT_TRUE(comes_true([&] { return out.counts().claims == 0; }));
    std::this_thread::sleep_for(100ms);
  }
  /// A task that shows that all is quiet: it was looked for after the one before had ended.
  void settle(task_fetcher& out) {
    comes(out, *here_, "quiet " + std::to_string(++settled_));
    EXPECT_TRUE(comes_true([&] { return out.counts().claims == 0; }));
    if (hears()) {
      EXPECT_TRUE(falls_asleep());
    }
  }

  daybook::book other_;
  std::optional<queue> here_;
  std::optional<queue> there_;
  int settled_ = 0;
};

TEST_P(waking, by_an_add_of_another_process) {
  if (!hears()) return;  // the_poll_finds_what_nobody_told
  task_fetcher out(*here_, hourly);
  for (int i = 0; i < 40; ++i) comes(out, *there_, "k" + std::to_string(i));
  settle(out);
  comes(out, *there_, "asleep");
}

TEST_P(waking, by_another_process_in_its_own_ways) {
  if (!hears()) return;
  task_fetcher out(*here_, hourly);
  settle(out);
  comes(out, "of a step", [&] {
    auto run = taken(other_.start(nightly_, day_));
    EXPECT_TRUE(run.step("adds", [&](transaction& tx) { there_->add(tx, key("of a step")); }));
    EXPECT_TRUE(std::move(run).finish());
  });
  settle(out);
  comes(out, "of the application", [&] {
    begin();
    auto joined = join(other_, app_);
    there_->add(*joined, key("of the application"));
    joined.reset();
    app_.execute("commit");
  });
  there_->add(key("later"), {.at = daybook::timestamp(std::chrono::hours(24 * 36525))});
  settle(out);
  comes(out, "later", [&] { there_->run_now(key("later")); });
  settle(out);
  comes(out, "paused", [&] {
    there_->pause();
    there_->add(key("paused"));
    there_->resume();
  });
}

TEST_P(waking, by_an_add_that_was_under_way_when_it_fell_asleep) {
  if (GetParam().name != "postgresql") return;  // only there must those who add see who sleeps
  begin();
  auto joined = join(other_, app_);
  there_->add(*joined, key("slow"));
  joined.reset();
  task_fetcher out(*here_, hourly);
  comes(out, "slow", [&] {
    EXPECT_TRUE(falls_asleep());
    app_.execute("commit");
  });
}

TEST_P(waking, by_all_that_happens_in_its_own_process) {
  task_fetcher out(*here_, hourly);
  auto same = book_.queue("woken").value();
  for (int i = 0; i < 20; ++i) comes(out, same, "k" + std::to_string(i));
  let_sleep(out);
  comes(out, same, "add");
  let_sleep(out);
  comes(out, "import", [&] { same.import({{key("import")}}); });
  let_sleep(out);
  comes(out, "transact",
        [&] { book_.transact([&](transaction& tx) { same.add(tx, key("transact")); }); });
  same.add(key("later"), {.at = daybook::timestamp(std::chrono::hours(24 * 36525))});
  let_sleep(out);
  comes(out, "later", [&] { same.run_now(key("later")); });
  same.pause();
  same.add(key("paused"));
  let_sleep(out);
  comes(out, "paused", [&] { same.resume(); });
}

TEST_P(waking, after_a_fault_too) {
  task_fetcher out(*here_, hourly);
  auto same = book_.queue("woken").value();
  comes(out, *here_, "first");
  let_sleep(out);
  comes(out, "in doubt", [&] {
    daybook::testing::arm("add.committed", failpoint_action::cut);
    same.add(key("in doubt"));
  });
}

TEST_P(waking, when_the_next_is_due) {
  task_fetcher out(*here_, hourly);
  settle(out);
  daybook::testing::manual_clock const clock(other_);
  comes(out, "soon", [&] { here_->add(key("soon"), {.at = clock.now() + 1s}); });
}

TEST_P(waking, after_the_connection_was_cut) {
  if (GetParam().name != "postgresql") return;
  task_fetcher out(*here_, hourly);
  settle(out);
  auto const end = [&] {
    auto const pid = sleepers();
    database_.execute("select pg_terminate_backend(" + pid + ")");
    return pid;
  };
  comes(out, "at once", [&] {
    end();
    there_->add(key("at once"));
  });
  settle(out);
  comes(out, "later", [&] {
    auto const ended = end();
    EXPECT_TRUE(comes_true([&] {
      auto const now = sleepers();
      return !now.empty() && now != ended;
    }));
    there_->add(key("later"));
  });
  EXPECT_GE(log_.count("retried listen"), 1U) << "the first may be met on the way to a claim";
}

TEST_P(waking, the_poll_finds_what_nobody_told) {
  task_fetcher out(*here_, {.flush_every = 100ms, .poll = 20ms});
  for (int i = 0; i < 10; ++i) comes(out, *there_, "k" + std::to_string(i));
  let_sleep(out);
  if (GetParam().name == "pgbouncer") {
    EXPECT_EQ(sleepers(), "");
  }
  EXPECT_EQ(log_.count("retried"), 0U);
}

/// NOTIFY makes those who commit take turns.
TEST_P(waking, no_word_is_said_where_nobody_sleeps) {
  if (GetParam().name != "postgresql") return;
  auto const words = [&] {
    app_.execute("select 1");
    ::PQconsumeInput(pg());
    int count = 0;
    for (; auto* const one = ::PQnotifies(pg()); ++count) ::PQfreemem(one);
    return count;
  };
  auto const id = database_.query("select id from daybook_queue");
  app_.execute("listen daybook_wake_" + id);
  for (int i = 0; i < 10; ++i) there_->add(key("k" + std::to_string(i)));
  EXPECT_EQ(words(), 0);
  {
    task_fetcher out(*here_, {.batch = 100});
    for (int i = 0; i < 10; ++i) {  // in any order
      auto one = out.next();
      ASSERT_TRUE(one);
      EXPECT_EQ(one->finish(result::success()), outcome::done);
    }
    settle(out);
    comes(out, *there_, "heard");
    EXPECT_TRUE(comes_true([&] { return words() > 0; }));
  }
  EXPECT_TRUE(comes_true([&] { return sleepers().empty(); }));
  there_->add(key("last"));
  EXPECT_EQ(words(), 0);
}

DAYBOOK_ON_EVERY_ENGINE(waking);

}  // namespace
}  // namespace conformance
