#include "proof/torture/runs/trials.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <set>
#include <thread>

#include <unistd.h>

namespace torture {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds patience = 30s;
/// Of workers that are stopped: so long, too, their open transactions keep locks.
constexpr milliseconds short_lease = 1s;
constexpr milliseconds usual_lease = 10s;
/// Of their heirs, which must not be taken over while they wait for the zombie.
constexpr milliseconds long_lease = 60s;
constexpr std::chrono::microseconds a_jump = 1h;
/// Once nothing more goes wrong: of the dead holder, and of one whom a person has waited for.
constexpr int most_leases = 2;
/// A deadline runs by the host's clock, too.
constexpr char const* short_deadline = "40";

daybook::book_options options(bool real_clock) {
  return {.lease = long_lease, .renew_in_background = false, .movable_clock = !real_clock};
}

/// 0 to `end` - 1.
unsigned below(unsigned end, std::minstd_rand& dice) {
  return std::uniform_int_distribution<unsigned>(0, end - 1)(dice);
}

std::string place_of(std::string const& failpoint) {
  return failpoint.substr(failpoint.find('.') + 1);
}
std::string room_of(std::string const& failpoint) {
  return failpoint.substr(0, failpoint.find('.'));
}

/// How a worker ends that was stopped there, and continued when an heir had the run in hand.
ending expected_of_zombie(std::string const& failpoint, std::string const& source) {
  auto const room = room_of(failpoint);
  // The end had committed before: there was nothing left to lose.
  bool const ended = failpoint == "end.committed" || room == "stop" || source == "end.committed";
  if (ended) return ending::finished;
  static std::set<std::string> const of_a_holder{"renew",    "step",     "record",  "intend",
                                                 "effect",   "abandon",  "unknown", "carry",
                                                 "progress", "deadline", "end",     "resolve"};
  bool const holds = of_a_holder.contains(room) || failpoint == "start.committed";
  return holds ? ending::lost : ending::busy;
}

/// Where the doubt comes from: the COMMIT's reply is lost, or the COMMIT itself.
std::array<std::string, 6> const sources{"step.committed",   "step.before_commit",
                                         "end.committed",    "end.before_commit",
                                         "intend.committed", "carry.committed"};

/// Of those that a worker passes at several steps: which it is. Steps are recorded by hand, and
/// after both kinds of effect outside.
std::array<std::string, 3> const recorded_by{recorded_step, sent_step, paid_step};
std::array<std::string, 2> const outside_steps{sent_step, paid_step};

bool is_at_payment(std::string const& failpoint, unsigned variant, std::string const& source) {
  auto const room = room_of(failpoint);
  if (room == "effect") return outside_steps.at(variant) == paid_step;
  if (room == "record") {
    return recorded_by.at(variant) == paid_step && place_of(failpoint) != "committed";
  }
  if (room == "abandon") return place_of(failpoint) != "committed";
  return failpoint == "intend.committed" || source == "intend.committed" || room == "unknown";
}

/// How a worker ends that nothing worse happens to than an error or a cut connection. A cut is
/// the library's own business: the job gets done. A thrown error is the caller's, and leaves a run
/// that the next start resumes.
ending expected_by_itself(std::string const& room, bool thrown, bool settled_by_probe) {
  if (room == "deadline") return ending::lost;
  bool const nobodys = room == "stop" || room == "disown" || settled_by_probe;
  if (thrown && !nobodys) return ending::error;
  return room == "unknown" ? ending::unknown : ending::finished;
}

}  // namespace

unsigned variants_of(std::string const& failpoint) {
  auto const room = room_of(failpoint);
  if (room == "step") return effect_steps;
  if (room == "resolve") return sources.size();
  if (room == "record") return recorded_by.size();
  return room == "effect" ? outside_steps.size() : 1;
}

bool differs(std::string const& failpoint, std::string const& action, unsigned variant) {
  auto const room = room_of(failpoint);
  return action != "fail" || variant == 0 || (room != "step" && room != "resolve");
}

lane::lane(support::engine const& on, std::string worker, report& to, bool real_clock)
    : worker_(std::move(worker)),
      report_(&to),
      database_(on),
      book_(database_.open(options(real_clock))),
      dialect_(book_.dialect()),
      outside_file_(std::filesystem::temp_directory_path() /
                    ("torture_" + std::to_string(::getpid()) + "_" +
                     std::to_string(reinterpret_cast<std::uintptr_t>(this)))),
      world_(outside_file_) {
  make_ledger(database_, dialect_);
}

lane::~lane() { std::filesystem::remove(outside_file_); }

std::vector<std::string> lane::words(trial const& of, std::vector<std::string> const& more) const {
  std::vector<std::string> out{worker_,   database_.url(), of.key,      "--prefix",
                               of.prefix, "--migrate",     "--outside", outside_file_};
  if (of.probe) out.emplace_back("--probe");
  out.insert(out.end(), of.of_all.begin(), of.of_all.end());
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

std::vector<std::string> lane::first_words(trial const& of, milliseconds lease) const {
  auto more = of.way;
  more.insert(more.end(), {"--lease", std::to_string(lease.count())});
  return words(of, more);
}

std::vector<std::string> lane::heirs_words(trial const& of, milliseconds lease) const {
  return words(of, {"--reverse", "--wait", "20000", "--lease", std::to_string(lease.count())});
}

void lane::fail(trial const& of, std::string const& what, child const& who) {
  report_->failure(of.name + ": " + what + "; it said: " + who.words());
}

/// SQLite has one writer: stopped there, it stops everybody (guarantees 4.4).
bool lane::writes_alone(std::string const& failpoint) const {
  return dialect_ == "sqlite" && place_of(failpoint) != "committed" && failpoint != "effect.done";
}

void lane::past_the_lease(trial const& of) {
  // A book of a migration's own has no lease to wait for, nor perhaps a clock.
  if (room_of(of.failpoint) == "migrate") return;
  daybook::testing::manual_clock(book_).advance(a_jump);
}

lane::trial lane::prepare(std::string const& failpoint, std::string const& action, unsigned variant,
                          std::minstd_rand& dice) {
  trial out;
  out.failpoint = failpoint;
  out.action = action;
  out.key = "k" + std::to_string(++number_) + "." + failpoint + "." + action;
  auto const room = room_of(failpoint);
  if (room == "migrate") out.prefix = "m" + std::to_string(number_) + "_";
  unsigned const skip = room == "resolve" ? 0 : variant;
  auto const what = failpoint + "=" + action + ":" + std::to_string(skip);
  if (room == "resolve") {
    out.source = sources.at(variant);
    // MariaDB's driver has a word for the session before the COMMIT of a step: who is cut off
    // before it is in no doubt, and resolves nothing.
    bool const in_no_doubt = dialect_ == "mysql" && out.source == "step.before_commit";
    if (in_no_doubt) out.source = "step.committed";
    unsigned const later = out.source.starts_with("step") ? below(3, dice) : 0;
    out.armed = {{"DAYBOOK_FAILPOINT", out.source + "=cut:" + std::to_string(later)},
                 {then_variable, what}};
  } else {
    out.armed = {{"DAYBOOK_FAILPOINT", what}};
  }
  bool const last_step = room == "step" && skip + 1 == effect_steps;
  out.no_step_left =
      room == "end" || room == "disown" || out.source.starts_with("end") || last_step;
  out.at_payment = is_at_payment(failpoint, variant, out.source);
  out.probe = room != "unknown" && room != "operate" && below(2, dice) == 0;
  find_the_way(out);
  out.name = out.key + " (" + what + (out.source.empty() ? "" : " after " + out.source) + ")";
  return out;
}

/// Places off the straight way.
void lane::find_the_way(trial& to) {
  auto const room = room_of(to.failpoint);
  if (room == "abandon") to.way = {"--decline"};
  if (room == "deadline") to.way = {"--deadline", short_deadline};
  if (room == "operate") to.of_all = {"--decide"};
  if (room != "disown") return;
  // An end that fails leaves the run to be let go of with what comes next.
  to.armed = {{"DAYBOOK_FAILPOINT", "end.begun=fail"},
              {then_variable, to.failpoint + "=" + to.action}};
  to.way = {"--insist"};
  if (to.action != "stop") to.way.insert(to.way.end(), {"--wait", "5000"});
}

/// Leaves the key held by a process that is dead, for the take-over's failpoints.
void lane::bury_a_holder(trial const& of, std::string const& at) {
  child first(words(of), {{"DAYBOOK_FAILPOINT", at + "=kill"}});
  if (auto const came = first.wait(patience); came.what != child::state::killed) {
    fail(of, "the first holder " + came.text(), first);
  }
  past_the_lease(of);
}

/// Leaves a run to a person.
void lane::leave_it_unknown(trial const& of) {
  auto nobody_decides = of;
  nobody_decides.of_all.clear();
  child heir(words(nobody_decides));
  if (auto const came = heir.wait(patience); !came.is(ending::unknown)) {
    fail(of, "the first heir " + came.text(), heir);
  }
}

void lane::one(std::string const& failpoint, std::string const& action, unsigned variant,
               std::minstd_rand& dice) {
  auto const what = prepare(failpoint, action, variant, dice);
  auto const room = room_of(failpoint);
  if (room == "mark_dead" || room == "free") bury_a_holder(what, "step.committed");
  if (room == "unknown" || room == "operate") bury_a_holder(what, "intend.committed");
  if (room == "operate") leave_it_unknown(what);
  bool over = false;
  if (action == "kill") {
    killed(what);
  } else if (action != "stop") {
    over = ends_by_itself(what);
  } else if (writes_alone(failpoint)) {
    stopped_while_writing(what, dice);
  } else {
    over = stopped(what);
  }
  finish(what, over);
  report_->trial(action);
}

bool lane::ends_by_itself(trial const& of) {
  child worker(first_words(of, usual_lease), of.armed);
  auto const came = worker.wait(patience);
  bool const settled = of.failpoint == "effect.done" && of.at_payment && of.probe;
  if (came.is(expected_by_itself(room_of(of.failpoint), of.action == "fail", settled))) {
    report_->hit(of.failpoint, of.action);
  } else {
    fail(of, "the worker " + came.text(), worker);
  }
  return came.is(ending::finished);
}

void lane::killed(trial const& of) {
  child worker(first_words(of, usual_lease), of.armed);
  auto const came = worker.wait(patience);
  if (came.what == child::state::killed && came.code == SIGKILL) {
    report_->hit(of.failpoint, of.action);
  } else {
    fail(of, "the worker " + came.text(), worker);
  }
  past_the_lease(of);
}

/// Stopped; its lease ends; an heir takes over, does a step and is held there; the zombie goes
/// on, and tries to write what the heir has not done yet; then the heir does the rest.
bool lane::stopped(trial const& of) {
  child zombie(first_words(of, short_lease), of.armed);
  if (auto const came = zombie.wait(patience); came.what != child::state::stopped) {
    fail(of, "the worker " + came.text(), zombie);
    return false;
  }
  report_->hit(of.failpoint, of.action);
  past_the_lease(of);
  child heir(
      heirs_words(of, long_lease),
      {{"DAYBOOK_FAILPOINT", of.no_step_left ? "start.committed=stop" : "step.committed=stop"}});
  auto const expected = expected_of_zombie(of.failpoint, of.source);
  auto const arrived = heir.wait(patience);
  bool const in_hand = arrived.what == child::state::stopped;
  if (in_hand == (expected == ending::finished)) fail(of, "the heir " + arrived.text(), heir);
  zombie.go_on();
  auto const came = zombie.wait(patience);
  if (!came.is(expected)) {
    fail(of,
         "the zombie " + came.text() + " instead of " + std::to_string(static_cast<int>(expected)),
         zombie);
  }
  if (expected == ending::lost) report_->zombies(1);
  if (!in_hand) return came.is(ending::finished);
  heir.go_on();
  bool const nobody_knows = of.at_payment && !of.probe;
  auto const last = heir.wait(patience);
  if (!last.is(nobody_knows ? ending::unknown : ending::finished)) {
    fail(of, "the heir " + last.text(), heir);
  }
  return last.is(ending::finished);
}

/// Nobody can write, not even the clock, until it goes on: after a bounded time it does, among
/// others that wait for it.
void lane::stopped_while_writing(trial const& of, std::minstd_rand& dice) {
  child worker(first_words(of, usual_lease), of.armed);
  if (auto const came = worker.wait(patience); came.what != child::state::stopped) {
    return fail(of, "the worker " + came.text(), worker);
  }
  report_->hit(of.failpoint, of.action);
  child other(heirs_words(of, usual_lease));
  // Where the end is committed already, it only reads, and is not stopped with it.
  auto const beside = other.wait(milliseconds(50 + below(200, dice)));
  if (beside.what != child::state::silent && !beside.is(ending::done_before)) {
    fail(of, "another " + beside.text(), other);
  }
  worker.go_on();
  for (auto* const one : {&worker, &other}) {
    auto const came = one->wait(patience);
    bool const good = came.is(ending::finished) || came.is(ending::done_before) ||
                      came.is(ending::busy) ||
                      (came.is(ending::unknown) && room_of(of.failpoint) == "unknown") ||
                      (came.is(ending::lost) && room_of(of.failpoint) == "deadline");
    if (!good) fail(of, "a worker " + came.text(), *one);
  }
}

/// Healed: a clean worker finishes what is left, and everything must be right.
void lane::finish(trial const& of, bool over) {
  bool const there = room_of(of.failpoint) != "migrate";
  if (!over && there) look_at_all(of, of.key, moment::amid, {});
  if (!over) settle(of);
  look_at_all(of, of.key, moment::at_the_end, of.action);
}

/// Counts under `fault` what was seen outside, when it is given.
void lane::look_at_all(trial const& of, std::string const& keys, moment when,
                       std::string const& fault) {
  seen_outside seen;
  auto found = check_outside(database_, dialect_, of.prefix, keys, world_, when, seen);
  found += check(database_, dialect_, of.prefix, keys, when);
  report_->add(found, of.name);
  if (!fault.empty()) report_->outside(fault, seen);
}

void lane::settle(trial const& of, std::vector<std::string> more) {
  more.insert(more.end(), {"--decide", "--lease", std::to_string(usual_lease.count())});
  auto const until = std::chrono::steady_clock::now() + patience;
  for (int leases = 0;; ++leases) {
    auto const clean =
        run_unharmed([&] { return std::make_unique<child>(words(of, more)); }, patience);
    auto const& came = clean.came;
    if (came.is(ending::finished) || came.is(ending::done_before)) {
      report_->settled_after(leases);
      if (leases > most_leases)
        fail(of, "it took " + std::to_string(leases) + " leases", *clean.who);
      return;
    }
    if (!came.is(ending::busy)) return fail(of, "a clean worker " + came.text(), *clean.who);
    if (std::chrono::steady_clock::now() >= until) return fail(of, "no end of busy", *clean.who);
    past_the_lease(of);
    std::this_thread::sleep_for(20ms);
  }
}

void lane::real_stop(std::string const& failpoint, unsigned skip) {
  constexpr milliseconds lease = 1500ms;
  trial of;
  of.failpoint = failpoint;
  of.key = "real" + std::to_string(++number_);
  of.name = of.key + " " + failpoint + ":" + std::to_string(skip);
  auto const own = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--real-clock", "--lease", std::to_string(lease.count())});
    return words(of, more);
  };
  child zombie(own({"--step-ms", "20"}),
               {{"DAYBOOK_FAILPOINT", failpoint + "=stop:" + std::to_string(skip)}});
  if (auto const came = zombie.wait(patience); came.what != child::state::stopped) {
    return fail(of, "the worker " + came.text(), zombie);
  }
  auto const since = std::chrono::steady_clock::now();
  report_->hit(failpoint, "stop");
  child heir(own({"--reverse", "--wait", "20000"}), {{"DAYBOOK_FAILPOINT", "step.committed=stop"}});
  bool const everybody_waits = writes_alone(failpoint);
  auto const arrived = heir.wait(everybody_waits ? lease * 3 / 2 : patience);
  auto const after =
      std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - since);
  if ((arrived.what == child::state::stopped) == everybody_waits) {
    fail(of, "the heir " + arrived.text(), heir);
  }
  if (!everybody_waits) {
    report_->took_over(after);
    if (after < lease / 2) fail(of, "taken over before the lease was over", heir);
  }
  zombie.go_on();
  if (everybody_waits) {
    // The one writer renews with what it writes: whoever is first, each effect is there once.
    heir.go_on();
    static_cast<void>(zombie.wait(patience));
    if (heir.wait(2s).what == child::state::stopped) heir.go_on();
  } else {
    auto const came = zombie.wait(patience);
    if (!came.is(ending::lost)) fail(of, "the zombie " + came.text(), zombie);
    report_->zombies(1);
    heir.go_on();
  }
  static_cast<void>(heir.wait(patience));
  for (int tries = 0; tries < 100; ++tries) {
    auto const clean = run_unharmed(
        [&] {
          return std::make_unique<child>(own({"--wait", "10000"}));
        },
        patience);
    auto const& came = clean.came;
    if (came.is(ending::finished) || came.is(ending::done_before)) break;
    if (!came.is(ending::busy)) return fail(of, "a clean worker " + came.text(), *clean.who);
  }
  look_at_all(of, of.key, moment::at_the_end, "real stop");
  report_->trial("real stop");
}

}  // namespace torture
