// daybook progress, daybook carry: what a command inside `daybook run` tells the run around it, and
// what it keeps there.
#include "attempt/attempt.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/numbers.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include <unistd.h>

namespace command {

namespace {

struct how_far {
  std::int64_t done = 0;
  std::int64_t total = 0;
};

/// "17" or "17/40".
std::optional<how_far> how_far_from(std::string_view text) {
  auto const slash = text.find('/');
  auto const done = whole_number(text.substr(0, slash));
  auto const total = slash == std::string_view::npos ? std::optional<std::int64_t>{0}
                                                     : whole_number(text.substr(slash + 1));
  if (!done || !total) return {};
  return how_far{*done, *total};
}

/// One byte more than may be carried is enough to be refused.
std::string read_stdin() {
  constexpr std::size_t enough = (1U << 20U) + 2;
  std::string out;
  std::array<char, 65536> buffer{};
  while (out.size() < enough) {
    auto const got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw complaint(exit_code::io,
                      fmt::format("carry: cannot read stdin: {}", std::strerror(errno)));
    }
    if (got == 0) break;
    out.append(buffer.data(), static_cast<std::size_t>(got));
  }
  // As a shell does with $(...), but one only.
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

/// What it has kept, for whoever has mistyped a name: "; it has kept cursor, total".
std::string kept_by(daybook::book const& book, daybook::run const& run) {
  std::string out;
  if (auto const all = book.find(run.process_name(), run.run_key())) {
    for (auto const& one : all->values) out += (out.empty() ? "" : ", ") + printable(one.name);
  }
  return out.empty() ? ", nor anything else; keep it with: daybook carry set NAME VALUE"
                     : "; it has kept " + out;
}

int carry_get(daybook::book const& book, daybook::run const& run, std::string const& name) {
  auto const found = run.stored_value(name);
  if (!found) {
    throw complaint(exit_code::missing, fmt::format("carry: this run has kept nothing named {}{}",
                                                    printable(name), kept_by(book, run)));
  }
  print(*found + "\n");
  return exit_code::done;
}

int tell_lost(std::string_view run_name) {
  say(fmt::format("{}: not done: the run was lost to another holder; stop", run_name));
  return exit_code::lost;
}

}  // namespace

int progress(arguments const& given) {
  CLI::App app{"Tells how far the run around it is.", "daybook progress"};
  app.footer(
      "\nShown by `daybook runs list` and `show`. Works only inside `daybook run`.\n"
      "\nExit codes: 64 usage or not inside a run, 65 beyond the total, 79 the run was lost.");
  database_options where;
  std::string far;
  std::string text;
  app.add_option("DONE[/TOTAL]", far, "How much is done, and of how much where it is known")
      ->required();
  app.add_option("TEXT", text, "A few words; cut at 200 bytes");
  add_database_options(app, where);
  parse(app, given, "DONE[/TOTAL] [TEXT] [options]");
  auto const token = token_around("progress");
  auto const numbers = how_far_from(far);
  if (!numbers) {
    throw complaint(
        exit_code::usage,
        fmt::format("progress: '{}' is not DONE or DONE/TOTAL, as 17 or 17/40", printable(far)));
  }
  auto book = open_book(resolve(where));
  auto run = attach(book, token, "progress");
  if (!run) return exit_code::lost;
  run->progress(numbers->done, numbers->total, text);
  return exit_code::done;
}

int carry(arguments const& given) {
  CLI::App app{"Keeps a value with the run around it, for later steps and attempts.",
               "daybook carry"};
  app.footer(
      "\nWorks only inside `daybook run`. A value is UTF-8 text of at most 1 MiB; without VALUE "
      "it\n"
      "is read from stdin, less one line feed at its end. get prints it with one.\n"
      "\nExit codes: 64 usage or not inside a run, 65 too long or no text, 66 no such value,\n"
      "79 the run was lost.");
  database_options where;
  std::string verb;
  std::string name;
  std::optional<std::string> value;
  app.add_option("get|set", verb)->required()->check(CLI::IsMember({"get", "set"}));
  app.add_option("NAME", name, "Which value")->required();
  app.add_option("VALUE", value, "With set: what it is to be");
  add_database_options(app, where);
  parse(app, given, "get|set NAME [VALUE] [options]");
  bool const get = verb == "get";
  if (get && value) throw complaint(exit_code::usage, "carry get: takes no value");
  auto const token = token_around("carry");
  daybook::check_name("name of a carried value", name);
  if (!get && !value) value = read_stdin();
  auto book = open_book(resolve(where));
  auto run = attach(book, token, "carry");
  if (!run) return exit_code::lost;
  if (get) return carry_get(book, *run, name);
  return run->set_value(name, *value) ? exit_code::done : tell_lost("carry");
}

}  // namespace command
