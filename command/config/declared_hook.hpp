// [[hook]], on_problem and [alerts] of daybook.toml: where to send problems, and how often to look.
// Thread safety: values.
#pragma once

#include "cli/words.hpp"
#include "config/placeholders.hpp"

#include <daybook/alerts.hpp>
#include <daybook/problems.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace command {

enum class hook_form {
  alertmanager,  ///< as Alertmanager's webhook, version 4
  plain,         ///< the problem alone
  slack,         ///< {"text": ...}
};

/// As daybook.toml and JSON have them.
inline constexpr words_for<hook_form, 3> form_words{{{"alertmanager", hook_form::alertmanager},
                                                     {"plain", hook_form::plain},
                                                     {"slack", hook_form::slack}}};
inline constexpr words_for<daybook::urgency, 2> severity_words{
    {{"act-now", daybook::urgency::act_now}, {"look-today", daybook::urgency::look_today}}};

struct declared_hook {
  std::string name;
  std::string url;  ///< as it stands in the file; see url_of()
  hook_form form = hook_form::alertmanager;
  daybook::urgency least = daybook::urgency::look_today;  ///< less urgent problems are not sent
  std::string secret_file;                                ///< empty: not signed
  std::string place;                                      ///< in the file, for messages
};

struct declared_alerts {
  std::vector<declared_hook> hooks;
  std::vector<pattern> on_problem;  ///< a command; empty: none
  std::string on_problem_place;     ///< in the file, for messages
  std::chrono::milliseconds every = std::chrono::seconds{30};
  daybook::alert_options options;

  /// No hook and no command.
  [[nodiscard]] bool is_empty() const noexcept { return hooks.empty() && on_problem.empty(); }
};

}  // namespace command
