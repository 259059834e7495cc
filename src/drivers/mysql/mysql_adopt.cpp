#include "drivers/mysql/mysql_adopt.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

[[noreturn]] void refuse(error_code kind, std::string const& where, std::string_view reason) {
  throw error({.kind = kind}, where + ": " + std::string(reason));
}

std::string text_of(cell const& cell) {
  auto const* const found = std::get_if<std::string>(&cell);
  return found == nullptr ? std::string() : *found;
}

bool has_mode(std::string const& modes, std::string_view mode) {
  return ("," + modes + ",").find("," + std::string(mode) + ",") != std::string::npos;
}

void check_mode(std::string const& modes, std::string const& where) {
  if (!has_mode(modes, "STRICT_TRANS_TABLES") && !has_mode(modes, "STRICT_ALL_TABLES")) {
    refuse(error_code::configuration, where,
           "the connection's sql_mode is not strict, so that values may be cut short silently: "
           "add STRICT_TRANS_TABLES to it");
  }
  for (auto const* const mode : {"ORACLE", "EMPTY_STRING_IS_NULL"}) {
    if (!has_mode(modes, mode)) continue;
    refuse(error_code::configuration, where,
           "the connection's sql_mode has " + std::string(mode) +
               ", which changes what our statements mean: take it out");
  }
}

}  // namespace

void check_mysql_transaction(::MYSQL& handle, transactions mode, std::string const& where) {
  if (handle.status != MYSQL_STATUS_READY ||
      (handle.server_status & SERVER_MORE_RESULTS_EXIST) != 0) {
    refuse(error_code::bad_argument, where,
           "the results of the application's last statement are unread: read them to the end "
           "(mysql_store_result, mysql_next_result)");
  }
  bool const open = (handle.server_status & SERVER_STATUS_IN_TRANS) != 0;
  if (mode == transactions::ours) {
    if (!open) return;
    refuse(error_code::bad_argument, where,
           "a transaction of the application is open on the connection: end it first, or join it "
           "(book::join)");
  }
  if (!open) {
    refuse(error_code::bad_argument, where,
           "no transaction is open on the connection, or not any more (DDL commits, a deadlock "
           "rolls back): send START TRANSACTION, then join it");
  }
  if ((handle.server_status & SERVER_STATUS_IN_TRANS_READONLY) != 0) {
    refuse(error_code::read_only, where,
           "the transaction is read only: roll it back, and begin it READ WRITE");
  }
}

mysql_handle adopted_mysql(::MYSQL& handle, transactions mode, give_back<::MYSQL> after) {
  prepare_mysql_thread();
  mysql_handle out(&handle, end_of<::MYSQL, ::mysql_close>(std::move(after)));
  if (handle.net.pvio == nullptr) {
    out.get_deleter().set_broken(true);
    throw error({.kind = error_code::unreachable, .breaks_connection = true},
                "the application's connection to MariaDB is not open, or broken: connect it, or "
                "take another");
  }
  auto const where = shown(handle);
  ::my_bool reconnects = 0;
  ::mysql_get_optionv(&handle, MYSQL_OPT_RECONNECT, &reconnects);
  if (reconnects != 0) {
    refuse(error_code::bad_argument, where,
           "the connection reconnects by itself, which would lose half a transaction unseen: set "
           "MYSQL_OPT_RECONNECT off");
  }
  check_mysql_transaction(handle, mode, where);
  return out;
}

std::string_view const mysql_handle_facts =
    "select @@session.sql_mode, @@session.character_set_client, "
    "@@session.character_set_connection, @@session.character_set_results, "
    "@@session.completion_type, database(), abs(timestampdiff(second, now(), sysdate())) > 1";

std::string check_mysql_facts(std::span<cell const> row, std::string const& where) {
  check_mode(text_of(row[0]), where);
  for (auto const at : {1U, 2U, 3U}) {
    if (text_of(row[at]) == "utf8mb4") continue;
    refuse(error_code::configuration, where,
           "the connection's character set is not utf8mb4: call mysql_set_character_set(handle, "
           "\"utf8mb4\")");
  }
  if (auto const type = text_of(row[4]); type != "NO_CHAIN" && type != "0") {
    refuse(error_code::configuration, where,
           "completion_type lets COMMIT begin another transaction: set it to NO_CHAIN");
  }
  if (row[6] == cell(std::int64_t{1})) {
    refuse(error_code::configuration, where,
           "the connection's clock is set (timestamp), and leases go by it: send 'set timestamp = "
           "default'");
  }
  return text_of(row[5]);
}

bool commits_by_itself(::MYSQL const& handle) {
  return (handle.server_status & SERVER_STATUS_AUTOCOMMIT) != 0;
}

void count_matched_rows(::MYSQL& handle, std::string_view statement, db::table& table) {
  if ((handle.client_flag & CLIENT_FOUND_ROWS) != 0) return;
  statement.remove_prefix(std::min(statement.find_first_not_of(" \t\r\n"), statement.size()));
  auto const verb = statement.substr(0, 6);
  constexpr std::string_view update = "update";
  if (!std::equal(verb.begin(), verb.end(), update.begin(), update.end(),
                  [](char a, char b) { return (a | 0x20) == b; })) {
    return;
  }
  // "Rows matched: 1  Changed: 0  Warnings: 0", in the server's language; the first number.
  char const* const info = ::mysql_info(&handle);
  if (info == nullptr) return;
  std::string_view const text(info);
  auto const digit = text.find_first_of("0123456789");
  if (digit == std::string_view::npos) return;
  std::from_chars(text.data() + digit, text.data() + text.size(), table.affected);
}

std::string shown(::st_mysql& handle) {
  auto const text = [](char const* raw) { return std::string(raw == nullptr ? "" : raw); };
  auto const port = handle.port == 0 ? std::string() : ":" + std::to_string(handle.port);
  return "mariadb://" + text(handle.user) + "@" + text(handle.host) + port + "/" + text(handle.db);
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
