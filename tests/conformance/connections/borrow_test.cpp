// A book on one handle of the application's, and one on connections that its pool lends.
#include "conformance/adopt.hpp"

#include <thread>

namespace conformance {
namespace {

class adopt_connection : public adoption {
 protected:
  /// Everything that may be set on a connection, as one text.
  std::string settings() {
    if (on_postgres()) {
      return app_.execute(
          "select string_agg(name || '=' || setting, ' ' order by name) from pg_settings");
    }
    if (on_mariadb()) {
      return app_.execute(
          "select group_concat(variable_name, '=', variable_value order by variable_name) "
          "from " +
          statuses() +
          ".session_variables where variable_name not in ('TIMESTAMP', "
          "'RAND_SEED1', 'RAND_SEED2', 'PSEUDO_THREAD_ID', 'LAST_INSERT_ID', 'IDENTITY', "
          "'WARNING_COUNT', 'ERROR_COUNT', 'IN_TRANSACTION') and variable_name not like 'GTID%' "
          "and variable_name not like 'LAST_GTID'");
    }
    std::string all;
    for (auto const* const name : {"busy_timeout", "synchronous", "foreign_keys", "journal_mode",
                                   "mmap_size", "wal_autocheckpoint", "query_only", "cache_size"}) {
      all += std::string(name) + "=" + app_.execute("pragma " + std::string(name)) + " ";
    }
    return all;
  }
};

TEST_P(adopt_connection, does_whole_runs_on_the_applications_handle) {
  auto on = adoption::adopt_connection();
  auto run = taken(on.start(nightly_, day_));
  EXPECT_EQ(run.step("one", insert("one")).what(), outcome::done);
  run = taken([&] {
    { auto const dropped = std::move(run); }
    return on.start(nightly_, day_);
  }());
  EXPECT_EQ(run.attempt(), 2);
  EXPECT_EQ(run.step("one", insert("one")).what(), outcome::skipped);
  EXPECT_EQ(run.step("two", insert("two")).what(), outcome::done);
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_EQ(effects("one") + effects("two"), "11");
  EXPECT_EQ(seen().info.state, run_state::succeeded);
  insert_mine("mine");  // by itself, as before
  EXPECT_EQ(effects("mine"), "1");
}

TEST_P(adopt_connection, claims_however_short_the_session_cuts_texts) {
  if (!on_mariadb()) return;
  app_.execute("set session group_concat_max_len = 1024");
  auto on = adoption::adopt_connection();
  for (bool const in_order : {false, true}) {
    auto q = on.make_queue(in_order ? "ordered" : "singles", {.in_order = in_order});
    for (int i = 0; i < 40; ++i) EXPECT_TRUE(q.add(key("k" + std::to_string(i))));
    auto const batch = q.claim();
    ASSERT_TRUE(batch.has_value());
    EXPECT_EQ(batch->tasks().size(), 40U);
  }
}

TEST_P(adopt_connection, makes_its_tables) {
  support::fresh_database const other(GetParam());
  auto there = connect(other.url());
  auto on = std::visit(
      [](auto* handle) {
        return daybook::book::adopt_connection(*handle, support::fresh_database::manual());
      },
      there.native());
  on.migrate();
  EXPECT_TRUE(std::move(taken(on.start(nightly_))).finish());
}

TEST_P(adopt_connection, leaves_the_settings_as_they_were) {
  if (GetParam().name == "pgbouncer") return;  // settings there are of whichever server serves
  if (on_postgres())
    app_.execute("set lock_timeout = '7s'; set default_transaction_read_only = on");
  if (on_mariadb()) app_.execute("set time_zone = '+05:00', innodb_lock_wait_timeout = 7");
  auto const before = settings();
  {
    auto on = adoption::adopt_connection();
    auto run = taken(on.start(nightly_, day_));
    daybook::step_options const strict{.level = daybook::isolation::serializable};
    EXPECT_EQ(run.step("one", strict, insert("one")).what(), outcome::done);
    EXPECT_TRUE(std::move(run).finish());
  }
  EXPECT_EQ(settings(), before);
  EXPECT_EQ(effects("one"), "1");
}

TEST_P(adopt_connection, while_a_transaction_is_open_is_refused) {
  auto on = adoption::adopt_connection();
  begin();
  insert_mine("mine");
  expect_refusal(error_code::bad_argument, "join it",
                 [&] { static_cast<void>(on.start(nightly_, day_)); });
  expect_refusal(error_code::bad_argument, "join it",
                 [&] { static_cast<void>(adoption::adopt_connection()); });
  expect_refusal(error_code::bad_argument, "join it", [&] { static_cast<void>(on.runs()); });
  app_.execute("commit");
  EXPECT_EQ(effects("mine"), "1");
  EXPECT_TRUE(std::move(taken(on.start(nightly_, day_))).finish());
}

TEST_P(adopt_connection, has_no_asynchronous_calls) {
  auto on = adoption::adopt_connection();
  expect_refusal(error_code::bad_argument, "borrowed",
                 [&] { static_cast<void>(on.start_async(nightly_, day_)); });
  auto run = taken(on.start(nightly_, day_));
  expect_refusal(error_code::bad_argument, "borrowed",
                 [&] { static_cast<void>(run.record_async("one")); });
  EXPECT_EQ(run.record("one").what(), outcome::done);
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(adopt_connection, and_join_on_the_same_handle) {
  auto on = adoption::adopt_connection();
  begin();
  insert_mine("mine");
  join(on, app_)->exec("insert into effect(name) values (:n)", "ours");
  app_.execute("commit");
  EXPECT_EQ(effects("mine") + effects("ours"), "11");
}

TEST_P(adopt_connection, called_again_by_a_steps_body_is_refused) {
  auto on = adoption::adopt_connection();
  auto run = taken(on.start(nightly_, day_));
  expect_refusal(error_code::bad_argument, "in use", [&] {
    static_cast<void>(run.step("one", [&](transaction& tx) {
      tx.exec("insert into effect(name) values ('one')");
      static_cast<void>(on.start(process{"other"}));
    }));
  });
  EXPECT_EQ(effects("one"), "0");
  EXPECT_EQ(run.step("one", insert("one")).what(), outcome::done);
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(adopt_connection, every_step_renews) {
  daybook::testing::manual_clock clock(book_);
  auto on = adoption::adopt_connection();
  auto run = taken(on.start(nightly_, day_));
  clock.advance(20s);
  EXPECT_EQ(run.step("one", insert("one")).what(), outcome::done);
  clock.advance(20s);
  auto const refused = book_.start(nightly_, day_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.why(), start_refusal::running_elsewhere);
  clock.advance(20s);
  auto const stolen = taken(book_.start(nightly_, day_));
  EXPECT_EQ(run.step("two", insert("two")).what(), outcome::lost);
  EXPECT_EQ(effects("two"), "0");
}

TEST_P(adopt_connection, renews_when_asked_and_says_when_it_is_dead) {
  daybook::testing::manual_clock clock(book_);
  auto on = adoption::adopt_connection();
  auto run = taken(on.start(nightly_, day_));
  clock.advance(20s);
  EXPECT_EQ(on.renew(), daybook::lease_state::held);
  clock.advance(20s);
  EXPECT_FALSE(book_.start(nightly_, day_));
  ASSERT_TRUE(daybook::testing::expire(book_, nightly_, day_));
  auto const stolen = taken(book_.start(nightly_, day_));
  EXPECT_EQ(on.renew(), daybook::lease_state::lost);
  EXPECT_TRUE(run.stop().stop_requested());
  EXPECT_TRUE(std::move(taken(on.start(process{"other"}))).finish());
}

TEST_P(adopt_connection, start_renews) {
  daybook::testing::manual_clock clock(book_);
  auto on = adoption::adopt_connection();
  EXPECT_TRUE(std::move(taken(on.start(nightly_, day_))).finish());
  clock.advance(1h);
  auto const run = taken(on.start(nightly_, day_));
  EXPECT_FALSE(book_.start(nightly_, day_));
}

/// A connection without CLIENT_FOUND_ROWS would say that nothing was changed.
TEST_P(adopt_connection, renewing_twice_at_one_instant_is_no_death) {
  daybook::testing::manual_clock clock(book_);
  clock.stop_at(clock.now());
  auto on = adoption::adopt_connection();
  auto run = taken(on.start(nightly_, day_));
  EXPECT_EQ(on.renew(), daybook::lease_state::held);
  EXPECT_EQ(on.renew(), daybook::lease_state::held);
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(adopt_connection, works_where_autocommit_is_off) {
  if (!on_mariadb()) return;
  app_.execute("set autocommit = 0");
  auto on = adoption::adopt_connection();
  auto run = taken(on.start(nightly_, day_));
  EXPECT_EQ(on.runs().size(), 1U);
  if (!on_mysql()) {
    EXPECT_EQ(app_.execute("select @@in_transaction"), "0");
  }
  EXPECT_EQ(run.step("one", insert("one")).what(), outcome::done);
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_EQ(effects("one"), "1");
}

/// There is no other connection to go on with, so that waiting would be for nothing.
TEST_P(adopt_connection, of_a_connection_that_breaks_throws) {
  if (on_sqlite()) return;
  auto on = adoption::adopt_connection();
  auto run = taken(on.start(nightly_, day_));
  EXPECT_EQ(
      fault_of([&] {
        static_cast<void>(run.step("one", [&](transaction& tx) {
          tx.exec("insert into effect(name) values ('one')");
          auto const id = on_mariadb() ? tx.rows<std::int64_t>("select connection_id()").at(0)
                                       : tx.rows<std::int64_t>("select pg_backend_pid()").at(0);
          support::raw_connection(direct_url())
              .execute(on_mariadb() ? "kill " + std::to_string(id)
                                    : "select pg_terminate_backend(" + std::to_string(id) + ")");
          tx.exec("insert into effect(name) values ('one')");
        }));
      }),
      error_code::unreachable);
  EXPECT_EQ(effects("one"), "0");
}

DAYBOOK_ON_EVERY_ENGINE(adopt_connection);

/// An application's pool, of connections by its own driver.
class lend : public adoption {
 protected:
  struct counted {
    std::mutex guard;
    std::vector<support::raw_connection> all;
    std::vector<std::size_t> free;
    int taken = 0;
    int out = 0;
    int most_out = 0;
    int broken = 0;
    std::string given_back;  ///< one after the other: "b" broken, "w" whole
    bool empty = false;
  };

  template <class N>
  daybook::connection_source<N> lender_of() {
    return {.take = [this]() -> N* {
              std::lock_guard const lock(pool_.guard);
              if (pool_.empty) return nullptr;
              ++pool_.taken;
              pool_.most_out = std::max(pool_.most_out, ++pool_.out);
              if (pool_.free.empty()) {
                pool_.all.push_back(connect());
                return std::get<N*>(pool_.all.back().native());
              }
              auto const at = pool_.free.back();
              pool_.free.pop_back();
              return std::get<N*>(pool_.all[at].native());
            },
            .give_back =
                [this](N* what, bool broken) {
                  std::lock_guard const lock(pool_.guard);
                  --pool_.out;
                  pool_.given_back += broken ? 'b' : 'w';
                  if (broken) {
                    ++pool_.broken;
                    return;
                  }
                  for (std::size_t at = 0; at < pool_.all.size(); ++at) {
                    if (std::get<N*>(pool_.all[at].native()) == what) pool_.free.push_back(at);
                  }
                }};
  }
  [[nodiscard]] daybook::book from_pool(daybook::book_options options) {
    return std::visit(
        [&](auto* kind) {
          return daybook::book::from_pool(lender_of<std::remove_pointer_t<decltype(kind)>>(),
                                          options);
        },
        app_.native());
  }
  [[nodiscard]] daybook::book from_pool() { return from_pool(watched()); }

  counted pool_;
};

TEST_P(lend, does_whole_runs_and_gives_everything_back) {
  {
    auto on = from_pool();
    auto run = taken(on.start(nightly_, day_));
    EXPECT_EQ(run.step("one", insert("one")).what(), outcome::done);
    EXPECT_EQ(pool_.out, 0);
    EXPECT_TRUE(std::move(run).finish());
    EXPECT_EQ(on.renew(), daybook::lease_state::held);
  }
  EXPECT_EQ(pool_.out, 0);
  EXPECT_EQ(pool_.broken, 0);
  EXPECT_EQ(pool_.most_out, 1);
  EXPECT_GT(pool_.taken, 4);
  EXPECT_EQ(pool_.all.size(), 1U);
  EXPECT_EQ(effects("one"), "1");
}

TEST_P(lend, is_asked_for_two_at_once_by_two_threads) {
  auto on = from_pool();
  auto run = taken(on.start(nightly_, day_));
  EXPECT_EQ(run.step("one",
                     [&](transaction& tx) {
                       tx.exec("insert into effect(name) values ('one')");
                       // Reading: on SQLite only one writes.
                       EXPECT_EQ(on.runs().size(), 1U);
                     })
                .what(),
            outcome::done);
  EXPECT_EQ(pool_.most_out, 2);
  EXPECT_EQ(pool_.out, 0);
}

TEST_P(lend, a_loan_for_the_renewal_too) {
  auto options = watched();
  options.renew_in_background = true;
  auto on = from_pool(options);
  auto run = taken(on.start(nightly_, day_));
  EXPECT_EQ(on.renew(), daybook::lease_state::held);  // by the background's own connection
  EXPECT_TRUE(std::move(run).finish());
  std::lock_guard const lock(pool_.guard);
  EXPECT_LE(pool_.out, 1);  // the background may be at it
}

TEST_P(lend, nothing_prepared_is_left_on_a_connection) {
  auto on = from_pool();
  EXPECT_TRUE(std::move(taken(on.start(nightly_, day_))).finish());
  ASSERT_EQ(pool_.all.size(), 1U);
  auto& app = pool_.all.front();
  if (on_sqlite()) {
    EXPECT_EQ(::sqlite3_next_stmt(std::get<::sqlite3*>(app.native()), nullptr), nullptr);
    EXPECT_EQ(app.execute("select count(*) from pragma_module_list where name like 'daybook%'"),
              "0");
  } else if (on_postgres()) {
    EXPECT_EQ(app.execute("select count(*) from pg_prepared_statements "
                          "where name like 'daybook%'"),
              "0");
  } else {
    EXPECT_EQ(app.execute(statements_prepared()), "0");
  }
}

TEST_P(lend, a_broken_one_is_said_to_be_and_the_step_done_on_another) {
  auto on = from_pool();
  auto run = taken(on.start(nightly_, day_));
  daybook::testing::arm("step.effect_done", failpoint_action::cut);
  EXPECT_EQ(run.step("one", insert("one")).what(), outcome::done);
  EXPECT_EQ(pool_.broken, 1);
  EXPECT_EQ(pool_.out, 0);
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_EQ(effects("one"), "1");
}

TEST_P(lend, one_that_is_found_dead_is_said_to_be) {
  if (on_sqlite() || GetParam().name == "pgbouncer") return;
  auto on = from_pool();
  ASSERT_EQ(pool_.all.size(), 1U);
  auto const id = pool_.all.front().execute(on_mariadb() ? "select connection_id()"
                                                         : "select pg_backend_pid()");
  support::raw_connection server(direct_url());
  server.execute(on_mariadb() ? "kill " + id : "select pg_terminate_backend(" + id + ")");
  auto const there = on_mariadb()
                         ? "select count(*) from information_schema.processlist where id = " + id
                         : "select count(*) from pg_stat_activity where pid = " + id;
  while (server.execute(there) != "0") std::this_thread::sleep_for(10ms);
  pool_.given_back.clear();
  try {
    static_cast<void>(on.runs());
  } catch (daybook::error const& e) {
    EXPECT_EQ(e.kind(), error_code::unreachable) << e.what();
  }
  EXPECT_EQ(pool_.broken, 1);
  EXPECT_EQ(pool_.given_back.substr(0, 1), "b");
  EXPECT_NO_THROW(static_cast<void>(on.runs()));
  EXPECT_EQ(pool_.out, 0);
}

TEST_P(lend, a_lost_reply_is_resolved_on_another_connection) {
  auto on = from_pool();
  auto run = taken(on.start(nightly_, day_));
  daybook::testing::arm("step.committed", failpoint_action::cut);
  EXPECT_EQ(run.step("one", insert("one")).what(), outcome::done);
  EXPECT_EQ(pool_.broken, 1);
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_EQ(effects("one"), "1");
}

TEST_P(lend, one_in_a_transaction_is_refused) {
  auto on = from_pool();
  EXPECT_EQ(pool_.all.size(), 1U);
  pool_.all.front().execute(on_sqlite() ? "begin immediate" : "begin");
  expect_refusal(error_code::bad_argument, "end it first",
                 [&] { static_cast<void>(on.start(nightly_, day_)); });
  EXPECT_EQ(pool_.out, 0);
  pool_.all.front().execute("rollback");
  EXPECT_TRUE(std::move(taken(on.start(nightly_, day_))).finish());
}

TEST_P(lend, an_empty_pool_is_unreachable) {
  auto on = from_pool();
  pool_.empty = true;
  expect_refusal(error_code::unreachable, "no connection to lend",
                 [&] { static_cast<void>(on.runs()); });
  pool_.empty = false;
  EXPECT_NO_THROW(static_cast<void>(on.runs()));
}

TEST_P(lend, half_a_lender_is_refused) {
  EXPECT_EQ(fault_of([] {
              static_cast<void>(daybook::book::from_pool(daybook::connection_source<::sqlite3>{}));
            }),
            error_code::bad_argument);
}

DAYBOOK_ON_EVERY_ENGINE(lend);

}  // namespace
}  // namespace conformance
