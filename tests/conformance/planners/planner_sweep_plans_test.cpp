// What a page of a sweep costs: a range of the table's index, wherever it is.
#include "conformance/schema.hpp"
#include "conformance/sweeping.hpp"

#include "core/tx/transact.hpp"
#include "planner/sources/keyset.hpp"
#include "service/engine.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <sqlite3.h>

namespace conformance {
namespace {

namespace db = daybook::db;
using daybook::planners::keyset;
using daybook::planners::place;

constexpr std::int64_t all = 20'000;
constexpr std::int64_t a_page = 500;

class swept_plans : public swept {
 protected:
  swept_plans() {
    auto const line = on_sqlite() ? "text" : "varchar(40)";
    auto const made = on_sqlite() ? "text" : on_mariadb() ? "datetime(6)" : "timestamptz";
    database_.execute("create table big(id bigint not null primary key, code " + std::string(line) +
                      " not null, part int not null, made " + made +
                      " not null, note varchar(100))" + innodb());
    database_.execute("create unique index big_code on big(code, part)");
    // There the primary key ends each index anyway.
    database_.execute(std::string("create index big_made on big(made") +
                      (on_mariadb() ? ")" : ", id)"));
    // Nine rows of ten were made at one instant.
    std::string const columns =
        on_mariadb() ? "seq, concat('c', seq div 100), seq, " : "i, 'c' || (i / 100), i, ";
    std::string const instant = std::string(on_postgres() ? "timestamptz " : "");
    auto const n = std::string(on_mariadb() ? "seq" : "i");
    auto const rest = "case when " + n + " % 10 = 0 then " + instant + "'2026-01-01' else " +
                      instant + "'2026-02-01' end, 'something that makes the row longer'";
    database_.execute(
        on_mariadb()
            ? "insert into big select " + columns + rest + " from " + numbers_table(1, 20'000)
            : "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) "
              "insert into big select " +
                  columns + rest + " from n");
    database_.execute(on_mariadb() ? "analyze table big" : on_sqlite() ? "analyze" : "analyze big");
  }

  struct order {
    char const* name;
    sweep_strategy how;
  };
  [[nodiscard]] static std::vector<order> orders() {
    return {{"id", {.table = "big"}},
            {"code", {.table = "big", .key = {"code", "part"}}},
            {"made", {.table = "big", .created = "made"}}};
  }
  void within(std::function<void(daybook::core::context const&, db::session&)> const& body) {
    auto const with = book_.internals().ready();
    daybook::core::transact(with, {.name = "plans"}, [&](db::session& on) {
      body(with, on);
      return daybook::core::decision::rollback;
    });
  }
  static std::string text_in(daybook::cell const& from) {
    std::optional<std::string> out;
    daybook::decode(from, out);
    return out.value_or("");
  }
  /// What matters of the engine's plan, a line each.
  std::string plan(db::session& on, db::statement what,
                   std::vector<daybook::value> const& values) const {
    what.text = (on_sqlite()     ? "explain query plan "
                 : on_postgres() ? "explain (costs off) "
                                 : explain()) +
                what.text;
    auto const lines = on.run(what, values);
    std::string out;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      auto const row = lines.row(i);
      if (on_sqlite()) {
        out += "  " + text_in(row[3]) + "\n";
      } else if (on_mariadb()) {
        std::size_t const type = on_mysql() ? 4 : 3;
        out += "  " + text_in(row[type]) + " " + text_in(row[type + 2]) + " " +
               text_in(row[row.size() - 1]) + "\n";
      } else if (auto const line = text_in(row[0]); line.find("Cond:") == std::string::npos) {
        out += "  " + line + "\n";
      } else {
        out +=
            std::string("    Index Cond") + (line.find("ROW(") != line.npos ? ", of rows\n" : "\n");
      }
    }
    return out;
  }
  /// How much the engine reads for it, in its own measure.
  std::int64_t cost(db::session& on, db::statement what,
                    std::vector<daybook::value> const& values) const {
    std::int64_t out = 0;
    if (on_sqlite()) {
      auto* const handle = std::get<::sqlite3*>(on.handle());
      ::sqlite3_progress_handler(
          handle, 100, [](void* to) { return ++*static_cast<std::int64_t*>(to), 0; }, &out);
      on.run(what, values);
      ::sqlite3_progress_handler(handle, 0, nullptr, nullptr);
      return out;
    }
    if (on_mariadb()) {
      auto const read = [&] {
        auto const found =
            on.run({"plans", "show session status like 'Handler_read%'", {}, {}}, {});
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < found.size(); ++i) sum += std::stoll(text_in(found.row(i)[1]));
        return sum;
      };
      auto const before = read();
      on.run(what, values);
      return read() - before;
    }
    what.text = "explain (analyze, buffers, costs off, timing off) " + what.text;
    auto const lines = on.run(what, values);
    for (std::size_t i = 0; i < lines.size() && out == 0; ++i) {
      auto const line = text_in(lines.row(i)[0]);
      for (auto const* word : {"hit=", "read="}) {
        auto const at = line.find(word);
        if (line.find("Buffers:") == std::string::npos || at == std::string::npos) continue;
        out += std::stoll(line.substr(at + std::string(word).size()));
      }
    }
    return out;
  }
};

std::vector<daybook::value> values_of(place const& after, place const& until) {
  std::vector<daybook::value> out;
  for (auto const* const from : {&after, &until}) {
    for (auto const& one : *from) out.emplace_back(std::string_view(one));
  }
  out.emplace_back(a_page);
  return out;
}

TEST_P(swept_plans, a_page_is_a_range_of_an_index) {
  std::string text;
  within([&](daybook::core::context const& with, db::session& on) {
    text.clear();
    for (auto const& one : orders()) {
      keyset const rows(with, "all", one.how);
      auto const far = rows.rows(on, {}, {}, all - 2000);
      auto const& after = far.at(far.size() - 1000).place;
      auto const& until = far.back().place;
      text += std::string(one.name) + " from\n" +
              plan(on, rows.statement(true, false), values_of(after, {}));
      text += std::string(one.name) + " from to\n" +
              plan(on, rows.statement(true, true), values_of(after, until));
    }
  });
  for (auto const* bad : {"Seq Scan", "Sort", "TEMP B-TREE", "SCAN", "filesort", "ALL", "Filter"}) {
    EXPECT_EQ(text.find(bad), std::string::npos) << text;
  }
  text.pop_back();
  if (!on_mysql()) golden("plans_sweep." + std::string(book_.dialect()) + ".txt", text);
}

TEST_P(swept_plans, a_text_of_any_collation_is_a_range) {
  if (!on_mariadb()) return;  // elsewhere a value has the collation of what it is compared with
  for (auto const* const kind : {"utf8mb4 collate utf8mb4_unicode_ci",
                                 "latin1 collate latin1_swedish_ci", "ucs2 collate ucs2_bin"}) {
    database_.execute("alter table big modify code varchar(40) character set " + std::string(kind) +
                      " not null");
    within([&](daybook::core::context const& with, db::session& on) {
      keyset const rows(with, "all", {.table = "big", .key = {"code", "part"}});
      auto const text =
          plan(on, rows.statement(true, true), values_of({"c7", "700"}, {"c7", "799"}));
      EXPECT_EQ(text, "  range big_code Using where; Using index\n") << kind;
      EXPECT_EQ(rows.rows(on, {"c7", "700"}, {"c7", "799"}, a_page).size(), 99U) << kind;
      EXPECT_LE(cost(on, rows.statement(true, true), values_of({"c7", "700"}, {"c7", "799"})), 250)
          << kind;
    });
  }
}

TEST_P(swept_plans, the_last_page_costs_what_the_first_does) {
  within([&](daybook::core::context const& with, db::session& on) {
    for (auto const& one : orders()) {
      keyset const rows(with, "all", one.how);
      auto const far = rows.rows(on, {}, {}, all);
      ASSERT_EQ(far.size(), static_cast<std::size_t>(all));
      auto const at = [&](std::size_t from) {
        auto const& after = far.at(from).place;
        auto const& until = far.at(from + a_page).place;
        static_cast<void>(cost(on, rows.statement(true, true), values_of(after, until)));
        return std::pair(cost(on, rows.statement(true, false), values_of(after, {})),
                         cost(on, rows.statement(true, true), values_of(after, until)));
      };
      auto const [first, first_range] = at(a_page);
      auto const [last, last_range] = at(all - 2 * a_page);
      EXPECT_GT(first, 0);
      EXPECT_LE(last, first * 3 / 2 + 10) << one.name;
      EXPECT_LE(last_range, first_range * 3 / 2 + 10) << one.name;
    }
  });
}

DAYBOOK_ON_EVERY_ENGINE(swept_plans);

}  // namespace
}  // namespace conformance
