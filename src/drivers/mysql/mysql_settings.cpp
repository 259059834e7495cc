#include "drivers/mysql/mysql_settings.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <variant>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

std::string seconds(std::chrono::milliseconds value) {
  return std::to_string(
      std::max<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(value).count(), 1));
}

}  // namespace

std::string mysql_settings(mysql_kind server, db::connect_options const& options) {
  auto const wait = options.statement_timeout.count() > 0
                        ? std::min(options.lock_timeout, options.statement_timeout)
                        : options.lock_timeout;
  std::string text =
      std::string(mysql_statement_settings) +
      // The server tells of each setting that a statement changes, in any depth.
      ", session_track_system_variables = '*', autocommit = 1, innodb_lock_wait_timeout = " +
      seconds(wait) + ", lock_wait_timeout = " + seconds(wait);
  if (server == mysql_kind::mysql) {
    return text + ", transaction_isolation = 'READ-COMMITTED'";
  }
  text += ", tx_isolation = 'READ-COMMITTED'";
  if (options.idle_timeout.count() > 0) {
    auto const idle = seconds(options.idle_timeout);
    text += ", idle_transaction_timeout = " + idle + ", idle_write_transaction_timeout = " + idle;
  }
  if (options.statement_timeout.count() > 0) {
    auto const limit_ms = std::to_string(options.statement_timeout.count());
    text += ", max_statement_time = " + limit_ms + " / 1000";
  }
  return text;
}

db::statement read_by(std::string_view name, std::string_view text) {
  return {.name = std::string(name), .text = std::string(text), .only_reads = true};
}

void add_mysql_variables(std::vector<db::fact>& facts, mysql_kind server, db::table const& found) {
  bool isolation_seen = false;
  // MySQL has no Galera, and no variable to say so.
  if (server == mysql_kind::mysql) facts.push_back({"wsrep_on", "OFF"});
  for (std::size_t at = 0; at < found.size(); ++at) {
    auto const row = found.row(at);
    auto name = std::get<std::string>(row[0]);
    // One name on both: MariaDB's newer releases have both of them.
    if (name == "transaction_isolation") name = "tx_isolation";
    if (name == "tx_isolation" && std::exchange(isolation_seen, true)) continue;
    facts.push_back({std::move(name), std::get<std::string>(row[1])});
  }
}

char const* isolation_text(isolation level, bool is_default) {
  switch (level) {
    case isolation::read_committed:
      return is_default ? "" : "set transaction isolation level read committed";
    case isolation::repeatable_read: return "set transaction isolation level repeatable read";
    case isolation::serializable: return "set transaction isolation level serializable";
  }
  return "";
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
