// Which problems people are told of, and when. Thread-safe.
#pragma once

#include "service/engine.hpp"

#include <daybook/alerts.hpp>

#include <optional>
#include <string>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace work {

/// A problem as the looks before have seen it.
struct seen_problem {
  daybook::problem problem;
  std::string print;
  timestamp since{};
  std::optional<timestamp> told;  ///< when people were told last
  std::int64_t seen = 0;          ///< in so many looks, up to those that are wanted
  std::int64_t unseen = 0;        ///< in so many looks since
};

/// What a look changes.
struct look_result {
  std::vector<seen_problem> kept;
  std::vector<std::string> ended;  ///< prints of those that are forgotten
  std::vector<alert> alerts;
};

/// By what was seen before and what is there now. Without a database.
[[nodiscard]] look_result compare(std::vector<seen_problem> before, std::vector<problem> now,
                                  timestamp at, alert_options const& options);

}  // namespace work
}  // namespace v1
}  // namespace daybook
