// Several statements that go together: what a broken connection leaves of them, and what the core
// says of that.
#include "proof/faults/fixture.hpp"

#include "core/tx/transact.hpp"
#include "service/engine.hpp"

#include <thread>

namespace conformance::faults {
namespace {

namespace core = daybook::core;
namespace db = daybook::db;

using std::chrono::steady_clock;

/// Generous, for a busy machine: without limits nothing here would ever end.
constexpr auto bounded = 20s;

class together : public with_proxy {
 protected:
  std::vector<db::table> write(daybook::book& with) const {
    return core::write_together(with.internals().ready(), {.name = "operate"}, calls_);
  }
  /// Everything is one request, and so that is the one that commits.
  [[nodiscard]] static proxy::plan at_the_end(proxy::fault what) {
    return {.what = what, .at = proxy::moment::statement};
  }
  void expect_lost(daybook::book& with) const {
    auto const since = steady_clock::now();
    EXPECT_THROW(static_cast<void>(write(with)), core::lost_reply);
    EXPECT_LT(steady_clock::now() - since, bounded);
  }
  void expect_rows(char const* each) const {
    EXPECT_EQ(effects("first"), each);
    EXPECT_EQ(effects("last"), each);
  }

  /// The reply that is lost can be that of the first of them: the server is at work still.
  void expect_rows_soon() const {
    auto const until = steady_clock::now() + 1min;
    while (effects("last") != "1" && steady_clock::now() < until) {
      std::this_thread::sleep_for(10ms);
    }
    expect_rows("1");
  }

  // The library's, by their names, so that there is a limit to their time.
  db::statement const first_{"first", "insert into effect(name) values ('first')", {}, {}};
  db::statement const last_{"last", "insert into effect(name) values ('last')", {}, {}};
  std::vector<db::call> const calls_{{&first_, {}}, {&last_, {}}};
};

TEST_P(together, is_in_doubt_where_the_request_is_lost) {
  for (auto const what : {proxy::fault::cut, proxy::fault::reset, proxy::fault::half_open}) {
    auto book = far();
    EXPECT_EQ(write(book).size(), 2U);
    database_.execute("delete from effect");
    arm(at_the_end(what), "('last')");
    expect_lost(book);
    EXPECT_EQ(between_.hits(), 1);
    expect_rows("0");
    EXPECT_EQ(write(book).size(), 2U);
    expect_rows("1");
  }
}

TEST_P(together, is_in_doubt_where_the_reply_is_lost) {
  for (auto const what : {proxy::fault::swallow_reply, proxy::fault::stay_silent}) {
    auto book = far();
    EXPECT_EQ(write(book).size(), 2U);  // prepares it, on MariaDB in a request of its own
    database_.execute("delete from effect");
    arm(at_the_end(what), "('last')");
    expect_lost(book);
    EXPECT_EQ(between_.hits(), 1);
    expect_rows_soon();
  }
}

TEST_P(together, is_tried_again_where_nothing_can_have_stayed) {
  auto book = far();
  EXPECT_EQ(write(book).size(), 2U);
  arm({.what = proxy::fault::refuse,
       .at = proxy::moment::statement,
       .code = on_postgres() ? "40001" : "1213"},
      "('last')");
  EXPECT_EQ(write(book).size(), 2U);
  EXPECT_EQ(between_.hits(), 1);
  EXPECT_EQ(log_.count("retried operate"), 1U);
  expect_rows("2");
}

/// More than any buffer between here and a server that is stopped: sending has its limit, too.
TEST_P(together, a_stopped_server_does_not_hold_what_is_long) {
  database_.execute("create table loaded(id int not null, t varchar(1000) not null)" + innodb());
  std::string const text(1000, 'x');
  std::vector<daybook::value> cells;
  for (std::int64_t id = 0; id < 30'000; ++id) {
    cells.insert(cells.end(), {daybook::value(id), std::string_view(text)});
  }
  auto options = support::fresh_database::manual();
  options.lease = 1s;
  options.connect_timeout = 2s;
  daybook::book book(database_.url(), options);
  auto const in = book.internals().ready();
  auto const one = db::insert_rows({"loaded", {"id", "t"}}, 1);
  db::statement const dollar{
      "one", "insert into loaded(id, t) values ($1, $2)", one.inputs, {0, 1}};
  std::vector<db::call> calls;
  for (std::size_t at = 0; at < cells.size(); at += 2) {
    calls.push_back({on_postgres() ? &dollar : &one, {cells[at], cells[at + 1]}});
  }
  for (bool const loads : {true, false}) {
    auto from_pool = in.sessions.lend(1s);
    if (loads) {
      from_pool->begin(daybook::isolation::read_committed);
      EXPECT_EQ(from_pool->load({"loaded", {"id", "t"}}, std::span(cells).first(4)), 2);
    }
    support::stopped const asleep(support::processes_of(GetParam()));
    auto const since = steady_clock::now();
    EXPECT_EQ(fault_of([&] {
                if (loads) {
                  static_cast<void>(from_pool->load({"loaded", {"id", "t"}}, cells));
                } else {
                  static_cast<void>(from_pool->together(calls));
                }
              }),
              error_code::unreachable);
    EXPECT_LT(steady_clock::now() - since, bounded);
    EXPECT_FALSE(from_pool->usable());
    from_pool->rollback();
  }
}

/// One that has begun to take the rows, and then takes no more.
TEST_P(together, rows_that_are_not_taken_any_more) {
  if (!on_postgres()) return;  // elsewhere they are requests like others
  database_.execute(
      "create table loaded(t text);"
      "create function dawdle() returns trigger language plpgsql as "
      "$$ begin perform pg_sleep(60); return new; end $$;"
      "create trigger slow before insert on loaded for each row execute function dawdle()");
  auto options = support::fresh_database::manual();
  options.lease = 1s;
  options.connect_timeout = 2s;
  daybook::book book(database_.url(), options);
  auto from_pool = book.internals().ready().sessions.lend(1s);
  std::string const text(1000, 'x');
  std::vector<daybook::value> const cells(30'000, std::string_view(text));
  from_pool->begin(daybook::isolation::read_committed);
  auto const since = steady_clock::now();
  EXPECT_EQ(fault_of([&] {
              static_cast<void>(from_pool->load({"loaded", {"t"}}, cells));
            }),
            error_code::unreachable);
  EXPECT_LT(steady_clock::now() - since, bounded);
  from_pool->rollback();
  EXPECT_EQ(database_.query("select count(pg_terminate_backend(pid)) from pg_stat_activity "
                            "where wait_event = 'PgSleep' and datname = current_database()"),
            "1");
}

DAYBOOK_ON_EVERY_SERVER(together);

}  // namespace
}  // namespace conformance::faults
