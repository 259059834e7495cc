// Kills, stops and cuts nodes that serve schedules, and checks what became of every tick.
//
//   torture_schedule --engine NAME [--rounds N] [--only TEXT] [--skip N] [--lanes N] [--seed S]
//                                              every failpoint, with each action
//   torture_schedule --engine NAME --seconds N [--nodes N] [--schedules N] [--seed S]
//                                              nodes at random; a server of its own is hurt, and
//                                              away for ten leases
//   ... --worker NAME --expect FLAW            as for torture
//
// --rounds: so often each failpoint with each action; --only: the failpoints whose name has TEXT in
// it; --skip: so many hits of a failpoint pass before it acts, instead of now and then some.
// Exit code: 0 good, 1 violations, 2 only something else that went wrong.
#include "proof/torture/driver.hpp"
#include "proof/torture/schedules/schedule_mix.hpp"
#include "proof/torture/schedules/schedule_trials.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

namespace {

struct settings : torture::driver_settings {
  int rounds = 1;
  int skip = -1;  ///< below 0: as it comes
  int seconds = 0;
  int nodes = 5;
  int schedules = 12;
};

struct job {
  torture::schedule_place at;
  std::string action;
};

/// Each failpoint with each action, in a random order, `how.rounds` times.
std::vector<job> plan(settings const& how, std::minstd_rand& dice) {
  std::vector<job> out;
  for (int round = 0; round < how.rounds; ++round) {
    for (auto at : torture::schedule_places()) {
      if (how.skip >= 0) at.skip = static_cast<unsigned>(how.skip);
      if (at.failpoint.find(how.only) == std::string::npos) continue;
      for (auto const& action : torture::fault_actions) out.push_back({at, action});
    }
  }
  std::shuffle(out.begin(), out.end(), dice);
  return out;
}

void directed(settings const& how, support::engine const& on, torture::schedule_report& to) {
  std::minstd_rand dice(how.seed);
  auto const worker = torture::worker_path(how.worker);
  auto const jobs = plan(how, dice);
  torture::in_lanes(
      how, jobs.size(), dice, to,
      [&] { return std::make_unique<torture::schedule_lane>(on, worker, to); },
      [&](torture::schedule_lane& in, std::size_t at, std::minstd_rand& own) {
        in.one(jobs[at].at, jobs[at].action, own);
      });
  for (auto const& [at, action] : jobs) to.require_hit(at.failpoint, action);
  if (how.only.empty()) torture::schedule_lane(on, worker, to).prune(4 * how.rounds, dice);
}

void at_random(settings const& how, support::engine const& on, torture::schedule_report& to) {
  std::optional<support::private_server> own;
  if (!on.environment.empty()) own.emplace(on);
  if (own) own->use_for_tests();
  torture::schedule_mix({.worker = torture::worker_path(how.worker),
                         .nodes = how.nodes,
                         .schedules = how.schedules,
                         .seconds = std::chrono::seconds{how.seconds}},
                        on, own ? &*own : nullptr, how.seed, to)
      .run();
}

}  // namespace

int main(int argc, char** argv) {
  settings how;
  how.worker = "torture_schedule_worker";
  torture::switches words(how, torture::schedule_flaw_names);
  words.add("--rounds", &how.rounds);
  words.add("--skip", &how.skip);
  words.add("--seconds", &how.seconds);
  words.add("--nodes", &how.nodes);
  words.add("--schedules", &how.schedules);
  if (!words.read({argv + 1, argv + argc})) {
    std::fputs("torture_schedule: see the head of torture_schedule.cpp\n", stderr);
    return 3;
  }
  return torture::drive<torture::schedule_report>(
      how, [&](support::engine const& on, torture::schedule_report& to) {
        how.seconds > 0 ? at_random(how, on, to) : directed(how, on, to);
      });
}
