// Which range of free rows is next: all who aggregate at a time share one position, so that each
// range goes to one of them. It is a hint: who dies leaves its range free, and the next pass finds
// that.
// Thread safety: one thread.
#pragma once

#include "aggregation/definition.hpp"
#include "core/context.hpp"
#include "db/session.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace daybook {
inline namespace v1 {
namespace aggregations {

/// From the first key to the last, both within, and how many of them are free.
struct range {
  cell first;
  cell last;
  std::int64_t count = 0;
};

class pass {
 public:
  pass(core::context const& with, definition const& of) : with_(with), of_(of) {}

  /// In a transaction of its own, or that of the caller. Empty: each range that was free at the
  /// first call was handed out since, here or elsewhere.
  [[nodiscard]] std::optional<range> next();
  [[nodiscard]] std::optional<range> next(db::session& on);
  /// The database's clock at the first call.
  [[nodiscard]] std::int64_t began_us() const noexcept { return began_us_; }

 private:
  core::context const& with_;
  definition const& of_;
  std::optional<std::int64_t> goal_;  ///< the pass with whose beginning all is done
  std::int64_t began_us_ = 0;
};

[[nodiscard]] value value_of(cell const& key);

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
