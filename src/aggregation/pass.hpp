// Which range of free rows is next: all who aggregate at a time share one position, so that each
// range goes to one of them. It is a hint: who dies leaves its range free, and the next pass finds
// that. A pass is over when nothing is free after the position; the next one begins at the first
// key. Whoever comes in while one is going on goes along with it to the key that was the last when
// it came, and with the next one to where it came in. Rows that come in after that keep nobody.
// Thread safety: one thread.
#pragma once

#include "aggregation/definition.hpp"
#include "core/tx/context.hpp"
#include "db/session.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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
  pass(core::context const& context, definition const& aggregation)
      : context_(context), definition_(aggregation) {}

  /// In a transaction of its own. Empty: each range that was free at the first call was handed out
  /// since, here or elsewhere.
  [[nodiscard]] std::optional<range> next();
  /// In that of the caller, who may call it again after a rollback. Empty: the shared ones were.
  [[nodiscard]] std::optional<range> next_shared(db::session& session);
  /// False: what is left is not shared, and next() has it.
  [[nodiscard]] bool shares() const noexcept { return shares_; }
  /// The database's clock at the first call.
  [[nodiscard]] std::int64_t began_us() const noexcept { return began_us_; }
  /// When a shared range was asked for the last time.
  [[nodiscard]] std::int64_t now_us() const noexcept { return now_us_; }

 private:
  using position = std::optional<std::string>;  ///< a key; empty: before the first
  struct stretch {
    range next;
    bool within = false;  ///< it begins at or before the bound
  };
  void begin(db::session& session, std::int64_t number, position const& start);
  [[nodiscard]] stretch look(db::session& session, position const& after,
                             std::string const& bound) const;
  [[nodiscard]] std::optional<range> next_of_rest();
  /// On failure: daybook::error (error_code::bad_argument) where a key is none of its column's
  /// type: SQLite lets it in.
  void check(std::string_view key, cell const& kind) const;

  core::context const& context_;
  definition const& definition_;
  std::optional<std::int64_t> number_;  ///< of the pass that was going on at the first call
  position start_;                      ///< where that was
  position until_;                      ///< the last key then; empty: there was no row
  std::int64_t began_us_ = 0;
  std::int64_t now_us_ = 0;
  bool shares_ = true;
  position rest_;  ///< up to here it goes alone: nobody has begun the next pass
  position alone_;
};

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
