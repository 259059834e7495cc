// The text about a problem that goes to hooks and commands, and the web request around it.
// Thread safety: values.
#pragma once

#include "config/declared_hook.hpp"
#include "verbs/hooks/sender.hpp"

#include <daybook/alerts.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace command {

/// {"status": "firing" or "resolved", "kind", "severity", "subject", "since", "why", "remedy",
/// "book", "fingerprint", "at"}. `book`: its URL without a password.
[[nodiscard]] nlohmann::ordered_json json_of(daybook::alert const& one, std::string_view book);

/// The same fields for the message of `daybook hooks test`.
[[nodiscard]] nlohmann::ordered_json test_message(std::string_view name, std::string_view book,
                                                  daybook::timestamp now);

/// `problem` has the fields of json_of(); `id` is the same for each attempt. On failure: complaint
/// (65) for a URL whose variable is missing, std::runtime_error for a secret that cannot be read.
[[nodiscard]] web_request request_of(declared_hook const& hook,
                                     nlohmann::ordered_json const& problem, std::string const& id);

}  // namespace command
