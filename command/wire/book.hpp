// The book at a glance, its problems, processes and preconditions as JSON: the fields that
// --json prints.
// Thread safety: values.
#pragma once

#include <daybook/book.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace command {

struct plan_sums {
  std::size_t all = 0;
  std::int64_t failing = 0;
};

/// What `daybook status` looks at.
struct glance {
  daybook::book_status status;
  plan_sums plans;
  std::vector<daybook::problem> problems;
};

/// On failure: daybook::error.
[[nodiscard]] glance glance_at(daybook::book const& book, daybook::status_depth depth);

[[nodiscard]] nlohmann::ordered_json json_of(daybook::check_result const& result);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::holder_info const& holder);
[[nodiscard]] nlohmann::ordered_json json_of(std::vector<daybook::problem> const& problems);
[[nodiscard]] nlohmann::ordered_json json_of(glance const& glance);

}  // namespace command
