// The cells of a row, one after the other: its columns are named once, in the SQL file.
// Thread safety: one thread. Lifetime: borrows the row.
//
//   db::row_reader(found.row(0)) >> out.name >> out.state >> out.started;
#pragma once

#include "db/cells.hpp"
#include "db/date.hpp"

#include <daybook/sql.hpp>
#include <daybook/time.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

namespace daybook {
inline namespace v1 {
namespace db {

/// On failure: as decode(). A row of too few cells is a defect of the caller.
class row_reader {
 public:
  explicit row_reader(std::span<cell const> row) : row_(row) {}

  /// Null is for std::optional only; enumerations are numbers, instants and lengths microseconds.
  template <class T>
  row_reader& operator>>(T& value) {
    read(row_[next_++], value);
    return *this;
  }

 private:
  template <class T>
  static void read(cell const& cell, T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(get<std::int64_t>(cell));
    } else if constexpr (std::same_as<T, int>) {
      value = static_cast<int>(get<std::int64_t>(cell));
    } else {
      decode(cell, value);
    }
  }
  static void read(cell const& cell, timestamp& value) { value = time_of(get<std::int64_t>(cell)); }
  static void read(cell const& cell, std::optional<timestamp>& value) { value = time_in(cell); }
  static void read(cell const& cell, std::optional<std::chrono::year_month_day>& value) {
    value = to_date(cell);
  }
  static void read(cell const& cell, std::optional<std::chrono::microseconds>& value) {
    auto const us = get<std::optional<std::int64_t>>(cell);
    if (us) value = std::chrono::microseconds(*us);
  }
  static void read(cell const& cell, std::optional<int>& value) {
    auto const number = get<std::optional<std::int64_t>>(cell);
    if (number) value = static_cast<int>(*number);
  }

  std::span<cell const> row_;
  std::size_t next_ = 0;
};

}  // namespace db
}  // namespace v1
}  // namespace daybook
