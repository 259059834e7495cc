#include "db/catalogue.hpp"

#include "drivers/drivers.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace daybook {
namespace {

using names = std::vector<std::string>;

db::catalogue_options options(db::clock_kind clock = db::clock_kind::real) {
  return {.dialect = "test",
          .style = db::placeholder::dollar,
          .real_clock = "clock()",
          .schema = "s",
          .prefix = "p_",
          .clock = clock};
}

db::catalogue reading(std::string_view text, std::string_view room = "run") {
  std::array const files{db::sql_file{"test", room, text},
                         db::sql_file{"other", "run", "nonsense"}};
  return db::catalogue(options(), files);
}

/// The library's own statements.
db::catalogue catalogue_of(db::dialect const& dialect) {
  return db::catalogue({.dialect = dialect.name,
                        .style = db::placeholder::question,
                        .real_clock = dialect.real_clock,
                        .schema = "s",
                        .prefix = "p_"});
}

std::string complaint(std::string_view text) {
  try {
    static_cast<void>(reading(text));
  } catch (error const& e) {
    EXPECT_EQ(e.kind(), error_code::internal);
    return e.what();
  }
  return "none";
}

TEST(catalogue, reads_names_inputs_outputs_and_parts) {
  auto const made = reading(
      "-- A comment of the file.\n"
      "\n"
      "-- A comment before.\n"
      "-- name: a.b\n"
      "-- in: one, two,\n"
      "--     three\n"
      "-- out: x,\n"
      "--      y\n"
      "update {run} set a = :two\n"
      "where b = :one;\n"
      "-- else\n"
      "insert into {run} values (:three);\n"
      "-- then\n"
      "select 1;\n"
      "-- A comment between.\n"
      "-- name: c\n"
      "select {now}\n");
  ASSERT_EQ(made.all().size(), 2U);
  auto const& entry = made["a.b"];
  EXPECT_EQ(entry.outputs, (names{"x", "y"}));
  ASSERT_EQ(entry.parts.size(), 3U);
  EXPECT_EQ(entry.parts[0].run, db::when::always);
  EXPECT_EQ(entry.parts[0].what.text, "update \"s\".p_run set a = $2\nwhere b = $1");
  EXPECT_EQ(entry.parts[0].what.name, "a.b");
  EXPECT_EQ(entry.parts[1].run, db::when::if_nothing_happened);
  EXPECT_EQ(entry.parts[1].what.text, "insert into \"s\".p_run values ($3)");
  EXPECT_EQ(entry.parts[2].run, db::when::always);
  for (auto const& part : entry.parts) {
    EXPECT_EQ(part.what.inputs, (names{"one", "two", "three"}));
  }
  EXPECT_EQ(made["c"].parts[0].what.text, "select clock()");
}

TEST(catalogue, a_dialect_overrides_and_adds_by_name) {
  std::array const files{
      db::sql_file{"test", "run",
                   "-- name: b\nselect :two{::int};\n-- then\nselect 2;\n"
                   "-- name: d\n{least}({column});\n-- name: added\nselect 5;\n"},
      db::sql_file{"test", "words", "-- name: least\nmin;\n-- name: ::int\n"},
      db::sql_file{"common", "run",
                   "-- name: a\n-- out: x\nselect {least}(1);\n"
                   "-- name: b\n-- in: one, two\n-- out: y\nselect :one;\n"
                   "-- name: c\n-- in: one\n"
                   "-- name: d\n-- holes: column\n"},
      db::sql_file{"other", "run", "-- name: a\nselect 9;\n"},
      db::sql_file{"other", "words", "-- name: least\nleast;\n"}};
  db::catalogue const made(options(), files);
  EXPECT_EQ(made["a"].parts[0].what.text, "select min(1)");
  EXPECT_EQ(made["a"].outputs, names{"x"});
  ASSERT_EQ(made["b"].parts.size(), 2U);
  EXPECT_EQ(made["b"].parts[0].what.text, "select $2");
  EXPECT_EQ(made["b"].parts[0].what.inputs, (names{"one", "two"}));
  EXPECT_EQ(made["b"].outputs, names{"y"});
  EXPECT_THROW(static_cast<void>(made["c"]), error) << "declared, and without a text";
  EXPECT_EQ(made.text_of("d", {{"column", "k"}}), "min(k)");
  EXPECT_EQ(made["added"].parts[0].what.text, "select 5");
}

TEST(catalogue, a_declaration_stands_once) {
  std::array const files{db::sql_file{"common", "run", "-- name: a\n-- in: x\nselect :x;\n"},
                         db::sql_file{"test", "run", "-- name: a\n-- in: x\nselect :x + 1;\n"}};
  try {
    db::catalogue const made(options(), files);
    FAIL() << "made";
  } catch (error const& e) {
    EXPECT_STREQ(e.what(), "statement a is declared in sql/common and in sql/test");
  }
}

TEST(catalogue, malformed_files_are_told_by_file_and_line) {
  EXPECT_EQ(complaint("\nselect 1;\n"), "sql/test/run.sql:2: text before the first '-- name:'");
  EXPECT_NE(complaint("-- name: a\nselect :x;\n").find("statement a"), std::string::npos);
  EXPECT_NE(complaint("-- name: a\n-- in: y\nselect :x;\n").find(":x"), std::string::npos);
  EXPECT_EQ(complaint("-- name: a\nselect 1;\n-- name: a\nselect 2;\n"),
            "two statements are named a");
  EXPECT_EQ(complaint("-- name: a\nselect {run;\n"), "a '{' without '}' in our SQL");
  EXPECT_EQ(complaint(""), "none");
}

TEST(catalogue, unknown_names_are_an_error) {
  auto const made = reading("-- name: a\nselect 1;\n");
  EXPECT_THROW(static_cast<void>(made["b"]), error);
  EXPECT_THROW(static_cast<void>(made[""]), error);
}

TEST(catalogue, fills_in_its_words) {
  auto const made = reading("");
  EXPECT_EQ(made.fill("{schema} {prefix} {run} {now} {real_now}"),
            "s p_ \"s\".p_run clock() clock()");
  EXPECT_NE(made.fill("{fence}").find("acquisition = :acquisition"), std::string::npos);
  EXPECT_EQ(made.fill(""), "");
  EXPECT_EQ(made.prefix(), "p_");
  db::catalogue const movable(options(db::clock_kind::movable), {});
  EXPECT_EQ(movable.fill("{now}"),
            "(select coalesce(stopped_us, clock() + offset_us) from \"s\".p_clock)");
  EXPECT_EQ(movable.fill("{real_now}"), "clock()");
}

TEST(catalogue, migrations_are_kept_as_they_stand) {
  auto const made = reading("-- migration: 1 runs\ncreate table {run};\n", "migrations");
  EXPECT_EQ(made.migrations_text(), "-- migration: 1 runs\ncreate table {run};\n");
  EXPECT_TRUE(made.all().empty());
}

/// Says what it is asked to, and notes what it ran.
class fake_session final : public db::session {
 public:
  std::vector<db::table> answers;
  std::vector<std::string> ran;
  bool compounds = false;
  db::dialect const* about = &drivers::mysql_dialect();

  db::table run(db::statement const& statement, std::span<value const>) override {
    ran.push_back(statement.text);
    auto out = answers.at(ran.size() - 1);
    return out;
  }
  void script(std::string_view) override {}
  [[nodiscard]] bool takes_compounds() const noexcept override { return compounds; }
  void begin(isolation) override {}
  void commit() override {}
  void rollback() noexcept override {}
  [[nodiscard]] bool usable() const noexcept override { return true; }
  void cut() noexcept override {}
  void interrupt() noexcept override {}
  [[nodiscard]] db::dialect const& speaks() const noexcept override { return *about; }
  [[nodiscard]] db::native handle() noexcept override { return static_cast<::sqlite3*>(nullptr); }
  [[nodiscard]] std::string schema() override { return "s"; }
  [[nodiscard]] std::vector<db::fact> facts() override { return {}; }
};

TEST(catalogue, else_runs_only_when_nothing_happened) {
  auto const made = reading("-- name: a\none\n-- else\ntwo\n-- then\nthree\n");
  db::table const nothing{};
  db::table const changed{1, 0, {}};
  db::table const row{0, 1, {std::int64_t{7}}};
  fake_session first;
  first.answers = {nothing, changed, row};
  EXPECT_EQ(db::run(first, made["a"], {}).size(), 1U);
  EXPECT_EQ(first.ran, (names{"one", "two", "three"}));
  fake_session second;
  second.answers = {changed, nothing};
  EXPECT_EQ(db::run(second, made["a"], {}).affected, 0);
  EXPECT_EQ(second.ran, (names{"one", "three"}));
  fake_session third;
  third.answers = {row, changed};
  EXPECT_EQ(db::run(third, made["a"], {}).affected, 1);
  EXPECT_EQ(third.ran, (names{"one", "three"}));
}

TEST(catalogue, the_rows_are_those_of_all_parts) {
  auto const made = reading("-- name: a\n-- out: x\none\n-- then\ntwo\n-- then\nthree\n");
  fake_session on;
  on.answers = {{0, 1, {std::int64_t{7}}}, {5, 0, {}}, {0, 1, {std::int64_t{8}, std::int64_t{9}}}};
  auto const found = db::run(on, made["a"], {});
  EXPECT_EQ(found.cells,
            (std::vector<daybook::cell>{std::int64_t{7}, std::int64_t{8}, std::int64_t{9}}));
  EXPECT_EQ(found.affected, 0);
}

TEST(catalogue, a_shape_is_made_a_statement_by_what_fills_its_holes) {
  auto const made = reading(
      "-- name: a\n-- holes: table, key\n-- in: after\nselect {key} from {table} where {key} > "
      ":after and x ~ '^a{{2}}';\n");
  EXPECT_TRUE(made.all().empty());
  auto const one = made.made("a", {{"table", "\"t{1}\""}, {"key", "\"a:b\""}});
  EXPECT_EQ(one.parts.at(0).what.text,
            "select \"a:b\" from \"t{1}\" where \"a:b\" > $1 and x ~ '^a{2}'");
  EXPECT_EQ(one.parts.at(0).what.inputs, names{"after"});
  EXPECT_THROW((void)made.made("a", {{"table", "t"}}), error);
  EXPECT_THROW((void)made.made("b", {}), error);
  try {
    (void)made.made("a", {{"table", "t"}, {"key", ":mine"}});
    FAIL();
  } catch (error const& e) {
    EXPECT_EQ(e.kind(), error_code::bad_argument);
  }
  EXPECT_EQ(made.text_of("a", {{"table", "t"}, {"key", "k"}}),
            "select k from t where k > :after and x ~ '^a{2}'");
}

db::catalogue compounding(std::string_view text) {
  auto how = options();
  how.compounds = true;
  std::array<db::sql_file, 1> const files{{{how.dialect, "a", text}}};
  return db::catalogue(how, files);
}

TEST(catalogue, parts_become_one_statement_where_the_engine_takes_that) {
  std::string_view const text =
      "-- name: count\n-- in: n\na :n\n-- else\nb :n\n-- then\nc\n"
      "-- name: rows\n-- in: n\n-- out: x\na\n-- then\nselect :n\n"
      "-- name: single\na\n";
  auto const made = compounding(text);
  auto const& count = made["count"].together.value();
  EXPECT_NE(count.text.find("if daybook_count = 0 then b"), std::string::npos) << count.text;
  EXPECT_NE(count.text.find("if daybook_count <> 1 then select daybook_count"), std::string::npos)
      << count.text;
  EXPECT_EQ(count.inputs, names{"n"});
  auto const& rows = made["rows"].together.value().text;
  EXPECT_NE(rows.find("set daybook_count = found_rows()"), std::string::npos) << rows;
  EXPECT_EQ(rows.find("select daybook_count"), std::string::npos) << rows;
  EXPECT_FALSE(made["single"].together);
  EXPECT_FALSE(reading(text)["count"].together);

  fake_session plain;
  EXPECT_TRUE(db::stands_alone(plain, made["single"]));
  EXPECT_FALSE(db::stands_alone(plain, made["count"]));
  plain.about = &drivers::sqlite_dialect();
  EXPECT_FALSE(db::stands_alone(plain, made["single"]));
  fake_session able;
  able.compounds = true;
  EXPECT_TRUE(db::stands_alone(able, made["count"]));
  EXPECT_FALSE(db::stands_alone(able, reading(text)["count"]));
  able.answers = {db::table{0, 1, {std::int64_t{2}}}, {}, db::table{0, 1, {std::int64_t{7}}}};
  auto const counted = db::run_alone(able, made["count"], {std::int64_t{1}});
  EXPECT_EQ(counted.affected, 2);
  EXPECT_EQ(counted.size(), 0U);
  EXPECT_EQ(db::run_alone(able, made["count"], {std::int64_t{1}}).affected, 1) << "what is usual";
  EXPECT_EQ(db::run_alone(able, made["rows"], {std::int64_t{1}}).size(), 1U);
}

TEST(catalogue, every_dialect_has_the_same_statements) {
  auto const of = [](db::dialect const& dialect, db::placeholder style) {
    return db::catalogue({.dialect = dialect.name,
                          .style = style,
                          .real_clock = dialect.real_clock,
                          .schema = "s",
                          .prefix = "p_"});
  };
  auto const sqlite = of(drivers::sqlite_dialect(), db::placeholder::question_digit);
  auto const postgres = of(drivers::postgres_dialect(), db::placeholder::dollar);
  auto const mysql = of(drivers::mysql_dialect(), db::placeholder::question);
  EXPECT_GT(sqlite.all().size(), 25U);
  for (auto const* other : {&postgres, &mysql}) {
    std::set<std::string> ours;
    std::set<std::string> theirs;
    for (auto const& [name, entry] : sqlite.all()) ours.insert(name);
    for (auto const& [name, entry] : other->all()) theirs.insert(name);
    EXPECT_EQ(ours, theirs);
    for (auto const& [name, entry] : sqlite.all()) {
      if (!theirs.contains(name)) continue;
      EXPECT_EQ((*other)[name].outputs, entry.outputs) << name;
      EXPECT_EQ((*other)[name].parts[0].what.inputs, entry.parts[0].what.inputs) << name;
    }
  }
  for (auto const* other : {&postgres, &mysql}) {
    EXPECT_EQ(sqlite.shapes().size(), other->shapes().size());
    for (auto const& [name, shape] : sqlite.shapes()) {
      auto const theirs = other->shapes().find(name);
      ASSERT_NE(theirs, other->shapes().end()) << name;
      EXPECT_EQ(theirs->second.outputs, shape.outputs) << name;
      EXPECT_EQ(theirs->second.inputs, shape.inputs) << name;
      EXPECT_EQ(theirs->second.holes, shape.holes) << name;
    }
  }
}

/// A text without comments, each blank once.
std::string folded(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    for (char const letter : line.substr(0, line.find("--"))) {
      bool const blank = letter == ' ' || letter == '\t';
      if (!blank) out += letter;
      if (blank && !out.empty() && out.back() != ' ') out += ' ';
    }
    if (!out.empty() && out.back() != ' ') out += ' ';
  }
  return out;
}

/// The text of a block, with the conditions of its parts.
std::string text_of(db::block const& block) {
  std::string out;
  for (auto const& [run_when, text] : block.parts) {
    out += (run_when == db::when::always ? "then " : "else ") + folded(text);
  }
  return out;
}

/// For each statement the texts by dialect, `common` among them; an empty one is a declaration.
using texts_of_statements = std::map<std::string, std::map<std::string, std::string>>;

texts_of_statements texts_in(std::span<db::sql_file const> files) {
  texts_of_statements out;
  for (auto const& file : files) {
    if (file.room == "migrations" || file.room == "words") continue;
    for (auto const& block : db::blocks_of(file)) {
      out[block.name][std::string(file.dialect)] = block.has_text() ? text_of(block) : "";
    }
  }
  return out;
}

/// The statements that stand twice, or whose declaration is in the wrong place.
std::vector<std::string> misplaced(std::span<db::sql_file const> files) {
  std::string const common(db::common_dialect);
  std::vector<std::string> out;
  for (auto const& [name, texts] : texts_in(files)) {
    bool const declared = texts.contains(common);
    auto const own = texts.size() - (declared ? 1 : 0);
    if (!declared && own > 1) out.push_back(name + ": sql/common has no declaration");
    if (declared && !texts.at(common).empty() && own == 3) out.push_back(name + ": common is dead");
    if (declared && texts.at(common).empty() && own != 3) {
      out.push_back(name + ": a dialect has no text");
    }
    std::map<std::string, std::string> seen;
    for (auto const& [dialect, text] : texts) {
      if (text.empty()) continue;
      auto const [first, fresh] = seen.emplace(text, dialect);
      if (!fresh) out.push_back(name + ": the same in " + first->second + " and " + dialect);
    }
  }
  return out;
}

TEST(catalogue, a_statement_stands_once) { EXPECT_EQ(misplaced(db::embedded_sql()), names{}); }

TEST(catalogue, a_statement_that_stands_twice_is_seen) {
  auto const seen = [](std::string_view common, std::string_view a, std::string_view b,
                       std::string_view c) {
    return misplaced(std::array{db::sql_file{"common", "run", common}, db::sql_file{"a", "run", a},
                                db::sql_file{"b", "run", b}, db::sql_file{"c", "run", c}});
  };
  std::string_view const one = "-- name: s\nselect 1;\n";
  std::string_view const other = "-- A remark.\n-- name: s\nselect\n  1;  -- one\n";
  std::string_view const two = "-- name: s\nselect 2;\n";
  std::string_view const three = "-- name: s\nselect 3;\n";
  std::string_view const four = "-- name: s\nselect 4;\n";
  std::string_view const bare = "-- name: s\n-- out: x\n";
  EXPECT_EQ(seen(one, "", "", ""), names{});
  EXPECT_EQ(seen(one, two, "", ""), names{});
  EXPECT_EQ(seen(bare, one, two, three), names{});
  EXPECT_EQ(seen("", one, "", ""), names{});
  EXPECT_EQ(seen(one, other, "", ""), names{"s: the same in a and common"});
  EXPECT_EQ(seen(one, two, two, ""), names{"s: the same in a and b"});
  EXPECT_EQ(seen(one, two, three, four), names{"s: common is dead"});
  EXPECT_EQ(seen(bare, one, two, ""), names{"s: a dialect has no text"});
  EXPECT_EQ(seen("", one, two, ""), names{"s: sql/common has no declaration"});
}

TEST(catalogue, every_dialect_has_the_words_of_the_common_texts) {
  std::map<std::string, names> words;
  std::string common;
  for (auto const& file : db::embedded_sql()) {
    if (file.dialect == db::common_dialect) common += file.text;
    if (file.room != "words") continue;
    for (auto const& word : db::blocks_of(file)) words[word.name].push_back(text_of(word));
  }
  EXPECT_FALSE(words.empty());
  for (auto const& [word, texts] : words) {
    EXPECT_EQ(texts.size(), 3U) << word;
    EXPECT_GT(std::set(texts.begin(), texts.end()).size(), 1U) << word;
    EXPECT_NE(common.find("{" + word + "}"), std::string::npos) << word << " is not used";
  }
}

TEST(catalogue, sees_which_statements_only_read) {
  for (auto const* dialect :
       {&drivers::sqlite_dialect(), &drivers::postgres_dialect(), &drivers::mysql_dialect()}) {
    auto const sql = catalogue_of(*dialect);
    for (auto const* name : {"wake.look", "queue.now", "task.counts"}) {
      EXPECT_TRUE(sql[name].parts[0].what.only_reads) << dialect->name << " " << name;
    }
    for (auto const* name : {"run.step", "holder.renew"}) {
      EXPECT_FALSE(sql[name].parts[0].what.only_reads) << dialect->name << " " << name;
    }
  }
}

/// One that is not InnoDB has no transactions, one that may not be written to ends every run, and
/// the doctor says that nothing holds.
TEST(catalogue, the_doctor_knows_all_tables_of_the_book) {
  for (auto const* dialect : {"mysql", "postgres"}) {
    std::string migrations;
    std::string doctor;
    for (auto const& file : db::embedded_sql()) {
      if (file.dialect != dialect) continue;
      if (file.room == "migrations") migrations = file.text;
      if (file.room == "doctor") doctor = file.text;
    }
    constexpr std::string_view start = "create table if not exists {";
    int tables = 0;
    for (auto at = migrations.find(start); at != migrations.npos; at = migrations.find(start, at)) {
      at += start.size();
      auto const name = migrations.substr(at, migrations.find('}', at) - at);
      EXPECT_NE(doctor.find("'" + name + "'"), doctor.npos) << dialect << ": " << name;
      ++tables;
    }
    EXPECT_GT(tables, 25) << dialect;
  }
}

TEST(catalogue, every_input_is_used) {
  for (auto const* dialect :
       {&drivers::sqlite_dialect(), &drivers::postgres_dialect(), &drivers::mysql_dialect()}) {
    auto const sql = catalogue_of(*dialect);
    for (auto const& [name, entry] : sql.all()) {
      std::set<std::size_t> used;
      for (auto const& part : entry.parts) {
        used.insert(part.what.order.begin(), part.what.order.end());
      }
      EXPECT_EQ(used.size(), entry.parts[0].what.inputs.size()) << dialect->name << " " << name;
    }
  }
}

}  // namespace
}  // namespace daybook
