// Several statements at once, and many rows at once, against real servers of PostgreSQL, direct and
// through PgBouncer: what is PostgreSQL's own. The rest is in tests/conformance.
#include "drivers/drivers.hpp"
#include "drivers/postgres/postgres_servers.hpp"

#include <daybook/error.hpp>

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace daybook {
inline namespace v1 {
namespace drivers {
namespace {

db::table run(db::session& session, std::string_view text) {
  return session.run(db::rewrite("user", text, db::placeholder::dollar), {});
}

class postgres_many : public on_postgres_servers {
 protected:
  void set_up() override {
    other_ = connect_postgres(db::parse_url(direct_), {});
    other_->script(
        "drop table if exists many_test; create table many_test (id int primary key, note text)");
    connection_ = connect_postgres(db::parse_url(url_), {});
  }

  std::int64_t rows() { return number(run(*other_, "select count(*) from many_test")); }

  std::unique_ptr<db::session> other_;
  std::unique_ptr<db::session> connection_;
};

DAYBOOK_ON_POSTGRES_SERVERS(postgres_many);

TEST_P(postgres_many, together_is_one_transaction_in_read_committed) {
  auto const facts = db::rewrite("user",
                                 "select current_setting('transaction_isolation'), "
                                 "current_setting('lock_timeout'), pg_current_xact_id()::text",
                                 db::placeholder::dollar);
  std::vector<db::call> const calls(3, {&facts, {}});
  auto const back = connection_->together(calls);
  for (auto const& one : back) {
    EXPECT_EQ(one.cells.at(0), cell("read committed"));
    EXPECT_EQ(one.cells.at(1), cell("5s"));
    EXPECT_EQ(one.cells.at(2), back.front().cells.at(2));
  }
  EXPECT_NE(connection_->together(calls).front().cells.at(2), back.front().cells.at(2));
  if (pooled()) return;
  // For the three of them and for the next three.
  EXPECT_EQ(number(run(*connection_,
                       "select count(*) from pg_prepared_statements "
                       "where statement like '%pg_current_xact_id()::text'")),
            1);
}

TEST_P(postgres_many, together_that_fails_at_its_end_is_not_in_doubt) {
  other_->script(
      "alter table many_test add unique (note) deferrable initially deferred;"
      "insert into many_test values (1, 'a')");
  auto const insert =
      db::rewrite("user", "insert into many_test values (:id, :note)", db::placeholder::dollar);
  auto const call = [&](std::int64_t id, char const* note) {
    return db::call{&insert, {id, std::string_view(note)}};
  };
  for (int again = 0; again < 2; ++again) {
    std::vector<db::call> const calls{call(2, "b"), call(3, "a"), call(4, "c")};
    auto const e = caught([&] { connection_->together(calls); });
    ASSERT_TRUE(e);
    EXPECT_EQ(e->sqlstate(), "23505");
    EXPECT_EQ(e->statement(), "commit");
    EXPECT_FALSE(e->in_doubt() || e->retryable() || e->breaks_connection()) << e->what();
    EXPECT_TRUE(connection_->usable());
    EXPECT_EQ(rows(), 1);
  }
  EXPECT_EQ(connection_->together(std::vector{call(2, "b")}).front().affected, 1);
  EXPECT_EQ(number(run(*connection_, "select count(*) from many_test")), 2);
}

TEST_P(postgres_many, rows_of_many_parts_are_loaded_whole) {
  other_->script("alter table many_test add raw bytea");
  // More than goes to the server at once, and what is escaped lies across the parts.
  std::string text;
  while (text.size() < 3'000'000) text += "a\\b\tc\nd";
  auto const raw = std::as_bytes(std::span(text));
  std::vector<value> const cells{std::int64_t{1}, std::string_view(text),    raw,
                                 std::int64_t{2}, std::string_view("short"), nullptr,
                                 std::int64_t{3}, std::string_view(text),    raw};
  connection_->begin(isolation::read_committed);
  EXPECT_EQ(connection_->load({.table = "many_test", .columns = {"id", "note", "raw"}}, cells), 3);
  connection_->commit();
  auto const found = run(*other_, "select note, raw from many_test order by id");
  ASSERT_EQ(found.size(), 3);
  for (std::size_t const at : {0U, 1U, 4U, 5U}) EXPECT_TRUE(found.cells[at] == cell(text)) << at;
}

TEST_P(postgres_many, a_backend_killed_during_together_leaves_doubt) {
  auto const insert =
      db::rewrite("user", "insert into many_test values (1)", db::placeholder::dollar);
  auto const sleep =
      db::rewrite("user", "select pg_sleep(30)::text as together", db::placeholder::dollar);
  std::jthread const kill([&] {
    for (int tries = 0; tries < 1000; ++tries) {
      auto const found = run(*other_,
                             "select pg_terminate_backend(pid) from pg_stat_activity "
                             "where query like '%pg_sleep(30)::text as together' "
                             "and wait_event = 'PgSleep'");
      if (found.size() > 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  std::vector<db::call> const calls{{&insert, {}}, {&sleep, {}}};
  auto const e = caught([&] { connection_->together(calls); });
  ASSERT_TRUE(e);
  EXPECT_TRUE(e->in_doubt() && !e->retryable() && e->breaks_connection()) << e->what();
  EXPECT_FALSE(connection_->usable());
}

}  // namespace
}  // namespace drivers
}  // namespace v1
}  // namespace daybook
