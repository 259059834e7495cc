// The statements on the tables of a declaration: made once, from shapes and quoted names.
// Thread safety: values.
#pragma once

#include "core/tx/context.hpp"
#include "db/catalogue.hpp"
#include "tables/table.hpp"

#include <daybook/aggregation_options.hpp>

#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace aggregations {

struct statements {
  // Of ranges of free rows.
  db::entry last_key;
  db::entry range_first;
  db::entry range_next;
  db::entry survey;
  db::entry usual_survey;  ///< for less; may fail where survey does not
  db::entry hold_rows;     ///< of a range, those that nobody else holds
  db::entry survey_held;   ///< of these
  db::entry take_held;
  bool take_waits = false;  ///< for rows that others hold
  db::entry preview;
  db::entry open;  ///< parents of groups
  db::entry open_locked;
  db::entry open_values;  ///< as they are now
  db::entry make_parents;
  db::entry take;
  db::entry landed;
  // Of parents, by rows [parent, count, sum, ...] or [parent].
  db::entry add;      ///< to those that are open and have room
  db::entry replace;  ///< the count and sums of one that is open
  db::entry close;
  db::entry settle;
  db::entry clear;   ///< void, with a count and sums of 0
  db::entry follow;  ///< no parts: nothing follows
  db::entry parent;
  db::entry parent_locked;
  db::entry parents;
  db::holes parents_holes;  ///< of those, but for their condition
  // Of a parent's rows.
  db::entry sum_rows;
  db::entry settle_rows;
  db::entry free_rows;
  db::entry not_settled;  ///< how many name a parent, and are not
  db::entry not_freed;
  db::entry link_of;
  db::entry free_row;
  db::entry rows_first;
  db::entry rows_next;
  // Of what is wrong.
  db::entry verify_counts;
  db::entry verify_parents;
  db::entry verify_gone;
  db::entry wrong_group;
  db::entry orphans;
  db::entry unlinked;
  db::entry unknown_state;
};

/// Precondition: the declaration fits the tables. On failure: daybook::error
/// (error_code::bad_argument) where an expression of it names a parameter.
[[nodiscard]] statements statements_of(core::context const& context,
                                       aggregation_options const& options,
                                       tables::table const& source, tables::table const& parent);

/// Those parents that are in a state, as statements::parents.
[[nodiscard]] db::entry parents_in(core::context const& context, aggregation_options const& options,
                                   statements const& known, state_value const& state);
/// Whether the parent has a column of that name that says what the group's of its rows does. One
/// that is set by an expression may say anything.
[[nodiscard]] bool says_its_group(aggregation_options const& options, tables::table const& parent,
                                  std::string_view column);
/// A state as it stands in SQL.
[[nodiscard]] std::string sql_of(core::context const& context, state_value const& state);

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
