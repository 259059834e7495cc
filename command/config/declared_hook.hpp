// Who is told of problems, and when: [[hook]], on_problem and [alerts] in daybook.toml.
// Thread safety: values.
#pragma once

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

struct declared_hook {
  std::string name;
  std::string url;  ///< as it stands in the file; see url_of()
  hook_form form = hook_form::alertmanager;
  daybook::urgency least = daybook::urgency::look_today;  ///< what is less urgent is not told
  std::string secret_file;                                ///< empty: not signed
  std::string place;                                      ///< in the file, for messages
};

struct declared_alerts {
  std::vector<declared_hook> hooks;
  std::vector<pattern> on_problem;  ///< a command; empty: none
  std::string on_problem_place;     ///< in the file, for messages
  std::chrono::milliseconds every = std::chrono::seconds{30};
  daybook::alert_options options;

  /// Nobody is told.
  [[nodiscard]] bool is_empty() const noexcept { return hooks.empty() && on_problem.empty(); }
};

}  // namespace command
