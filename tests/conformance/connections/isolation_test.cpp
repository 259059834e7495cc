// Steps beside renewals, and beside other people's transactions: two sessions, for real.
#include "conformance/fixture.hpp"
#include "conformance/waiting.hpp"

#include "core/tx/context.hpp"
#include "db/pool.hpp"
#include "service/engine.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include <mysql.h>

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
  [[nodiscard]] std::string total(int id) const {
    return database_.query("select total from account where id = " + std::to_string(id));
  }
  /// Takes account 2, and account 1 when the owner of that waits for 2: a deadlock. The heavier of
  /// the two survives on MariaDB, on PostgreSQL the one that looks later: this one.
  [[nodiscard]] std::jthread crosses(support::raw_connection& rival) const {
    if (on_postgres()) rival.execute("set deadlock_timeout = '1min'");
    rival.execute("begin");
    for (int i = 0; i < 50; ++i) rival.execute("insert into effect values ('rival')");
    rival.execute("update account set total = total + 100 where id = 2");
    return std::jthread([&] {
      try {
        EXPECT_TRUE(comes_true(lock_waits()));
        rival.execute("update account set total = total + 100 where id = 1");
        rival.execute("commit");
      } catch (std::exception const& e) {
        ADD_FAILURE() << e.what();
      }
    });
  }
  /// A step whose body meets a rival where it calls what it is given, and goes on: nothing of it is
  /// there. Without a rival all of it is.
  void fails_whole(
      daybook::book& on, key const& piece,
      std::function<void(transaction&, std::function<void()> const&)> const& body) const {
    auto run = taken(on.start(nightly_, piece));
    support::raw_connection rival(direct_url());
    std::jthread crossing;
    std::function<void()> meet = [&] { crossing = crosses(rival); };
    auto const post = [&](transaction& tx) { body(tx, meet); };
    EXPECT_EQ(fault_of([&] { static_cast<void>(run.step("post", post)); }), error_code::statement);
    crossing.join();
    EXPECT_EQ(effects("first") + effects("last"), "00");
    EXPECT_EQ(on.find(nightly_, piece).value().info.steps_done, 0);
    meet = {};
    EXPECT_EQ(run.step("post", post).what(), outcome::done);
    EXPECT_EQ(effects("first") + effects("last"), "11");
    EXPECT_TRUE(std::move(run).finish());
  }
  /// What a program does that heeds no error: the number of the error, 0 for none.
  static unsigned tell(::MYSQL* on, std::string_view text) {
    if (::mysql_real_query(on, text.data(), text.size()) != 0) return ::mysql_errno(on);
    std::unique_ptr<::MYSQL_RES, decltype(&::mysql_free_result)> const rows(
        ::mysql_store_result(on), &::mysql_free_result);
    return ::mysql_errno(on);
  }
};

TEST_P(isolation, a_step_outlasts_renewals_by_another_session_at_the_first_try) {
  // A server ends a transaction that is idle for a lease; on SQLite a renewal waits for a third.
  auto options = impatient(on_sqlite() ? 1s : 10s);
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
              EXPECT_EQ(fault_of([&] { daybook::testing::renew(book); }), error_code::conflict);
            }
          } else {
            EXPECT_EQ(daybook::testing::renew(book), daybook::lease_state::held);
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
    if (calls == 1) crossing = crosses(rival);
    tx.exec("update account set total = total + 1 where id = 2");
  });
  EXPECT_EQ(what.what(), outcome::done);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(log_.count("retried step"), 1U);
  EXPECT_EQ(total(1), "101");
  EXPECT_EQ(total(2), "101");
  EXPECT_EQ(effects("post"), "1");
}

TEST_P(isolation, a_deadlock_that_the_body_does_not_heed_fails_the_step) {
  // The server has rolled back what came before it, and takes what comes after it for work of its
  // own. Record and effect agree all the same.
  if (!on_mariadb()) return;
  fails_whole(book_, day_, [&](transaction& tx, std::function<void()> const& meet) {
    auto* const handle = tx.as<::MYSQL>();
    EXPECT_EQ(tell(handle, "insert into effect values ('first')"), 0U);
    EXPECT_EQ(tell(handle, "update account set total = total + 1 where id = 1"), 0U);
    if (meet) meet();
    EXPECT_EQ(tell(handle, "update account set total = total + 1 where id = 2"), meet ? 1213U : 0U);
    EXPECT_EQ(tell(handle, "insert into effect values ('last')"), 0U);
  });
}

TEST_P(isolation, a_deadlock_that_is_not_heeded_fails_the_step_on_a_borrowed_connection) {
  // Without autocommit the server begins anew, and says that a transaction is open.
  if (!on_mariadb()) return;
  for (auto const* const mode : {"0", "1"}) {
    SCOPED_TRACE(mode);
    support::raw_connection app(database_.url());
    app.execute("set names utf8mb4");
    app.execute("set autocommit = " + std::string(mode));
    database_.execute("delete from effect");
    auto* const handle = std::get<::st_mysql*>(app.native());
    auto book = daybook::book::adopt_connection(*handle, watched());
    fails_whole(book, key{mode}, [&](transaction& tx, std::function<void()> const& meet) {
      static_cast<void>(tx.as<::MYSQL>());
      EXPECT_EQ(tell(handle, "insert into effect values ('first')"), 0U);
      EXPECT_EQ(tell(handle, "update account set total = total + 1 where id = 1"), 0U);
      if (meet) meet();
      EXPECT_EQ(tell(handle, "update account set total = total + 1 where id = 2"),
                meet ? 1213U : 0U);
      EXPECT_EQ(tell(handle, "insert into effect values ('last')"), 0U);
    });
    EXPECT_EQ(app.execute("select @@autocommit"), mode);
  }
}

TEST_P(isolation, a_deadlock_that_a_procedure_does_not_heed_fails_the_step) {
  if (!on_mariadb()) return;
  database_.execute(
      "create procedure post() begin declare continue handler for 1213 begin end; "
      "insert into effect values ('first'); "
      "update account set total = total + 1 where id = 1; "
      "update account set total = total + 1 where id = 2; "
      "insert into effect values ('last'); end");
  fails_whole(book_, day_, [&](transaction& tx, std::function<void()> const& meet) {
    if (meet) meet();
    tx.exec("call post()");
  });
}

TEST_P(isolation, a_handle_that_is_asked_for_after_a_deadlock_commits_nothing_by_itself) {
  if (!on_mariadb()) return;
  auto run = taken(book_.start(nightly_, day_));
  support::raw_connection rival(direct_url());
  std::jthread crossing;
  int calls = 0;
  auto const what = run.step("post", [&](transaction& tx) {
    insert("first")(tx);
    tx.exec("update account set total = total + 1 where id = 1");
    if (++calls == 1) {
      crossing = crosses(rival);
      EXPECT_THROW(tx.exec("update account set total = total + 1 where id = 2"), daybook::error);
    }
    EXPECT_EQ(tell(tx.as<::MYSQL>(), "insert into effect values ('last')"), 0U);
  });
  crossing.join();
  EXPECT_EQ(what.what(), outcome::done);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(effects("first") + effects("last"), "11");
}

TEST_P(isolation, what_follows_a_deadlock_that_was_not_heeded_commits) {
  // The same connection is lent again: nothing of the transaction may be left on it.
  if (!on_mariadb()) return;
  auto options = watched();
  options.connections = 1;
  auto book = database_.open(options);
  support::raw_connection rival(direct_url());
  std::jthread crossing;
  EXPECT_THROW(book.transact([&](transaction& tx) {
    auto* const handle = tx.as<::MYSQL>();
    EXPECT_EQ(tell(handle, "update account set total = total + 1 where id = 1"), 0U);
    crossing = crosses(rival);
    EXPECT_EQ(tell(handle, "update account set total = total + 1 where id = 2"), 1213U);
    EXPECT_EQ(tell(handle, "select 1"), 0U);
  }),
               daybook::error);
  crossing.join();
  auto const with = book.internals().ready();
  auto const from_pool = with.sessions.lend(1s);
  auto const alone = daybook::db::insert_rows({.table = "effect", .columns = {"name"}}, 1);
  std::array const values{daybook::value("alone")};
  EXPECT_EQ(from_pool->run(alone, values).affected, 1);
  EXPECT_EQ(effects("alone"), "1");
}

TEST_P(isolation, who_uses_the_handle_may_have_savepoints) {
  if (!on_mariadb()) return;
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_TRUE(run.step("post", [&](transaction& tx) {
    tx.exec("savepoint one");
    insert("kept")(tx);
    tx.exec("savepoint two");
    auto* const handle = tx.as<::MYSQL>();
    EXPECT_EQ(tell(handle, "insert into effect values ('not kept')"), 0U);
    EXPECT_EQ(tell(handle, "rollback to savepoint two"), 0U);
    EXPECT_EQ(tell(handle, "release savepoint one"), 0U);
  }));
  EXPECT_EQ(log_.count("retried"), 0U);
  EXPECT_EQ(effects("kept"), "1");
  EXPECT_EQ(effects("not kept"), "0");
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
    // Longer than the wait for one lock.
    EXPECT_TRUE(comes_true([&] { return log_.count("retried step") > 0; }));
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
  EXPECT_EQ(other.start(nightly_, day_).why(), start_refusal::running_elsewhere);
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
    EXPECT_LT(std::chrono::steady_clock::now() - before, 4s) << "a lock is waited for longer";
  }));
}

DAYBOOK_ON_EVERY_ENGINE(isolation);

}  // namespace
}  // namespace conformance
