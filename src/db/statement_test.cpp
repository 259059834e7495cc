#include "db/statement.hpp"

#include <daybook/error.hpp>

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace daybook {
namespace {

using db::placeholder;
using names = std::vector<std::string>;
using indexes = std::vector<std::size_t>;

std::string dollar(std::string_view text) {
  return db::rewrite("t", text, placeholder::dollar).text;
}

TEST(rewrite, each_engine_has_its_placeholders) {
  constexpr auto text = "select :b, :a, :b from t";
  auto const postgres = db::rewrite("t", text, placeholder::dollar);
  EXPECT_EQ(postgres.text, "select $1, $2, $1 from t");
  EXPECT_EQ(postgres.inputs, (names{"b", "a"}));
  EXPECT_EQ(postgres.order, (indexes{0, 1, 0}));
  auto const sqlite = db::rewrite("t", text, placeholder::question_digit);
  EXPECT_EQ(sqlite.text, "select ?1, ?2, ?1 from t");
  auto const mysql = db::rewrite("t", text, placeholder::question);
  EXPECT_EQ(mysql.text, "select ?, ?, ? from t");
  EXPECT_EQ(mysql.order, (indexes{0, 1, 0}));
  EXPECT_EQ(mysql.name, "t");
}

TEST(rewrite, given_inputs_keep_their_order) {
  auto const made = db::rewrite("run.x", "select :b, :a", placeholder::dollar, {"a", "b", "c"});
  EXPECT_EQ(made.text, "select $2, $1");
  EXPECT_EQ(made.inputs, (names{"a", "b", "c"}));
  try {
    static_cast<void>(db::rewrite("run.x", "select :other", placeholder::dollar, {"a"}));
    FAIL();
  } catch (error const& e) {
    EXPECT_EQ(e.kind(), error_code::internal);
    EXPECT_NE(std::string(e.what()).find(":other"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("run.x"), std::string::npos);
  }
}

TEST(rewrite, leaves_alone_what_is_not_a_parameter) {
  // Each comes out as it went in, but for :p, which is $1.
  for (std::string const text : {
           "select ':no' || ",
           "select 'it''s :no' || ",
           "select '' || ",
           "select \"a:no\" || ",
           "select \"a\"\":no\" || ",
           "select `a:no` || ",
           "select 1 -- :no\n || ",
           "select 1 -- it's :no\n || ",
           "select /* :no 'no */ ",
           "select /* a /* :no */ ",
           "select a::text || ",
           "select a :: text || ",
           "set @a := 1, b = ",
           "select a[1:2] || ",
           "select '12:30' || ",
           "select a: b || ",
           "select $$ :no 'no $$ || ",
           "select $tag$ :no $$ :no $tag$ || ",
           "select a$b$:c || ",
           "select 1 : 2 || ",
           "select :1 || ",
           "select $5 || ",
           "select a$ || ",
       }) {
    auto const expected =
        text.find("a$b$:c") != std::string::npos ? std::string("select a$b$$1 || $2") : text + "$1";
    EXPECT_EQ(dollar(text + ":p"), expected) << text;
  }
}

TEST(rewrite, names_end_where_a_word_ends) {
  EXPECT_EQ(dollar(":a:b"), "$1$2");
  EXPECT_EQ(dollar(":a::int"), "$1::int");
  EXPECT_EQ(dollar("(:a_1,:_b2)"), "($1,$2)");
  EXPECT_EQ(dollar("x=:a"), "x=$1");
  EXPECT_EQ(dollar(":a'x'"), "$1'x'");
  EXPECT_EQ(dollar("-:a"), "-$1");
  EXPECT_EQ(dollar("1-:a--:b"), "1-$1--:b");
}

TEST(rewrite, what_does_not_end_takes_the_rest) {
  for (std::string const text :
       {"", ":", "a:", "'", "':a", "\":a", "`:a", "--:a", "/*:a", "$$:a", "$t$:a$$", "/*", "$"}) {
    EXPECT_EQ(dollar(text), text);
  }
}

TEST(rewrite, many_parameters) {
  std::string text = "select ";
  std::string expected = "select ";
  for (int i = 1; i <= 300; ++i) {
    text += ":p" + std::to_string(i) + ",";
    expected += "$" + std::to_string(i) + ",";
  }
  EXPECT_EQ(dollar(text), expected);
}

TEST(rewrite, sees_whether_it_only_reads) {
  auto const reads = [](std::string_view text) {
    return db::rewrite("t", text, placeholder::dollar).only_reads;
  };
  EXPECT_TRUE(reads("select 1"));
  EXPECT_TRUE(reads("with a as (select 1) select * from a"));
  EXPECT_TRUE(reads("with a as (select updated from t) select insert_us, deleted from a"));
  EXPECT_FALSE(reads("with a as (update t set b = 1 returning c) select * from a"));
  EXPECT_FALSE(reads("with a as (select 1) insert into t select * from a"));
  EXPECT_FALSE(reads("with a as (select 1)\ndelete from t"));
  EXPECT_FALSE(reads("update t set a = 1"));
  EXPECT_FALSE(reads("begin not atomic select 1; end"));
  EXPECT_FALSE(db::rewrite("user", "select a()", placeholder::dollar).only_reads);
}

TEST(rewrite, a_users_takes_its_time) {
  EXPECT_TRUE(db::rewrite("user", "select 1", placeholder::dollar).takes_its_time);
  EXPECT_FALSE(db::rewrite("t", "select 1", placeholder::dollar).takes_its_time);
}

TEST(user_statements, are_rewritten_once) {
  db::user_statements known(placeholder::dollar);
  constexpr auto text = "select :a";
  auto const& first = known.of(text);
  EXPECT_EQ(first.name, "user");
  EXPECT_EQ(first.text, "select $1");
  for (int i = 0; i < 100; ++i) static_cast<void>(known.of("select :b, :a"));
  EXPECT_EQ(&known.of(text), &first);
}

TEST(user_statements, outlive_the_text_that_they_were_made_of) {
  db::user_statements known(placeholder::dollar);
  // As the literals of a plugin that is unloaded, and of one that is loaded to the same place.
  std::string place = "select :a, 'long enough to be on the heap'";
  auto const as_it_was = place;
  auto const& first = known.of(place);
  place.replace(0, place.size(), place.size(), 'x');
  EXPECT_EQ(known.of(place).text, place);
  EXPECT_EQ(&known.of(as_it_was), &first);
  EXPECT_EQ(first.text, "select $1, 'long enough to be on the heap'");
}

TEST(rewrite, a_user_does_not_end_the_transaction) {
  for (auto const* text : {"commit",
                           " Commit work",
                           "-- so\n rollback",
                           "/* so */ end",
                           "# so\n abort",
                           "begin",
                           "begin immediate",
                           "start transaction",
                           "rollback",
                           "ROLLBACK and chain",
                           "savepoint daybook_x",
                           "release savepoint daybook_transaction",
                           "rollback work to savepoint daybook_x",
                           "prepare transaction 'x'",
                           "commit prepared 'x'",
                           "set transaction read only",
                           "set local transaction isolation level serializable",
                           "set autocommit = 1",
                           "set session autocommit = 1",
                           "unlock tables",
                           "xa start 'x'",
                           "/*!50000 commit */",
                           "/*M!100100 commit */",
                           ";commit"}) {
    try {
      static_cast<void>(db::rewrite("user", text, placeholder::question));
      ADD_FAILURE() << text;
    } catch (error const& e) {
      EXPECT_EQ(e.kind(), error_code::bad_argument) << text;
    }
    EXPECT_NO_THROW(static_cast<void>(db::rewrite("ours", text, placeholder::question))) << text;
  }
  for (auto const* text :
       {"savepoint mine", "rollback to mine", "rollback to savepoint mine", "release mine",
        "begin not atomic select 1; end", "select 'commit'", "set local lock_timeout = 1",
        "prepare p as select 1", "set transaction_read_only = on", "lock table t", "commits", ""}) {
    EXPECT_NO_THROW(static_cast<void>(db::rewrite("user", text, placeholder::question))) << text;
  }
}

TEST(rewrite, what_may_change_the_session_is_seen) {
  auto const changes = [](std::string_view text) {
    return db::rewrite("user", text, placeholder::dollar).changes_session;
  };
  for (auto const* text :
       {"select 1", "(select 1)", "-- so\ninsert into t values (1)", "Update t set a = 1",
        "with a as (select 1) select * from a", "delete from t", "replace into t values (1)"}) {
    EXPECT_FALSE(changes(text)) << text;
  }
  for (auto const* text :
       {"set search_path = x", "create table t(i int)", "pragma query_only = on", "call p()",
        "select Set_Config('a', 'b', false)", "select pg_advisory_lock(1)", "do $$ $$", "use x",
        "select 1 into temp t", "discard all", "truncate t"}) {
    EXPECT_TRUE(changes(text)) << text;
  }
  EXPECT_FALSE(db::rewrite("ours", "set x = 1", placeholder::dollar).changes_session);
}

}  // namespace
}  // namespace daybook
