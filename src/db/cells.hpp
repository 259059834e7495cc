// What stands in a cell, as a value, and instants as they are written. On failure, all: as
// decode(). Thread-safe.
//
//   auto const row = found.row(0);
//   auto const pages = db::get<std::int64_t>(row[0]);
//   auto const ended = db::time_in(row[1]);
#pragma once

#include <daybook/sql.hpp>
#include <daybook/time.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <variant>

namespace daybook {
inline namespace v1 {
namespace db {

/// Null is for std::optional only.
template <class T>
[[nodiscard]] T get(cell const& cell) {
  T out{};
  decode(cell, out);
  return out;
}

/// To be bound again; borrowed.
[[nodiscard]] inline value value_of(cell const& cell) {
  return std::visit([](auto const& inside) { return to_value(inside); }, cell);
}

[[nodiscard]] inline std::int64_t us_of(timestamp at) { return at.time_since_epoch().count(); }

[[nodiscard]] inline timestamp time_of(std::int64_t us) {
  return timestamp(std::chrono::microseconds(us));
}

[[nodiscard]] inline std::optional<timestamp> time_of(std::optional<std::int64_t> us) {
  return us ? std::optional(time_of(*us)) : std::nullopt;
}

/// Microseconds; null is empty.
[[nodiscard]] inline std::optional<timestamp> time_in(cell const& cell) {
  return time_of(get<std::optional<std::int64_t>>(cell));
}

}  // namespace db
}  // namespace v1
}  // namespace daybook
