// A person who changes something: who, why, and whether they are sure.
// Thread safety: the main thread.
#pragma once

#include <daybook/operate.hpp>

#include <string>
#include <string_view>

namespace CLI {
class App;
}  // namespace CLI

namespace command {

struct person {
  std::string reason;
  bool yes = false;

  /// "anna@node7", and why.
  [[nodiscard]] daybook::remark remark() const;
};

void add_reason(CLI::App& app, person& into);
/// For what cannot be taken back.
void add_yes(CLI::App& app, person& into);
/// Asks, unless --yes was given. On failure: complaint (64): there is no terminal to ask on, or the
/// answer was no.
void make_sure(person const& who, std::string_view verb, std::string const& question);

}  // namespace command
