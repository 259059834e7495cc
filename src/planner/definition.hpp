// A planner as it was declared, and as it stands in its row.
// Thread safety: values.
#pragma once

#include "core/tx/context.hpp"
#include "queue/members/store.hpp"

#include <daybook/planner.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace planners {

/// The longest name of a sweep's planner, after which its tasks are named.
inline constexpr std::size_t longest_sweeper = longest_name - 42;

struct definition {
  std::int64_t id = 0;
  std::string name;
  planner_options options;
  std::int64_t next_us = 0;
  std::int64_t passes = 0;
  std::int64_t launched = 0;
  std::optional<std::int64_t> ended_us;
  bool paused = false;
  std::string error;
  std::int64_t now_us = 0;  ///< when this was read
};

/// Of the runs that are its passes.
[[nodiscard]] inline std::string process_of(std::string_view planner) {
  return "plan " + std::string(planner);
}
[[noreturn]] void bad(std::string_view planner, std::string const& reason);
/// Everything that can be seen without the database. On failure: daybook::error
/// (error_code::bad_argument) that names the option.
void check(std::string_view name, planner_options const& options);
/// Makes the planner's row, or changes it to these options. False, and nothing was written: its
/// queue, its kind, or what it sweeps would be another, on which a pass under way rests.
[[nodiscard]] bool write(core::context const& context, std::string_view name,
                         planner_options const& options, queues::store const& store);
/// The same whatever they are, in a transaction in which no pass is under way.
void turn(db::session& session, core::context const& context, std::string_view name,
          planner_options const& options, queues::store const& store);
/// Empty: there is none of that name.
[[nodiscard]] std::optional<definition> look(core::context const& context, std::string_view name);
[[nodiscard]] std::vector<std::string> names(core::context const& context);

/// The rule that holds where none is said, too.
[[nodiscard]] launch_rule rule_of(planner_options const& options) noexcept;

/// "query", "inbox", "window", "sweep".
[[nodiscard]] std::string_view word_of(planner_options const& options) noexcept;

}  // namespace planners
}  // namespace v1
}  // namespace daybook
