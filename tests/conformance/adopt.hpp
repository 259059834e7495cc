// What the suites of adopted handles share: an application with a connection of its own, through
// its own driver, beside a book of the same database.
#pragma once

#include "conformance/fixture.hpp"

#include <libpq-fe.h>
#include <mysql.h>
#include <sqlite3.h>

namespace conformance {

class adoption : public on_engine {
 protected:
  explicit adoption(std::chrono::milliseconds lease = daybook::book_options().lease)
      : on_engine(lease), app_(connect()) {}

  /// A connection as applications have them: without CLIENT_FOUND_ROWS on MariaDB.
  [[nodiscard]] support::raw_connection connect() const { return connect(database_.url()); }
  [[nodiscard]] support::raw_connection connect(std::string const& url) const {
    support::raw_connection made(url);
    if (on_mariadb()) made.execute("set names utf8mb4");
    return made;
  }

  static std::unique_ptr<daybook::external_transaction> join(daybook::book& to,
                                                             support::raw_connection& app) {
    return std::visit(
        [&](auto* handle) {
          return std::unique_ptr<daybook::external_transaction>(
              new daybook::external_transaction(to.join(*handle)));
        },
        app.native());
  }
  std::unique_ptr<daybook::external_transaction> join(support::raw_connection& app) {
    return join(book_, app);
  }
  std::unique_ptr<daybook::external_transaction> join() { return join(app_); }

  [[nodiscard]] daybook::book adopt_connection() { return adopt_connection(watched()); }
  [[nodiscard]] daybook::book adopt_connection(daybook::book_options options) {
    return std::visit(
        [&](auto* handle) { return daybook::book::adopt_connection(*handle, options); },
        app_.native());
  }

  void begin() { app_.execute(on_sqlite() ? "begin immediate" : "begin"); }
  void insert_mine(char const* name) {
    app_.execute("insert into effect(name) values ('" + std::string(name) + "')");
  }
  /// Whether `text` refuses with this fault, and says this.
  template <class F>
  static void expect_refusal(error_code kind, std::string const& says, F&& what) {
    try {
      what();
      ADD_FAILURE() << "nothing was thrown";
    } catch (daybook::error const& e) {
      EXPECT_EQ(e.kind(), kind) << e.what();
      EXPECT_NE(std::string(e.what()).find(says), std::string::npos) << e.what();
    }
  }

  [[nodiscard]] ::PGconn* pg() const { return std::get<::pg_conn*>(app_.native()); }
  [[nodiscard]] ::MYSQL* mysql() const { return std::get<::st_mysql*>(app_.native()); }
  [[nodiscard]] ::sqlite3* lite() const { return std::get<::sqlite3*>(app_.native()); }

  support::raw_connection app_;
};

}  // namespace conformance
