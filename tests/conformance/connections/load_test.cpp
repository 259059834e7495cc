// Many rows at once: db::session::load.
#include "conformance/fixture.hpp"

#include "core/tx/transact.hpp"
#include "drivers/drivers.hpp"
#include "service/engine.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace conformance {
namespace {

namespace core = daybook::core;
namespace db = daybook::db;

using daybook::cell;
using daybook::error;
using daybook::value;

class load : public on_engine {
 protected:
  load() {
    std::string const kinds =
        on_postgres() ? "n bigint, t text, b bytea, d double precision, y boolean"
        : on_mariadb()
            ? "n bigint, t mediumtext character set utf8mb4, b mediumblob, d double, y boolean"
            : "n integer, t text, b blob, d real, y integer";
    database_.execute("create table loaded(id int not null primary key, " + kinds + ")" + innodb());
  }

  [[nodiscard]] core::context in() { return book_.internals().ready(); }
  static decltype(auto) transact(core::context const& with,
                                 std::function<void(db::session&)> const& body) {
    return core::transact(with, {.name = "operate"}, [&](db::session& on) {
      body(on);
      return core::decision::commit;
    });
  }
  [[nodiscard]] std::string rows() const { return database_.query("select count(*) from loaded"); }

  /// Every cell of the table, as it comes back by the usual way.
  [[nodiscard]] std::vector<cell> all() {
    std::vector<cell> out;
    auto const& text = in().user_sql.of("select id, n, t, b, d, y from loaded order by id");
    core::read(in(), 5s, [&](db::session& on) { out = on.run(text, {}).cells; });
    return out;
  }

  db::load_target const whole_{"loaded", {"id", "n", "t", "b", "d", "y"}};
  db::load_target const texts_{"loaded", {"id", "t"}};
};

std::span<std::byte const> bytes(std::string_view of) {
  return std::as_bytes(std::span(of.data(), of.size()));
}

TEST_P(load, values_come_back) {
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every.push_back(static_cast<char>(byte));
  std::string const long_text(100'000, 'x');
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string_view> const texts{"",
                                            "plain",
                                            "it's \"quoted\" `so`",
                                            "back\\slash \\N \\. \\\\",
                                            "tab\tline\nreturn\r\n",
                                            "\\N",
                                            "\\.",
                                            "NULL",
                                            "é ü 漢 🎉",
                                            "\b\f\v\x01\x7f",
                                            ",;|",
                                            long_text,
                                            " blanks ",
                                            "\t",
                                            "\\"};
  std::vector<value> cells;
  std::int64_t id = 0;
  for (auto const text : texts) {
    cells.insert(cells.end(), {value(++id), value(-id), text, bytes(text), 0.1, id % 2 == 0});
  }
  cells.insert(cells.end(), {value(++id), value(most), nullptr, nullptr, nullptr, nullptr});
  cells.insert(cells.end(), {value(++id), nullptr, "last", bytes(every), -1e300, true});
  cells.insert(cells.end(), {value(++id), value(-most - 1), "", bytes(""), 1.0 / 3, false});
  std::int64_t count = 0;
  transact(in(), [&](db::session& on) { count = on.load(whole_, cells); });
  EXPECT_EQ(count, id);
  auto const found = all();
  ASSERT_EQ(found.size(), cells.size());
  for (std::size_t at = 0; at < cells.size(); ++at) {
    SCOPED_TRACE("row " + std::to_string(at / 6 + 1) + ", column " + std::to_string(at % 6));
    auto const expected = std::visit(
        [](auto const& v) -> cell {
          using kind = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<kind, bool>) {
            return std::int64_t{v ? 1 : 0};
          } else if constexpr (std::is_same_v<kind, std::string_view>) {
            return std::string(v);
          } else if constexpr (std::is_same_v<kind, std::span<std::byte const>>) {
            return std::string(reinterpret_cast<char const*>(v.data()), v.size());
          } else {
            return v;
          }
        },
        cells[at]);
    EXPECT_EQ(found[at], expected);
  }
}

/// Around the sizes at which the engines send what they have.
TEST_P(load, any_number_of_rows) {
  std::string const text(700, 'y');
  for (std::int64_t const count : {0, 1, 99, 100, 101, 1000, 2001}) {
    database_.execute("delete from loaded");
    std::vector<value> cells;
    for (std::int64_t id = 1; id <= count; ++id) {
      cells.insert(cells.end(), {value(id), id % 3 == 0 ? value(nullptr) : std::string_view(text)});
    }
    transact(in(), [&](db::session& on) {
      EXPECT_EQ(on.load(texts_, cells), count);
      // The same session, the same transaction, and the same statement again.
      EXPECT_EQ(on.load(texts_, std::vector<value>{std::int64_t{-1}, "more"}), 1);
      auto const& seen = in().user_sql.of("select count(*), count(t) from loaded");
      auto const back = on.run(seen, {});
      EXPECT_EQ(back.cells.at(0), cell(count + 1));
      EXPECT_EQ(back.cells.at(1), cell(count - count / 3 + 1));
    });
    EXPECT_EQ(rows(), std::to_string(count + 1));
  }
}

TEST_P(load, a_duplicate_is_an_ordinary_error) {
  std::vector<value> cells;
  for (std::int64_t id = 1; id <= 1500; ++id) {
    cells.insert(cells.end(), {value(id == 1400 ? 7 : id), "text"});
  }
  auto from_pool = in().sessions.lend(1s);
  for (int again = 0; again < 2; ++again) {
    from_pool->begin(daybook::isolation::read_committed);
    try {
      static_cast<void>(from_pool->load(texts_, cells));
      ADD_FAILURE() << "nothing was thrown";
    } catch (error const& e) {
      EXPECT_EQ(e.kind(), error_code::constraint) << e.what();
      EXPECT_EQ(e.statement(), "load");
      EXPECT_FALSE(e.retryable() || e.in_doubt() || e.breaks_connection()) << e.what();
    }
    from_pool->rollback();
    EXPECT_TRUE(from_pool->usable());
    EXPECT_EQ(rows(), "0");
  }
  from_pool->begin(daybook::isolation::read_committed);
  EXPECT_EQ(from_pool->load(texts_, std::span(cells).first(2600)), 1300);
  from_pool->commit();
  EXPECT_EQ(rows(), "1300");
}

TEST_P(load, what_cannot_go_is_refused) {
  auto const attempt = [&](db::load_target const& into, std::vector<value> const& cells) {
    return fault_of(
        [&] { transact(in(), [&](db::session& on) { static_cast<void>(on.load(into, cells)); }); });
  };
  EXPECT_EQ(attempt(texts_, {std::int64_t{1}}), error_code::internal);
  EXPECT_EQ(attempt({"loaded", {}}, {std::int64_t{1}}), error_code::internal);
  EXPECT_EQ(attempt({"loaded", {"id", "nothing"}}, {std::int64_t{1}, "x"}), error_code::statement);
  if (on_postgres()) {
    EXPECT_EQ(attempt(texts_, {std::int64_t{1}, std::string_view("a\0b", 3)}),
              error_code::bad_argument);
    EXPECT_EQ(attempt(texts_, {std::int64_t{1}, "\xff"}), error_code::bad_argument);
  }
  EXPECT_EQ(rows(), "0");
  transact(in(), [&](db::session& on) {
    EXPECT_EQ(on.load(texts_, std::vector<value>{std::int64_t{1}, "x"}), 1);
  });
  EXPECT_EQ(rows(), "1");
}

/// MariaDB's arrays are of one type.
TEST_P(load, a_column_of_several_types) {
  std::vector<value> const cells{std::int64_t{1}, "text",          std::int64_t{2},
                                 bytes("bytes"),  std::int64_t{3}, nullptr};
  if (on_postgres()) return;  // text is not bytes there
  std::vector<value> const uniform{std::int64_t{-1}, "text", std::int64_t{-2}, "text"};
  transact(in(), [&](db::session& on) {
    EXPECT_EQ(on.load(texts_, uniform), 2);
    EXPECT_EQ(on.load(texts_, cells), 3);
  });
  EXPECT_EQ(database_.query("select t from loaded where id = 2"), "bytes");
}

TEST_P(load, a_cut_session) {
  auto from_pool = in().sessions.lend(1s);
  from_pool->begin(daybook::isolation::read_committed);
  EXPECT_EQ(from_pool->load(texts_, std::vector<value>{std::int64_t{1}, "x"}), 1);
  from_pool->cut();
  try {
    static_cast<void>(from_pool->load(texts_, std::vector<value>{std::int64_t{2}, "x"}));
    ADD_FAILURE() << "nothing was thrown";
  } catch (error const& e) {
    EXPECT_TRUE(e.retryable() && e.breaks_connection() && !e.in_doubt()) << e.what();
  }
  from_pool->rollback();
  EXPECT_EQ(rows(), "0");
}

/// On a handle of the application's, in its transaction and in ours.
TEST_P(load, on_an_adopted_handle) {
  namespace drivers = daybook::drivers;
  support::raw_connection app(database_.url());
  auto const adopted = [&](drivers::transactions whose) {
    return std::visit([&](auto* handle) { return drivers::adopt(*handle, whose, {}); },
                      app.native());
  };
  auto const& add = in().user_sql.of("insert into loaded(id) values (:id)");
  {
    auto const on = adopted(drivers::transactions::ours);
    on->begin(daybook::isolation::read_committed);
    EXPECT_EQ(on->load(texts_, std::vector<value>{std::int64_t{1}, "x", std::int64_t{2}, "y"}), 2);
    on->rollback();
    on->begin(daybook::isolation::read_committed);
    EXPECT_EQ(on->load(texts_, std::vector<value>{std::int64_t{3}, "x"}), 1);
    on->commit();
    std::vector<db::call> const calls{{&add, {std::int64_t{4}}}, {&add, {std::int64_t{5}}}};
    EXPECT_EQ(on->together(calls).size(), 2U);
    EXPECT_EQ(fault_of([&] { static_cast<void>(on->together(calls)); }), error_code::constraint);
    EXPECT_TRUE(on->usable());
  }
  EXPECT_EQ(rows(), "3");
  app.execute(on_sqlite() ? "begin immediate" : "begin");
  {
    auto const on = adopted(drivers::transactions::applications);
    EXPECT_EQ(on->load(texts_, std::vector<value>{std::int64_t{6}, "x"}), 1);
    std::vector<db::call> const calls{{&add, {std::int64_t{7}}}};
    EXPECT_EQ(fault_of([&] { static_cast<void>(on->together(calls)); }), error_code::internal);
  }
  app.execute("commit");
  EXPECT_EQ(rows(), "4");
}

DAYBOOK_ON_EVERY_ENGINE(load);

}  // namespace
}  // namespace conformance
