// The reason and the confirmation that an operator gives for a change.
// Thread safety: the main thread.
#pragma once

#include <daybook/operate.hpp>

#include <string>
#include <string_view>

namespace CLI {
class App;
}  // namespace CLI

namespace command {

struct operator_input {
  std::string reason;
  bool yes = false;

  /// "anna@node7", and the reason.
  [[nodiscard]] daybook::audit_note remark() const;
};

void add_reason(CLI::App& app, operator_input& input);
/// For a change that cannot be undone.
void add_yes(CLI::App& app, operator_input& input);
/// Asks for confirmation, unless --yes was given. On failure: complaint (64) if there is no
/// terminal or the answer is no.
void make_sure(operator_input const& input, std::string_view verb, std::string const& question);

}  // namespace command
