// Rows of a text as a table: the same as SQLite's own json_each finds, and an error for any other
// text.
#include "drivers/sqlite/sqlite_rows.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace {

using daybook::drivers::rows_table;

class sqlite_rows : public testing::Test {
 protected:
  sqlite_rows() {
    ::sqlite3* raw = nullptr;
    int const code = ::sqlite3_open(":memory:", &raw);
    on_.reset(raw);
    if (code != SQLITE_OK || table_->add(*raw) != SQLITE_OK) throw std::runtime_error("open");
  }

  struct answer {
    int code = SQLITE_OK;
    std::vector<std::string> rows;  ///< their columns with a bar in between
  };
  [[nodiscard]] answer ask(std::string const& query, std::string const& text) const {
    answer out;
    ::sqlite3_stmt* raw = nullptr;
    out.code = ::sqlite3_prepare_v2(on_.get(), query.c_str(), -1, &raw, nullptr);
    std::unique_ptr<::sqlite3_stmt, decltype(&::sqlite3_finalize)> const one(raw,
                                                                             &::sqlite3_finalize);
    if (out.code != SQLITE_OK) return out;
    ::sqlite3_bind_text64(raw, 1, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    while ((out.code = ::sqlite3_step(raw)) == SQLITE_ROW) {
      auto& row = out.rows.emplace_back();
      for (int at = 0; at < ::sqlite3_column_count(raw); ++at) {
        auto const* const cell = ::sqlite3_column_blob(raw, at);
        auto const size = static_cast<std::size_t>(::sqlite3_column_bytes(raw, at));
        if (at > 0) row += '|';
        row += ::sqlite3_column_type(raw, at) == SQLITE_NULL
                   ? "null"
                   : std::string(static_cast<char const*>(cell), size);
      }
    }
    return out;
  }

  std::unique_ptr<::sqlite3, decltype(&::sqlite3_close)> on_{nullptr, &::sqlite3_close};
  std::optional<rows_table> table_{std::in_place};
};

using rows = std::vector<std::string>;

TEST_F(sqlite_rows, are_taken_apart) {
  auto const three = [&](std::string const& text) {
    return ask("select c0, c1, c9 from daybook_rows(?1)", text).rows;
  };
  EXPECT_EQ(three("[]"), rows());
  EXPECT_EQ(three("[[1,2],[3,4]]"), (rows{"1|2|null", "3|4|null"}));
  EXPECT_EQ(three(R"([["","a\"b\\c",0,1,2,3,4,5,6,7]])"), (rows{"|a\"b\\c|7"}));
  EXPECT_EQ(three("[[-9223372036854775808,9223372036854775807]]"),
            (rows{"-9223372036854775808|9223372036854775807|null"}));
  EXPECT_EQ(three(R"([[null,"\u0009\u001f"]])"), (rows{"null|\t\x1f|null"}));
}

TEST_F(sqlite_rows, of_a_column_of_another_table) {
  auto const found =
      ask("with t(id, list) as (values (1, '[[10],[11]]'), (2, '[]'), (3, ?1)) "
          "select t.id, r.c0 from t cross join daybook_rows(t.list) as r order by 1, 2",
          "[[30]]");
  EXPECT_EQ(found.rows, (rows{"1|10", "1|11", "3|30"}));
}

TEST_F(sqlite_rows, are_known_while_somebody_uses_them) {
  auto const asked = [&] { return ask("select c0 from daybook_rows(?1)", "[]").code; };
  {
    rows_table another;
    ASSERT_EQ(another.add(*on_), SQLITE_OK);
    table_.reset();
    EXPECT_EQ(asked(), SQLITE_DONE);
  }
  EXPECT_EQ(asked(), SQLITE_ERROR) << "no such table";
  EXPECT_EQ(table_.emplace().add(*on_), SQLITE_OK);
  EXPECT_EQ(asked(), SQLITE_DONE);
}

TEST_F(sqlite_rows, are_those_of_json_each) {
  std::mt19937 random(7);
  auto const below = [&](unsigned most) { return random() % most; };
  auto const text = [&] {
    static std::vector<std::string> const parts{"a", "\\\"", "\\\\", "\\u000a",
                                                "ü", "],[",  "null", "0"};
    std::string out = "\"";
    for (auto i = below(6); i > 0; --i) out += parts[below(static_cast<unsigned>(parts.size()))];
    return out + "\"";
  };
  auto const value = [&]() -> std::string {
    switch (below(4)) {
      case 0: return "null";
      case 1: return text();
      default: return std::to_string(static_cast<std::int64_t>(random()) - (1LL << 31U));
    }
  };
  for (int round = 0; round < 500; ++round) {
    std::string all = "[";
    for (auto i = below(5); i > 0; --i) {
      all += all.size() > 1 ? ",[" : "[";
      for (auto width = below(10); width > 0; --width) all += value() + ",";
      all += value() + "]";
    }
    all += "]";
    auto const ours = ask("select c0, c1, c2, c3, c9 from daybook_rows(?1)", all);
    auto const theirs = ask(
        "select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 9 from json_each(?1)",
        all);
    ASSERT_EQ(ours.code, SQLITE_DONE) << all;
    ASSERT_EQ(ours.rows, theirs.rows) << all;
  }
}

TEST_F(sqlite_rows, of_a_text_that_is_none_of_ours_are_an_error) {
  for (auto const* text : {"",
                           "{}",
                           "[",
                           "[[",
                           "[[]",
                           "[[1",
                           "[[1,",
                           "[[1,]]",
                           "[[,1]]",
                           "[[1],]",
                           "[[1][2]]",
                           "[[1.5]]",
                           "[[true]]",
                           "[[\"a]]",
                           "[[\"a\\",
                           "[[\"\\n\"]]",
                           "[[\"\\u0g00\"]]",
                           "[[99999999999999999999]]",
                           "[1]",
                           "[[[1]]]",
                           "[[0,1,2,3,4,5,6,7,8,9,10]]"}) {
    EXPECT_EQ(ask("select c0, c1 from daybook_rows(?1)", text).code, SQLITE_MISMATCH) << text;
  }
  EXPECT_EQ(ask("select c0 from daybook_rows(null) where ?1 = ?1", "").code, SQLITE_MISMATCH);
  EXPECT_EQ(ask("select c0 from daybook_rows", "").code, SQLITE_ERROR) << "of no text at all";
}

}  // namespace
