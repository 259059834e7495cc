// [[queue]] in daybook.toml: a queue, and the command that does its tasks.
// Thread safety: values.
#pragma once

#include "config/placeholders.hpp"

#include <daybook/cron.hpp>
#include <daybook/queue_options.hpp>
#include <daybook/table_sync.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace command {

struct declared_queue {
  std::string name;
  daybook::queue_options options;
  std::optional<daybook::cron> rounds;     ///< when a round is opened
  std::optional<daybook::cron> reconcile;  ///< when it is compared, beside daily
  std::string zone = "UTC";                ///< of both
  std::optional<daybook::synced_table> watch;
  int workers = 4;  ///< commands at once
  int batch = 0;    ///< tasks that a command is given at most; 0: one, in its words
  std::optional<std::chrono::milliseconds> timeout;  ///< of its command; empty: none
  bool database_url = false;                         ///< its command gets it
  std::vector<pattern> command;
  std::string command_place;  ///< in the file, for messages
  std::vector<std::pair<std::string, std::string>> environment;

  // The schedules that belong to it.
  [[nodiscard]] std::string rounds_schedule() const { return name + "/rounds"; }
  [[nodiscard]] std::string reconcile_schedule() const { return name + "/reconcile"; }
};

}  // namespace command
