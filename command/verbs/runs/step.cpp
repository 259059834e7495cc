// daybook step: one step of a run, by a command inside `daybook run`.
#include "attempt/attempt.hpp"
#include "attempt/parent.hpp"
#include "attempt/step_log.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "process/child.hpp"
#include "process/signals.hpp"
#include "process/supervise.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <random>
#include <vector>

namespace command {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds longest_backoff = std::chrono::hours{1};

constexpr auto help_after = R"(
Works only inside `daybook run`. A step that an earlier attempt at the run did is skipped: a line on
stderr, exit 0.

--mode at-least-once (unless told otherwise): the command is recorded after it succeeded, so it must
bear being done again when the machine dies in between (DAYBOOK_IDEMPOTENCY_KEY stays the same).
--mode at-most-once: the intent is recorded first, and the command never done twice. Exit 0 means
that it happened, a code given by --not-done that nothing happened. Any other end, or the death of
the machine, leaves the outcome unknown: the step is then refused (exit 80) until a person has
decided with `daybook runs resolve`.

--retries tries a command again that failed, after a pause that doubles each time: an at-most-once
step only after a --not-done code.

Exit codes: the command's own, 128+N when signal N killed it (nothing is recorded then);
64 usage or not inside a run, 65 bad name, or one that this attempt has used for another command,
69 done but not recorded for the database is gone, 79 the run was lost to another holder,
80 the outcome of an earlier try is unknown, 126 cannot execute, 127 command not found.)";

struct step_request {
  std::string name;
  std::string token;
  daybook::step_mode mode = daybook::step_mode::at_least_once;
  std::vector<int> not_done;
  std::int64_t retries = 0;
  milliseconds backoff = std::chrono::seconds{1};
  database where;
  arguments words;

  [[nodiscard]] bool at_most_once() const noexcept {
    return mode == daybook::step_mode::at_most_once;
  }
  [[nodiscard]] bool nothing_happened(child_status const& status) const {
    return !status.by_signal &&
           std::find(not_done.begin(), not_done.end(), status.number) != not_done.end();
  }
  /// For messages.
  [[nodiscard]] std::string who() const { return fmt::format("step {}", printable(name)); }
};

step_request read_step(arguments const& given) {
  step_request out;
  database_options where;
  std::string mode(word_of(out.mode));
  auto const split = at_double_dash(given);
  out.words = command_of(split, "step");
  CLI::App app{"Does one step of the run around it, once.", "daybook step"};
  app.footer(help_after);
  app.add_option("NAME", out.name, "The step; each of a run has a name of its own")->required();
  app.add_option("--mode", mode, "at-least-once or at-most-once")
      ->type_name("MODE")
      ->check(CLI::IsMember({"at-least-once", "at-most-once"}));
  app.add_option("--not-done", out.not_done,
                 "An exit code that means: nothing has happened (may be given several times)")
      ->type_name("CODE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(CLI::Range(1, 255));
  app.add_option("--retries", out.retries, "Try again so often (0)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000}));
  add_duration(app, "--backoff", out.backoff, "The first pause before a retry (1s)");
  add_database_options(app, where);
  parse(app, split.before, "NAME [options] -- COMMAND [ARGUMENT...]");
  daybook::check_name("step name", out.name);
  if (mode == word_of(daybook::step_mode::at_most_once)) {
    out.mode = daybook::step_mode::at_most_once;
  } else if (!out.not_done.empty()) {
    throw complaint(exit_code::usage,
                    "step: --not-done has a meaning with --mode at-most-once only");
  }
  out.token = token_around("step");
  out.where = resolve(where);
  return out;
}

int tell_lost(step_request const& request, std::string_view reason) {
  say(fmt::format("{}: {}: the run was lost to another holder; stop", request.who(), reason));
  return exit_code::lost;
}

int record(daybook::run& run, step_request const& request, std::chrono::microseconds took,
           step_log_writer const& steps) {
  try {
    if (run.record(request.name, {}, took)) {
      static_cast<void>(steps.take(request.name, request.words));
      return exit_code::done;
    }
  } catch (daybook::error const& e) {
    say(fmt::format("{}: done, but not recorded: {}; {}", request.who(), printable(e.what()),
                    request.at_most_once() ? "its outcome counts as unknown"
                                           : "the next attempt does it again"));
    return code_of(e.kind());
  }
  return tell_lost(request, "done, but not recorded");
}

/// Before the command is started: afterwards it would be done, and could not be recorded.
void check_mode(daybook::run const& run, step_request const& request) {
  auto const before = run.mode_of(request.name).value_or(daybook::step_mode::unrecorded);
  if (before == daybook::step_mode::unrecorded || before == request.mode) return;
  throw complaint(exit_code::bad_data,
                  fmt::format("{}: not started: it was begun as {} before, and is given as {} now: "
                              "give the new one another name",
                              request.who(), word_of(before), word_of(request.mode)));
}

/// Of a step that is done: by this command, or in an earlier attempt, when it may have been
/// another.
int skip(step_request const& request, step_log_writer const& steps) {
  if (!steps.take(request.name, request.words)) {
    throw complaint(exit_code::bad_data,
                    fmt::format("{}: not done: this attempt has had another command (or folder) "
                                "under that name; give each step a name of its own, as in a loop "
                                "daybook step \"{} $item\" -- ...",
                                request.who(), printable(request.name)));
  }
  say(fmt::format("{}: done before, skipped", request.who()));
  return exit_code::done;
}

/// Whether it is to be done now; else the exit code.
std::optional<int> refused(daybook::run& run, step_request const& request,
                           step_log_writer const& steps) {
  check_mode(run, request);
  auto before = run.done(request.name) ? daybook::outcome::skipped : daybook::outcome::done;
  if (request.at_most_once()) before = run.intend(request.name).what();
  switch (before) {
    case daybook::outcome::done: return {};
    case daybook::outcome::skipped: return skip(request, steps);
    case daybook::outcome::lost: return tell_lost(request, "not started");
    case daybook::outcome::unknown: break;
  }
  say(
      fmt::format("{}: not started: an earlier try was begun, and nobody recorded how it ended; "
                  "find out, and decide with 'daybook runs resolve'",
                  request.who()));
  return exit_code::unknown;
}

child_end work(daybook::run& run, step_request const& request, step_log_writer const& steps,
               signals& caught) {
  steps.write(request.name, step_state::in_hand);
  try {
    child job(program_for(run, request.name, request.where, request.words));
    // No limits: `run` ends its whole group, us with it, when the time or the run is over.
    auto const end = supervise(job, caught, {});
    steps.write(request.name, end.status.success() ? step_state::done : step_state::failed);
    return end;
  } catch (complaint const&) {
    steps.write(request.name, step_state::failed);
    // Not started, so nothing has happened.
    if (request.at_most_once()) static_cast<void>(run.abandon(request.name));
    throw;
  }
}

/// A random part of it, so that many that failed together do not come back together.
milliseconds jittered(milliseconds length) {
  static std::minstd_rand random{std::random_device{}()};
  return milliseconds{
      std::uniform_int_distribution<std::int64_t>{length.count() / 2, length.count()}(random)};
}

/// Waits before another try. The exit code when there shall be none.
std::optional<int> wait_to_retry(daybook::book& book, step_request const& request,
                                 child_end const& end, std::int64_t tried, signals& caught) {
  if (tried >= request.retries || end.asked_to_end) return end.status.code();
  auto pause = request.backoff;
  for (std::int64_t i = 0; i < tried && pause < longest_backoff; ++i) pause *= 2;
  pause = jittered(std::min(pause, std::max(request.backoff, longest_backoff)));
  say(fmt::format("{}: {}; retry {} of {} in {} ms", request.who(), end.status.text(), tried + 1,
                  request.retries, pause.count()));
  if (int const signal = wait_for(pause, caught)) return exit_code::signalled + signal;
  if (!attach(book, request.token, request.who())) return exit_code::lost;
  return {};
}

int step_until_done(step_request const& request, interrupt& pass_on) {
  auto book = open_book(request.where);
  auto run = attach(book, request.token, request.who());
  if (!run) return exit_code::lost;
  signals caught;
  step_log_writer const steps(request.token);
  for (std::int64_t tried = 0;; ++tried) {
    if (auto const code = refused(*run, request, steps)) return *code;
    auto const began = std::chrono::steady_clock::now();
    auto const end = work(*run, request, steps, caught);
    auto const took = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - began);
    pass_on = end.pass_on;
    if (end.status.success()) return record(*run, request, took, steps);
    if (request.at_most_once()) {
      if (!request.nothing_happened(end.status)) {
        say(
            fmt::format("{}: {}: whether it has happened is unknown; find out, and decide with "
                        "'daybook runs resolve'",
                        request.who(), end.status.text()));
        return end.status.code();
      }
      if (!run->abandon(request.name)) return tell_lost(request, "not done");
    }
    if (auto const code = wait_to_retry(book, request, end, tried, caught)) return *code;
  }
}

}  // namespace

int step(arguments const& given) {
  // As in `run`: a reader who is gone is no reason not to record.
  std::signal(SIGPIPE, SIG_IGN);
  // A link of the chain: when the script around us dies with `run`, so do we, and our command.
  end_with_parent();
  auto const what = read_step(given);
  auto pass_on = interrupt::none;
  int const code = step_until_done(what, pass_on);
  pass_interrupt_on(pass_on);
  return code;
}

}  // namespace command
