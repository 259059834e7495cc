// daybook.toml: what need not be written on every command line, and what `daybook daemon` serves.
// All of it is read and checked, whatever is wanted of it.
// Thread safety: the main thread.
//
//   database = "postgresql:///shop"
//   [[schedule]]
//   name = "daily-leads"
//   ...
#pragma once

#include "config/declared_aggregate.hpp"
#include "config/declared_hook.hpp"
#include "config/declared_plan.hpp"
#include "config/declared_queue.hpp"
#include "config/declared_schedule.hpp"

#include <optional>
#include <string>
#include <vector>

namespace command {

/// In the working directory.
inline constexpr char const* usual_settings = "daybook.toml";

struct settings {
  bool is_empty = false;  ///< there is a file, and nothing in it
  std::optional<std::string> database;
  std::vector<declared_schedule> schedules;
  std::vector<declared_queue> queues;
  std::vector<declared_aggregate> aggregates;
  std::vector<declared_plan> plans;
  declared_alerts alerts;
};

/// Nothing set where there is no such file. On failure: complaint (65: what is wrong, in which line
/// and column, a key that is not known among it, or it is too long; 74: it cannot be read).
[[nodiscard]] settings read_settings(std::string const& file = usual_settings);

}  // namespace command
