// Steps beside renewals, and beside other people's transactions: two sessions, for real.
#include "fixture.hpp"

#include <array>
#include <atomic>
#include <thread>

namespace conformance {
namespace {

constexpr std::array levels{daybook::isolation::read_committed, daybook::isolation::repeatable_read,
                            daybook::isolation::serializable};

class isolation : public on_engine {
 protected:
  isolation() {
    database_.execute("create table account(id int primary key, total int not null)" + innodb());
    database_.execute("insert into account values (1, 0), (2, 0)");
  }
  /// Waits for a lock a third of its lease; its clock is the engine's.
  [[nodiscard]] daybook::book_options impatient(std::chrono::seconds lease = 1s) {
    auto options = watched();
    options.lease = lease;
    options.movable_clock = false;
    return options;
  }
  /// Until some session here waits for a lock; a minute at most.
  void wait_until_one_waits() const {
    // innodb_trx would tell, but it is renewed only when nobody asked for a tenth of a second.
    auto const asked = on_mariadb() ? "select count(*) from information_schema.processlist where "
                                      "db = database() and command in ('Execute', 'Query') and "
                                      "time_ms > 100 and info like 'update account%'"
                                    : "select count(*) from pg_stat_activity where "
                                      "wait_event_type = 'Lock' and datname = current_database()";
    for (int i = 0; i < 1200 && database_.query(asked) == "0"; ++i) {
      std::this_thread::sleep_for(50ms);
    }
  }
  [[nodiscard]] std::string total(int id) const {
    return database_.query("select total from account where id = " + std::to_string(id));
  }
};

TEST_P(isolation, a_step_outlasts_renewals_by_another_session_at_the_first_try) {
  auto options = impatient();
  options.prefix = "real_";
  auto book = database_.open(options);
  auto run = taken(book.start(nightly_, day_));
  int calls = 0;
  for (auto const level : levels) {
    auto const name = "s" + std::to_string(static_cast<int>(level));
    auto const what = run.step(name, {.level = level}, [&](transaction& tx) {
      ++calls;
      // The snapshot is taken here; what commits from now on is not in it.
      EXPECT_EQ(tx.rows<std::int64_t>("select total from account where id = 1").size(), 1U);
      for (int i = 0; i < 3; ++i) {
        std::jthread([&] {
          // One writer: the renewal waits, is refused, and that is no loss.
          if (on_sqlite()) {
            if (i == 0) {
              EXPECT_EQ(fault_of([&] { daybook::testing::renew(book); }), fault::conflict);
            }
          } else {
            EXPECT_TRUE(daybook::testing::renew(book));
          }
        }).join();
      }
      tx.exec("update account set total = total + 1 where id = 1");
    });
    EXPECT_EQ(what.what(), outcome::done);
    EXPECT_FALSE(run.stop().stop_requested());
  }
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(total(1), "3");
  EXPECT_EQ(log_.count("retried step"), 0U);
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(isolation, a_step_outlasts_the_renewals_of_the_background) {
  auto options = impatient(4s);
  options.prefix = "real_";
  options.renew_in_background = true;
  auto book = database_.open(options);
  auto run = taken(book.start(nightly_, day_));
  int calls = 0;
  auto const what =
      run.step("long", {.level = daybook::isolation::repeatable_read}, [&](transaction& tx) {
        ++calls;
        EXPECT_EQ(tx.rows<int64_t>("select total from account").size(), 2U);
        for (int i = 0; i < 3; ++i) {
          std::this_thread::sleep_for(1800ms);  // less than the idle limit
          tx.exec("update account set total = total + 1 where id = 1");
        }
      });
  EXPECT_EQ(what.what(), outcome::done);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(total(1), "3");
  EXPECT_FALSE(run.stop().stop_requested());
  auto other = database_.open(options);
  EXPECT_FALSE(other.start(nightly_, day_));
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(isolation, a_serialization_failure_in_the_body_retries_the_whole_step) {
  // MariaDB without snapshot isolation, and SQLite, never fail so.
  if (!on_postgres() && GetParam().name != "mariadb_snapshot") return;
  auto run = taken(book_.start(nightly_, day_));
  int calls = 0;
  auto const what =
      run.step("post", {.level = daybook::isolation::repeatable_read}, [&](transaction& tx) {
        insert("post")(tx);
        auto const now = tx.rows<std::int64_t>("select total from account where id = 1").at(0);
        if (++calls == 1) database_.execute("update account set total = 10 where id = 1");
        tx.exec("update account set total = :t where id = 1", now + 1);
        return now;
      });
  EXPECT_EQ(what.what(), outcome::done);
  EXPECT_EQ(what.value(), 10);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(total(1), "11");
  EXPECT_EQ(effects("post"), "1");
  EXPECT_EQ(log_.count("retried step"), 1U);
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(isolation, a_deadlock_in_the_body_retries_the_whole_step) {
  if (on_sqlite()) return;  // one writer: there is none
  auto run = taken(book_.start(nightly_, day_));
  support::raw_connection rival(direct_url());
  std::jthread crossing;
  int calls = 0;
  auto const what = run.step("post", [&](transaction& tx) {
    // The survivor ends first: to wait for its locks may be a reason of its own to try again.
    if (++calls == 2) crossing.join();
    insert("post")(tx);
    tx.exec("update account set total = total + 1 where id = 1");
    if (calls == 1) {
      // The heavier of the two survives on MariaDB, on PostgreSQL the one that looks later.
      if (on_postgres()) rival.execute("set deadlock_timeout = '1min'");
      rival.execute("begin");
      for (int i = 0; i < 50; ++i) rival.execute("insert into effect values ('rival')");
      rival.execute("update account set total = total + 100 where id = 2");
      crossing = std::jthread([&] {
        try {
          wait_until_one_waits();
          rival.execute("update account set total = total + 100 where id = 1");
          rival.execute("commit");
        } catch (std::exception const& e) {
          ADD_FAILURE() << e.what();
        }
      });
    }
    tx.exec("update account set total = total + 1 where id = 2");
  });
  EXPECT_EQ(what.what(), outcome::done);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(log_.count("retried step"), 1U);
  EXPECT_EQ(total(1), "101");
  EXPECT_EQ(total(2), "101");
  EXPECT_EQ(effects("post"), "1");
}

TEST_P(isolation, a_writer_in_the_way_is_waited_for) {
  auto options = impatient(6s);  // what is retried is retried for so long
  options.prefix = "real_";
  auto book = database_.open(options);
  auto run = taken(book.start(nightly_, day_));
  support::raw_connection rival(direct_url());
  rival.execute(on_sqlite() ? "begin immediate" : "begin");
  rival.execute("update account set total = total + 100 where id = 1");
  std::jthread const later([&] {
    // Longer than the wait for one lock, which MariaDB counts in whole seconds.
    std::this_thread::sleep_for(2600ms);
    rival.execute("commit");
  });
  auto const what = run.step("post", [&](transaction& tx) {
    insert("post")(tx);
    tx.exec("update account set total = total + 1 where id = 1");
  });
  EXPECT_EQ(what.what(), outcome::done);
  EXPECT_GE(log_.count("retried step"), 1U);
  EXPECT_EQ(total(1), "101");
  EXPECT_EQ(effects("post"), "1");
}

TEST_P(isolation, a_run_whose_row_a_stopped_session_locks_is_busy_for_so_long) {
  // A dead holder's row, locked by a transaction that stands still. start() says busy within a
  // bounded time, whatever it tried, and takes the run when the lock is gone. On SQLite the lock
  // is the whole file's; reading it goes on.
  auto options = impatient();
  options.prefix = "real_";
  auto book = database_.open(options);
  auto zombie = taken(book.start(nightly_, day_));
  database_.execute("update real_holder set lease_until_us = 1");
  support::raw_connection stopped(direct_url());
  stopped.execute(on_sqlite() ? "begin immediate" : "begin");
  stopped.execute("update real_run set version = version + 1");
  auto other = database_.open(options);
  auto const before = std::chrono::steady_clock::now();
  EXPECT_EQ(other.start(nightly_, day_).why(), refusal::running_elsewhere);
  auto const took = std::chrono::steady_clock::now() - before;
  EXPECT_LT(took, 30s);
  RecordProperty(
      "busy_after_ms",
      static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
  stopped.execute("rollback");
  database_.execute("update real_holder set lease_until_us = 1 where ended_us is null");
  EXPECT_EQ(taken(other.start(nightly_, day_)).attempt(), 2);
  EXPECT_FALSE(zombie.step("zombie", insert("zombie")));
}

TEST_P(isolation, a_busy_run_is_answered_without_waiting_for_its_step) {
  // Whoever asks while a step is on its way. On SQLite the step has the whole file; on the others
  // the run's row is not locked before the step's end.
  auto run = taken(book_.start(nightly_, day_));
  auto other = database_.open();
  ASSERT_TRUE(run.step("long", [&](transaction& tx) {
    insert("long")(tx);
    auto const before = std::chrono::steady_clock::now();
    EXPECT_FALSE(other.start(nightly_, day_));
    EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
  }));
}

DAYBOOK_ON_EVERY_ENGINE(isolation);

}  // namespace
}  // namespace conformance
