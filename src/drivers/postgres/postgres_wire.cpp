#include "drivers/postgres/postgres_wire.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <type_traits>
#include <variant>

#include <poll.h>
#include <sys/socket.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

// pg_type.h of the server; these numbers never change.
constexpr ::Oid unknown_type = 0;  // the server infers it
constexpr ::Oid bool_type = 16;
constexpr ::Oid bytea_type = 17;
constexpr ::Oid int8_type = 20;
constexpr ::Oid int2_type = 21;
constexpr ::Oid int4_type = 23;
constexpr ::Oid oid_type = 26;
constexpr ::Oid float4_type = 700;
constexpr ::Oid float8_type = 701;

template <class N>
std::string number_text(N value) {
  std::array<char, 32> room{};
  auto const end = std::to_chars(room.data(), room.data() + room.size(), value).ptr;
  return {room.data(), end};
}

template <class N>
N number(std::string_view value) {
  N out{};
  std::from_chars(value.data(), value.data() + value.size(), out);
  return out;
}

std::string bytes(char const* text) {
  std::size_t size = 0;
  auto const* const in = reinterpret_cast<unsigned char const*>(text);
  std::unique_ptr<unsigned char, free_memory> const raw(::PQunescapeBytea(in, &size));
  if (!raw) throw std::bad_alloc();
  return {reinterpret_cast<char const*>(raw.get()), size};
}

cell to_cell(::PGresult const* result, int row, int column) {
  if (::PQgetisnull(result, row, column) != 0) return nullptr;
  char const* const text = ::PQgetvalue(result, row, column);
  auto const size = static_cast<std::size_t>(::PQgetlength(result, row, column));
  std::string_view const view(text, size);
  switch (::PQftype(result, column)) {
    case bool_type: return std::int64_t{view == "t" ? 1 : 0};
    case int2_type:
    case int4_type:
    case int8_type:
    case oid_type: return number<std::int64_t>(view);
    case float4_type:
    case float8_type: return number<double>(view);
    case bytea_type: return bytes(text);
    default: return std::string(view);
  }
}

bool starts_copy(::ExecStatusType status) {
  return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

bool is_error(::PGresult const* result) {
  auto const status = ::PQresultStatus(result);
  return status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE || starts_copy(status);
}

/// Reads results: in a pipeline up to its sync, else to the end.
answer collect(::PGconn& connection, bool pipeline, patience const& until) {
  answer out;
  for (bool ended_before = false;;) {
    if (!wait_for_result(connection, until)) {
      out.late = true;
      cut_socket(connection);
      return out;
    }
    result one(::PQgetResult(&connection));
    if (!one) {
      // In a pipeline every message's results end in a null; two in a row are the end.
      bool const over = !pipeline || ended_before || ::PQstatus(&connection) != CONNECTION_OK;
      if (!over) {
        ended_before = true;
        continue;
      }
      out.whole = !pipeline && ::PQstatus(&connection) == CONNECTION_OK;
      return out;
    }
    ended_before = false;
    auto const status = ::PQresultStatus(one.get());
    if (status == PGRES_PIPELINE_SYNC) {
      out.whole = true;
      return out;
    }
    out.results.push_back(std::move(one));
    if (starts_copy(status)) {
      cut_socket(connection);
      return out;
    }
  }
}

}  // namespace

namespace {

/// False when the time is over before one of them is ready.
bool wait_for_any(std::span<::pollfd> handles, patience const& until) {
  using std::chrono::milliseconds;
  using std::chrono::steady_clock;
  for (;;) {
    int left = -1;
    if (until) {
      auto const rest = std::chrono::ceil<milliseconds>(*until - steady_clock::now()).count();
      left = static_cast<int>(std::clamp<std::int64_t>(rest, 0, 1'000'000));
    }
    int const ready = ::poll(handles.data(), handles.size(), left);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // using the socket tells what is wrong
    if (until && steady_clock::now() >= *until) return false;
  }
}

bool take_notifications(::PGconn& connection) {
  bool any = false;
  while (auto* const one = ::PQnotifies(&connection)) {
    ::PQfreemem(one);
    any = true;
  }
  return any;
}

}  // namespace

bool wait_for_socket(int socket, short events, patience const& until) {
  if (socket < 0) return true;  // closed: libpq's next answer tells why
  ::pollfd one{.fd = socket, .events = events, .revents = 0};
  return wait_for_any({&one, 1}, until);
}

bool wait_for_notification(::PGconn& connection, patience const& until, base::bell const& unless) {
  for (;;) {
    // Before it waits: the answer to the statement before may have brought one.
    if (take_notifications(connection) || ::PQsocket(&connection) < 0) return true;
    std::array<::pollfd, 2> both{{{.fd = ::PQsocket(&connection), .events = POLLIN, .revents = 0},
                                  {.fd = unless.descriptor(), .events = POLLIN, .revents = 0}}};
    if (!wait_for_any(both, until) || both[1].revents != 0) return false;
    if (::PQconsumeInput(&connection) == 0) return true;
  }
}

bool wait_for_result(::PGconn& connection, patience const& until) {
  while (::PQisBusy(&connection) != 0) {
    if (!wait_for_socket(::PQsocket(&connection), POLLIN, until)) return false;
    if (::PQconsumeInput(&connection) == 0) return true;  // the next result tells of it
  }
  return true;
}

bool send_all(::PGconn& connection, patience const& until) {
  while (::PQflush(&connection) > 0) {
    // What the server says meanwhile is taken in: it may not read on before it is.
    if (!wait_for_socket(::PQsocket(&connection), POLLIN | POLLOUT, until)) return false;
    if (::PQconsumeInput(&connection) == 0) return true;
  }
  return true;
}

answer read_answer(::PGconn& connection, patience const& until) {
  return collect(connection, false, until);
}

void check_values(std::span<value const> values) {
  constexpr std::size_t most = std::size_t{1} << 30U;
  std::size_t room = most;
  auto const take = [&room](std::size_t size) {
    if (size > room) {
      throw error({.kind = error_code::bad_argument, .sqlstate = "54000"},
                  "the values of a statement or a row for PostgreSQL are more than 1 GiB, which is "
                  "its limit: store them in parts, or as large objects");
    }
    room -= size;
  };
  for (auto const& one : values) {
    if (auto const* const text = std::get_if<std::string_view>(&one)) take(text->size());
    if (auto const* const raw = std::get_if<std::span<std::byte const>>(&one)) take(raw->size());
  }
  // Only now: looking for a byte reads all of them.
  for (auto const& one : values) {
    auto const* const text = std::get_if<std::string_view>(&one);
    if (text == nullptr || text->find('\0') == text->npos) continue;
    throw error({.kind = error_code::bad_argument, .sqlstate = "22021"},
                "a text for PostgreSQL must not hold a zero byte: bind it as bytes");
  }
}

parameters::parameters(std::span<value const> values) {
  check_values(values);
  texts_.reserve(values.size());
  types_.reserve(values.size());
  values_.reserve(values.size());
  lengths_.reserve(values.size());
  formats_.reserve(values.size());
  for (auto const& one : values) add(one);
}

void parameters::add(value const& value) {
  auto const put = [this](::Oid type, char const* bytes, std::size_t size, int format) {
    types_.push_back(type);
    values_.push_back(bytes);
    lengths_.push_back(static_cast<int>(size));
    formats_.push_back(format);
  };
  auto const put_text = [&](::Oid type, std::string text) {
    auto const& kept = texts_.emplace_back(std::move(text));
    put(type, kept.c_str(), kept.size(), 0);
  };
  std::visit(
      [&](auto const& v) {
        using kind = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<kind, std::nullptr_t>) {
          put(unknown_type, nullptr, 0, 0);
        } else if constexpr (std::is_same_v<kind, bool>) {
          put(bool_type, v ? "t" : "f", 1, 0);
        } else if constexpr (std::is_same_v<kind, std::int64_t>) {
          put_text(int8_type, number_text(v));
        } else if constexpr (std::is_same_v<kind, double>) {
          put_text(float8_type, number_text(v));
        } else if constexpr (std::is_same_v<kind, std::string_view>) {
          put_text(unknown_type, std::string(v));
        } else {
          // A null pointer would be NULL where no bytes are meant.
          put(bytea_type, v.empty() ? "" : reinterpret_cast<char const*>(v.data()), v.size(), 1);
        }
      },
      value);
}

db::table to_table(::PGresult* result) {
  db::table out;
  int const width = ::PQnfields(result);
  int const rows = ::PQntuples(result);
  out.width = static_cast<std::size_t>(width);
  out.cells.reserve(out.width * static_cast<std::size_t>(rows));
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < width; ++column)
      out.cells.push_back(to_cell(result, row, column));
  }
  // A query reports its rows there, too; it has changed none.
  std::string_view const done = ::PQcmdStatus(result);
  if (done.starts_with("INSERT") || done.starts_with("UPDATE") || done.starts_with("DELETE") ||
      done.starts_with("MERGE") || done.starts_with("COPY")) {
    out.affected = number<std::int64_t>(::PQcmdTuples(result));
  }
  return out;
}

::PGresult const* answer::error() const noexcept {
  auto const at = failed_at();
  return at == results.size() ? nullptr : results[at].get();
}

std::size_t answer::failed_at() const noexcept {
  auto const found = std::find_if(results.begin(), results.end(),
                                  [](result const& one) { return is_error(one.get()); });
  return static_cast<std::size_t>(found - results.begin());
}

// What is sent must not block where a server takes nothing: only what waits has a limit.
round_trip::round_trip(::PGconn& connection)
    : connection_(&connection),
      possible_(::PQsetnonblocking(&connection, 1) == 0 &&
                ::PQenterPipelineMode(&connection) == 1) {}

void round_trip::sent(int flags) noexcept {
  possible_ = flags == 1;
  ++size_;
}

void round_trip::query(char const* text) {
  if (!possible_) return;
  sent(::PQsendQueryParams(connection_, text, 0, nullptr, nullptr, nullptr, nullptr, 0));
}

void round_trip::query(std::string const& text, parameters const& values) {
  if (!possible_) return;
  sent(::PQsendQueryParams(connection_, text.c_str(), values.count(), values.types().data(),
                           values.values(), values.lengths(), values.formats(), 0));
}

void round_trip::prepare(std::string const& name, std::string const& text,
                         std::vector<::Oid> const& types) {
  if (!possible_) return;
  sent(::PQsendPrepare(connection_, name.c_str(), text.c_str(), static_cast<int>(types.size()),
                       types.data()));
}

void round_trip::execute(std::string const& name, parameters const& values) {
  if (!possible_) return;
  sent(::PQsendQueryPrepared(connection_, name.c_str(), values.count(), values.values(),
                             values.lengths(), values.formats(), 0));
}

answer round_trip::finish(patience const& until) {
  bool const whole = possible_ && ::PQpipelineSync(connection_) == 1;
  bool const in_time = !whole || send_all(*connection_, until);
  if (!in_time) cut_socket(*connection_);
  ::PQsetnonblocking(connection_, 0);
  if (!whole || !in_time) return {.results = {}, .late = !in_time};
  auto out = collect(*connection_, true, until);
  if (out.whole) out.whole = ::PQexitPipelineMode(connection_) == 1;
  return out;
}

answer run_script(::PGconn& connection, std::string const& text, patience const& until) {
  if (::PQsendQuery(&connection, text.c_str()) == 0) return {};
  return collect(connection, false, until);
}

bool still_connected(::PGconn& connection) {
  // One read may bring the server's last words, the next the end.
  for (int reads = 0; reads < 4 && ::PQstatus(&connection) == CONNECTION_OK; ++reads) {
    ::pollfd one{.fd = ::PQsocket(&connection), .events = POLLIN, .revents = 0};
    if (::poll(&one, 1, 0) <= 0) break;
    if (::PQconsumeInput(&connection) == 0) return false;
    static_cast<void>(::PQisBusy(&connection));  // reads the words: they go to the notice receiver
  }
  return ::PQstatus(&connection) == CONNECTION_OK;
}

void cut_socket(::PGconn const& connection) noexcept {
  if (int const socket = ::PQsocket(&connection); socket >= 0) ::shutdown(socket, SHUT_RDWR);
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
