#include "drivers/mysql/mysql_error.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

enum class from : std::uint8_t { both, mariadb, mysql };
enum class again : std::uint8_t { no, yes };
enum class connection : std::uint8_t { stays, broken };

struct meaning {
  unsigned code;
  from server;
  error_code kind;
  again retry;
  connection after;
};

// Read-only and full are worth another try: a failover ends, a person makes room. After "read
// only" the next connection may find the new primary.
constexpr std::array meanings{
    // Another transaction was in the way, or the server asked for a new try.
    meaning{1020, from::both, error_code::conflict, again::yes, connection::stays},
    meaning{1205, from::both, error_code::conflict, again::yes, connection::stays},
    meaning{1206, from::both, error_code::conflict, again::yes, connection::stays},
    meaning{1213, from::both, error_code::conflict, again::yes, connection::stays},
    meaning{1317, from::both, error_code::conflict, again::yes, connection::stays},
    meaning{1615, from::both, error_code::conflict, again::yes, connection::stays},
    meaning{1637, from::both, error_code::conflict, again::yes, connection::stays},
    meaning{1969, from::mariadb, error_code::conflict, again::yes, connection::stays},
    meaning{3024, from::mysql, error_code::conflict, again::yes, connection::stays},
    meaning{3572, from::mysql, error_code::conflict, again::yes, connection::stays},
    // A Galera node outside its cluster; another node may answer the next connection.
    meaning{1047, from::both, error_code::conflict, again::yes, connection::broken},
    meaning{1243, from::both, error_code::conflict, again::yes, connection::broken},

    meaning{1290, from::both, error_code::read_only, again::yes, connection::broken},
    meaning{1836, from::both, error_code::read_only, again::yes, connection::broken},
    meaning{1792, from::both, error_code::read_only, again::no, connection::stays},

    meaning{1021, from::both, error_code::full, again::yes, connection::stays},
    meaning{1114, from::both, error_code::full, again::yes, connection::stays},

    meaning{1002, from::both, error_code::io, again::no, connection::stays},
    meaning{1003, from::both, error_code::io, again::no, connection::stays},
    meaning{1026, from::both, error_code::io, again::no, connection::stays},
    meaning{1030, from::both, error_code::io, again::no, connection::stays},
    meaning{1877, from::both, error_code::io, again::no, connection::stays},

    meaning{1044, from::both, error_code::not_permitted, again::no, connection::stays},
    meaning{1045, from::both, error_code::not_permitted, again::no, connection::stays},
    meaning{1130, from::both, error_code::not_permitted, again::no, connection::stays},
    meaning{1142, from::both, error_code::not_permitted, again::no, connection::stays},
    meaning{1143, from::both, error_code::not_permitted, again::no, connection::stays},
    meaning{1227, from::both, error_code::not_permitted, again::no, connection::stays},
    meaning{1251, from::both, error_code::not_permitted, again::no, connection::stays},
    meaning{1370, from::both, error_code::not_permitted, again::no, connection::stays},
    meaning{1698, from::both, error_code::not_permitted, again::no, connection::stays},
    meaning{1820, from::both, error_code::not_permitted, again::no, connection::stays},
    meaning{1862, from::both, error_code::not_permitted, again::no, connection::stays},
    meaning{3118, from::mysql, error_code::not_permitted, again::no, connection::stays},
    meaning{4151, from::mariadb, error_code::not_permitted, again::no, connection::stays},

    meaning{1049, from::both, error_code::configuration, again::no, connection::stays},
    meaning{1461, from::both, error_code::configuration, again::no, connection::stays},
    meaning{2059, from::both, error_code::configuration, again::no, connection::stays},

    meaning{1040, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{1053, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{1080, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{1129, from::both, error_code::unreachable, again::no, connection::broken},
    meaning{1152, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{1158, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{1159, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{1160, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{1161, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{1184, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{1203, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{1226, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{1927, from::mariadb, error_code::unreachable, again::yes, connection::broken},
    meaning{4031, from::mysql, error_code::unreachable, again::yes, connection::broken},
    // The client library's own numbers.
    meaning{2002, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{2003, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{2005, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{2006, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{2012, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{2013, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{2026, from::both, error_code::unreachable, again::no, connection::broken},
    meaning{2055, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{5013, from::both, error_code::unreachable, again::yes, connection::broken},
    meaning{5014, from::both, error_code::unreachable, again::yes, connection::broken},
    // A prepared "select *" whose table has other columns now; its rows stay unread.
    meaning{2057, from::both, error_code::conflict, again::yes, connection::broken},
    meaning{2000, from::both, error_code::internal, again::no, connection::broken},
    meaning{2008, from::both, error_code::io, again::no, connection::broken},
    meaning{2014, from::both, error_code::internal, again::no, connection::broken},
    meaning{2027, from::both, error_code::unreachable, again::no, connection::broken},
    // The server ends the connection over a packet that is too large.
    meaning{1153, from::both, error_code::statement, again::no, connection::broken},
    meaning{2020, from::both, error_code::statement, again::no, connection::broken},

    meaning{1022, from::both, error_code::constraint, again::no, connection::stays},
    meaning{1048, from::both, error_code::constraint, again::no, connection::stays},
    meaning{1062, from::both, error_code::constraint, again::no, connection::stays},
    meaning{1169, from::both, error_code::constraint, again::no, connection::stays},
    meaning{1216, from::both, error_code::constraint, again::no, connection::stays},
    meaning{1217, from::both, error_code::constraint, again::no, connection::stays},
    meaning{1364, from::both, error_code::constraint, again::no, connection::stays},
    meaning{1451, from::both, error_code::constraint, again::no, connection::stays},
    meaning{1452, from::both, error_code::constraint, again::no, connection::stays},
    meaning{1586, from::both, error_code::constraint, again::no, connection::stays},
    meaning{1761, from::both, error_code::constraint, again::no, connection::stays},
    meaning{1762, from::both, error_code::constraint, again::no, connection::stays},
    meaning{3819, from::mysql, error_code::constraint, again::no, connection::stays},
    meaning{4025, from::mariadb, error_code::constraint, again::no, connection::stays},
};

std::optional<meaning> find(unsigned code, mysql_kind server) {
  auto const here = server == mysql_kind::mariadb ? from::mariadb : from::mysql;
  auto const* const found = std::find_if(meanings.begin(), meanings.end(), [&](meaning const& one) {
    return one.code == code && (one.server == from::both || one.server == here);
  });
  if (found == meanings.end()) return std::nullopt;
  return *found;
}

/// The reply was lost, or the server itself does not say what became of a COMMIT.
bool leaves_doubt(unsigned code, bool broken, mysql_stage stage) {
  constexpr unsigned error_during_commit = 1180;
  switch (stage) {
    case mysql_stage::connect:
    case mysql_stage::harmless: return false;
    case mysql_stage::compound: {
      // Shut down, interrupted, killed, out of time: perhaps just after its COMMIT.
      constexpr std::array<unsigned, 4> stopped{1053, 1317, 1927, 1969};
      if (std::find(stopped.begin(), stopped.end(), code) != stopped.end()) return true;
      return leaves_doubt(code, broken, mysql_stage::autocommit);
    }
    case mysql_stage::autocommit: {
      // An error of the server means that its statement did nothing.
      bool const from_client = code >= 2000 && (code < 3000 || (code >= 5000 && code < 6000));
      return code == error_during_commit || (broken && from_client);
    }
    case mysql_stage::commit: {
      // These say that the transaction was rolled back, or refused before anything was done;
      // whatever else a COMMIT answers may stand beside a transaction that is there.
      constexpr std::array<unsigned, 7> refused{1213, 1020, 1047, 1290, 1792, 1836, 1064};
      return std::find(refused.begin(), refused.end(), code) == refused.end();
    }
  }
  return true;
}

}  // namespace

error_facts classify_mysql(mysql_problem const& problem, mysql_kind server, mysql_stage stage,
                           std::string_view statement) {
  error_facts facts{.kind = error_code::statement,
                    .sqlstate = problem.sqlstate,
                    .native_code = static_cast<int>(problem.code),
                    .statement = std::string(statement)};
  if (auto const known = find(problem.code, server)) {
    facts.kind = known->kind;
    facts.retryable = known->retry == again::yes;
    facts.breaks_connection = known->after == connection::broken;
  }
  constexpr unsigned no_such_table = 1146;
  if (problem.code == no_such_table && statement != "user") facts.kind = error_code::configuration;
  facts.in_doubt = leaves_doubt(problem.code, facts.breaks_connection, stage);
  if (facts.in_doubt) {
    if (facts.kind == error_code::statement) facts.kind = error_code::unreachable;
    facts.retryable = false;
    facts.breaks_connection = true;
  }
  return facts;
}

std::string_view mysql_remedy(unsigned code, mysql_kind server, error_facts const& facts) {
  switch (code) {
    case 1040: return "raise max_connections, or give the book fewer connections";
    case 1049: return "create that database, or name another one in the URL";
    case 1146:
      return facts.kind == error_code::configuration ? "make the tables: daybook migrate up" : "";
    case 1153:
    case 2020: return "raise max_allowed_packet on the server, or write less at once";
    case 1203:
    case 1226: return "raise the account's limits, or give the book fewer connections";
    case 1461: return "raise max_prepared_stmt_count";
    case 2005: return "check the host's name in the URL";
    case 2026: return "check ssl-mode and the ssl- files of the URL, and the server's certificate";
    case 2059:
      return "install the plugin beside the client library, or let the account log in "
             "by another";
    case 4025: return server == mysql_kind::mariadb ? "check the values" : "";
    default: break;
  }
  switch (facts.kind) {
    case error_code::conflict: return "try again";
    case error_code::full: return "make room on the server's disk";
    case error_code::io: return "check the server's disk and its error log";
    case error_code::read_only: return "connect to the primary, which accepts writes";
    case error_code::not_permitted: return "check the user, the password and the user's grants";
    case error_code::unreachable:
      return "check that the server runs, and the host, port or socket of the URL";
    default: return {};
  }
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
