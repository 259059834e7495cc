// A worker under torture: opens a book and does the job under one key, or many jobs until it is
// asked to end. The driver kills and stops it; DAYBOOK_FAILPOINT says where it does so itself.
//
//   torture_worker URL KEY --outside FILE [--prefix P] [--lease MS] [--real-clock] [--migrate]
//                  [--reverse] [--again] [--wait MS] [--step-ms MS] [--deadline MS] [--probe]
//                  [--decline] [--decide] [--insist] [--loop SEED KEYS TALLY]
#include "base/failpoint.hpp"
#include "proof/torture/job.hpp"
#include "proof/torture/runs/outside.hpp"

#include <daybook/daybook.hpp>
#include <daybook/testing.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

using daybook::outcome;
using std::chrono::milliseconds;
using torture::ending;
using torture::tally;

struct settings {
  std::string url;
  std::string key;
  std::string prefix = "daybook_";
  milliseconds lease{1000};
  milliseconds wait{0};  ///< for a key that is held elsewhere
  milliseconds step{0};  ///< how long an effect takes
  bool real_clock = false;
  bool migrate = false;
  bool reverse = false;
  bool again = false;                    ///< also where the key has succeeded before
  bool probe = false;                    ///< of the at-most-once step: asks outside
  bool decline = false;                  ///< that step says "not done" the first time
  bool decide = false;                   ///< as a person does, where its outcome is unknown
  bool insist = false;                   ///< renews and starts again, once, after an error
  std::optional<milliseconds> deadline;  ///< works only when it is past
  std::string outside_file;
  bool loop = false;
  unsigned seed = 0;
  int keys = 0;
  std::string tally_file;
};

[[noreturn]] void usage() {
  std::fputs("torture_worker: see the head of worker.cpp\n", stderr);
  std::exit(static_cast<int>(ending::usage));
}

int number(std::string_view text) {
  int out = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (problem != std::errc{} || end != text.data() + text.size()) usage();
  return out;
}

settings parse(std::vector<std::string> const& words) {
  if (words.size() < 2) usage();
  settings out;
  out.url = words[0];
  out.key = words[1];
  std::array<std::pair<std::string_view, bool*>, 8> const switches{{
      {"--real-clock", &out.real_clock},
      {"--migrate", &out.migrate},
      {"--reverse", &out.reverse},
      {"--again", &out.again},
      {"--probe", &out.probe},
      {"--decline", &out.decline},
      {"--decide", &out.decide},
      {"--insist", &out.insist},
  }};
  for (std::size_t at = 2; at < words.size(); ++at) {
    auto const& word = words[at];
    auto const found = std::find_if(switches.begin(), switches.end(),
                                    [&](auto const& one) { return one.first == word; });
    if (found != switches.end()) {
      *found->second = true;
      continue;
    }
    auto const next = [&]() -> std::string const& {
      if (++at >= words.size()) usage();
      return words[at];
    };
    if (word == "--prefix") {
      out.prefix = next();
    } else if (word == "--lease") {
      out.lease = milliseconds(number(next()));
    } else if (word == "--wait") {
      out.wait = milliseconds(number(next()));
    } else if (word == "--step-ms") {
      out.step = milliseconds(number(next()));
    } else if (word == "--deadline") {
      out.deadline = milliseconds(number(next()));
    } else if (word == "--outside") {
      out.outside_file = next();
    } else if (word == "--loop") {
      out.loop = true;
      out.seed = static_cast<unsigned>(number(next()));
      out.keys = number(next());
      out.tally_file = next();
    } else {
      usage();
    }
  }
  if (out.outside_file.empty()) usage();
  return out;
}

/// As the background does: a renewal that failed is tried again. A process that was declared
/// dead goes on here, for what it writes then is what the fence is for.
void renew(daybook::book& book) {
  for (int tries = 0;; ++tries) {
    try {
      static_cast<void>(daybook::testing::renew(book));
      return;
    } catch (daybook::error const& e) {
      bool const passing = e.retryable() || e.breaks_connection() || e.in_doubt();
      if (tries == 5 || !passing) throw;
    }
  }
}

outcome effect(daybook::run& run, int index, milliseconds length) {
  auto const name = torture::step_name(index);
  // Both places of the fence, so that each failpoint meets both.
  daybook::step_options const options{.fence = index % 2 == 0 ? daybook::fence_position::first
                                                              : daybook::fence_position::last};
  return run
      .step(name, options,
            [&](daybook::transaction& tx) {
              tx.exec(
                  "insert into effect(process, run_key, run_no, step, epoch, attempt, pid) "
                  "values (:process, :run_key, :run_no, :step, :epoch, :attempt, :pid)",
                  run.process_name().str(), run.run_key().str(), run.number(), name, run.epoch(),
                  run.attempt(), std::int64_t{::getpid()});
              std::this_thread::sleep_for(length);
            })
      .what();
}

/// What both steps outside carry.
constexpr std::int64_t receipt = 7;

outcome with_receipt(daybook::step_result<std::int64_t> const& answer) {
  if (answer && answer.value() != receipt) throw std::logic_error("what a step carried is lost");
  return answer.what();
}

class abroad {
 public:
  abroad(daybook::run& run, torture::outside& world) : run_(&run), world_(&world) {}

  outcome send() const {
    return with_receipt(run_->at_least_once(torture::sent_step, [&](daybook::effect const& with) {
      world_->accept(call(torture::sent_step, with));
      return receipt;
    }));
  }

  outcome pay(bool probes, bool& declines) const {
    auto const body = [&](daybook::effect const& with) {
      if (std::exchange(declines, false)) throw daybook::not_done("declined");
      if (!world_->accept(call(torture::paid_step, with))) throw daybook::not_done("refused");
      return receipt;
    };
    auto const probe = [&](daybook::effect const& with) {
      bool const done =
          world_->ask(torture::paid_step, run_->run_key().str(), run_->number(), with.attempt());
      return done ? daybook::probe_result<std::int64_t>::done(receipt)
                  : daybook::probe_result<std::int64_t>::not_done();
    };
    return with_receipt(probes ? run_->at_most_once(torture::paid_step, body, probe)
                               : run_->at_most_once(torture::paid_step, body));
  }

  /// Where the receiver refuses, somebody has asked for a later attempt.
  outcome pay_insistently(bool probes, bool declines) const {
    for (;;) {
      bool const declined_now = declines;
      try {
        return pay(probes, declines);
      } catch (daybook::not_done const&) {
        if (!declined_now || run_->stop().stop_requested()) return outcome::lost;
      }
    }
  }

 private:
  [[nodiscard]] torture::call call(std::string const& step, daybook::effect const& with) const {
    return {step,       run_->run_key().str(), run_->number(), with.attempt(), run_->epoch(),
            ::getpid(), with.idempotency_key()};
  }

  daybook::run* run_;
  torture::outside* world_;
};

/// Once for the renewal to write, once by hand, as the children of a process do.
outcome tell_progress(daybook::book& book, daybook::run& run) {
  run.progress(1, torture::all_steps, "the first step");
  auto child = book.attach(run.token());
  if (!child) return outcome::lost;
  child->progress(2, torture::all_steps);
  return outcome::done;
}

std::vector<int> order(bool reverse) {
  std::vector<int> out;
  for (int at = 1; at <= torture::effect_steps; ++at) out.push_back(at);
  if (reverse) std::reverse(out.begin(), out.end());
  return out;
}

bool went_on(outcome what) { return what == outcome::done || what == outcome::skipped; }

/// A new run after a success begins at its first step.
void check_fresh(daybook::run const& run) {
  if (run.resumed()) return;
  bool done = run.stored_value(torture::carried_name).has_value();
  for (int const index : order(false)) done = done || run.done(torture::step_name(index));
  if (done || run.done(torture::paid_step)) {
    throw std::logic_error("a new run remembers steps of another");
  }
}

/// done; or why it was no more.
outcome all_steps(daybook::book& book, daybook::run& run, settings const& how,
                  torture::outside& world) {
  check_fresh(run);
  abroad const others(run, world);
  int done = 0;
  auto what = outcome::done;
  auto const go_on = [&](outcome now) { return went_on(what = now); };
  for (int const index : order(how.reverse)) {
    if (!go_on(effect(run, index, how.step))) return what;
    ++done;
    if (done == 1) {
      if (!how.real_clock) renew(book);
      if (!go_on(run.set_value(torture::carried_name, std::to_string(run.epoch())).what()))
        return what;
      if (!go_on(tell_progress(book, run))) return what;
    }
    if (done != 2) continue;
    if (!go_on(run.record(torture::recorded_step).what())) return what;
    if (!go_on(others.send())) return what;
    if (!go_on(others.pay_insistently(how.probe, how.decline))) return what;
  }
  return outcome::done;
}

ending of(outcome what) {
  if (what == outcome::unknown) return ending::unknown;
  return what == outcome::done ? ending::finished : ending::lost;
}

ending one_attempt(daybook::book& book, daybook::run run, settings const& how,
                   torture::outside& world) {
  // The library watches a deadline by its host's clock, which nothing can move.
  if (how.deadline) std::this_thread::sleep_for(*how.deadline + milliseconds(1));
  auto const what = all_steps(book, run, how, world);
  return of(what == outcome::done ? std::move(run).finish().what() : what);
}

ending one_job(settings how) {
  torture::outside world(how.outside_file);
  daybook::book book(how.url, {.prefix = how.prefix,
                               .lease = how.lease,
                               .renew_in_background = how.real_clock,
                               .movable_clock = !how.real_clock});
  if (how.migrate) book.migrate();
  daybook::key const piece{how.key};
  bool could_not_end = false;
  auto const until = std::chrono::steady_clock::now() + how.wait;
  for (;;) {
    auto attempt = book.start(daybook::process{torture::process_name}, piece,
                              {.once = !how.again, .deadline = how.deadline});
    bool unknown = false;
    if (attempt) {
      try {
        auto const came = one_attempt(book, std::move(attempt).take(), how, world);
        unknown = came == ending::unknown;
        if (!unknown || !how.decide) return came;
      } catch (daybook::error const&) {
        if (!std::exchange(how.insist, false)) throw;
        could_not_end = true;
      }
    } else if (attempt.why() == daybook::start_refusal::done_before) {
      return ending::done_before;
    } else if (attempt.why() == daybook::start_refusal::unknown_outcome) {
      if (!how.decide) return ending::unknown;
      unknown = true;
    }
    if (could_not_end) renew(book);  // which lets go of it
    if (unknown && torture::decide(book, piece, world)) continue;
    if (std::chrono::steady_clock::now() >= until) return ending::busy;
    std::this_thread::sleep_for(milliseconds(10));
  }
}

std::atomic<bool> asked_to_end = false;

tally of_many(outcome what) { return what == outcome::unknown ? tally::unknown : tally::lost; }

/// What lies between the steps with an effect. done: go on.
outcome between(daybook::book& book, daybook::run& run, torture::outside& world,
                std::minstd_rand& dice) {
  auto const up_to = [&](int most) { return std::uniform_int_distribution<int>(0, most)(dice); };
  abroad const others(run, world);
  if (up_to(3) == 0) renew(book);
  std::this_thread::sleep_for(milliseconds(up_to(5)));
  if (up_to(2) == 0) {
    auto const told = tell_progress(book, run);
    if (told != outcome::done) return told;
  }
  auto what = run.done(torture::sent_step) ? outcome::skipped : others.send();
  if (!went_on(what) || run.done(torture::paid_step)) return went_on(what) ? outcome::done : what;
  what = others.pay_insistently(up_to(3) > 0, up_to(9) == 0);
  return went_on(what) ? outcome::done : what;
}

tally one_of_many(daybook::book& book, daybook::key const& piece, torture::outside& world,
                  std::minstd_rand& dice) {
  auto const up_to = [&](int most) { return std::uniform_int_distribution<int>(0, most)(dice); };
  std::optional<milliseconds> deadline;
  if (up_to(7) == 0) deadline = milliseconds(5 + up_to(40));
  auto attempt = book.start(daybook::process{torture::process_name}, piece, {.deadline = deadline});
  if (!attempt) {
    std::this_thread::sleep_for(milliseconds(1 + up_to(5)));
    return tally::busy;
  }
  auto run = std::move(attempt).take();
  check_fresh(run);
  auto what = run.set_value(torture::carried_name, std::to_string(run.epoch())).what();
  if (what != outcome::done) return of_many(what);
  int const abroad_after = up_to(torture::effect_steps - 1);
  int done = 0;
  for (int const index : order(up_to(1) == 1)) {
    if (what = effect(run, index, milliseconds(up_to(3))); !went_on(what)) return of_many(what);
    if (done++ == abroad_after) {
      if (what = between(book, run, world, dice); what != outcome::done) return of_many(what);
    }
    if (up_to(30) == 0) return tally::given_back;  // dropped: somebody resumes it
  }
  if (what = run.record(torture::recorded_step).what(); !went_on(what)) return of_many(what);
  int const how = up_to(9);
  if (how == 0) return std::move(run).fail("on purpose") ? tally::given_back : tally::lost;
  if (how == 1) return std::move(run).release("on purpose") ? tally::given_back : tally::lost;
  what = std::move(run).finish().what();
  return what == outcome::done ? tally::finished : of_many(what);
}

void append(int file, tally what) {
  auto const letter = static_cast<char>(what);
  if (::write(file, &letter, 1) != 1) std::abort();
}

ending many_jobs(settings const& how) {
  std::signal(SIGTERM, [](int) { asked_to_end = true; });
  int const file = ::open(how.tally_file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) usage();
  daybook::book book(how.url, {.prefix = how.prefix,
                               .lease = how.lease,
                               .renew_in_background = false,
                               .movable_clock = true});
  torture::outside world(how.outside_file);
  std::minstd_rand dice(how.seed);
  while (!asked_to_end) {
    daybook::key const piece(how.key + std::to_string(dice() % static_cast<unsigned>(how.keys)));
    try {
      append(file, one_of_many(book, piece, world, dice));
    } catch (daybook::error const& e) {
      // Under faults a call may give up; what it leaves behind is checked in the ledger.
      append(file, tally::error);
      std::fprintf(stderr, "%s: %s\n", e.statement().c_str(), e.what());
      if (e.kind() == daybook::error_code::unreachable)
        std::this_thread::sleep_for(milliseconds(20));
    }
  }
  ::close(file);
  return ending::finished;
}

}  // namespace

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto const how = parse({argv + 1, argv + argc});
  try {
    daybook::testing::arm_from_environment();
    auto const came = how.loop ? many_jobs(how) : one_job(how);
    bool const left = daybook::base::failpoint_armed || std::getenv(torture::then_variable);
    // In a mix a failpoint is one fault among others; it may lie on a path not taken.
    return static_cast<int>(left && !how.loop ? ending::not_reached : came);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    bool const left = daybook::base::failpoint_armed || std::getenv(torture::then_variable);
    return static_cast<int>(left ? ending::not_reached : ending::error);
  }
}
