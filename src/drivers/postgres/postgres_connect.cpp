#include "drivers/postgres/postgres_connect.hpp"

#include "drivers/postgres/postgres_error.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <utility>

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

using std::chrono::steady_clock;

constexpr std::string_view remedy =
    "write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, special characters as %XX";

[[noreturn]] void bad_url(db::url const& url, std::string const& cause) {
  throw error({.kind = error_code::bad_argument, .statement = "connect"},
              url.shown + ": " + db::without_password(cause, url) + ": " + std::string(remedy));
}

/// What the URL itself says, as libpq reads it.
class conninfo {
 public:
  explicit conninfo(db::url const& url) {
    char* raw = nullptr;
    options_.reset(::PQconninfoParse(url.original.c_str(), &raw));
    std::unique_ptr<char, free_memory> const problem(raw);
    if (options_) return;
    bad_url(url, one_line(problem ? problem.get() : "libpq is out of memory"));
  }

  [[nodiscard]] std::string_view operator[](std::string_view keyword) const {
    for (auto const* at = options_.get(); at->keyword != nullptr; ++at) {
      if (at->keyword == keyword) return at->val == nullptr ? std::string_view{} : at->val;
    }
    return {};
  }

 private:
  std::unique_ptr<::PQconninfoOption, free_options> options_;
};

/// libpq's parameters: a later one wins, and the URL stands among them.
using settings = std::vector<std::pair<char const*, std::string>>;

/// The item `index` of a list with commas, from 0; a list of one serves all.
std::string item(std::string_view list, std::size_t index) {
  if (list.find(',') == list.npos) return std::string(list);
  for (; index > 0 && !list.empty(); --index) {
    auto const comma = list.find(',');
    list = comma == list.npos ? std::string_view{} : list.substr(comma + 1);
  }
  return std::string(list.substr(0, list.find(',')));
}

std::size_t items(std::string_view list) {
  std::size_t out = 1;
  for (char const c : list) out += c == ',' ? 1U : 0U;
  return out;
}

/// What goes for every URL that does not say otherwise. A peer that vanished is noticed within
/// about ten seconds, well before a lease of the usual length is over.
settings common(db::url const& url) {
  return {{"fallback_application_name", "daybook"},
          {"keepalives_idle", "5"},
          {"keepalives_interval", "2"},
          {"keepalives_count", "3"},
          {"tcp_user_timeout", "10000"},
          {"dbname", url.original},
          {"client_encoding", "UTF8"}};
}

std::chrono::milliseconds patience_for(conninfo const& parsed, db::connect_options const& options) {
  auto const text = parsed["connect_timeout"];
  int seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return seconds > 0 ? std::chrono::seconds(seconds) : options.connect_timeout;
}

/// What there is no server to say.
constexpr std::string_view no_server = "08001";

void drop_notice(void*, ::PGresult const*) {}

[[noreturn]] void fail(db::url const& url, postgres_failure const& failure) {
  auto facts = classify(failure);
  facts.statement = "connect";
  throw error(facts, describe(url, failure));
}

struct attempted {
  connection made;
  postgres_failure why = {};  ///< where nothing is made
};

/// Not PQconnectdb: only a connection in the making can be asked to tell SQLSTATEs, and its time
/// limit counts whole seconds.
attempted attempt(settings const& settings, std::chrono::milliseconds limit) {
  std::vector<char const*> keys;
  std::vector<char const*> values;
  for (auto const& [key, text] : settings) {
    keys.push_back(key);
    values.push_back(text.c_str());
  }
  keys.push_back(nullptr);
  values.push_back(nullptr);
  auto const until = steady_clock::now() + limit;
  connection made(::PQconnectStartParams(keys.data(), values.data(), 1));
  if (!made) throw std::bad_alloc();
  ::PQsetErrorVerbosity(made.get(), PQERRORS_VERBOSE);
  ::PQsetNoticeReceiver(made.get(), drop_notice, nullptr);
  auto state =
      ::PQstatus(made.get()) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
  while (state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED) {
    short const events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (!wait_for_socket(::PQsocket(made.get()), events, until)) {
      return {.made = {},
              .why = {.sqlstate = std::string(no_server),
                      .cause = "no answer within " + std::to_string(limit.count()) + " ms"}};
    }
    state = ::PQconnectPoll(made.get());
  }
  if (state == PGRES_POLLING_FAILED) return {.made = {}, .why = read_connect_failure(made.get())};
  ::PQsetErrorVerbosity(made.get(), PQERRORS_DEFAULT);
  return {.made = std::move(made)};
}

/// Whether libpq takes the addresses from elsewhere, or in an order of its own.
bool has_addresses(conninfo const& parsed) {
  return !parsed["hostaddr"].empty() || !parsed["service"].empty() ||
         !parsed["load_balance_hosts"].empty() || std::getenv("PGHOSTADDR") != nullptr ||
         std::getenv("PGSERVICE") != nullptr || std::getenv("PGLOADBALANCEHOSTS") != nullptr;
}

struct resolved {
  std::vector<std::string> addresses;  ///< each once, in the resolver's order
  int error = 0;                       ///< of getaddrinfo()
};

/// It takes as long as the resolver's own limits allow, as it does in libpq.
resolved resolve(std::string const& host) {
  ::addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  ::addrinfo* raw = nullptr;
  resolved out;
  out.error = ::getaddrinfo(host.c_str(), nullptr, &hints, &raw);
  if (out.error != 0) return out;
  std::unique_ptr<::addrinfo, decltype(&::freeaddrinfo)> const found(raw, &::freeaddrinfo);
  for (auto const* at = raw; at != nullptr && out.error == 0; at = at->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    out.error = ::getnameinfo(at->ai_addr, at->ai_addrlen, text.data(), text.size(), nullptr, 0,
                              NI_NUMERICHOST);
    std::string one(text.data());
    auto& known = out.addresses;
    if (std::find(known.begin(), known.end(), one) == known.end()) known.push_back(std::move(one));
  }
  return out;
}

/// One address after the other: libpq goes on to the next only where the kernel tells of an error,
/// and an address that swallows what is sent to it would use up the time of those behind it. The
/// host stays beside the address, for that is what a certificate and a file of passwords name.
attempted attempt_each(settings settings, std::string const& host,
                       std::chrono::milliseconds limit) {
  auto const found = resolve(host);
  if (found.error != 0) {
    return {.made = {},
            .why = {.sqlstate = std::string(no_server),
                    .cause = "could not translate host name \"" + host +
                             "\" to address: " + ::gai_strerror(found.error)}};
  }
  auto& hostaddr = settings.emplace_back("hostaddr", "").second;
  attempted out;
  std::string causes;
  for (auto const& address : found.addresses) {
    hostaddr = address;
    out = attempt(settings, limit);
    if (out.made) return out;
    if (found.addresses.size() > 1) out.why.cause = causes + address + ": " + out.why.cause;
    // A server that answers and refuses is the one that is meant.
    if (out.why.sqlstate != no_server) return out;
    causes = out.why.cause + "; ";
  }
  return out;
}

/// The hosts that answered last, by URL: with a silent one in front of it, each connection would
/// wait for that first. Thread-safe.
class answering_hosts {
 public:
  [[nodiscard]] std::size_t first(db::url const& url) {
    std::lock_guard const hold(guard_);
    auto const found = known_.find(url.original);
    return found == known_.end() ? 0 : found->second;
  }
  void answered(db::url const& url, std::size_t host) {
    std::lock_guard const hold(guard_);
    known_[url.original] = host;
  }
  static answering_hosts& all() {
    static auto& only = *new answering_hosts;  // threads may outlive what is destroyed at exit
    return only;
  }

 private:
  std::mutex guard_;
  std::map<std::string, std::size_t> known_;
};

std::size_t hosts_of(conninfo const& parsed) {
  return std::max(items(parsed["host"]), items(parsed["hostaddr"]));
}

attempted attempt_host(db::url const& url, conninfo const& parsed, std::size_t index,
                       std::chrono::milliseconds limit) {
  auto with = common(url);
  if (hosts_of(parsed) > 1) {
    with.insert(with.begin(), {"target_session_attrs", "read-write"});
    for (char const* const key : {"host", "hostaddr", "port"}) {
      if (!parsed[key].empty()) with.emplace_back(key, item(parsed[key], index));
    }
  }
  auto const host = item(parsed["host"], index);
  // A path is that of a socket; so is '@', of one without a file.
  bool const by_name = !host.empty() && host.front() != '/' && host.front() != '@';
  return by_name && !has_addresses(parsed) ? attempt_each(with, host, limit) : attempt(with, limit);
}

}  // namespace

connection open_connection(db::url const& url, db::connect_options const& options) {
  conninfo const parsed(url);
  // libpq reads it so late that it looks like a host that does not answer.
  if (parsed["port"].find_first_not_of("0123456789,") != std::string_view::npos) {
    bad_url(url, "the port is not a number");
  }
  auto const limit = patience_for(parsed, options);
  auto const hosts = hosts_of(parsed);
  auto const first = hosts > 1 ? answering_hosts::all().first(url) : 0;
  // One by one, so that a host that hangs costs its own time and not the next one's.
  for (std::size_t tried = 1;; ++tried) {
    auto const at = (first + tried - 1) % hosts;
    auto out = attempt_host(url, parsed, at, limit);
    if (out.made) {
      if (hosts > 1) answering_hosts::all().answered(url, at);
      return std::move(out.made);
    }
    if (classify(out.why).kind != error_code::unreachable || tried == hosts) fail(url, out.why);
  }
}

std::string writable_hosts(db::url const& url, db::connect_options const& options) {
  conninfo const parsed(url);
  if (hosts_of(parsed) == 1) return "1";
  std::set<std::string> servers;
  for (std::size_t at = 0; at < hosts_of(parsed); ++at) {
    auto const there = attempt_host(url, parsed, at, patience_for(parsed, options));
    if (!there.made) continue;
    // Two hosts may be two names of one server.
    auto const who = run_script(*there.made,
                                "select (select system_identifier from "
                                "pg_catalog.pg_control_system()) || ' ' || "
                                "pg_catalog.pg_postmaster_start_time()",
                                steady_clock::now() + options.connect_timeout);
    if (who.whole && who.error() == nullptr && !who.results.empty() &&
        ::PQntuples(who.results.front().get()) == 1) {
      servers.insert(::PQgetvalue(who.results.front().get(), 0, 0));
    } else {
      servers.insert("host " + std::to_string(at));
    }
  }
  return std::to_string(servers.size());
}

std::string session_settings(db::connect_options const& options) {
  auto const set = [](std::string_view reason, std::chrono::milliseconds limit) {
    return "set " + std::string(reason) + " = " + std::to_string(limit.count()) + ";";
  };
  return set("lock_timeout", options.lock_timeout) +
         set("statement_timeout", options.statement_timeout) +
         set("idle_in_transaction_session_timeout", options.idle_timeout) +
         // The planner does not know how few rows a claim's ranges are; compiling for what it
         // thinks takes a hundred times longer than the statement.
         "set jit = off;"
         "set default_transaction_isolation = 'read committed';"
         "set default_transaction_read_only = off";
}

std::string local_settings(db::connect_options const& options) {
  auto const local = [](std::string_view reason, std::chrono::milliseconds limit) {
    return "pg_catalog.set_config('" + std::string(reason) + "', '" +
           std::to_string(limit.count()) + "', true)";
  };
  return "select " + local("lock_timeout", options.lock_timeout) + ", " +
         local("statement_timeout", options.statement_timeout) + ", " +
         local("idle_in_transaction_session_timeout", options.idle_timeout) +
         ", pg_catalog.set_config('jit', 'off', true)"
         // Another client of the pooler may have left it off.
         ", pg_catalog.set_config('synchronous_commit', null, true)";
}

std::string begin_text(isolation level) {
  auto const mode = level == isolation::read_committed    ? "read committed"
                    : level == isolation::repeatable_read ? "repeatable read"
                                                          : "serializable";
  return "begin isolation level " + std::string(mode) + " read write";
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
