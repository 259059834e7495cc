#include "drivers/postgres/postgres_copy.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

/// What goes to the server at once; of rows that are longer, a part.
constexpr std::size_t chunk = std::size_t{1} << 16U;
constexpr std::size_t part = std::size_t{1} << 20U;

void add_text(std::string& output, std::string_view text) {
  for (;;) {
    auto const at = text.find_first_of("\\\t\n\r");
    output.append(text.substr(0, at));
    if (at == text.npos) return;
    char const what = text[at];
    output += '\\';
    output += what == '\t' ? 't' : what == '\n' ? 'n' : what == '\r' ? 'r' : what;
    text.remove_prefix(at + 1);
  }
}

void add_bytes(std::string& output, std::span<std::byte const> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  output += "\\\\x";
  for (auto const one : bytes) {
    output += digits[std::to_integer<std::size_t>(one >> 4U)];
    output += digits[std::to_integer<std::size_t>(one & std::byte{15})];
  }
}

template <class N>
void add_number(std::string& output, N value) {
  std::array<char, 32> room{};
  output.append(room.data(), std::to_chars(room.data(), room.data() + room.size(), value).ptr);
}

void add_value(std::string& output, value const& value) {
  std::visit(
      [&](auto const& v) {
        using kind = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<kind, std::nullptr_t>) {
          output += "\\N";
        } else if constexpr (std::is_same_v<kind, bool>) {
          output += v ? 't' : 'f';
        } else if constexpr (std::is_same_v<kind, std::string_view>) {
          add_text(output, v);
        } else if constexpr (std::is_arithmetic_v<kind>) {
          add_number(output, v);
        } else {
          add_bytes(output, v);
        }
      },
      value);
}

std::string copy_text(db::load_target const& target) {
  return "copy " + target.table + " (" + base::listed(target.columns) + ") from stdin";
}

enum class sending { done, broken, late };

/// A row that is written as text may be longer than libpq can count.
sending send_text(::PGconn& connection, std::string_view text,
                  std::function<patience()> const& limit) {
  for (; !text.empty(); text.remove_prefix(std::min(part, text.size()))) {
    auto const now = static_cast<int>(std::min(part, text.size()));
    if (::PQputCopyData(&connection, text.data(), now) != 1) return sending::broken;
    if (!send_all(connection, limit())) return sending::late;
  }
  return sending::done;
}

sending send_rows(::PGconn& connection, std::size_t width, std::span<value const> cells,
                  std::function<patience()> const& limit) {
  std::string rows;
  rows.reserve(chunk + chunk / 4);
  while (!cells.empty()) {
    for (std::size_t at = 0; at < width; ++at) {
      if (at > 0) rows += '\t';
      add_value(rows, cells[at]);
    }
    rows += '\n';
    cells = cells.subspan(width);
    if (rows.size() < chunk && !cells.empty()) continue;
    if (auto const how = send_text(connection, rows, limit); how != sending::done) return how;
    rows.clear();
  }
  if (::PQputCopyEnd(&connection, nullptr) != 1) return sending::broken;
  return send_all(connection, limit()) ? sending::done : sending::late;
}

}  // namespace

answer copy_in(::PGconn& connection, db::load_target const& target, std::span<value const> cells,
               std::function<patience()> const& limit) {
  auto const width = target.columns.size();
  for (std::size_t at = 0; at < cells.size(); at += width) check_values(cells.subspan(at, width));
  auto const late = [&connection]() -> answer {
    cut_socket(connection);
    return {.results = {}, .late = true};
  };
  if (::PQsendQuery(&connection, copy_text(target).c_str()) == 0) return {};
  if (!wait_for_result(connection, limit())) return late();
  result first(::PQgetResult(&connection));
  if (::PQresultStatus(first.get()) != PGRES_COPY_IN) {
    auto out = read_answer(connection, limit());
    out.results.insert(out.results.begin(), std::move(first));
    return out;
  }
  if (::PQsetnonblocking(&connection, 1) != 0) return {};
  auto const how = send_rows(connection, width, cells, limit);
  if (how == sending::late) cut_socket(connection);
  ::PQsetnonblocking(&connection, 0);
  // An error of the server, which has not read on since, comes after the end of the rows.
  if (how == sending::done) return read_answer(connection, limit());
  return {.results = {}, .late = how == sending::late};
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
