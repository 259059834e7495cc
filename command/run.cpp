// daybook run: one run of a process as a child, with the lease renewed beside it.
#include "attempt.hpp"
#include "child.hpp"
#include "exit.hpp"
#include "format.hpp"
#include "last_resort.hpp"
#include "options.hpp"
#include "signals.hpp"
#include "supervise.hpp"
#include "verbs.hpp"

#include <daybook/book.hpp>
#include <daybook/observer.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <random>
#include <utility>

namespace command {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto help_after = R"(
The child gets DAYBOOK_RUN, DAYBOOK_PROCESS, DAYBOOK_KEY, DAYBOOK_ATTEMPT, DAYBOOK_RESUMED (0 or
1), DAYBOOK_IDEMPOTENCY_KEY and DAYBOOK_DATABASE_URL; `daybook step` works inside it. It has a
process group of its own, gets our signals, and dies with us. No shell is used.

Exit codes: the command's own, 128+N when signal N killed it; 0 also when done before (--once);
64 usage, 65 bad name or key, 69 database not reachable or success not recorded, 75 another holder
runs it, 77 not permitted, 78 no book or wrong setup, 79 ownership lost and the command ended,
80 a person decides first, 124 --timeout was over, 126 cannot execute, 127 command not found.)";

struct request {
  std::string name;
  std::optional<std::string> key;
  daybook::start_options start;
  milliseconds lease = daybook::book_options{}.lease;
  milliseconds wait{0};
  std::optional<milliseconds> timeout;
  database where;
  arguments words;
};

/// What the lease does behind our back, told to people.
class teller final : public daybook::observer {
 public:
  void renewal_late(milliseconds since, std::string_view why) noexcept override {
    // Each try to renew is told to us; people need fewer words.
    auto const now = clock::now();
    if (said_ && now - *said_ < std::chrono::seconds{10}) return;
    said_ = now;
    say_about("the lease has not been renewed for {} s: {}",
              std::chrono::round<std::chrono::seconds>(since).count(), printable(why));
  }
  void taken_over(daybook::run_event const& e) noexcept override {
    say_about("{}: freed from a holder that is dead", printable(e.process));
  }

 private:
  template <class... A>
  static void say_about(fmt::format_string<A...> text, A&&... with) noexcept {
    try {
      say(fmt::format(text, std::forward<A>(with)...));
    } catch (std::exception const&) {
      return;
    }
  }

  std::optional<clock::time_point> said_;  ///< one thread renews
};

request read(arguments const& given) {
  request out;
  database_options where;
  auto const split = at_double_dash(given);
  out.words = command_of(split, "run");
  CLI::App app{
      "Runs a command as one run of the process NAME: one holder at a time, resumed "
      "after a failure.",
      "daybook run"};
  milliseconds timeout{0};
  app.footer(help_after);
  app.add_option("NAME", out.name, "The process: what kind of work it is")->required();
  app.add_option("--key", out.key, "Which piece of the work: a date, an order number (else -)")
      ->type_name("KEY");
  app.add_flag("--once", out.start.once, "Do nothing, with exit 0, if this key ever succeeded");
  app.add_flag("--restart", out.start.restart, "Start afresh, also where it could be resumed");
  add_duration(app, "--lease", out.lease,
               "How long we are presumed alive after a renewal, 1s to 1d (30s)");
  add_duration(app, "--wait", out.wait, "How long to wait while another holder runs it (0s)");
  add_duration(app, "--timeout", timeout, "End the command after so long: TERM, then KILL");
  add_database_options(app, where);
  parse(app, split.before, "NAME [options] -- COMMAND [ARGUMENT...]");
  if (out.lease < std::chrono::seconds{1} || out.lease > std::chrono::hours{24}) {
    throw complaint(exit_code::usage,
                    fmt::format("run: --lease {}: from 1s to 1d", text_of(out.lease)));
  }
  if (app.count("--timeout") > 0) {
    if (timeout == milliseconds{0}) {
      throw complaint(exit_code::usage, "run: --timeout 0s would end it at once");
    }
    out.timeout = timeout;
  }
  out.where = resolve(where);
  return out;
}

std::string text_of_holder(std::optional<daybook::occupant> const& who) {
  if (!who) return "held by somebody";
  auto text =
      fmt::format("held by process {} on {} since {}, until {} or its next renewal", who->pid,
                  printable(who->node), seconds_of(who->since), seconds_of(who->until));
  if (!who->in_hand.empty()) text += fmt::format(" (in step {})", printable(who->in_hand));
  return text;
}

/// So that those who wait do not all ask at once.
milliseconds between_tries() {
  static std::minstd_rand random{std::random_device{}()};
  return milliseconds{std::uniform_int_distribution<int>{200, 2000}(random)};
}

/// Waits for `length`; the number of a signal that asks us to end, or 0.
int wait_for(milliseconds length, signals& caught) {
  auto const until = clock::now() + length;
  for (;;) {
    while (auto const one = caught.next()) {
      if (asks_to_end(one->number)) return one->number;
      if (one->number == SIGTSTP) stop_ourselves();
    }
    auto const rest = std::chrono::ceil<milliseconds>(until - clock::now());
    if (rest <= milliseconds{0}) return 0;
    caught.wait(rest);
  }
}

/// Either a run or the exit code.
struct start_answer {
  std::optional<daybook::run> run;
  int code = exit_code::done;
};

start_answer start(daybook::book& book, daybook::process const& name, daybook::key const& piece,
                   request const& what, signals& caught) {
  auto const until = clock::now() + what.wait;
  for (bool first = true;; first = false) {
    auto attempt = book.start(name, piece, what.start);
    if (attempt) return {std::move(attempt).take()};
    if (attempt.why() == daybook::refusal::done_before) {
      say(fmt::format("{}: done before, nothing to do (--once)", name_of(name, piece)));
      return {{}, exit_code::done};
    }
    if (attempt.why() == daybook::refusal::unknown_outcome) {
      say(
          fmt::format("{}: the outcome of an at-most-once step is unknown; look with "
                      "'daybook runs show', and decide with 'daybook runs resolve'",
                      name_of(name, piece)));
      return {{}, exit_code::unknown};
    }
    auto const rest = std::chrono::ceil<milliseconds>(until - clock::now());
    if (rest <= milliseconds{0}) {
      say(fmt::format("{}: running elsewhere: {}{}", name_of(name, piece),
                      text_of_holder(attempt.holder()),
                      what.wait > milliseconds{0} ? fmt::format("; waited {}", text_of(what.wait))
                                                  : "; wait for it with --wait TIME"));
      return {{}, exit_code::busy};
    }
    if (first) {
      say(fmt::format("{}: running elsewhere: {}; waiting up to {}", name_of(name, piece),
                      text_of_holder(attempt.holder()), text_of(what.wait)));
    }
    if (int const signal = wait_for(std::min(rest, between_tries()), caught)) {
      say(fmt::format("{}: ended by {} while waiting", name_of(name, piece),
                      name_of_signal(signal)));
      return {{}, exit_code::signalled + signal};
    }
  }
}

/// Records a failure. The child's own exit code matters more than whether this succeeded.
void record_failure(daybook::run run, std::string const& why, std::string const& who) {
  try {
    if (!std::move(run).fail(why)) {
      say(fmt::format("{}: {}; not recorded, for the run was lost to another holder", who, why));
    }
  } catch (daybook::error const& e) {
    say(fmt::format("{}: {}; not recorded: {}", who, why, printable(e.what())));
  }
}

int record_success(daybook::run run, std::string const& who) {
  try {
    // The library tries for as long as a lease while the database is away.
    if (std::move(run).finish()) return exit_code::done;
    say(
        fmt::format("{}: succeeded, but not recorded: the run was lost to another holder before "
                    "its end; the work may be done twice",
                    who));
    return exit_code::lost;
  } catch (daybook::error const& e) {
    say(fmt::format("{}: succeeded, but not recorded: {}; the next run does it again", who,
                    printable(e.what())));
    return code_of(e.kind());
  }
}

int settle(daybook::run run, child_end const& end, request const& what, std::string const& who) {
  switch (end.why) {
    case ended_by::loss:
      // Nothing to record: dropped, it is handed back if it is still ours.
      say(
          fmt::format("{}: ownership lost (the lease was over, or another holder took it); the "
                      "command was ended: {}",
                      who, end.status.text()));
      return exit_code::lost;
    case ended_by::timeout: {
      auto const why =
          fmt::format("timed out after {}: {}", text_of(*what.timeout), end.status.text());
      say(fmt::format("{}: {}", who, why));
      record_failure(std::move(run), why, who);
      return exit_code::timed_out;
    }
    case ended_by::itself: break;
  }
  if (end.status.success()) return record_success(std::move(run), who);
  record_failure(std::move(run), end.status.text(), who);
  return end.status.code();
}

child_end supervised(daybook::run const& run, request const& what, signals& caught) {
  child job(program_for(run, {}, what.where, what.words));
  return supervise(
      job, caught,
      {.timeout = what.timeout,
       .lost = run.stop(),
       .grace_when_lost = std::min<milliseconds>(std::chrono::seconds{5}, what.lease / 6)});
}

/// The library tries to record for as long as a lease; a database that hangs gets little more.
void arm(last_resort& guard, child_end const& end, request const& what, std::string const& who) {
  constexpr milliseconds margin = std::chrono::seconds{10};
  bool const loss = end.why == ended_by::loss;
  int code = end.status.success() ? exit_code::unreachable : end.status.code();
  if (loss) code = exit_code::lost;
  if (end.why == ended_by::timeout) code = exit_code::timed_out;
  guard.arm(
      loss ? margin : what.lease + margin, code,
      fmt::format("{}: {}; not recorded: the database does not answer", who, end.status.text()));
}

/// The exit code; `pass_on` is for when all is closed.
int run_once(request const& what, interrupt& pass_on) {
  daybook::process const name{what.name};
  daybook::key const piece = what.key ? daybook::key{*what.key} : daybook::key{};
  auto const who = name_of(name, piece);
  last_resort guard;
  teller watch;
  daybook::book_options options;
  options.lease = what.lease;
  options.watch = &watch;
  auto book = open_book(what.where, options);
  signals caught;
  auto started = start(book, name, piece, what, caught);
  if (!started.run) return started.code;
  std::optional<child_end> end;
  try {
    end = supervised(*started.run, what, caught);
  } catch (complaint const& e) {
    record_failure(std::move(*started.run), e.what(), who);
    throw;
  }
  pass_on = end->pass_on;
  arm(guard, *end, what, who);
  return settle(std::move(*started.run), *end, what, who);
}

}  // namespace

int run(arguments const& given) {
  auto const what = read(given);
  auto pass_on = interrupt::none;
  int const code = run_once(what, pass_on);
  pass_interrupt_on(pass_on);
  return code;
}

}  // namespace command
