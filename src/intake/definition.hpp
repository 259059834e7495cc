// An intake as it was declared, and as it stands in its row.
// Thread safety: values.
#pragma once

#include "core/tx/context.hpp"
#include "queue/members/store.hpp"

#include <daybook/intake.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace intakes {

/// Where its messages go, as its row says it.
enum class target : std::uint8_t { body = 0, tasks = 1, members = 2 };

struct definition {
  std::int64_t id = 0;
  std::int64_t version = 0;
  std::string name;
  intake_options options;
  intake_state state = intake_state::active;
  std::string error;
};

[[nodiscard]] target target_of(intake_options const& options) noexcept;
/// The queue of the declaration; empty: there is none.
[[nodiscard]] std::string const& queue_of(intake_options const& options) noexcept;
/// Of the runs of its lanes.
[[nodiscard]] inline std::string process_of(std::string_view intake) {
  return "intake " + std::string(intake);
}
[[noreturn]] void refuse(std::string_view intake, std::string const& why);
/// Everything that can be seen without the database. On failure: daybook::error
/// (error_code::bad_argument) that names the option.
void check(std::string_view name, intake_options const& options);
/// Makes the intake's row, or changes it to these options. `queue`: null for a body.
void write(core::context const& context, std::string_view name, intake_options const& options,
           queues::store const* queue);
/// Empty: there is none of that name.
[[nodiscard]] std::optional<definition> look(core::context const& context, std::string_view name);
[[nodiscard]] std::vector<std::string> names(core::context const& context);

}  // namespace intakes
}  // namespace v1
}  // namespace daybook
