// The rows of a table in the order of an index, so many at a time, each time from where one knows:
// what a page costs does not depend on how far it is from the beginning.
// Thread safety: values.
#pragma once

#include "core/tx/context.hpp"
#include "db/session.hpp"
#include "db/statement.hpp"
#include "tables/table.hpp"

#include <daybook/planner_options.hpp>
#include <daybook/sweep.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace planners {

/// Where a row stands in the index, as texts; empty: before the first, or after the last.
using place = std::vector<std::string>;

struct placed_row {
  row_key key;
  planners::place place;
};

class keyset {
 public:
  /// On failure: daybook::error (error_code::bad_argument) that names what does not fit, and a
  /// remedy.
  keyset(core::context const& context, std::string_view planner, sweep_strategy const& strategy);

  /// The first of those after one place, up to another. On failure: daybook::error, also
  /// (error_code::bad_argument) where a row has a value that has no place.
  [[nodiscard]] std::vector<placed_row> rows(db::session& session, place const& after,
                                             place const& until, std::int64_t limit) const;
  /// The keys of all rows after one place, up to another, in the same order; empty: they are more
  /// than `most`. Cheaper, and rows that have no place may be among them.
  [[nodiscard]] std::optional<std::vector<row_key>> keys(db::session& session, place const& after,
                                                         place const& until,
                                                         std::size_t most) const;
  /// Their statement, as tests look at it: with a place to begin after, and one to end at.
  [[nodiscard]] db::statement const& statement(bool after, bool until) const noexcept {
    return statements_.at((after ? 1U : 0U) + (until ? 2U : 0U));
  }

 private:
  struct part {
    std::string sql;  ///< the column
    std::string kind;
  };

  [[noreturn]] void bad(std::string const& reason) const;
  void look_at(core::context const& context, sweep_strategy const& strategy);
  [[nodiscard]] tables::column const& usable(std::string const& column) const;
  [[nodiscard]] std::string need_index(core::context const& context,
                                       sweep_strategy const& strategy) const;
  void make_statements(core::context const& context, std::string const& index);
  /// Borrowed from them.
  [[nodiscard]] std::vector<value> between(place const& after, place const& until) const;
  [[nodiscard]] std::string compared(core::context const& context, char name, std::string_view sign,
                                     std::string_view last_sign) const;

  std::string planner_;
  tables::table table_;
  std::vector<std::string> key_;
  std::vector<part> parts_;  ///< in the order of the index
  std::size_t before_key_ = 0;
  std::array<db::statement, 4> statements_;
  std::array<db::statement, 2> keys_only_;  ///< up to a place; from the beginning, or after one
};

}  // namespace planners
}  // namespace v1
}  // namespace daybook
