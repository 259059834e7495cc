// The PostgreSQL driver against real servers, direct and through PgBouncer: values, statements
// and what each fault is called. Skipped where DAYBOOK_TEST_POSTGRESQL and _PGBOUNCER are not set
// (tests/servers/servers).
#include "drivers/drivers.hpp"
#include "drivers/postgres/postgres_servers.hpp"

#include <daybook/error.hpp>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <poll.h>

namespace daybook {
inline namespace v1 {
namespace drivers {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using session = std::unique_ptr<db::session>;

session connect(std::string const& url, db::connect_options const& options = {}) {
  return connect_postgres(db::parse_url(url), options);
}

db::table run(db::session& session, std::string_view text,
              std::initializer_list<value> values = {}) {
  auto const what = db::rewrite("user", text, db::placeholder::dollar);
  return session.run(what, std::span(values.begin(), values.size()));
}

class postgres : public on_postgres_servers {
 protected:
  void set_up() override {
    other_ = connect(direct_);
    other_->script(
        "drop table if exists driver_test; create table driver_test (id int primary "
        "key, note text)");
    connect_anew();
  }

  /// And knows the socket: the one that was not there before.
  void connect_anew(db::connect_options const& options = {}) {
    connection_.reset();
    auto const before = sockets();
    connection_ = connect(url_, options);
    for (int const one : sockets()) {
      if (!before.contains(one)) socket_ = one;
    }
  }
  static std::set<int> sockets() {
    std::set<int> out;
    for (auto const& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;  // the folder's own
      auto const what = std::filesystem::read_symlink(entry.path(), gone).string();
      if (what.starts_with("socket:")) out.insert(std::stoi(entry.path().filename().string()));
    }
    return out;
  }
  /// Until whoever is at the other end has closed it; a minute at most.
  void wait_for_the_end() const {
    ::pollfd closed{.fd = socket_, .events = POLLRDHUP, .revents = 0};
    EXPECT_EQ(::poll(&closed, 1, 60'000), 1);
  }

  void terminate(std::int64_t pid) { run(*other_, "select pg_terminate_backend(:p::int)", {pid}); }
  std::int64_t pid() { return number(run(*connection_, "select pg_backend_pid()")); }
  /// Until a session of this database is in pg_sleep(); a minute at most.
  void wait_for_a_sleeper() {
    for (int tries = 0; tries < 1200; ++tries) {
      if (number(run(*other_,
                     "select count(*) from pg_stat_activity where wait_event = 'PgSleep' and "
                     "datname = current_database()")) > 0) {
        return;
      }
      std::this_thread::sleep_for(milliseconds(50));
    }
  }
  /// Terminates it, and waits until whoever stands before it has seen that.
  void terminate_and_wait(std::int64_t pid) {
    terminate(pid);
    wait_for_the_end();
  }
  std::int64_t rows() { return number(run(*other_, "select count(*) from driver_test")); }

  session other_;
  session connection_;
  int socket_ = -1;  ///< connection_'s
};

DAYBOOK_ON_POSTGRES_SERVERS(postgres);

TEST_P(postgres, values_come_back) {
  auto const bytes = std::as_bytes(std::span("a\0b\\'", 5));
  auto const back =
      run(*connection_,
          "select :n::text, :b, :i, :d, :t::text, :y, ''::text, :e, 7::int2, 8::int4, 1.5::float4, "
          "'NaN'::float8, 12.50::numeric, 9::oid",
          {nullptr, true, std::int64_t{-9'223'372'036'854'775'807}, 0.1, std::string_view("é'\\"),
           bytes, std::span<std::byte const>{}});
  ASSERT_EQ(back.width, 14U);
  EXPECT_EQ(back.cells[0], cell(nullptr));
  EXPECT_EQ(back.cells[1], cell(std::int64_t{1}));
  EXPECT_EQ(back.cells[2], cell(std::int64_t{-9'223'372'036'854'775'807}));
  EXPECT_EQ(back.cells[3], cell(0.1));
  EXPECT_EQ(back.cells[4], cell("é'\\"));
  EXPECT_EQ(back.cells[5], cell(std::string("a\0b\\'", 5)));
  EXPECT_EQ(back.cells[6], cell(""));
  EXPECT_EQ(back.cells[7], cell(""));
  EXPECT_EQ(back.cells[8], cell(std::int64_t{7}));
  EXPECT_EQ(back.cells[9], cell(std::int64_t{8}));
  EXPECT_EQ(back.cells[10], cell(1.5));
  EXPECT_TRUE(std::isnan(std::get<double>(back.cells[11])));
  EXPECT_EQ(back.cells[12], cell("12.50"));
  EXPECT_EQ(back.cells[13], cell(std::int64_t{9}));
  auto const e =
      caught([&] { run(*connection_, "select :t::text", {std::string_view("a\0b", 3)}); });
  ASSERT_TRUE(e);
  EXPECT_EQ(e->kind(), error_code::bad_argument);
  EXPECT_TRUE(connection_->usable());
}

TEST_P(postgres, affected_counts_changes_only) {
  EXPECT_EQ(run(*connection_, "insert into driver_test select generate_series(1, 3)").affected, 3);
  EXPECT_EQ(run(*connection_, "update driver_test set note = note where id < 3").affected, 2);
  EXPECT_EQ(run(*connection_, "select * from driver_test").affected, 0);
  EXPECT_EQ(run(*connection_, "delete from driver_test returning id").affected, 3);
  EXPECT_EQ(run(*connection_, "delete from driver_test").affected, 0);
}

TEST_P(postgres, a_statement_is_prepared_once_for_each_row_of_types) {
  auto const what = db::rewrite("user", "select coalesce(:a, 0::int8)", db::placeholder::dollar);
  auto const with = [&](value v) { return number(connection_->run(what, std::span(&v, 1))); };
  connection_->begin(isolation::read_committed);
  auto const before = number(run(*connection_, "select count(*) from pg_prepared_statements"));
  EXPECT_EQ(with(nullptr), 0);
  EXPECT_EQ(with(std::int64_t{4}), 4);
  EXPECT_EQ(with(std::int64_t{5}), 5);
  EXPECT_EQ(with(nullptr), 0);
  auto const after = number(run(*connection_, "select count(*) from pg_prepared_statements"));
  connection_->commit();
  EXPECT_EQ(after - before, pooled() ? 0 : 2);
}

TEST_P(postgres, settings_hold_in_a_transaction) {
  run(*other_, "insert into driver_test values (1)");
  for (auto const level :
       {isolation::read_committed, isolation::repeatable_read, isolation::serializable}) {
    connection_->begin(level);
    auto const back = run(*connection_,
                          "select current_setting('transaction_isolation'), "
                          "current_setting('lock_timeout'), "
                          "current_setting('idle_in_transaction_session_timeout')");
    EXPECT_EQ(back.cells[0], cell(level == isolation::read_committed    ? "read committed"
                                  : level == isolation::repeatable_read ? "repeatable read"
                                                                        : "serializable"));
    EXPECT_EQ(back.cells[1], cell("5s"));
    EXPECT_EQ(back.cells[2], cell("30s"));
    connection_->rollback();
  }
}

TEST_P(postgres, the_handle_is_in_the_transaction) {
  connection_->begin(isolation::read_committed);
  auto* const raw = std::get<::pg_conn*>(connection_->handle());
  EXPECT_EQ(::PQtransactionStatus(raw), PQTRANS_INTRANS);
  ::PQclear(::PQexec(raw, "insert into driver_test values (1)"));
  connection_->rollback();
  EXPECT_EQ(rows(), 0);
  connection_->begin(isolation::read_committed);
  connection_->script("insert into driver_test values (1); insert into driver_test values (2)");
  EXPECT_EQ(rows(), 0);
  connection_->commit();
  EXPECT_EQ(rows(), 2);
}

TEST_P(postgres, errors_have_their_class) {
  struct expectation {
    std::string_view text;
    error_code kind;
    bool retryable;
  };
  run(*connection_, "insert into driver_test values (1)");
  for (auto const& one : std::initializer_list<expectation>{
           {"selec 1", error_code::statement, false},
           {"select 1 from not_there", error_code::statement, false},
           {"select 1; select 2", error_code::statement, false},
           {"select 1 / 0", error_code::statement, false},
           {"insert into driver_test values (1)", error_code::constraint, false},
           {"insert into driver_test values (null)", error_code::constraint, false},
           {"create schema x authorization postgres", error_code::not_permitted, false},
           {"create table no_schema.x (a int)", error_code::configuration, false},
           {"select convert_from('\\xff', 'UTF8')", error_code::bad_argument, false},
       }) {
    connection_->begin(isolation::read_committed);
    auto const e = caught([&] { run(*connection_, one.text); });
    connection_->rollback();
    ASSERT_TRUE(e) << one.text;
    EXPECT_EQ(e->kind(), one.kind) << one.text << ": " << e->what();
    EXPECT_EQ(e->retryable(), one.retryable) << one.text;
    EXPECT_FALSE(e->in_doubt() || e->breaks_connection()) << one.text;
    EXPECT_EQ(e->statement(), "user");
    EXPECT_EQ(std::string_view(e->what()).find('\n'), std::string_view::npos);
    auto const alone = caught([&] { run(*connection_, one.text); });
    ASSERT_TRUE(alone) << one.text;
    EXPECT_EQ(alone->kind(), one.kind) << one.text;
    EXPECT_FALSE(alone->in_doubt()) << one.text;
  }
  EXPECT_TRUE(connection_->usable());
  connection_->begin(isolation::read_committed);
  run(*connection_, "set transaction_read_only = on");
  auto const e = caught([&] { run(*connection_, "insert into driver_test values (9)"); });
  ASSERT_TRUE(e);
  EXPECT_EQ(e->kind(), error_code::read_only);
}

TEST_P(postgres, a_lock_is_waited_for_so_long_and_no_longer) {
  run(*other_, "insert into driver_test values (1)");
  other_->begin(isolation::read_committed);
  run(*other_, "update driver_test set note = 'x'");
  auto const hasty = connect(url_, {.lock_timeout = milliseconds(50)});
  auto const e = caught([&] { run(*hasty, "update driver_test set note = 'y'"); });
  ASSERT_TRUE(e);
  EXPECT_EQ(e->sqlstate(), "55P03");
  EXPECT_TRUE(e->kind() == error_code::conflict && e->retryable() && !e->in_doubt());
  EXPECT_TRUE(hasty->usable());
  other_->rollback();
  EXPECT_EQ(run(*hasty, "update driver_test set note = 'y'").affected, 1);
}

TEST_P(postgres, interrupt_stops_a_statement) {
  std::jthread const stop([&] {
    wait_for_a_sleeper();
    connection_->interrupt();
  });
  auto const e = caught([&] { run(*connection_, "select pg_sleep(30)"); });
  ASSERT_TRUE(e);
  EXPECT_TRUE(e->sqlstate() == "57014" && e->retryable() && !e->in_doubt());
  EXPECT_TRUE(connection_->usable());
}

TEST_P(postgres, a_failed_serialization_is_not_in_doubt) {
  run(*other_, "insert into driver_test values (1), (2)");
  for (auto* const one : {connection_.get(), other_.get()}) {
    one->begin(isolation::serializable);
    run(*one, "select count(note) from driver_test");
  }
  run(*connection_, "update driver_test set note = 'x' where id = 1");
  run(*other_, "update driver_test set note = 'x' where id = 2");
  other_->commit();
  auto const e = caught([&] { connection_->commit(); });
  connection_->rollback();
  ASSERT_TRUE(e);
  EXPECT_EQ(e->sqlstate(), "40001");
  EXPECT_TRUE(e->retryable() && !e->in_doubt() && !e->breaks_connection());
  EXPECT_TRUE(connection_->usable());
}

TEST_P(postgres, a_commit_of_a_failed_transaction_says_so) {
  connection_->begin(isolation::read_committed);
  run(*connection_, "insert into driver_test values (1)");
  EXPECT_TRUE(caught([&] { run(*connection_, "select 1 / 0"); }));
  EXPECT_EQ(caught([&] { run(*connection_, "select 1"); })->sqlstate(), "25P02");
  auto const e = caught([&] { connection_->commit(); });
  ASSERT_TRUE(e);
  EXPECT_TRUE(e->kind() == error_code::conflict && !e->retryable() && !e->in_doubt());
  EXPECT_EQ(rows(), 0);
  EXPECT_TRUE(connection_->usable());
}

TEST_P(postgres, a_body_that_ends_the_transaction_is_found_out) {
  for (auto const* const end : {"commit", "rollback"}) {
    auto const fresh = connect(url_);
    fresh->begin(isolation::read_committed);
    run(*fresh, "select 1");
    static_cast<void>(fresh->run({.name = "user", .text = end}, {}));
    auto const e = caught([&] { run(*fresh, "insert into driver_test values (1)"); });
    ASSERT_TRUE(e);
    EXPECT_TRUE(e->kind() == error_code::bad_argument && e->breaks_connection());
    EXPECT_FALSE(fresh->usable());
  }
  EXPECT_EQ(rows(), 0);
}

TEST_P(postgres, a_backend_killed_inside_a_transaction) {
  connection_->begin(isolation::read_committed);
  run(*connection_, "insert into driver_test values (1)");
  terminate_and_wait(pid());
  auto const e = caught([&] { run(*connection_, "insert into driver_test values (2)"); });
  connection_->rollback();
  ASSERT_TRUE(e);
  EXPECT_EQ(e->kind(), error_code::unreachable) << e->what();
  EXPECT_TRUE(e->retryable() && !e->in_doubt() && e->breaks_connection());
  EXPECT_FALSE(connection_->usable());
  EXPECT_EQ(caught([&] { connection_->begin(isolation::read_committed); })->kind(),
            error_code::unreachable);
  EXPECT_EQ(rows(), 0);
}

TEST_P(postgres, a_backend_killed_before_commit_was_sent_has_not_committed) {
  connection_->begin(isolation::read_committed);
  run(*connection_, "insert into driver_test values (1)");
  terminate_and_wait(pid());
  auto const e = caught([&] { connection_->commit(); });
  ASSERT_TRUE(e);
  EXPECT_TRUE(e->retryable() && !e->in_doubt() && e->breaks_connection()) << e->what();
  EXPECT_EQ(rows(), 0);
}

TEST_P(postgres, a_backend_killed_during_commit_leaves_doubt) {
  other_->script(
      "create or replace function driver_test_sleep() returns trigger language plpgsql as "
      "$$ begin perform pg_sleep(30); return null; end $$;"
      "create constraint trigger late after insert on driver_test deferrable initially deferred "
      "for each row execute function driver_test_sleep()");
  for (bool const alone : {false, true}) {
    if (alone && pooled()) continue;  // its process is another's until the statement runs
    connection_ = connect(url_);
    auto const backend = pid();
    if (!alone) connection_->begin(isolation::read_committed);
    auto const in_use = alone ? backend : pid();
    std::jthread const kill([&] {
      wait_for_a_sleeper();
      terminate(in_use);
    });
    auto const e = caught([&] {
      run(*connection_, "insert into driver_test values (1)");
      if (!alone) connection_->commit();
    });
    ASSERT_TRUE(e);
    EXPECT_TRUE(e->in_doubt() && !e->retryable() && e->breaks_connection()) << e->what();
    EXPECT_EQ(e->kind(), error_code::unreachable);
  }
}

TEST_P(postgres, a_cut_connection) {
  connection_->begin(isolation::read_committed);
  run(*connection_, "insert into driver_test values (1)");
  connection_->cut();
  EXPECT_FALSE(connection_->usable());
  auto const inside = caught([&] { run(*connection_, "select 1"); });
  EXPECT_TRUE(inside && inside->retryable() && !inside->in_doubt());
  auto const e = caught([&] { connection_->commit(); });
  EXPECT_TRUE(e && e->in_doubt() && !e->retryable() && e->breaks_connection());
  connection_->rollback();
  connection_.reset();
  run(*other_, "delete from driver_test");  // its lock is gone, too
  EXPECT_EQ(rows(), 0);
}

TEST_P(postgres, an_idle_transaction_is_ended_and_not_in_doubt) {
  connect_anew({.idle_timeout = milliseconds(3000)});
  connection_->begin(isolation::read_committed);
  run(*connection_, "insert into driver_test values (1)");
  wait_for_the_end();
  auto const e = caught([&] { connection_->commit(); });
  ASSERT_TRUE(e);
  EXPECT_TRUE(e->retryable() && !e->in_doubt() && e->breaks_connection()) << e->what();
  EXPECT_EQ(rows(), 0);
}

TEST_P(postgres, a_table_that_changed_is_tried_again) {
  run(*connection_, "select * from driver_test");
  other_->script("alter table driver_test add more int");
  auto const e = caught([&] { run(*connection_, "select * from driver_test"); });
  if (pooled()) {
    EXPECT_FALSE(e);
  } else {
    ASSERT_TRUE(e);
    EXPECT_TRUE(e->retryable() && e->kind() == error_code::conflict && !e->breaks_connection());
  }
  EXPECT_EQ(run(*connection_, "select * from driver_test").width, 3U);
}

TEST_P(postgres, deallocated_statements_are_made_again) {
  run(*connection_, "select 1");
  run(*connection_, "deallocate all");
  auto const e = caught([&] { run(*connection_, "select 1"); });
  EXPECT_TRUE(!e || e->retryable());
  EXPECT_EQ(number(run(*connection_, "select 1")), 1);
}

TEST_P(postgres, copy_is_refused) {
  auto const e = caught([&] { run(*connection_, "copy driver_test from stdin"); });
  ASSERT_TRUE(e);
  EXPECT_EQ(e->kind(), error_code::statement) << e->what();
}

TEST_P(postgres, facts_are_known) {
  for (auto const& [name, found] : connection_->facts()) {
    if (name == "pooler") {
      EXPECT_EQ(found, pooled() ? "yes" : "no");
    }
    EXPECT_NE(found, "unknown") << name;
  }
}

}  // namespace
}  // namespace drivers
}  // namespace v1
}  // namespace daybook
