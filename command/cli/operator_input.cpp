#include "cli/operator_input.hpp"

#include "cli/exit.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <iostream>

#include <pwd.h>
#include <unistd.h>

namespace command {

void add_reason(CLI::App& app, operator_input& input) {
  app.add_option("--reason", input.reason, "Why; kept in the book with who and when")
      ->type_name("TEXT");
}

void add_yes(CLI::App& app, operator_input& input) {
  app.add_flag("--yes", input.yes, "Do not ask; needed where there is no terminal to ask on");
}

daybook::audit_note operator_input::remark() const {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  auto const* const user = ::getpwuid(::geteuid());
  return {fmt::format("{}@{}", user != nullptr ? user->pw_name : std::to_string(::geteuid()),
                      host.data()),
          reason};
}

void make_sure(operator_input const& input, std::string_view verb, std::string const& question) {
  if (input.yes) return;
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) {
    throw complaint(exit_code::usage,
                    fmt::format("{}: there is no terminal to ask on: say --yes", verb));
  }
  std::fputs(fmt::format("{} [y/N] ", question).c_str(), stderr);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "y" && answer != "Y" && answer != "yes") {
    throw complaint(exit_code::usage, fmt::format("{}: not confirmed, nothing was changed", verb));
  }
}

}  // namespace command
