// Intakes, their places and the messages put aside as JSON: the fields that --json prints.
// Thread safety: values.
#pragma once

#include <daybook/intake.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace command {

/// "tasks", "members", "body".
[[nodiscard]] std::string_view target_word(daybook::intake_options const& options) noexcept;
[[nodiscard]] nlohmann::ordered_json json_of(daybook::intake_info const& intake);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::refused_message const& message);

}  // namespace command
