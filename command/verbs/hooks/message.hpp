// What hooks and commands are told of a problem, and the request that tells it. Thread safety:
// values.
#pragma once

#include "config/declared_hook.hpp"
#include "verbs/hooks/sender.hpp"

#include <daybook/alerts.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace command {

/// "act-now", "look-today": as in daybook.toml.
[[nodiscard]] std::string_view severity_of(daybook::urgency level) noexcept;

/// {"status": "firing" or "resolved", "kind", "severity", "subject", "since", "why", "remedy",
/// "book", "fingerprint", "at"}. `book`: its URL without a password.
[[nodiscard]] nlohmann::ordered_json json_of(daybook::alert const& one, std::string_view book);

/// The same of a problem that says that it is a test.
[[nodiscard]] nlohmann::ordered_json test_message(std::string_view name, std::string_view book,
                                                  daybook::timestamp now);

/// `problem`: as json_of() has it; `id` is the same for each attempt. On failure: complaint (65)
/// for a URL that cannot be, std::runtime_error for a secret.
[[nodiscard]] web_request request_of(declared_hook const& hook,
                                     nlohmann::ordered_json const& problem, std::string const& id);

}  // namespace command
