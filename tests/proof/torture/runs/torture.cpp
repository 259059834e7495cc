// Kills, stops and cuts workers at every failpoint of the library, and checks what they left.
//
//   torture --engine NAME [--trials N] [--faults N] [--lanes N] [--seed S] [--only TEXT]
//   torture --engine NAME --server-faults N    a server of its own is killed, restarted, stopped
//   torture --engine NAME --real-clock         SIGSTOP past the lease, waiting for real
//   ... --worker NAME --expect FLAW            of a library that leaves a rule out: passes when the
//                                              ledger has one of the flaws expected
//
// --trials: of the failpoints, at least each with each action once; --faults: of the random mix;
// --only: the failpoints whose name has TEXT in it. The worker stands beside this program.
// Exit code: 0 good, 1 violations, 2 only something else that went wrong.
#include "proof/torture/driver.hpp"
#include "proof/torture/runs/trials.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace {

struct settings : torture::driver_settings {
  int trials = 0;
  bool real_clock = false;
};

struct job {
  std::string failpoint;
  std::string action;
  unsigned variant;
};

std::unique_ptr<torture::lane> lane(settings const& how, support::engine const& on,
                                    torture::report& to) {
  return std::make_unique<torture::lane>(on, torture::worker_path(how.worker), to);
}

/// Each failpoint with each action at each of its places, in a random order; again and again up
/// to `how.trials`.
std::vector<job> plan(settings const& how, std::minstd_rand& dice) {
  std::vector<job> out;
  do {
    auto const from = static_cast<std::ptrdiff_t>(out.size());
    for (auto const name : torture::run_failpoints()) {
      if (name.find(how.only) == std::string_view::npos) continue;
      for (unsigned at = 0; at < torture::variants_of(std::string(name)); ++at) {
        for (auto const& action : torture::fault_actions) {
          if (torture::differs(std::string(name), action, at)) {
            out.push_back({std::string(name), action, at});
          }
        }
      }
    }
    std::shuffle(out.begin() + from, out.end(), dice);
  } while (!out.empty() && static_cast<int>(out.size()) < how.trials);
  return out;
}

void directed(settings const& how, support::engine const& on, torture::report& to) {
  std::minstd_rand dice(how.seed);
  auto const jobs = plan(how, dice);
  torture::in_lanes(
      how, jobs.size(), dice, to, [&] { return lane(how, on, to); },
      [&](torture::lane& in, std::size_t at, std::minstd_rand& own) {
        in.one(jobs[at].failpoint, jobs[at].action, jobs[at].variant, own);
      });
  if (!how.only.empty()) return;
  for (auto const name : torture::run_failpoints()) {
    for (auto const& action : torture::fault_actions) to.require_hit(std::string(name), action);
  }
}

void random_mix(settings const& how, support::engine const& on, torture::report& to) {
  std::minstd_rand dice(how.seed + 1);
  torture::lane one(on, torture::worker_path(how.worker), to);
  one.mix(4, how.faults, dice);
}

void hurt_the_server(settings const& how, support::engine const& on, torture::report& to) {
  torture::hurt_the_server(
      how, on, to, [&] { return lane(how, on, to); },
      [](torture::lane& in, int faults, std::minstd_rand& dice, torture::server_faults& hurts) {
        in.mix(4, faults, dice, &hurts);
      });
}

void by_the_real_clock(settings const& how, support::engine const& on, torture::report& to) {
  torture::lane one(on, torture::worker_path(how.worker), to, true);
  one.real_stop("step.committed", 1);
  one.real_stop("step.effect_done", 2);    // the fence comes last: nothing of the run is locked
  one.real_stop("step.before_commit", 1);  // the run's row is locked
}

void all(settings const& how, support::engine const& on, torture::report& to) {
  if (how.real_clock) return by_the_real_clock(how, on, to);
  if (how.server_faults > 0) return hurt_the_server(how, on, to);
  directed(how, on, to);
  if (how.faults > 0) random_mix(how, on, to);
}

}  // namespace

int main(int argc, char** argv) {
  settings how;
  how.worker = "torture_worker";
  torture::switches words(how, torture::flaw_names);
  words.add("--trials", &how.trials);
  words.add("--real-clock", &how.real_clock);
  if (!words.read({argv + 1, argv + argc})) {
    std::fputs(
        "torture --engine NAME [--trials N] [--faults N] [--lanes N] [--seed S]"
        " [--only TEXT] [--server-faults N] [--real-clock] [--worker NAME] [--expect FLAW]\n",
        stderr);
    return 3;
  }
  return torture::drive<torture::report>(
      how, [&](support::engine const& on, torture::report& to) { all(how, on, to); });
}
