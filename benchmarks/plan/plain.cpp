#include "benchmarks/plan/plain.hpp"

#include <memory>
#include <stdexcept>
#include <vector>

#include <libpq-fe.h>
#include <mysql.h>
#include <sqlite3.h>

namespace bench {

namespace {

using row_reader = std::function<void(char const* const*)>;

long rows_on(PGconn* to, std::string const& query, row_reader const& each) {
  std::unique_ptr<PGresult, decltype(&PQclear)> const got(PQexec(to, query.c_str()), &PQclear);
  if (PQresultStatus(got.get()) != PGRES_TUPLES_OK) throw std::runtime_error(PQerrorMessage(to));
  std::vector<char const*> row(static_cast<std::size_t>(PQnfields(got.get())));
  for (int at = 0; at < PQntuples(got.get()); ++at) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = PQgetvalue(got.get(), at, static_cast<int>(i));
    }
    each(row.data());
  }
  return PQntuples(got.get());
}

long rows_on(MYSQL* to, std::string const& query, row_reader const& each) {
  if (mysql_real_query(to, query.data(), query.size()) != 0) {
    throw std::runtime_error(mysql_error(to));
  }
  std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> const got(mysql_store_result(to),
                                                                     &mysql_free_result);
  if (!got) throw std::runtime_error(mysql_error(to));
  long out = 0;
  while (auto const row = mysql_fetch_row(got.get())) {
    each(row);
    ++out;
  }
  return out;
}

long rows_on(sqlite3* to, std::string const& query, row_reader const& each) {
  struct reading {
    row_reader const& each;
    long rows = 0;
  } now{each};
  char* message = nullptr;
  auto const read = [](void* into, int, char** row, char**) {
    auto& to_it = *static_cast<reading*>(into);
    to_it.each(row);
    ++to_it.rows;
    return 0;
  };
  if (sqlite3_exec(to, query.c_str(), read, &now, &message) != SQLITE_OK) {
    std::string const why = message != nullptr ? message : "error";
    sqlite3_free(message);
    throw std::runtime_error(why);
  }
  return now.rows;
}

}  // namespace

plain::plain(support::fresh_database const& to) : on_(to.url()) {
  if (!to.url().starts_with("sqlite")) return;
  on_.execute("pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 60000");
}

long plain::rows(std::string const& query, row_reader const& each) {
  return std::visit([&](auto* to) { return rows_on(to, query, each); }, on_.native());
}

}  // namespace bench
