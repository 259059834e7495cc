// daybook run: one run of a process as a child, with the lease renewed beside it.
#include "attempt/attempt.hpp"
#include "attempt/exit_watchdog.hpp"
#include "attempt/step_log.hpp"
#include "cli/dates.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "output/rate_limiter.hpp"
#include "process/child.hpp"
#include "process/output_tee.hpp"
#include "process/signals.hpp"
#include "process/supervise.hpp"

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
The child gets DAYBOOK_RUN, DAYBOOK_PROCESS, DAYBOOK_KEY, DAYBOOK_DATE, DAYBOOK_ATTEMPT,
DAYBOOK_RESUMED (0 or 1), DAYBOOK_IDEMPOTENCY_KEY and DAYBOOK_DATABASE_URL; `daybook step`,
`progress` and `carry` work inside it. It has a process group of its own, gets our signals, and
dies with us. No shell is used. The last 8 KiB that it prints to what is no terminal are kept in
the book with the attempt (`daybook runs show`), unless --no-output is given.

Exit codes: the command's own, 128+N when signal N killed it; 0 also when done before (--once);
64 usage, 65 bad name, key or date, 69 database not reachable or success not recorded, 75 another
holder runs it, 77 not permitted, 78 no book or wrong setup, 79 ownership lost and the command
ended, 80 a person decides first, 124 --timeout or --deadline was over, 126 cannot execute, 127
command not found.)";

struct run_request {
  std::string name;
  std::optional<std::string> key;
  daybook::start_options start;
  milliseconds lease = daybook::book_options{}.lease;
  milliseconds wait{0};
  std::optional<milliseconds> timeout;
  output_tee::mode keep = output_tee::mode::all;
  database where;
  arguments words;
};

/// What the lease does behind our back, told to people.
class teller final : public daybook::observer {
 public:
  void renewal_late(milliseconds since, std::string_view why) noexcept override {
    if (!late_.may_speak()) return;  // each try to renew is told to us
    say_about("the lease has not been renewed for {} s: {}",
              std::chrono::round<std::chrono::seconds>(since).count(), printable(why));
  }
  void set_back() noexcept override {
    say_about("the database lost what it had acknowledged (a fail-over, or a restore)");
  }
  void taken_over(daybook::run_event const& e) noexcept override {
    say_about("{}: freed from a holder that is dead", printable(e.process));
  }

 private:
  template <class... A>
  static void say_about(fmt::format_string<A...> text, A&&... arguments) noexcept {
    try {
      say(fmt::format(text, std::forward<A>(arguments)...));
    } catch (std::exception const&) {
      return;
    }
  }

  rate_limiter late_;
};

/// A length of time that is only meant where it is given, and then is not zero.
std::optional<milliseconds> given_length(CLI::App const& app, std::string const& flag,
                                         milliseconds length) {
  if (app.count(flag) == 0) return {};
  if (length == milliseconds{0}) {
    throw complaint(exit_code::usage, fmt::format("run: {} 0s would end it at once", flag));
  }
  return length;
}

run_request read_run(arguments const& given) {
  run_request out;
  database_options where;
  auto const split = at_double_dash(given);
  out.words = command_of(split, "run");
  CLI::App app{
      "Runs a command as one run of the process NAME: one holder at a time, resumed "
      "after a failure.",
      "daybook run"};
  milliseconds timeout{0};
  milliseconds deadline{0};
  std::optional<std::string> date;
  bool no_output = false;
  app.footer(help_after);
  app.add_option("NAME", out.name, "The process: what kind of work it is")->required();
  app.add_option("--key", out.key, "Which piece of the work: a date, an order number (else -)")
      ->type_name("KEY");
  app.add_option("--date", date, "The date of the data it works on; kept for later attempts")
      ->type_name("YYYY-MM-DD");
  app.add_flag("--once", out.start.once, "Do nothing, with exit 0, if this key ever succeeded");
  app.add_flag("--restart", out.start.restart, "Start afresh, also where it could be resumed");
  add_duration(app, "--lease", out.lease,
               "How long we are presumed alive after a renewal, 1s to 1d (30s)");
  add_duration(app, "--wait", out.wait,
               "How long to wait while another holder runs it, or the database is away (0s)");
  add_duration(app, "--timeout", timeout, "End the command after so long: TERM, then KILL");
  add_duration(app, "--deadline", deadline,
               "End it after so long, and let others start it, alive or not");
  app.add_flag("--no-output", no_output, "Do not keep the end of what the command prints");
  add_database_options(app, where);
  parse(app, split.before, "NAME [options] -- COMMAND [ARGUMENT...]");
  check_lease("run", out.lease);
  out.timeout = given_length(app, "--timeout", timeout);
  out.start.deadline = given_length(app, "--deadline", deadline);
  if (out.start.deadline > std::chrono::hours{24 * 3650}) {
    throw complaint(exit_code::usage, "run: --deadline: at most 3650d");
  }
  if (date) out.start.date = date_from(*date);
  if (no_output) out.keep = output_tee::mode::nothing;
  out.where = resolve(where);
  return out;
}

std::string text_of_holder(std::optional<daybook::lease_holder> const& holder) {
  if (!holder) return "held by somebody";
  auto text =
      fmt::format("held by process {} on {} since {}, until {} or its next renewal", holder->pid,
                  printable(holder->node), seconds_of(holder->since), seconds_of(holder->until));
  if (!holder->in_hand.empty()) text += fmt::format(" (in step {})", printable(holder->in_hand));
  return text;
}

/// So that those who wait do not all ask at once.
milliseconds between_tries() {
  static std::minstd_rand random{std::random_device{}()};
  return milliseconds{std::uniform_int_distribution<int>{200, 2000}(random)};
}

/// Either a run or the exit code.
struct start_answer {
  std::optional<daybook::run> run;
  int code = exit_code::done;
};

/// What is told where asking again is of no use.
std::optional<start_answer> final_refusal(daybook::start_refusal why, run_request const& request,
                                          std::string const& run_name) {
  switch (why) {
    case daybook::start_refusal::running_elsewhere: return {};
    case daybook::start_refusal::done_before:
      say(fmt::format("{}: done before, nothing to do (--once)", run_name));
      return start_answer{{}, exit_code::done};
    case daybook::start_refusal::unknown_outcome:
      say(
          fmt::format("{}: the outcome of an at-most-once step is unknown; look with "
                      "'daybook runs show', and decide with 'daybook runs resolve'",
                      run_name));
      return start_answer{{}, exit_code::unknown};
    case daybook::start_refusal::other_date: break;
  }
  say(
      fmt::format("{}: an unfinished run is there that works on the data of another date than {}; "
                  "look with 'daybook runs show'; finish it by running it without --date, or "
                  "give it up with --restart",
                  run_name, text_of(*request.start.date)));
  return start_answer{{}, exit_code::bad_data};
}

/// Calls `ask`, and again while the database cannot be reached, as long as --wait says. `pause`
/// waits, and returns the number of a signal that asks us to end, or 0.
template <class Ask, class Pause>
auto when_reachable(run_request const& request, clock::time_point until,
                    std::string const& run_name, Ask const& ask, Pause const& pause) {
  for (bool first = true;; first = false) {
    try {
      return ask();
    } catch (daybook::error const& e) {
      auto const rest = std::chrono::ceil<milliseconds>(until - clock::now());
      if (e.kind() != daybook::error_code::unreachable || e.in_doubt() || rest <= milliseconds{0}) {
        throw;
      }
      if (first) {
        say(fmt::format("{}: {}; waiting up to {}", run_name, printable(e.what()),
                        text_of(request.wait)));
      }
      if (int const signal = pause(std::min(rest, between_tries()))) {
        throw complaint(
            exit_code::signalled + signal,
            fmt::format("{}: ended by {} while waiting", run_name, name_of_signal(signal)));
      }
    }
  }
}

start_answer start(daybook::book& book, daybook::process const& name, daybook::key const& piece,
                   run_request const& request, clock::time_point until, signals& caught) {
  auto const who = name_of(name, piece);
  for (bool first = true;; first = false) {
    auto attempt = when_reachable(
        request, until, who, [&] { return book.start(name, piece, request.start); },
        [&](milliseconds length) { return wait_for(length, caught); });
    if (attempt) return {std::move(attempt).take()};
    if (auto answer = final_refusal(attempt.why(), request, who)) return std::move(*answer);
    auto const rest = std::chrono::ceil<milliseconds>(until - clock::now());
    if (rest <= milliseconds{0}) {
      say(fmt::format("{}: running elsewhere: {}{}", who, text_of_holder(attempt.holder()),
                      request.wait > milliseconds{0}
                          ? fmt::format("; waited {}", text_of(request.wait))
                          : "; wait for it with --wait TIME"));
      return {{}, exit_code::busy};
    }
    if (first) {
      say(fmt::format("{}: running elsewhere: {}; waiting up to {}", who,
                      text_of_holder(attempt.holder()), text_of(request.wait)));
    }
    if (int const signal = wait_for(std::min(rest, between_tries()), caught)) {
      say(fmt::format("{}: ended by {} while waiting", who, name_of_signal(signal)));
      return {{}, exit_code::signalled + signal};
    }
  }
}

/// Why the command ended.
enum class cause { itself, timeout, deadline, loss };

struct ending {
  child_end end;
  cause why = cause::itself;
  bool late = false;  ///< the deadline is past
  std::string step;   ///< "; step upload failed"; empty where no step is to be named

  /// How the command ended.
  [[nodiscard]] std::string text() const { return end.status.text() + step; }
};

int tell_unknown(std::string const& run_name) {
  say(
      fmt::format("{}: an at-most-once step was begun, and nobody recorded how it ended; look with "
                  "'daybook runs show', and decide with 'daybook runs resolve'",
                  run_name));
  return exit_code::unknown;
}

/// Records a failure; returns `code`, for the child's own matters more than whether this
/// succeeded, but not more than that a person must decide.
int record_failure(daybook::run run, std::string const& why, std::string const& run_name, int code,
                   bool late = false) {
  try {
    auto const recorded = std::move(run).fail(why);
    if (recorded.what() == daybook::outcome::unknown) return tell_unknown(run_name);
    // Past its deadline that it is past it is what is recorded.
    if (!recorded && !late) {
      say(fmt::format("{}: {}; not recorded, for the run was lost to another holder", run_name,
                      why));
    }
  } catch (daybook::error const& e) {
    say(fmt::format("{}: {}; not recorded: {}", run_name, why, printable(e.what())));
  }
  return code;
}

int record_success(daybook::run run, std::string const& run_name, bool late) {
  try {
    // The library tries for as long as a lease while the database is away.
    auto const recorded = std::move(run).finish();
    if (recorded) return exit_code::done;
    if (recorded.what() == daybook::outcome::unknown) return tell_unknown(run_name);
    if (late) {
      say(fmt::format("{}: succeeded after its deadline: not recorded; the next run resumes it",
                      run_name));
      return exit_code::timed_out;
    }
    say(
        fmt::format("{}: succeeded, but not recorded: the run was lost to another holder before "
                    "its end; the work may be done twice",
                    run_name));
    return exit_code::lost;
  } catch (daybook::error const& e) {
    say(fmt::format("{}: succeeded, but not recorded: {}; the next run does it again", run_name,
                    printable(e.what())));
    return code_of(e.kind());
  }
}

int settle(daybook::run run, ending const& ending, run_request const& request,
           std::string const& run_name) {
  auto const& status = ending.end.status;
  switch (ending.why) {
    case cause::loss:
      // Nothing to record: dropped, it is handed back if it is still ours.
      say(
          fmt::format("{}: ownership lost (the lease was over, or another holder took it); the "
                      "command was ended: {}",
                      run_name, ending.text()));
      return exit_code::lost;
    case cause::timeout:
    case cause::deadline: {
      bool const deadline = ending.why == cause::deadline;
      auto const why = deadline ? fmt::format("its deadline is over: {}", ending.text())
                                : fmt::format("timed out after {}: {}", text_of(*request.timeout),
                                              ending.text());
      say(fmt::format("{}: {}", run_name, why));
      return record_failure(std::move(run), why, run_name, exit_code::timed_out, deadline);
    }
    case cause::itself: break;
  }
  if (status.success()) return record_success(std::move(run), run_name, ending.late);
  // A command says itself why it fails, but not in which step.
  if (!ending.step.empty()) say(fmt::format("{}: {}", run_name, ending.text()));
  return record_failure(std::move(run), ending.text(), run_name, status.code(), ending.late);
}

/// The command from its start to its end. What it printed last is given to the run to keep.
ending supervised(daybook::run& run, run_request const& request, signals& caught) {
  auto const began = clock::now();
  auto const left = run.time_left();
  bool const deadline_first = left && (!request.timeout || *left <= *request.timeout);
  output_tee output(request.keep);
  step_log const steps(run.token());
  auto how = program_for(run, {}, request.where, request.words);
  how.environment.push_back(steps.variable());
  how.output = output.out();
  how.errors = output.err();
  ending out;
  {
    child job(how);
    output.started();
    limits within;
    within.timeout = deadline_first ? std::chrono::ceil<milliseconds>(*left) : request.timeout;
    within.lost = run.stop();
    within.grace_when_lost = std::min<milliseconds>(std::chrono::seconds{5}, request.lease / 6);
    within.meanwhile = [&] { run.step_in_hand(steps.in_hand()); };
    out.end = supervise(job, caught, within);
  }
  run.step_in_hand(steps.step());
  out.step = steps.text();
  output.settle(caught);
  run.keep(out.end.status.code(), output.tail());
  out.late = left && clock::now() - began >= *left;
  switch (out.end.why) {
    case ended_by::stop:  // nobody asks for that here
    case ended_by::itself: break;
    case ended_by::timeout: out.why = deadline_first ? cause::deadline : cause::timeout; break;
    // The renewal may know of the deadline before we do.
    case ended_by::loss: out.why = out.late ? cause::deadline : cause::loss; break;
  }
  return out;
}

/// The library tries to record for as long as a lease; a database that hangs gets little more.
void arm(exit_watchdog& guard, ending const& ending, run_request const& request,
         std::string const& run_name) {
  constexpr milliseconds margin = std::chrono::seconds{10};
  bool const loss = ending.why == cause::loss;
  auto const& status = ending.end.status;
  int code = status.success() ? exit_code::unreachable : status.code();
  if (loss) code = exit_code::lost;
  if (ending.why == cause::timeout || ending.why == cause::deadline) code = exit_code::timed_out;
  guard.arm(
      loss ? margin : request.lease + margin, code,
      fmt::format("{}: {}; not recorded: the database does not answer", run_name, status.text()));
}

/// The exit code; `pass_on` is for when all is closed.
int run_once(run_request const& request, interrupt& pass_on) {
  daybook::process const name{request.name};
  daybook::key const piece = request.key ? daybook::key{*request.key} : daybook::key{};
  auto const who = name_of(name, piece);
  exit_watchdog guard;
  teller watch;
  daybook::book_options options;
  options.lease = request.lease;
  options.observer = &watch;
  auto const until = clock::now() + request.wait;
  // A signal ends us while we connect, which may take long: it is caught between two tries only.
  auto book = when_reachable(
      request, until, who, [&] { return open_book(request.where, options); },
      [](milliseconds length) {
        signals meanwhile;
        return wait_for(length, meanwhile);
      });
  signals caught;
  auto started = start(book, name, piece, request, until, caught);
  if (!started.run) return started.code;
  std::optional<ending> ending;
  try {
    ending = supervised(*started.run, request, caught);
  } catch (complaint const& e) {
    started.run->keep(e.code(), {});
    record_failure(std::move(*started.run), e.what(), who, e.code());
    throw;
  }
  pass_on = ending->end.pass_on;
  arm(guard, *ending, request, who);
  return settle(std::move(*started.run), *ending, request, who);
}

}  // namespace

int run(arguments const& given) {
  // Whoever read our words may be gone, and what came of the command is to be recorded all the
  // same; the command gets it as we were given it.
  std::signal(SIGPIPE, SIG_IGN);
  auto const what = read_run(given);
  auto pass_on = interrupt::none;
  int const code = run_once(what, pass_on);
  pass_interrupt_on(pass_on);
  return code;
}

}  // namespace command
