// What of the driver for MariaDB and MySQL needs no server.
#include "drivers/mysql/mysql_error.hpp"
#include "drivers/mysql/mysql_script.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace {

using daybook::error_code;
using daybook::drivers::classify_mysql;
using daybook::drivers::mysql_kind;
using daybook::drivers::mysql_stage;
using daybook::drivers::split_mysql_script;

using texts = std::vector<std::string_view>;

TEST(mysql_script, splits_where_a_statement_ends) {
  EXPECT_EQ(split_mysql_script("a;b"), (texts{"a", "b"}));
  EXPECT_EQ(split_mysql_script("a; -- c;d\nb;"), (texts{"a", " -- c;d\nb"}));
  EXPECT_EQ(split_mysql_script("a # ;\n; /* ; */ b"), (texts{"a # ;\n", " /* ; */ b"}));
  EXPECT_EQ(split_mysql_script("'a;''b'';\\';' ; \"x;\" ; `y;\\`"),
            (texts{"'a;''b'';\\';' ", " \"x;\" ", " `y;\\`"}));
  EXPECT_EQ(split_mysql_script("select 1--1;x"), (texts{"select 1--1", "x"}));
  EXPECT_EQ(split_mysql_script("/*! a; */ b"), (texts{"/*! a; */ b"}));
}

TEST(mysql_script, drops_what_holds_only_comments) {
  EXPECT_EQ(split_mysql_script(""), texts{});
  EXPECT_EQ(split_mysql_script(" ; ;\n-- end"), texts{});
  EXPECT_EQ(split_mysql_script("a;\n/* end */\n"), (texts{"a"}));
  EXPECT_EQ(split_mysql_script("'unfinished ; "), (texts{"'unfinished ; "}));
}

struct error_case {
  unsigned code;
  mysql_stage stage;
  error_code kind;
  bool retryable;
  bool in_doubt;
  bool breaks_connection;
};

TEST(mysql_error, classes) {
  using enum mysql_stage;
  error_case const cases[] = {
      {1213, harmless, error_code::conflict, true, false, false},
      {1213, commit, error_code::conflict, true, false, false},
      {1205, harmless, error_code::conflict, true, false, false},
      {1205, commit, error_code::conflict, false, true, true},
      {1020, harmless, error_code::conflict, true, false, false},
      {1020, commit, error_code::conflict, true, false, false},
      {1047, harmless, error_code::conflict, true, false, true},
      {1317, autocommit, error_code::conflict, true, false, false},
      {1317, commit, error_code::conflict, false, true, true},
      {1180, commit, error_code::unreachable, false, true, true},
      {1180, autocommit, error_code::unreachable, false, true, true},
      {2013, connect, error_code::unreachable, true, false, true},
      {2013, harmless, error_code::unreachable, true, false, true},
      {2013, autocommit, error_code::unreachable, false, true, true},
      {2013, commit, error_code::unreachable, false, true, true},
      {2006, commit, error_code::unreachable, false, true, true},
      {1927, harmless, error_code::unreachable, true, false, true},
      {1927, autocommit, error_code::unreachable, true, false, true},
      {1290, harmless, error_code::read_only, true, false, true},
      {1792, harmless, error_code::read_only, false, false, false},
      {1114, harmless, error_code::full, true, false, false},
      {1045, connect, error_code::not_permitted, false, false, false},
      {1049, connect, error_code::configuration, false, false, false},
      {1062, harmless, error_code::constraint, false, false, false},
      {4025, harmless, error_code::constraint, false, false, false},
      {1064, harmless, error_code::statement, false, false, false},
      {1213, compound, error_code::conflict, true, false, false},
      {1062, compound, error_code::constraint, false, false, false},
      {1317, compound, error_code::conflict, false, true, true},
      {1927, compound, error_code::unreachable, false, true, true},
      {2013, compound, error_code::unreachable, false, true, true},
  };
  for (auto const& [code, stage, kind, retryable, in_doubt, breaks] : cases) {
    auto const facts =
        classify_mysql({code, "HY000", "cause"}, mysql_kind::mariadb, stage, "run.step");
    SCOPED_TRACE(code);
    SCOPED_TRACE(static_cast<int>(stage));
    EXPECT_EQ(facts.kind, kind);
    EXPECT_EQ(facts.retryable, retryable);
    EXPECT_EQ(facts.in_doubt, in_doubt);
    EXPECT_EQ(facts.breaks_connection, breaks);
    EXPECT_EQ(facts.native_code, static_cast<int>(code));
  }
}

TEST(mysql_error, numbers_of_one_server_are_not_the_others) {
  auto const kind = [](unsigned code, mysql_kind server) {
    return classify_mysql({code, "", ""}, server, mysql_stage::harmless, "user").kind;
  };
  EXPECT_EQ(kind(4031, mysql_kind::mysql), error_code::unreachable);
  EXPECT_EQ(kind(4031, mysql_kind::mariadb), error_code::statement);
  EXPECT_EQ(kind(1969, mysql_kind::mariadb), error_code::conflict);
  EXPECT_EQ(kind(1969, mysql_kind::mysql), error_code::statement);
}

TEST(mysql_error, a_missing_table_of_ours_is_a_missing_book) {
  auto const kind = [](std::string_view statement) {
    return classify_mysql({1146, "42S02", ""}, mysql_kind::mariadb, mysql_stage::harmless,
                          statement)
        .kind;
  };
  EXPECT_EQ(kind("run.start"), error_code::configuration);
  EXPECT_EQ(kind("user"), error_code::statement);
}

}  // namespace
