#include "support/engines.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <utility>
#include <variant>

#include <libpq-fe.h>
#include <mysql.h>
#include <sqlite3.h>

namespace support {

namespace {

std::string environment(std::string const& name) {
  char const* const found = std::getenv(name.c_str());
  if (found == nullptr || *found == '\0') {
    throw std::runtime_error(name +
                             " is not set: start the servers (tests/servers/servers start "
                             "DIR) and read DIR/env, or ask for fewer engines with "
                             "DAYBOOK_TEST_ENGINES=sqlite");
  }
  return found;
}

/// Not by the process's number: that comes again, while what was killed leaves its database behind.
std::string unique_name() {
  std::random_device random;
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "t%08x%08x", random(), random());
  return out.data();
}

/// The same server, another database: what stands between the last '/' and a '?'.
std::string with_database(std::string url, std::string const& database) {
  auto const question = url.find('?');
  auto const slash = url.rfind('/', question);
  return url.substr(0, slash + 1) + database +
         (question == std::string::npos ? "" : url.substr(question));
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%' && at + 2 < text.size()) {
      out.push_back(static_cast<char>(std::stoi(std::string(text.substr(at + 1, 2)), nullptr, 16)));
      at += 2;
    } else {
      out.push_back(text[at]);
    }
  }
  return out;
}

struct close_postgres {
  void operator()(PGconn* what) const noexcept { PQfinish(what); }
};
struct close_mysql {
  void operator()(MYSQL* what) const noexcept { mysql_close(what); }
};
struct close_sqlite {
  void operator()(sqlite3* what) const noexcept { sqlite3_close(what); }
};
using postgres = std::unique_ptr<PGconn, close_postgres>;
using mariadb = std::unique_ptr<MYSQL, close_mysql>;
using sqlite = std::unique_ptr<sqlite3, close_sqlite>;

postgres open_postgres(std::string const& url) {
  postgres made(PQconnectdb(url.c_str()));
  if (PQstatus(made.get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(made.get()));
  PQsetNoticeProcessor(
      made.get(), [](void*, char const*) {}, nullptr);
  return made;
}

mariadb open_mariadb(std::string const& url) {
  // mariadb://user:password@host:port/database
  auto rest = url.substr(url.find("//") + 2);
  auto const user_end = rest.find(':');
  auto const at = rest.find('@');
  auto const slash = rest.find('/', at);
  auto const host = rest.substr(at + 1, slash - at - 1);
  auto const colon = host.find(':');
  mariadb made(mysql_init(nullptr));
  if (mysql_real_connect(
          made.get(), host.substr(0, colon).c_str(), decoded(rest.substr(0, user_end)).c_str(),
          decoded(rest.substr(user_end + 1, at - user_end - 1)).c_str(),
          rest.substr(slash + 1).c_str(), static_cast<unsigned>(std::stoi(host.substr(colon + 1))),
          nullptr, CLIENT_MULTI_STATEMENTS) == nullptr) {
    throw std::runtime_error(mysql_error(made.get()));
  }
  return made;
}

sqlite open_sqlite(std::string const& url) {
  sqlite3* raw = nullptr;
  int const code = sqlite3_open(url.substr(url.find(':') + 1).c_str(), &raw);
  sqlite made(raw);
  if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(raw));
  sqlite3_busy_timeout(raw, 10'000);
  return made;
}

std::string on_postgres(PGconn* to, std::string const& text) {
  std::unique_ptr<PGresult, decltype(&PQclear)> const got(PQexec(to, text.c_str()), &PQclear);
  auto const status = PQresultStatus(got.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    throw std::runtime_error(PQerrorMessage(to));
  }
  return PQntuples(got.get()) > 0 ? PQgetvalue(got.get(), 0, 0) : "";
}

std::string on_mariadb(MYSQL* to, std::string const& text) {
  if (mysql_real_query(to, text.data(), text.size()) != 0) {
    throw std::runtime_error(mysql_error(to));
  }
  std::string first;
  do {
    std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> const got(mysql_store_result(to),
                                                                       &mysql_free_result);
    if (!got) continue;
    auto const row = mysql_fetch_row(got.get());
    if (row != nullptr && row[0] != nullptr && first.empty()) first = row[0];
  } while (mysql_next_result(to) == 0);
  if (mysql_errno(to) != 0) throw std::runtime_error(mysql_error(to));
  return first;
}

std::string on_sqlite(sqlite3* to, std::string const& text) {
  std::string first;
  char* message = nullptr;
  int const code = sqlite3_exec(
      to, text.c_str(),
      [](void* into, int columns, char** values, char**) {
        auto& found = *static_cast<std::string*>(into);
        if (found.empty() && columns > 0 && values[0] != nullptr) found = values[0];
        return 0;
      },
      &first, &message);
  if (code != SQLITE_OK) {
    std::string const why = message != nullptr ? message : "error";
    sqlite3_free(message);
    throw std::runtime_error(why);
  }
  return first;
}

}  // namespace

struct raw_connection::inside {
  std::variant<postgres, mariadb, sqlite> handle;
};

raw_connection::raw_connection(std::string const& url) : inside_(std::make_unique<inside>()) {
  if (url.starts_with("postgres")) {
    inside_->handle = open_postgres(url);
  } else if (url.starts_with("sqlite")) {
    inside_->handle = open_sqlite(url);
  } else {
    inside_->handle = open_mariadb(url);
  }
}

raw_connection::raw_connection(raw_connection&&) noexcept = default;
raw_connection& raw_connection::operator=(raw_connection&&) noexcept = default;
raw_connection::~raw_connection() = default;

std::string raw_connection::execute(std::string const& text) {
  if (auto const* to = std::get_if<postgres>(&inside_->handle)) return on_postgres(to->get(), text);
  if (auto const* to = std::get_if<mariadb>(&inside_->handle)) return on_mariadb(to->get(), text);
  return on_sqlite(std::get<sqlite>(inside_->handle).get(), text);
}

std::variant<::sqlite3*, ::pg_conn*, ::st_mysql*> raw_connection::native() const {
  return std::visit(
      [](auto const& of) -> std::variant<::sqlite3*, ::pg_conn*, ::st_mysql*> { return of.get(); },
      inside_->handle);
}

std::vector<engine> engines() {
  static std::vector<engine> const all{{"sqlite", ""},
                                       {"postgresql", "DAYBOOK_TEST_POSTGRESQL"},
                                       {"pgbouncer", "DAYBOOK_TEST_PGBOUNCER"},
                                       {"mariadb", "DAYBOOK_TEST_MARIADB"},
                                       {"mariadb_snapshot", "DAYBOOK_TEST_MARIADB_SNAPSHOT"},
                                       {"mysql", "DAYBOOK_TEST_MYSQL"}};
  char const* const wanted = std::getenv("DAYBOOK_TEST_ENGINES");
  if (wanted == nullptr || *wanted == '\0') {
    // Debian 12 has no MySQL: it is there where somebody brought it.
    bool const brought = std::getenv("DAYBOOK_TEST_MYSQL") != nullptr;
    return {all.begin(), all.end() - (brought ? 0 : 1)};
  }
  auto const list = "," + std::string(wanted) + ",";
  std::vector<engine> out;
  std::copy_if(all.begin(), all.end(), std::back_inserter(out), [&](engine const& one) {
    return list.find("," + one.name + ",") != std::string::npos;
  });
  return out;
}

std::string name_of(engine const& which) { return which.name; }

fresh_database::fresh_database(engine const& on) : on_(on), name_(unique_name()) {
  if (on_.environment.empty()) {
    auto const file = std::filesystem::temp_directory_path() / ("daybook_" + name_ + ".db");
    url_ = direct_url_ = "sqlite:" + file.string();
    return;
  }
  url_ = with_database(environment(on_.environment), name_);
  // PgBouncer stands before the same PostgreSQL; databases are made and dropped behind its back.
  auto const server =
      environment(on_.name == "pgbouncer" ? "DAYBOOK_TEST_POSTGRESQL" : on_.environment);
  direct_url_ = with_database(server, name_);
  raw_connection(server).execute("create database " + name_);
}

fresh_database::~fresh_database() {
  try {
    if (on_.environment.empty()) {
      auto const file = url_.substr(url_.find(':') + 1);
      for (auto const* suffix : {"", "-wal", "-shm", "-checkpoint", "-turn"}) {
        std::filesystem::remove(file + suffix);
      }
      return;
    }
    auto const server =
        environment(on_.name == "pgbouncer" ? "DAYBOOK_TEST_POSTGRESQL" : on_.environment);
    bool const is_postgres = server.starts_with("postgres");
    raw_connection(server).execute("drop database " + name_ + (is_postgres ? " with (force)" : ""));
  } catch (std::exception const&) {
    return;  // the servers are thrown away with what is left in them
  }
}

void fresh_database::execute(std::string const& text) const {
  raw_connection(direct_url_).execute(text);
}

std::string fresh_database::query(std::string const& text) const {
  return raw_connection(direct_url_).execute(text);
}

daybook::book_options fresh_database::manual() {
  return {.renew_in_background = false, .movable_clock = true};
}

daybook::book fresh_database::open(daybook::book_options options) const {
  daybook::book made(url_, std::move(options));
  made.migrate();
  return made;
}

}  // namespace support
