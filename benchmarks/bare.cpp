#include "benchmarks/bare.hpp"

#include <array>
#include <charconv>
#include <stdexcept>
#include <vector>

#include <libpq-fe.h>
#include <mysql.h>
#include <sqlite3.h>

namespace bench {

namespace {

class bare_postgres final : public bare {
 public:
  explicit bare_postgres(std::string const& url) : on_(PQconnectdb(url.c_str()), &PQfinish) {
    if (PQstatus(on_.get()) != CONNECTION_OK) fail();
  }

  int prepare(std::string const& text) override {
    auto const name = std::to_string(++count_);
    result const got(PQprepare(on_.get(), name.c_str(), text.c_str(), 0, nullptr), &PQclear);
    if (PQresultStatus(got.get()) != PGRES_COMMAND_OK) fail();
    names_.push_back(name);
    return count_ - 1;
  }

  reply execute(int statement, std::span<parameter const> values) override {
    std::array<std::array<char, 24>, most> room{};
    std::array<char const*, most> texts{};
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (auto const* text = std::get_if<std::string_view>(&values[at])) {
        texts[at] = text->data();
      } else {
        std::to_chars(room[at].data(), room[at].data() + room[at].size() - 1,
                      std::get<std::int64_t>(values[at]));
        texts[at] = room[at].data();
      }
    }
    auto const& name = names_[static_cast<std::size_t>(statement)];
    result const got(PQexecPrepared(on_.get(), name.c_str(), static_cast<int>(values.size()),
                                    texts.data(), nullptr, nullptr, 0),
                     &PQclear);
    auto const status = PQresultStatus(got.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail();
    return {std::atoll(PQcmdTuples(got.get())),
            PQntuples(got.get()) > 0 ? std::atoll(PQgetvalue(got.get(), 0, 0)) : 0};
  }

 private:
  static constexpr std::size_t most = 8;
  using result = std::unique_ptr<PGresult, decltype(&PQclear)>;
  [[noreturn]] void fail() const { throw std::runtime_error(PQerrorMessage(on_.get())); }

  std::unique_ptr<PGconn, decltype(&PQfinish)> on_;
  int count_ = 0;
  std::vector<std::string> names_;
};

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

class bare_mariadb final : public bare {
 public:
  /// mariadb://USER:PASSWORD@HOST:PORT/DATABASE
  explicit bare_mariadb(std::string const& url) : on_(mysql_init(nullptr), &mysql_close) {
    auto const rest = url.substr(url.find("//") + 2);
    auto const user_end = rest.find(':');
    auto const at = rest.find('@');
    auto const colon = rest.find(':', at);
    auto const slash = rest.find('/', at);
    auto const port = std::stoul(rest.substr(colon + 1, slash - colon - 1));
    if (mysql_real_connect(on_.get(), rest.substr(at + 1, colon - at - 1).c_str(),
                           decoded(rest.substr(0, user_end)).c_str(),
                           decoded(rest.substr(user_end + 1, at - user_end - 1)).c_str(),
                           rest.substr(slash + 1).c_str(), static_cast<unsigned>(port), nullptr,
                           CLIENT_FOUND_ROWS) == nullptr) {
      throw std::runtime_error(mysql_error(on_.get()));
    }
    auto const read_committed = "set session transaction isolation level read committed";
    if (mysql_query(on_.get(), read_committed) != 0) {
      throw std::runtime_error(mysql_error(on_.get()));
    }
  }

  int prepare(std::string const& text) override {
    statement made(mysql_stmt_init(on_.get()), &mysql_stmt_close);
    if (mysql_stmt_prepare(made.get(), text.data(), text.size()) != 0) fail(*made);
    statements_.push_back(std::move(made));
    return static_cast<int>(statements_.size()) - 1;
  }

  reply execute(int which, std::span<parameter const> values) override {
    auto& to = *statements_[static_cast<std::size_t>(which)];
    std::array<MYSQL_BIND, most> binds{};
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (auto const* text = std::get_if<std::string_view>(&values[at])) {
        binds[at].buffer_type = MYSQL_TYPE_STRING;
        binds[at].buffer = const_cast<char*>(text->data());
        binds[at].buffer_length = text->size();
      } else {
        binds[at].buffer_type = MYSQL_TYPE_LONGLONG;
        binds[at].buffer = const_cast<std::int64_t*>(&std::get<std::int64_t>(values[at]));
      }
    }
    if (!values.empty() && mysql_stmt_bind_param(&to, binds.data()) != 0) fail(to);
    if (mysql_stmt_execute(&to) != 0) fail(to);
    reply const out{static_cast<std::int64_t>(mysql_stmt_affected_rows(&to)),
                    static_cast<std::int64_t>(mysql_stmt_insert_id(&to))};
    while (mysql_stmt_more_results(&to) != 0) {
      if (mysql_stmt_next_result(&to) > 0) fail(to);
    }
    return out;
  }

 private:
  static constexpr std::size_t most = 16;
  using statement = std::unique_ptr<MYSQL_STMT, decltype(&mysql_stmt_close)>;
  [[noreturn]] static void fail(MYSQL_STMT& of) { throw std::runtime_error(mysql_stmt_error(&of)); }

  std::unique_ptr<MYSQL, decltype(&mysql_close)> on_;
  std::vector<statement> statements_;
};

class bare_sqlite final : public bare {
 public:
  explicit bare_sqlite(std::string const& url) : on_(open(url), &sqlite3_close) {
    sqlite3_busy_timeout(on_.get(), 60'000);
    // The log stays when this closes, for it is counted.
    sqlite3_db_config(on_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_exec(on_.get(), "pragma journal_mode = wal; pragma synchronous = full", nullptr,
                 nullptr, nullptr);
  }

  int prepare(std::string const& text) override {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v3(on_.get(), text.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr) !=
        SQLITE_OK) {
      fail();
    }
    statements_.emplace_back(raw, &sqlite3_finalize);
    return static_cast<int>(statements_.size()) - 1;
  }

  reply execute(int which, std::span<parameter const> values) override {
    auto* const to = statements_[static_cast<std::size_t>(which)].get();
    for (std::size_t at = 0; at < values.size(); ++at) {
      auto const index = static_cast<int>(at) + 1;
      if (auto const* text = std::get_if<std::string_view>(&values[at])) {
        sqlite3_bind_text(to, index, text->data(), static_cast<int>(text->size()), SQLITE_STATIC);
      } else {
        sqlite3_bind_int64(to, index, std::get<std::int64_t>(values[at]));
      }
    }
    reply out;
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(to)) == SQLITE_ROW) out.number = sqlite3_column_int64(to, 0);
    sqlite3_reset(to);
    if (code != SQLITE_DONE) fail();
    out.affected = sqlite3_changes64(on_.get());
    return out;
  }

 private:
  static sqlite3* open(std::string const& url) {
    sqlite3* raw = nullptr;
    sqlite3_open(url.substr(url.find(':') + 1).c_str(), &raw);
    return raw;
  }
  [[noreturn]] void fail() const { throw std::runtime_error(sqlite3_errmsg(on_.get())); }

  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> on_;
  std::vector<std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>> statements_;
};

}  // namespace

std::unique_ptr<bare> open_bare(std::string const& url) {
  if (url.starts_with("postgres")) return std::make_unique<bare_postgres>(url);
  if (url.starts_with("sqlite")) return std::make_unique<bare_sqlite>(url);
  return std::make_unique<bare_mariadb>(url);
}

}  // namespace bench
