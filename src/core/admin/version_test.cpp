#include "core/admin/version.hpp"

#include "drivers/drivers.hpp"

#include <daybook/error.hpp>

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace daybook {
namespace {

std::string refusal_of(std::optional<core::book_version> const& found) {
  try {
    core::check_version(found, "sqlite:shop.db");
  } catch (error const& e) {
    EXPECT_EQ(e.kind(), error_code::configuration);
    EXPECT_TRUE(std::string(e.what()).starts_with("sqlite:shop.db: ")) << e.what();
    return e.what();
  }
  return "";
}

core::book_version book_of(int version, int oldest) {
  core::book_version out;
  out.version = version;
  out.oldest = oldest;
  return out;
}

TEST(version, what_this_library_may_work_with) {
  constexpr int ours = core::library_version;
  EXPECT_EQ(refusal_of(book_of(ours, ours)), "");
  EXPECT_EQ(refusal_of(book_of(ours + 5, ours)), "");
  EXPECT_EQ(refusal_of(book_of(ours + 5, 1)), "");
  EXPECT_NE(refusal_of(std::nullopt).find("daybook migrate up"), std::string::npos);
  EXPECT_NE(refusal_of(book_of(0, 0)).find("daybook migrate up"), std::string::npos);
  EXPECT_NE(refusal_of(book_of(ours - 1, 1)).find("daybook migrate up"), std::string::npos);
  auto const newer = refusal_of(book_of(ours + 5, ours + 1));
  EXPECT_NE(newer.find(std::to_string(ours + 5)), std::string::npos) << newer;
  EXPECT_NE(newer.find("install a newer Daybook"), std::string::npos) << newer;
}

TEST(version, every_dialect_has_the_same_migrations) {
  auto const of = [](db::dialect const& dialect, db::placeholder style) {
    db::catalogue const sql({.dialect = dialect.name,
                             .style = style,
                             .real_clock = dialect.real_clock,
                             .schema = "s",
                             .prefix = "p_"});
    return core::migrations(sql);
  };
  auto const sqlite = of(drivers::sqlite_dialect(), db::placeholder::question_digit);
  auto const postgres = of(drivers::postgres_dialect(), db::placeholder::dollar);
  auto const mysql = of(drivers::mysql_dialect(), db::placeholder::question);
  ASSERT_EQ(sqlite.size(), static_cast<std::size_t>(core::library_version));
  ASSERT_EQ(postgres.size(), sqlite.size());
  ASSERT_EQ(mysql.size(), sqlite.size());
  for (std::size_t at = 0; at < sqlite.size(); ++at) {
    EXPECT_EQ(sqlite[at].version, static_cast<int>(at) + 1);
    EXPECT_EQ(sqlite[at].name, postgres[at].name);
    EXPECT_EQ(sqlite[at].name, mysql[at].name);
    EXPECT_EQ(sqlite[at].version, postgres[at].version);
    EXPECT_EQ(sqlite[at].version, mysql[at].version);
    // MariaDB commits each statement by itself: each must be safe to run again.
    auto const& text = mysql[at].text;
    for (auto found = text.find("create "); found != std::string::npos;
         found = text.find("create ", found + 1)) {
      EXPECT_EQ(text.find("if not exists", found), text.find(' ', found + 7) + 1)
          << text.substr(found, 60);
    }
  }
}

}  // namespace
}  // namespace daybook
