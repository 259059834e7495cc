// Several statements in one transaction that they begin and end themselves: db::session::together,
// and what the core makes of it.
#include "conformance/fixture.hpp"
#include "conformance/waiting.hpp"

#include "core/tx/transact.hpp"
#include "service/engine.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace conformance {
namespace {

namespace core = daybook::core;
namespace db = daybook::db;

using daybook::cell;
using daybook::error;

class together : public on_engine {
 protected:
  together() {
    database_.execute("create table pair(a int not null primary key, b varchar(40))" + innodb());
  }

  [[nodiscard]] core::context in() { return book_.internals().ready(); }
  [[nodiscard]] db::call insert(std::int64_t a, daybook::value b) {
    return {&in().user_sql.of("insert into pair(a, b) values (:a, :b)"), {a, b}};
  }
  [[nodiscard]] db::call count() { return {&in().user_sql.of("select count(*) from pair"), {}}; }
  [[nodiscard]] std::string rows() const { return database_.query("select count(*) from pair"); }
  /// With a session outside any transaction of the core's.
  void on_session(std::function<void(db::session&)> const& body) {
    auto from_pool = in().sessions.lend(1s);
    body(*from_pool);
  }
  static std::optional<error> caught(std::function<void()> const& in) {
    try {
      in();
    } catch (error const& e) {
      return e;
    }
    ADD_FAILURE() << "nothing was thrown";
    return std::nullopt;
  }
};

TEST_P(together, gives_a_table_for_each_call) {
  auto const bytes = std::as_bytes(std::span("it's", 4));
  on_session([&](db::session& on) {
    for (int again = 0; again < 2; ++again) {
      auto const& change = in().user_sql.of("update pair set b = :b where a < :below");
      auto const& read = in().user_sql.of("select a, b from pair order by a");
      auto const& clear = in().user_sql.of("delete from pair");
      std::vector<db::call> const calls{insert(1, nullptr),
                                        insert(2, std::string_view("é'\\")),
                                        insert(3, bytes),
                                        {&read, {}},
                                        {&change, {std::string_view("x"), std::int64_t{3}}},
                                        count(),
                                        {&clear, {}}};
      auto const back = on.together(calls);
      ASSERT_EQ(back.size(), calls.size());
      EXPECT_EQ(back[0].affected, 1);
      ASSERT_EQ(back[3].size(), 3U);
      EXPECT_EQ(back[3].row(0)[1], cell(nullptr));
      EXPECT_EQ(back[3].row(1)[1], cell("é'\\"));
      if (!on_postgres()) {  // where bytes are not a text
        EXPECT_EQ(back[3].row(2)[1], cell("it's"));
      }
      EXPECT_EQ(back[4].affected, 2);
      EXPECT_EQ(back[5].cells.at(0), cell(std::int64_t{3}));
      EXPECT_EQ(back[6].affected, 3);
      EXPECT_EQ(rows(), "0");
    }
    EXPECT_TRUE(on.together({}).empty());
  });
}

TEST_P(together, is_seen_whole_or_not_at_all) {
  on_session([&](db::session& on) {
    std::vector<db::call> const calls{insert(1, nullptr), insert(2, nullptr), insert(1, nullptr),
                                      insert(3, nullptr)};
    for (int again = 0; again < 2; ++again) {
      auto const e = caught([&] { static_cast<void>(on.together(calls)); });
      ASSERT_TRUE(e);
      EXPECT_EQ(e->kind(), error_code::constraint) << e->what();
      EXPECT_FALSE(e->in_doubt() || e->retryable() || e->breaks_connection()) << e->what();
      EXPECT_TRUE(on.usable());
      EXPECT_EQ(rows(), "0");
    }
    EXPECT_EQ(on.together(std::span(calls).first(2)).size(), 2U);
    EXPECT_EQ(rows(), "2");
    on.begin(daybook::isolation::read_committed);
    EXPECT_EQ(on.run(*count().what, {}).cells.at(0), cell(std::int64_t{2}));
    on.commit();
  });
}

TEST_P(together, names_the_call_that_failed) {
  auto const wrong = db::rewrite("wrong", "select nothing from pair", daybook::db::placeholder{});
  auto const right = db::rewrite("right", "delete from pair", daybook::db::placeholder{});
  on_session([&](db::session& on) {
    for (auto const& calls : {std::vector<db::call>{{&right, {}}, {&wrong, {}}, {&right, {}}},
                              std::vector<db::call>{{&wrong, {}}, {&right, {}}}}) {
      auto const e = caught([&] { static_cast<void>(on.together(calls)); });
      ASSERT_TRUE(e);
      EXPECT_EQ(e->statement(), "wrong") << e->what();
      EXPECT_EQ(e->kind(), error_code::statement) << e->what();
    }
    EXPECT_TRUE(on.usable());
    EXPECT_EQ(on.together(std::vector{count()}).size(), 1U);
  });
}

TEST_P(together, refuses_before_anything_is_sent) {
  on_session([&](db::session& on) {
    auto missing = insert(2, nullptr);
    missing.values.pop_back();
    std::vector<db::call> const short_one{insert(1, nullptr), missing};
    EXPECT_EQ(caught([&] { static_cast<void>(on.together(short_one)); })->kind(),
              error_code::bad_argument);
    EXPECT_TRUE(on.usable());
  });
  EXPECT_EQ(rows(), "0");
}

TEST_P(together, an_entry_gives_its_parts) {
  auto const style = on_postgres() ? db::placeholder::dollar
                     : on_sqlite() ? db::placeholder::question_digit
                                   : db::placeholder::question;
  auto const part = [&](db::when run, char const* text) {
    return db::part{run, db::rewrite("test.entry", text, style, {"a", "b"})};
  };
  // As in a file: every part takes the same values.
  auto const* const insert = "insert into pair(a, b) values (:a, :b)";
  auto const* const change = on_mariadb() ? "update pair set b = concat(b, :b) where a <= :a"
                                          : "update pair set b = b || :b where a <= :a";
  db::entry const both{
      {part(db::when::always, insert), part(db::when::always, change)}, {}, {}, {}};
  db::entry const either{
      {part(db::when::always, insert), part(db::when::if_nothing_happened, insert)}, {}, {}, {}};
  std::vector<db::call> calls;
  db::add_calls(calls, both, {std::int64_t{1}, std::string_view("x")});
  db::add_calls(calls, both, {std::int64_t{2}, std::string_view("y")});
  EXPECT_EQ(fault_of([&] {
              db::add_calls(calls, either, {std::int64_t{3}, nullptr});
            }),
            error_code::internal);
  ASSERT_EQ(calls.size(), 4U);
  auto const back = core::write_together(in(), {.name = "operate"}, calls);
  ASSERT_EQ(back.size(), 4U);
  EXPECT_EQ(back[3].affected, 2);
  EXPECT_EQ(database_.query("select b from pair where a = 1"), "xxy");
  EXPECT_EQ(database_.query("select b from pair where a = 2"), "yy");
}

/// The rows of its parts are one answer, however many round trips they take.
TEST_P(together, an_entry_answers_with_the_rows_of_all_its_parts) {
  auto const style = on_postgres() ? db::placeholder::dollar
                     : on_sqlite() ? db::placeholder::question_digit
                                   : db::placeholder::question;
  auto const part = [&](std::string const& text) {
    return db::part{db::when::always, db::rewrite("test.entry", text, style, {"a"})};
  };
  database_.execute("insert into pair values (1, 'one'), (2, 'two'), (3, 'three')");
  std::string const read = "select a, b from pair where a ";
  auto const entry = [&](std::string const& last) {
    return db::entry{
        {part(read + "< :a order by a"), part("update pair set b = 'x' where a > :a"), part(last)},
        {},
        {},
        {}};
  };
  auto const with_rows = entry(read + ">= :a order by a");
  auto const with_count = entry("delete from pair where a <> :a");
  std::vector<db::call> calls;
  db::add_calls(calls, with_rows, {std::int64_t{2}});
  db::add_calls(calls, with_count, {std::int64_t{2}});
  auto answers = core::write_together(in(), {.name = "operate"}, calls);
  auto const rows = db::gathered(std::span(answers).first(3));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows.row(0)[1], cell("one"));
  EXPECT_EQ(rows.row(1)[1], cell("two"));
  EXPECT_EQ(rows.row(2)[1], cell("x"));
  auto const count = db::gathered(std::span(answers).subspan(3));
  EXPECT_EQ(count.affected, 2);
  EXPECT_EQ(count.size(), 1U);
  on_session([&](db::session& on) {
    EXPECT_EQ(db::run(on, with_rows, {std::int64_t{3}}).row(0)[0], cell(std::int64_t{2}));
    EXPECT_EQ(on.sends_together(), !on_sqlite() && !on_mysql());
  });
}

TEST_P(together, a_cut_session_has_done_nothing) {
  on_session([&](db::session& on) {
    on.cut();
    auto const e = caught([&] { static_cast<void>(on.together(std::vector{insert(1, nullptr)})); });
    ASSERT_TRUE(e);
    EXPECT_TRUE(e->retryable() && e->breaks_connection() && !e->in_doubt()) << e->what();
  });
  EXPECT_EQ(rows(), "0");
}

TEST_P(together, the_core_tries_again_and_knows_its_doubt) {
  auto const write = [&](std::int64_t a) {
    return core::write_together(in(), {.name = "operate"},
                                std::vector{insert(a, nullptr), count()});
  };
  EXPECT_EQ(write(1).at(1).cells.at(0), cell(std::int64_t{1}));
  daybook::testing::arm("operate.begun", failpoint_action::cut);
  EXPECT_EQ(write(2).at(1).cells.at(0), cell(std::int64_t{2}));
  EXPECT_EQ(log_.count("retried operate"), 1U);
  daybook::testing::arm("operate.before_commit", failpoint_action::cut);
  EXPECT_THROW(static_cast<void>(write(3)), core::lost_reply);
  EXPECT_EQ(rows(), "2");
  daybook::testing::arm("operate.committed", failpoint_action::cut);
  EXPECT_THROW(static_cast<void>(write(4)), core::lost_reply);
  EXPECT_EQ(rows(), "3");
  EXPECT_EQ(fault_of([&] { static_cast<void>(write(4)); }), error_code::constraint);
  EXPECT_EQ(log_.count("timed operate"), 2U);
  EXPECT_TRUE(core::write_together(in(), {.name = "operate"}, {}).empty());
}

/// Two that lock each other out: one is chosen, and tried again whole.
TEST_P(together, is_tried_again_whole) {
  if (on_sqlite()) return;  // writers wait for their turn, and then succeed
  database_.execute("insert into pair values (1, 'a'), (2, 'a')");
  auto const& change = in().user_sql.of("update pair set b = :b where a = :a");
  auto const call = [&](std::int64_t a) { return db::call{&change, {std::string_view("b"), a}}; };
  auto const& add = in().user_sql.of("insert into effect(name) values ('done')");
  bool ran = false;
  auto other = database_.open(watched());
  std::optional<std::jthread> second;
  core::transact(in(), {.name = "operate"}, [&](db::session& on) {
    on.run(change, call(1).values);
    if (!std::exchange(ran, true)) {
      second.emplace([&] {
        auto const with = other.internals().ready();
        core::write_together(with, {.name = "operate"},
                             std::vector<db::call>{{&add, {}}, call(2), call(1)});
      });
      EXPECT_TRUE(comes_true(lock_waits()));
    }
    on.run(change, call(2).values);
    return core::decision::commit;
  });
  second.reset();
  EXPECT_EQ(effects("done"), "1");
  EXPECT_GE(log_.count("retried operate"), 1U);  // on a slow machine also for a lock
}

DAYBOOK_ON_EVERY_ENGINE(together);

}  // namespace
}  // namespace conformance
