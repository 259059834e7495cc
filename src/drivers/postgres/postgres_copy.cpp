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

void add_text(std::string& to, std::string_view text) {
  for (;;) {
    auto const at = text.find_first_of("\\\t\n\r");
    to.append(text.substr(0, at));
    if (at == text.npos) return;
    char const what = text[at];
    to += '\\';
    to += what == '\t' ? 't' : what == '\n' ? 'n' : what == '\r' ? 'r' : what;
    text.remove_prefix(at + 1);
  }
}

void add_bytes(std::string& to, std::span<std::byte const> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  to += "\\\\x";
  for (auto const one : bytes) {
    to += digits[std::to_integer<std::size_t>(one >> 4U)];
    to += digits[std::to_integer<std::size_t>(one & std::byte{15})];
  }
}

template <class N>
void add_number(std::string& to, N from) {
  std::array<char, 32> room{};
  to.append(room.data(), std::to_chars(room.data(), room.data() + room.size(), from).ptr);
}

void add_value(std::string& to, value const& what) {
  std::visit(
      [&](auto const& v) {
        using kind = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<kind, std::nullptr_t>) {
          to += "\\N";
        } else if constexpr (std::is_same_v<kind, bool>) {
          to += v ? 't' : 'f';
        } else if constexpr (std::is_same_v<kind, std::string_view>) {
          add_text(to, v);
        } else if constexpr (std::is_arithmetic_v<kind>) {
          add_number(to, v);
        } else {
          add_bytes(to, v);
        }
      },
      what);
}

std::string copy_text(db::load_target const& into) {
  return "copy " + into.table + " (" + base::listed(into.columns) + ") from stdin";
}

enum class sending { done, broken, late };

/// A row that is written as text may be longer than libpq can count.
sending send_text(::PGconn& on, std::string_view text, std::function<patience()> const& limit) {
  for (; !text.empty(); text.remove_prefix(std::min(part, text.size()))) {
    auto const now = static_cast<int>(std::min(part, text.size()));
    if (::PQputCopyData(&on, text.data(), now) != 1) return sending::broken;
    if (!send_all(on, limit())) return sending::late;
  }
  return sending::done;
}

sending send_rows(::PGconn& on, std::size_t width, std::span<value const> cells,
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
    if (auto const how = send_text(on, rows, limit); how != sending::done) return how;
    rows.clear();
  }
  if (::PQputCopyEnd(&on, nullptr) != 1) return sending::broken;
  return send_all(on, limit()) ? sending::done : sending::late;
}

}  // namespace

answer copy_in(::PGconn& on, db::load_target const& into, std::span<value const> cells,
               std::function<patience()> const& limit) {
  auto const width = into.columns.size();
  for (std::size_t at = 0; at < cells.size(); at += width) check_values(cells.subspan(at, width));
  auto const late = [&on]() -> answer {
    cut_socket(on);
    return {.results = {}, .late = true};
  };
  if (::PQsendQuery(&on, copy_text(into).c_str()) == 0) return {};
  if (!wait_for_result(on, limit())) return late();
  result first(::PQgetResult(&on));
  if (::PQresultStatus(first.get()) != PGRES_COPY_IN) {
    auto out = read_answer(on, limit());
    out.results.insert(out.results.begin(), std::move(first));
    return out;
  }
  if (::PQsetnonblocking(&on, 1) != 0) return {};
  auto const how = send_rows(on, width, cells, limit);
  if (how == sending::late) cut_socket(on);
  ::PQsetnonblocking(&on, 0);
  // An error of the server, which has not read on since, comes after the end of the rows.
  if (how == sending::done) return read_answer(on, limit());
  return {.results = {}, .late = how == sending::late};
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
