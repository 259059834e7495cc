// [[aggregate]] in daybook.toml: which rows are gathered into which, and when.
// Thread safety: values.
#pragma once

#include <daybook/aggregation_options.hpp>
#include <daybook/cron.hpp>

#include <optional>
#include <string>

namespace command {

struct declared_aggregate {
  std::string name;
  std::string place;  ///< file, line and column: of what the database finds wrong in it
  daybook::aggregation_options options;
  std::optional<daybook::cron> cron;  ///< when; empty: when people say so
  std::string zone = "UTC";
  bool fresh = false;  ///< no parent that was open before is added to
  bool close = false;  ///< what is open is closed after each pass

  /// The schedule that belongs to it.
  [[nodiscard]] std::string schedule() const { return name + "/aggregate"; }
};

}  // namespace command
