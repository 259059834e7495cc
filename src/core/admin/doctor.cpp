#include "core/admin/doctor.hpp"

#include "base/numbers.hpp"
#include "core/admin/version.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

/// How the value of a setting is judged.
enum class test : std::uint8_t {
  is,        ///< one of the words in `good`
  is_not,    ///< none of them
  contains,  ///< each of them is a part
  at_least,  ///< a number, not less
  at_most,   ///< a number, not greater in size
};

/// A setting that is one of some words.
struct condition {
  std::string_view setting;
  std::string_view words;
};

/// One precondition: the setting it rests on, what is good, and what it is worth otherwise.
struct rule {
  std::string_view dialect;
  std::string_view name;
  std::string_view setting;
  test how;
  std::string_view good;  ///< words separated by '|', or a number
  severity otherwise;
  std::string_view remedy;
  /// Only where these hold: what is said of a binary log is nothing where there is none.
  std::array<condition, 2> where{};
};

constexpr condition has_binary_log{"log_bin", "1|ON"};

constexpr std::array rules{
    // SQLite
    rule{"sqlite", "local file", "file_system", test::is, "local", severity::failed,
         "put the file on a local disk: SQLite's locks do not hold over a network"},
    rule{"sqlite", "file system", "fuse", test::is, "no", severity::warning,
         "a program serves this file system: make sure that it keeps the file on this machine, for "
         "SQLite's locks do not hold over a network"},
    rule{"sqlite", "durable commit", "synchronous", test::is, "2|3", severity::failed,
         "leave 'pragma synchronous' at FULL: after a power loss external effects may repeat"},
    rule{"sqlite", "write-ahead log", "journal_mode", test::is, "wal|memory", severity::warning,
         "use 'pragma journal_mode = wal': readers then never wait for a writer"},
    rule{"sqlite", "one file", "attached", test::is, "0", severity::failed,
         "keep the book and your tables in one file: a commit over attached files is not atomic"},
    rule{"sqlite", "threads", "threadsafe", test::is_not, "0", severity::failed,
         "use an SQLite library built with SQLITE_THREADSAFE"},
    rule{"sqlite", "library version", "sqlite_version_number", test::at_least, "3051003",
         severity::warning,
         "below 3.51.3 two connections that checkpoint at once may corrupt the file: let no other "
         "program checkpoint it (Daybook's own connections take turns)"},
    // PostgreSQL
    rule{"postgres", "primary", "in_recovery", test::is, "0|false|off|no|f", severity::failed,
         "connect to the primary (target_session_attrs=read-write)"},
    rule{"postgres", "writable", "transaction_read_only", test::is, "off", severity::failed,
         "connect to a server, and as a user, that may write"},
    rule{"postgres", "rights", "not_writable", test::is, "", severity::failed,
         "grant this user select, insert, update and delete on the book's tables"},
    rule{
        "postgres", "triggers", "exposed_functions", test::is, "", severity::failed,
        "install the triggers of these queues again (daybook queues watch QUEUE --install): other "
        "users may execute their functions with the rights of the owner, and so change the queues"},
    rule{"postgres", "durable commit", "synchronous_commit", test::is_not, "off", severity::failed,
         "set synchronous_commit = on ('local' only where synchronous_standby_names is empty)"},
    rule{"postgres", "standbys waited for", "unwaited_standbys", test::is, "", severity::warning,
         "set synchronous_commit = on: synchronous_standby_names names standbys, and no COMMIT "
         "waits for them, so that a fail-over may lose what was done"},
    rule{"postgres", "standbys connected", "missing_standbys", test::is, "", severity::warning,
         "connect a standby that synchronous_standby_names names, or take it out: no COMMIT ends "
         "without one (unknown: grant pg_read_all_stats to this user, to see them)"},
    rule{"postgres", "one primary", "writable_hosts", test::at_most, "1", severity::failed,
         "name one cluster in the URL: several of its hosts take writes, so that processes may "
         "each have a book of their own"},
    rule{"postgres", "fsync", "fsync", test::is, "on", severity::failed,
         "set fsync = on: without it a crash of the machine loses what was committed"},
    rule{"postgres", "torn pages", "full_page_writes", test::is, "on", severity::failed,
         "set full_page_writes = on"},
    rule{"postgres", "server version", "server_version_num", test::at_least, "130000",
         severity::warning, "Daybook is tested from PostgreSQL 15 on"},
    rule{"postgres", "encoding", "server_encoding", test::is, "UTF8", severity::warning,
         "names and keys outside the server's encoding are refused: use UTF8"},
    rule{"postgres", "asynchronous standbys", "async_standbys", test::is, "0", severity::warning,
         "after a fail-over to one of them the surviving history rules: effects in the database "
         "stay done once, external effects may repeat (unknown: grant pg_read_all_stats to this "
         "user, to see them)"},
    rule{"postgres", "clock", "clock_difference_ms", test::at_most, "5000", severity::warning,
         "this machine's clock and the database's differ: Daybook goes by the database's, people "
         "read their own"},
    // MariaDB and MySQL
    rule{"mysql", "durable commit", "innodb_flush_log_at_trx_commit", test::is, "1|3",
         severity::failed, "set innodb_flush_log_at_trx_commit = 1"},
    // With 1 the server counts on the binary log to have what InnoDB has only prepared.
    rule{"mysql",
         "binary log on disk",
         "sync_binlog",
         test::is,
         "1",
         severity::failed,
         "set sync_binlog = 1 (or innodb_flush_log_at_trx_commit = 3, which leaves replicas "
         "behind): a commit that is not in the binary log is rolled back after a power loss",
         {has_binary_log, condition{"innodb_flush_log_at_trx_commit", "1"}}},
    rule{"mysql",
         "replicas",
         "sync_binlog",
         test::is,
         "1",
         severity::warning,
         "set sync_binlog = 1: after a power loss replicas and this server may differ, and after "
         "a fail-over to one of them the surviving history rules",
         {has_binary_log}},
    rule{"mysql", "InnoDB only", "other_engines", test::is, "|0", severity::failed,
         "convert the book's tables to InnoDB: others have no transactions"},
    rule{"mysql", "your tables", "other_engines_in_schema", test::is, "|0", severity::warning,
         "convert them to InnoDB: what a step writes to them is not rolled back with it"},
    rule{"mysql", "writable", "read_only", test::is, "0|OFF", severity::failed,
         "connect to the primary, which may write"},
    rule{"mysql", "strict mode", "sql_mode", test::contains, "STRICT_", severity::failed,
         "leave the session's sql_mode strict: values that do not fit are otherwise cut"},
    rule{"mysql", "isolation", "tx_isolation", test::is, "READ-COMMITTED", severity::warning,
         "leave the session at READ COMMITTED: gap locks of the default level cause deadlocks"},
    rule{"mysql", "time zone", "time_zone", test::is, "+00:00", severity::failed,
         "leave the session's time_zone at '+00:00'"},
    rule{"mysql",
         "binary log",
         "binlog_format",
         test::is_not,
         "STATEMENT",
         severity::failed,
         "set binlog_format to ROW or MIXED",
         {has_binary_log}},
    rule{"mysql", "torn pages", "innodb_doublewrite", test::is_not, "0|OFF", severity::warning,
         "set innodb_doublewrite = ON unless the disk writes pages whole"},
    rule{"mysql", "Galera", "wsrep_on", test::is_not, "1|ON", severity::warning,
         "several nodes have several clocks, and a claim counts only after its COMMIT: connect "
         "Daybook to one node"},
    rule{"mysql", "clock", "clock_difference_ms", test::at_most, "5000", severity::warning,
         "this machine's clock and the database's differ: Daybook goes by the database's, people "
         "read their own"},
};

template <class F>
bool any_word(std::string_view words, F const& matches) {
  for (;;) {
    auto const bar = words.find('|');
    if (matches(words.substr(0, bar))) return true;
    if (bar == std::string_view::npos) return false;
    words.remove_prefix(bar + 1);
  }
}

bool holds(rule const& rule, std::string_view found) {
  auto const same = [&](std::string_view word) { return word == found; };
  switch (rule.how) {
    case test::is: return any_word(rule.good, same);
    case test::is_not: return !any_word(rule.good, same);
    case test::contains:
      return any_word(rule.good, [&](auto word) { return found.find(word) != found.npos; });
    case test::at_least: return base::number_of(found).value_or(0) >= *base::number_of(rule.good);
    case test::at_most: {
      auto const number = base::number_of(found);
      return number && std::abs(*number) <= *base::number_of(rule.good);
    }
  }
  return false;
}

/// What is not to be seen may hold.
bool applies(rule const& rule, settings const& settings) {
  return std::all_of(rule.where.begin(), rule.where.end(), [&](condition const& one) {
    auto const found = settings.find(one.setting);
    return found == settings.end() ||
           any_word(one.words, [&](std::string_view word) { return word == found->second; });
  });
}

check_result judge(rule const& rule, settings const& settings) {
  auto const found = settings.find(rule.setting);
  auto const name = std::string(rule.name);
  auto const setting = std::string(rule.setting);
  if (found == settings.end()) {
    return {name, severity::warning, setting + " is not to be seen",
            "give this user the right to read it, and see that: " + std::string(rule.remedy)};
  }
  auto const shown = setting + " = " + found->second;
  if (holds(rule, found->second)) return {name, severity::ok, shown, ""};
  return {name, rule.otherwise, shown, std::string(rule.remedy)};
}

check_result version_finding(context const& context) {
  auto const found = read_version(context);
  try {
    check_version(found, "this database");
    return {"book", severity::ok, "version " + std::to_string(found->version), ""};
  } catch (error const& e) {
    return {"book", severity::failed,
            found ? "version " + std::to_string(found->version) : std::string("none"), e.what()};
  }
}

check_result tables_finding(context const& context) {
  std::set<std::string, std::less<>> there;
  read(context, [&](db::session& session) {
    there.clear();
    auto const rows = db::run(session, context.sql["doctor.tables"], {});
    for (std::size_t at = 0; at < rows.size(); ++at) {
      there.insert(db::get<std::string>(rows.row(at)[0]));
    }
  });
  auto const wanted = tables(context.sql);
  std::string missing;
  for (auto const& name : wanted) {
    if (there.contains(name)) continue;
    missing += (missing.empty() ? "missing: " : ", ") + context.sql.prefix() + name;
  }
  if (missing.empty()) return {"tables", severity::ok, std::to_string(wanted.size()), ""};
  return {"tables", severity::failed, missing,
          "restore the book from a back-up: what these tables said is gone"};
}

}  // namespace

std::vector<check_result> examine(context const& context) {
  settings seen;
  read(context, [&](db::session& session) {
    seen.clear();
    for (auto& one : session.facts()) seen[one.name] = one.found;
    auto const rows = db::run(session, context.sql["doctor.settings"], {});
    for (std::size_t at = 0; at < rows.size(); ++at) {
      std::string name;
      decode(rows.row(at)[0], name);
      std::optional<std::string> found;
      decode(rows.row(at)[1], found);
      if (found) seen[name] = *found;
    }
  });
  std::vector<check_result> out{version_finding(context)};
  if (out.front().severity == severity::ok) out.push_back(tables_finding(context));
  for (auto& one : judged(context.dialect.name, seen)) out.push_back(std::move(one));
  return out;
}

std::vector<check_result> judged(std::string_view dialect, settings const& settings) {
  std::vector<check_result> out;
  for (auto const& one : rules) {
    if (one.dialect == dialect && applies(one, settings)) out.push_back(judge(one, settings));
  }
  return out;
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
