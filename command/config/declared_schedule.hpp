// [[schedule]] in daybook.toml: a schedule, and the command that each of its ticks runs.
// Thread safety: values.
#pragma once

#include "config/placeholders.hpp"

#include <daybook/cron.hpp>
#include <daybook/schedule.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace command {

struct declared_schedule {
  std::string name;
  daybook::cron cron = "* * * * *";
  daybook::schedule_options options;
  std::optional<std::chrono::milliseconds> timeout;  ///< of its command; empty: none
  bool database_url = true;  ///< its command gets it: `daybook step` needs it
  std::vector<pattern> command;
  std::string command_place;  ///< in the file, for messages
  std::vector<std::pair<std::string, std::string>> environment;
};

}  // namespace command
