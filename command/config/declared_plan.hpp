// [[plan]] in daybook.toml: which work must exist.
// Thread safety: values.
#pragma once

#include "cli/words.hpp"

#include <daybook/planner_options.hpp>
#include <daybook/words.hpp>

#include <array>
#include <string>
#include <string_view>

namespace command {

struct declared_plan {
  std::string name;
  std::string place;  ///< file, line and column: of what the database finds wrong in it
  daybook::planner_options options;
};

/// In the order of the strategies of daybook::planner_options.
inline constexpr std::array<std::string_view, 4> plan_kinds{"query", "inbox", "window", "sweep"};

inline auto const rule_words =
    words_of({daybook::launch_rule::once, daybook::launch_rule::no_overlap,
              daybook::launch_rule::after_failure, daybook::launch_rule::always});

}  // namespace command
