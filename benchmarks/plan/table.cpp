#include "benchmarks/plan/table.hpp"

namespace bench {

namespace {

/// Numbers `first` to `last` as `n`.
std::string numbers(std::string const& engine, long first, long last) {
  auto const from = std::to_string(first);
  auto const to = std::to_string(last);
  if (engine == "postgresql") return "generate_series(" + from + "::bigint, " + to + ") as g(n)";
  if (engine == "mariadb") return "(select seq as n from seq_" + from + "_to_" + to + ") g";
  return "(with recursive g(n) as (select " + from + " union all select n + 1 from g where n < " +
         to + ") select n from g) g";
}

std::string created(std::string const& engine) {
  if (engine == "postgresql") return "timestamp '2025-01-01' + n / 10 * interval '1 second'";
  if (engine == "mariadb") return "timestamp'2025-01-01 00:00:00' + interval n div 10 second";
  return "datetime(1735689600 + n / 10, 'unixepoch')";
}

}  // namespace

table::table(support::engine const& on) : on_(on), database_(on) {
  std::string const when = on.name == "sqlite"       ? "text"
                           : on.name == "postgresql" ? "timestamp"
                                                     : "datetime";
  std::string const number = on.name == "sqlite" ? "integer" : "bigint";
  database_.execute("create table item (id " + number + " not null primary key, created " + when +
                    " not null, amount " + number + " not null)");
  database_.execute("create index item_created on item (created, id)");
}

void table::grow_to(long rows) {
  // A piece at a time: SQLite's rows are in the log until the transaction is over.
  constexpr long piece = 500'000;
  while (rows_ < rows) {
    auto const last = std::min(rows_ + piece, rows);
    database_.execute("insert into item (id, created, amount) select n, " + created(on_.name) +
                      ", n % 100 from " + numbers(on_.name, rows_ + 1, last));
    rows_ = last;
  }
  if (on_.name == "postgresql") database_.execute("vacuum (analyze) item");
  if (on_.name == "mariadb") database_.execute("analyze table item");
  if (on_.name == "sqlite") database_.execute("analyze");
}

double table::number(std::string const& query) const {
  auto const text = database_.query(query);
  return text.empty() ? 0 : std::stod(text);
}

}  // namespace bench
