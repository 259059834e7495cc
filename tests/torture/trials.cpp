#include "torture/trials.hpp"

#include <array>
#include <csignal>
#include <thread>

namespace torture {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds patience = 30s;
/// Of workers that are stopped: so long, too, their open transactions keep locks.
constexpr milliseconds short_lease = 1s;
/// Of their heirs, which must not be taken over while they wait for the zombie.
constexpr milliseconds long_lease = 60s;
constexpr std::chrono::microseconds a_jump = 1h;

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
  bool const holds = room == "renew" || room == "step" || room == "record" || room == "end" ||
                     room == "resolve" || failpoint == "start.committed";
  return holds ? ending::lost : ending::busy;
}

/// Where the doubt comes from: the COMMIT's reply is lost, or the COMMIT itself.
std::array<std::string, 4> const sources{"step.committed", "step.before_commit", "end.committed",
                                         "end.before_commit"};

}  // namespace

unsigned variants_of(std::string const& failpoint) {
  if (room_of(failpoint) == "step") return effect_steps;
  if (room_of(failpoint) == "resolve") return sources.size();
  return 1;
}

lane::lane(support::engine const& on, std::string worker, report& to, bool real_clock)
    : worker_(std::move(worker)),
      report_(&to),
      database_(on),
      book_(database_.open(options(real_clock))),
      dialect_(book_.dialect()) {
  make_ledger(database_, dialect_);
}

std::vector<std::string> lane::words(trial const& of, std::vector<std::string> const& more) const {
  std::vector<std::string> out{worker_,    database_.url(), of.key,
                               "--prefix", of.prefix,       "--migrate"};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

void lane::fail(trial const& of, std::string const& what, child const& who) {
  report_->failure(of.name + ": " + what + "; it said: " + who.words());
}

/// SQLite has one writer: stopped there, it stops everybody (guarantees 4.4).
bool lane::writes_alone(std::string const& failpoint) const {
  return dialect_ == "sqlite" && place_of(failpoint) != "committed";
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
  unsigned const skip = room == "step" ? variant : 0;
  auto const what = failpoint + "=" + action + ":" + std::to_string(skip);
  if (room == "resolve") {
    out.source = sources.at(variant);
    unsigned const later = out.source.starts_with("step") ? below(3, dice) : 0;
    out.armed = {{"DAYBOOK_FAILPOINT", out.source + "=cut:" + std::to_string(later)},
                 {then_variable, what}};
  } else {
    out.armed = {{"DAYBOOK_FAILPOINT", what}};
  }
  out.no_step_left = room == "end" || out.source.starts_with("end") || skip + 1 == effect_steps;
  out.name = out.key + " (" + what + (out.source.empty() ? "" : " after " + out.source) + ")";
  return out;
}

/// Leaves the key held by a process that is dead, for the take-over's failpoints.
void lane::bury_a_holder(trial const& of) {
  child first(words(of), {{"DAYBOOK_FAILPOINT", "step.committed=kill"}});
  if (auto const came = first.wait(patience); came.what != child::state::killed) {
    fail(of, "the first holder " + came.text(), first);
  }
  past_the_lease(of);
}

void lane::one(std::string const& failpoint, std::string const& action, unsigned variant,
               std::minstd_rand& dice) {
  auto const what = prepare(failpoint, action, variant, dice);
  auto const room = room_of(failpoint);
  if (room == "mark_dead" || room == "free") bury_a_holder(what);
  if (action == "kill") {
    killed(what);
  } else if (action != "stop") {
    ends_by_itself(what);
  } else if (writes_alone(failpoint)) {
    stopped_while_writing(what, dice);
  } else {
    stopped(what);
  }
  finish(what);
  report_->trial(action);
}

/// A cut connection is the library's own business: the job gets done. A thrown error is the
/// caller's, and leaves a run that the next start resumes.
void lane::ends_by_itself(trial const& of) {
  child worker(words(of, {"--lease", "10000"}), of.armed);
  auto const came = worker.wait(patience);
  bool const thrown = of.action == "fail" && room_of(of.failpoint) != "stop";
  if (came.is(thrown ? ending::error : ending::finished)) {
    report_->hit(of.failpoint, of.action);
  } else {
    fail(of, "the worker " + came.text(), worker);
  }
}

void lane::killed(trial const& of) {
  child worker(words(of, {"--lease", "10000"}), of.armed);
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
void lane::stopped(trial const& of) {
  child zombie(words(of, {"--lease", std::to_string(short_lease.count())}), of.armed);
  if (auto const came = zombie.wait(patience); came.what != child::state::stopped) {
    return fail(of, "the worker " + came.text(), zombie);
  }
  report_->hit(of.failpoint, of.action);
  past_the_lease(of);
  child heir(
      words(of, {"--reverse", "--wait", "20000", "--lease", std::to_string(long_lease.count())}),
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
  if (!in_hand) return;
  heir.go_on();
  if (auto const last = heir.wait(patience); !last.is(ending::finished)) {
    fail(of, "the heir " + last.text(), heir);
  }
}

/// Nobody can write, not even the clock, until it goes on: after a bounded time it does, among
/// others that wait for it.
void lane::stopped_while_writing(trial const& of, std::minstd_rand& dice) {
  child worker(words(of, {"--lease", "10000"}), of.armed);
  if (auto const came = worker.wait(patience); came.what != child::state::stopped) {
    return fail(of, "the worker " + came.text(), worker);
  }
  report_->hit(of.failpoint, of.action);
  child other(words(of, {"--reverse", "--wait", "20000", "--lease", "10000"}));
  // Where the end is committed already, it only reads, and is not stopped with it.
  auto const beside = other.wait(milliseconds(50 + below(200, dice)));
  if (beside.what != child::state::silent && !beside.is(ending::done_before)) {
    fail(of, "another " + beside.text(), other);
  }
  worker.go_on();
  for (auto* const one : {&worker, &other}) {
    auto const came = one->wait(patience);
    bool const good =
        came.is(ending::finished) || came.is(ending::done_before) || came.is(ending::busy);
    if (!good) fail(of, "a worker " + came.text(), *one);
  }
}

/// Healed: a clean worker finishes what is left, and everything must be right.
void lane::finish(trial const& of) {
  settle(of);
  report_->add(check(database_, dialect_, of.prefix, of.key, moment::at_the_end), of.name);
}

void lane::settle(trial const& of, std::vector<std::string> more) {
  more.insert(more.end(), {"--lease", "10000"});
  auto const until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    child clean(words(of, more));
    auto const came = clean.wait(patience);
    if (came.is(ending::finished) || came.is(ending::done_before)) return;
    if (!came.is(ending::busy)) return fail(of, "a clean worker " + came.text(), clean);
    if (std::chrono::steady_clock::now() >= until) return fail(of, "no end of busy", clean);
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
    child clean(own({"--wait", "10000"}));
    auto const came = clean.wait(patience);
    if (came.is(ending::finished) || came.is(ending::done_before)) break;
    if (!came.is(ending::busy)) return fail(of, "a clean worker " + came.text(), clean);
  }
  report_->add(check(database_, dialect_, of.prefix, of.key, moment::at_the_end), of.name);
  report_->trial("real stop");
}

}  // namespace torture
