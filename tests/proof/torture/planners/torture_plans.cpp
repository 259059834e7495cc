// Planners of every strategy, and the workers on their tasks: killed, stopped and cut off wherever
// they pass a failpoint; and at random, beside producers that commit late, abort and die.
//
//   torture_plans --engine NAME [--rounds N] [--faults N] [--only TEXT] [--lanes N] [--seed S]
//                                              every failpoint, with each action
//   torture_plans --engine NAME --seconds N [--server-faults N] [--seed S]
//                                              at random; where faults of a server are asked for,
//                                              one of its own is killed, restarted, stopped
//   ... --plans orders,sales,minutes,customers of them these only
//   ... --worker NAME --expect FLAW            as for torture
//
// --rounds: so often each failpoint with each action; --faults: so many of all these only, and of
// those in doubts; --only: the failpoints whose name has TEXT in it. Which failpoints there are,
// and how often each is passed, a trial without a fault says. Exit code: 0 good, 1 violations, 2
// only something else that went wrong.
#include "proof/torture/driver.hpp"
#include "proof/torture/planners/plans_mix.hpp"
#include "proof/torture/planners/plans_trials.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace {

using torture::plans_fault;
using torture::plans_trial;

struct settings : torture::driver_settings {
  unsigned rounds = 1;
  int seconds = 0;
  std::string plans = "all";
};

std::unique_ptr<torture::plans_lane> lane(settings const& how, support::engine const& on,
                                          torture::plans_report& to) {
  return std::make_unique<torture::plans_lane>(on, torture::worker_path(how.worker), how.plans, to);
}

void some_of(std::vector<plans_trial>& all, settings const& how) {
  if (how.faults > 0 && std::cmp_greater(all.size(), how.faults)) {
    all.resize(static_cast<std::size_t>(how.faults));
  }
}

/// Nothing fails between a claim's commit and who has claimed: nobody would know of it.
bool is_meant(std::string const& failpoint, std::string const& action) {
  return failpoint != "claim.committed" || action != "fail";
}

/// Each failpoint with each action, each time at another of the times that it is passed.
std::vector<plans_trial> all_trials(settings const& how, torture::plans_passed const& straight,
                                    std::minstd_rand& dice) {
  std::vector<plans_trial> out;
  for (auto const& [failpoint, times] : straight.before) {
    if (failpoint.find(how.only) == std::string::npos) continue;
    for (auto const& action : torture::fault_actions) {
      if (!is_meant(failpoint, action)) continue;
      auto const first = static_cast<unsigned>(dice());
      for (unsigned round = 0; round < std::min(how.rounds, times); ++round) {
        out.push_back({{failpoint, action, (first + round) % times}});
      }
    }
  }
  std::shuffle(out.begin(), out.end(), dice);
  some_of(out, how);
  return out;
}

using doubts = std::map<std::string, plans_fault>;

/// Runs them in lanes. What is passed only after one has acted: where from.
doubts run(settings const& how, support::engine const& on, std::vector<plans_trial> const& trials,
           torture::plans_passed const& straight, std::minstd_rand& dice,
           torture::plans_report& to) {
  doubts out;
  std::mutex guard;
  torture::in_lanes(
      how, trials.size(), dice, to, [&] { return lane(how, on, to); },
      [&](torture::plans_lane& in, std::size_t at, std::minstd_rand& own) {
        auto trial = trials[at];
        auto const passed = in.one(trial, own);
        std::lock_guard const lock(guard);
        for (auto const& one : passed.after) {
          if (!straight.before.contains(one)) out.emplace(one, trial.first());
        }
      });
  for (auto const& one : trials) to.require_hit(one.failpoint, one.action);
  return out;
}

void directed(settings const& how, support::engine const& on, torture::plans_report& to) {
  std::minstd_rand dice(how.seed);
  auto const straight = lane(how, on, to)->look();
  auto const trials = all_trials(how, straight, dice);
  auto const found = run(how, on, trials, straight, dice, to);
  if (!how.only.empty()) return;
  std::vector<plans_trial> more;
  for (auto const& [failpoint, source] : found) {
    for (auto const& action : torture::fault_actions)
      more.push_back({{failpoint, action, 0}, source});
  }
  std::shuffle(more.begin(), more.end(), dice);
  some_of(more, how);
  // The first claim is the inbox's, of events: what becomes of it must be known to its next pass.
  more.push_back({{"settle_claim.begun", "fail", 0}, plans_fault{"claim.committed", "cut", 0}});
  run(how, on, more, straight, dice, to);
  to.note(std::to_string(straight.before.size()) + " failpoints on the straight way, " +
          std::to_string(found.size()) + " in doubts");
}

void at_random(settings const& how, support::engine const& on, torture::plans_report& to) {
  std::optional<support::private_server> own;
  if (how.server_faults > 0) own.emplace(on);
  if (own) own->use_for_tests();
  torture::plans_mix({.worker = torture::worker_path(how.worker),
                      .plans = how.plans,
                      .seconds = std::chrono::seconds{how.seconds},
                      .server_faults = how.server_faults},
                     on, own ? &*own : nullptr, how.seed, to)
      .run();
}

}  // namespace

int main(int argc, char** argv) {
  settings how;
  how.worker = "plans_worker";
  how.faults = 0;
  torture::switches words(how, torture::plan_flaw_names);
  words.add("--rounds", &how.rounds);
  words.add("--seconds", &how.seconds);
  words.add("--plans", &how.plans);
  if (!words.read({argv + 1, argv + argc})) {
    std::fputs("torture_plans: see the head of torture_plans.cpp\n", stderr);
    return 3;
  }
  return torture::drive<torture::plans_report>(
      how, [&](support::engine const& on, torture::plans_report& to) {
        how.seconds > 0 ? at_random(how, on, to) : directed(how, on, to);
      });
}
