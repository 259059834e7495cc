// Kills, stops and cuts workers at every failpoint of queues, and checks what they left.
//
//   torture_queue --engine NAME [--faults N] [--rounds N] [--keys N] [--lanes N] [--seed S]
//                 [--only TEXT] [--skip N]
//   torture_queue --engine NAME --server-faults N
//                                              a server of its own is killed, restarted, stopped
//   torture_queue --engine NAME --snapshot N [--segment N] [--claim N]
//                                              N tasks are done while a snapshot is held open
//   ... --worker NAME --expect FLAW            as for torture
//
// --rounds: so often each failpoint with each action; --faults: of the random mix, over --keys keys
// in each of two queues; --only: the failpoints whose name has TEXT in it, and no mix;
// --skip: so many hits of a failpoint pass before it acts, instead of now and then some.
// Exit code: 0 good, 1 violations, 2 only something else that went wrong.
#include "proof/torture/driver.hpp"
#include "proof/torture/queues/queue_snapshot.hpp"
#include "proof/torture/queues/queue_trials.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace {

struct settings : torture::driver_settings {
  int rounds = 1;
  int skip = -1;  ///< below 0: as it comes
  int keys = 300;
  int snapshot = 0;
  int segment = 1000;
  int claim = 1000;
};

struct job {
  torture::queue_place at;
  std::string action;
};

std::unique_ptr<torture::queue_lane> lane(settings const& how, support::engine const& on,
                                          torture::queue_report& to) {
  return std::make_unique<torture::queue_lane>(on, torture::worker_path(how.worker), to);
}

/// Each failpoint with each action, in a random order, `how.rounds` times.
std::vector<job> plan(settings const& how, std::string const& dialect, std::minstd_rand& dice) {
  std::vector<job> out;
  for (int round = 0; round < how.rounds; ++round) {
    for (auto at : torture::queue_places(dialect)) {
      if (how.skip >= 0) at.skip = static_cast<unsigned>(how.skip);
      if (at.failpoint.find(how.only) == std::string::npos) continue;
      for (auto const& action : torture::fault_actions) out.push_back({at, action});
    }
  }
  std::shuffle(out.begin(), out.end(), dice);
  return out;
}

void directed(settings const& how, support::engine const& on, torture::queue_report& to) {
  std::minstd_rand dice(how.seed);
  std::string dialect;
  {
    auto const first = lane(how, on, to);
    dialect = first->dialect();
    if (how.only.empty()) first->poison();
  }
  auto const jobs = plan(how, dialect, dice);
  torture::in_lanes(
      how, jobs.size(), dice, to, [&] { return lane(how, on, to); },
      [&](torture::queue_lane& in, std::size_t at, std::minstd_rand& own) {
        in.one(jobs[at].at, jobs[at].action, own);
      });
  for (auto const& [at, action] : jobs) to.require_hit(at.failpoint, action);
}

/// Mixes are short, so that many end and are checked to the last effect.
void random_mix(settings const& how, support::engine const& on, torture::queue_report& to) {
  constexpr int in_a_mix = 50;
  std::minstd_rand dice(how.seed + 1);
  torture::queue_lane one(on, torture::worker_path(how.worker), to);
  for (int left = how.faults; left > 0; left -= in_a_mix) {
    one.mix(6, how.keys, std::min(left, in_a_mix), dice);
  }
}

void hurt_the_server(settings const& how, support::engine const& on, torture::queue_report& to) {
  torture::hurt_the_server(
      how, on, to, [&] { return lane(how, on, to); },
      [&](torture::queue_lane& in, int faults, std::minstd_rand& dice,
          torture::server_faults& hurts) { in.mix(4, how.keys, faults, dice, &hurts); });
}

void all(settings const& how, support::engine const& on, torture::queue_report& to) {
  if (how.server_faults > 0) return hurt_the_server(how, on, to);
  directed(how, on, to);
  if (how.faults > 0 && how.only.empty()) random_mix(how, on, to);
}

}  // namespace

int main(int argc, char** argv) {
  settings how;
  how.worker = "torture_queue_worker";
  how.lanes = 10;
  torture::switches words(how, torture::queue_flaw_names);
  words.add("--rounds", &how.rounds);
  words.add("--skip", &how.skip);
  words.add("--keys", &how.keys);
  words.add("--snapshot", &how.snapshot);
  words.add("--segment", &how.segment);
  words.add("--claim", &how.claim);
  if (!words.read({argv + 1, argv + argc})) {
    std::fputs("torture_queue: see the head of torture_queue.cpp\n", stderr);
    return 3;
  }
  if (how.snapshot > 0) {
    return torture::under_a_snapshot(torture::find_engine(how.engine), how.snapshot, how.segment,
                                     how.claim)
               ? 0
               : 1;
  }
  return torture::drive<torture::queue_report>(
      how, [&](support::engine const& on, torture::queue_report& to) { all(how, on, to); });
}
