#include "drivers/postgres/postgres_error.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

struct error_class {
  std::string_view code;  ///< an SQLSTATE, or the two characters of its class
  error_code kind;
  bool retryable;
  bool breaks;
  std::string_view remedy;
};

constexpr std::string_view try_again = "another transaction was in the way: try again";
constexpr std::string_view wait_for_server = "the server stops or starts: try again";

// The first that fits counts: codes stand before their class.
constexpr auto table = std::to_array<error_class>({
    {"08001", error_code::unreachable, true, true, "start the server, or correct the URL"},
    {"08", error_code::unreachable, true, true, "check the network and the server's log"},
    {"22021", error_code::bad_argument, false, false, "text must be UTF-8 without zero bytes"},
    {"22P05", error_code::bad_argument, false, false, "make the database with encoding UTF8"},
    {"23", error_code::constraint, false, false, ""},
    {"25006", error_code::read_only, true, true,
     "connect to the primary (several hosts in the URL find it), or lift the read-only setting"},
    {"25P02", error_code::statement, false, false,
     "an earlier statement of this transaction failed: let its error through"},
    // Nothing was in flight: the server ends only a session that waits for its client.
    {"25P03", error_code::unreachable, true, true,
     "the transaction stood still for too long: let its body wait for nothing"},
    {"25P04", error_code::unreachable, true, true,
     "the transaction took longer than the server allows"},
    // Somebody deallocated our statements, or a pooler that we took for the server switched.
    {"26000", error_code::conflict, true, false, "try again"},
    {"42P05", error_code::conflict, true, false, "try again"},
    {"28", error_code::not_permitted, false, true,
     "correct the user and the password in the URL, or the server's pg_hba.conf"},
    {"3D000", error_code::configuration, false, true, "create the database, or correct the URL"},
    {"3F000", error_code::configuration, false, false, "create the schema, or name another"},
    {"40001", error_code::conflict, true, false, try_again},
    {"40P01", error_code::conflict, true, false, try_again},
    {"42501", error_code::not_permitted, false, false, "grant the user what it needs"},
    {"53100", error_code::full, true, false, "make room on the server's disk"},
    {"53200", error_code::io, true, false, "give the server more memory"},
    {"53300", error_code::unreachable, true, true,
     "raise max_connections, lower book_options::connections, or use a pooler"},
    {"53", error_code::io, true, false, "the server lacks a resource: see its log"},
    {"55P03", error_code::conflict, true, false, try_again},
    {"55006", error_code::conflict, true, false, try_again},
    {"57014", error_code::conflict, true, false, "the statement was stopped or took too long"},
    {"57P04", error_code::configuration, false, true, "the database was dropped"},
    {"57P", error_code::unreachable, true, true, wait_for_server},
    {"58", error_code::io, false, false, "see the server's log"},
    {"XX001", error_code::io, false, false, "the database's files are damaged: restore a backup"},
    {"XX002", error_code::io, false, false, "reindex the table that the message names"},
});

constexpr error_class lost{"", error_code::unreachable, true, true,
                           "check that the server runs and that the network reaches it"};
constexpr error_class others{"", error_code::statement, false, false, ""};
constexpr error_class overtaken{"", error_code::conflict, true, false, "try again"};

error_class const& find(postgres_failure const& failure) {
  if (failure.sqlstate.empty()) return lost;
  if (failure.stale_plan) return overtaken;
  auto const found = std::find_if(table.begin(), table.end(), [&](error_class const& one) {
    return std::string_view(failure.sqlstate).starts_with(one.code);
  });
  return found == table.end() ? others : *found;
}

std::string_view trimmed(std::string_view text) {
  auto const first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    auto const end = text.find('\n');
    auto const line = trimmed(text.substr(0, end));
    if (!line.empty() && std::find(out.begin(), out.end(), line) == out.end()) out.push_back(line);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return out;
}

std::string joined(std::vector<std::string_view> const& lines) {
  std::string out;
  for (auto const line : lines) {
    if (!out.empty()) out += "; ";
    out += line;
  }
  return out;
}

constexpr std::size_t sqlstate_size = 5;

/// Where "FATAL:  28P01: text" has its code; npos: nowhere. The severity may be translated.
std::size_t find_sqlstate(std::string_view line) {
  for (auto at = line.find(":  "); at != line.npos; at = line.find(":  ", at + 1)) {
    auto const code = line.substr(at + 3, sqlstate_size);
    auto const is_code = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); };
    if (code.size() == sqlstate_size && std::all_of(code.begin(), code.end(), is_code) &&
        line.substr(at + 3 + sqlstate_size).starts_with(": ")) {
      return at + 3;
    }
  }
  return line.npos;
}

/// PostgreSQL's "LOCATION:  auth_failed, auth.c:326".
bool is_source_line(std::string_view line) {
  auto const colon = line.rfind(".c:");
  return colon != line.npos && line.find_first_not_of("0123456789", colon + 3) == line.npos;
}

/// PgBouncer answers 08P01 to whatever it refuses at login; its texts are never translated.
void look_behind_pooler(postgres_failure& failure) {
  if (failure.sqlstate != "08P01") return;
  auto const has = [&](std::string_view text) {
    return failure.cause.find(text) != failure.cause.npos;
  };
  if (has("no such database") || (has("database") && has("does not exist"))) {
    failure.sqlstate = "3D000";
  } else if (has("password") || has("auth") || has("no such user")) {
    failure.sqlstate = "28P01";
  }
}

std::string field(::PGresult const* result, int field) {
  char const* const text = result == nullptr ? nullptr : ::PQresultErrorField(result, field);
  return text == nullptr ? std::string() : std::string(text);
}

}  // namespace

std::string one_line(std::string_view text) { return joined(lines_of(text)); }

postgres_failure read_failure(::PGresult const* result, ::PGconn const* connection) {
  postgres_failure out;
  out.sqlstate = field(result, PG_DIAG_SQLSTATE);
  out.cause = one_line(field(result, PG_DIAG_MESSAGE_PRIMARY));
  if (out.cause.empty()) out.cause = one_line(::PQerrorMessage(connection));
  if (out.cause.empty()) out.cause = "the connection was lost";
  if (!out.sqlstate.empty()) out.fatal = field(result, PG_DIAG_SEVERITY_NONLOCALIZED) != "ERROR";
  if (out.sqlstate == "0A000") {
    // "Not supported" says little. The message is translated, the function's name is not. The
    // second is where a standby refuses the "read write" of our BEGIN.
    auto const function = field(result, PG_DIAG_SOURCE_FUNCTION);
    out.stale_plan = function == "RevalidateCachedQuery";
    if (function == "call_bool_check_hook") out.sqlstate = "25006";
  }
  return out;
}

postgres_failure read_connect_failure(::PGconn const* connection) {
  postgres_failure out;
  std::vector<std::string> kept;
  for (auto const line : lines_of(::PQerrorMessage(connection))) {
    if (is_source_line(line)) continue;
    auto text = std::string(line);
    if (auto const at = find_sqlstate(line); at != line.npos) {
      out.sqlstate = line.substr(at, sqlstate_size);
      text.erase(at - 1, sqlstate_size + 3);  // leaves one blank after the severity
    }
    kept.push_back(std::move(text));
  }
  out.cause = joined({kept.begin(), kept.end()});
  if (out.cause.empty()) out.cause = "no connection";
  if (out.sqlstate.empty() && ::PQconnectionNeedsPassword(connection) != 0) out.sqlstate = "28P01";
  if (out.sqlstate.empty()) out.sqlstate = "08001";
  look_behind_pooler(out);
  return out;
}

error_facts classify(postgres_failure const& failure) {
  auto const& found = find(failure);
  return {.kind = found.kind,
          .retryable = found.retryable,
          .breaks_connection = found.breaks || failure.fatal,
          .sqlstate = failure.sqlstate};
}

std::string describe(db::url const& where, postgres_failure const& failure) {
  auto const remedy = find(failure).remedy;
  auto out = where.shown + ": " + db::without_password(failure.cause, where);
  if (!remedy.empty()) out.append(": ").append(remedy);
  return out;
}

void hear_notice(void* self, ::PGresult const* notice) {
  auto& heard = *static_cast<postgres_notices*>(self);
  char const* const place = ::PQresultErrorField(notice, PG_DIAG_SOURCE_FUNCTION);
  if (place != nullptr && std::string_view(place) == "SyncRepWaitForLSN") {
    heard.unreplicated = true;
  }
  char const* const severity = ::PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  char const* const text = ::PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
  if (severity == nullptr || text == nullptr) return;
  if (std::string_view(severity) != "FATAL" && std::string_view(severity) != "PANIC") return;
  heard.last_words = one_line(text);
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
