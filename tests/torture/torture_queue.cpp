// Kills, stops and cuts workers at every failpoint of queues, and checks what they left.
//
//   torture_queue --engine NAME [--faults N] [--rounds N] [--keys N] [--lanes N] [--seed S]
//                 [--only TEXT]
//   torture_queue --engine NAME --snapshot N [--segment N]
//                                              N tasks are done while a snapshot is held open
//   ... --worker NAME --expect FLAW            as for torture
//
// --rounds: so often each failpoint with each action; --faults: of the random mix, over --keys keys
// in each of two queues; --only: the failpoints whose name has TEXT in it, and no mix.
// Exit code: 0 good, 1 violations, 2 only something else that went wrong.
#include "torture/queue_snapshot.hpp"
#include "torture/queue_trials.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace {

struct settings {
  std::string engine;
  std::string only;
  int rounds = 1;
  int faults = 40;
  int keys = 300;
  int lanes = 10;  ///< most trials wait: for a lock to be given up, for a process
  int snapshot = 0;
  int segment = 1000;
  unsigned seed = std::random_device{}();
  std::string worker = "torture_queue_worker";
  std::vector<std::size_t> expected;  ///< flaws
};

struct job {
  torture::queue_place at;
  std::string action;
};

std::vector<std::string> const actions{"kill", "cut", "fail", "stop"};

[[noreturn]] void usage() {
  std::fputs("torture_queue: see the head of torture_queue.cpp\n", stderr);
  std::exit(3);
}

std::size_t flaw_named(std::string const& name) {
  auto const* const found =
      std::find(torture::queue_flaw_names.begin(), torture::queue_flaw_names.end(), name);
  if (found == torture::queue_flaw_names.end()) usage();
  return static_cast<std::size_t>(found - torture::queue_flaw_names.begin());
}

settings parse(std::vector<std::string> const& words) {
  settings out;
  for (std::size_t at = 0; at < words.size(); at += 2) {
    auto const& word = words[at];
    if (at + 1 == words.size()) usage();
    auto const& text = words[at + 1];
    auto const number = [&](auto& into) {
      auto const end = text.data() + text.size();
      auto const [stop, problem] = std::from_chars(text.data(), end, into);
      if (problem != std::errc{} || stop != end) usage();
    };
    if (word == "--engine") {
      out.engine = text;
    } else if (word == "--only") {
      out.only = text;
    } else if (word == "--worker") {
      out.worker = text;
    } else if (word == "--expect") {
      out.expected.push_back(flaw_named(text));
    } else if (word == "--rounds") {
      number(out.rounds);
    } else if (word == "--faults") {
      number(out.faults);
    } else if (word == "--keys") {
      number(out.keys);
    } else if (word == "--lanes") {
      number(out.lanes);
    } else if (word == "--snapshot") {
      number(out.snapshot);
    } else if (word == "--segment") {
      number(out.segment);
    } else if (word == "--seed") {
      number(out.seed);
    } else {
      usage();
    }
  }
  if (out.engine.empty() || out.lanes < 1) usage();
  return out;
}

support::engine find_engine(std::string const& name) {
  for (auto const& one : support::engines()) {
    if (one.name == name) return one;
  }
  throw std::runtime_error("no engine is named " + name + " (see DAYBOOK_TEST_ENGINES)");
}

std::string worker_path(settings const& how) {
  auto const own = std::filesystem::read_symlink("/proc/self/exe");
  return (own.parent_path() / how.worker).string();
}

/// Each failpoint with each action, in a random order, `how.rounds` times.
std::vector<job> plan(settings const& how, std::string const& dialect, std::minstd_rand& dice) {
  std::vector<job> out;
  for (int round = 0; round < how.rounds; ++round) {
    for (auto const& at : torture::queue_places(dialect)) {
      if (at.failpoint.find(how.only) == std::string::npos) continue;
      for (auto const& action : actions) out.push_back({at, action});
    }
  }
  std::shuffle(out.begin(), out.end(), dice);
  return out;
}

void directed(settings const& how, support::engine const& on, torture::queue_report& to) {
  std::minstd_rand dice(how.seed);
  std::string dialect;
  {
    torture::queue_lane first(on, worker_path(how), to);
    dialect = first.dialect();
    if (how.only.empty()) first.poison();
  }
  auto const jobs = plan(how, dialect, dice);
  std::vector<std::thread> lanes;
  for (int lane_number = 0; lane_number < how.lanes; ++lane_number) {
    // A share fixed beforehand, and dice of its own: a seed repeats the same trials.
    lanes.emplace_back([&, lane_number, own_dice = std::minstd_rand(dice())]() mutable {
      try {
        torture::queue_lane one(on, worker_path(how), to);
        for (auto at = static_cast<std::size_t>(lane_number); at < jobs.size();
             at += static_cast<std::size_t>(how.lanes)) {
          one.one(jobs[at].at, jobs[at].action, own_dice);
        }
      } catch (std::exception const& e) {
        to.failure(std::string("a lane broke: ") + e.what());
      }
    });
  }
  for (auto& one : lanes) one.join();
  for (auto const& [at, action] : jobs) {
    if (to.hits(at.failpoint, action) == 0) {
      to.failure("failpoint " + at.failpoint + "=" + action + " was never reached");
    }
  }
}

/// Mixes are short, so that many end and are checked to the last effect.
void random_mix(settings const& how, support::engine const& on, torture::queue_report& to) {
  constexpr int in_a_mix = 50;
  std::minstd_rand dice(how.seed + 1);
  torture::queue_lane one(on, worker_path(how), to);
  for (int left = how.faults; left > 0; left -= in_a_mix) {
    one.mix(6, how.keys, std::min(left, in_a_mix), dice);
  }
}

int verdict(settings const& how, torture::queue_report const& of) {
  auto const found = of.found();
  if (!how.expected.empty()) {
    // Only what is there against the promise counts: no crash, no wrong exit code.
    std::int64_t caught = 0;
    for (auto const kind : how.expected) caught += found.count[kind];
    std::printf("caught: %lld\n", static_cast<long long>(caught));
    return caught > 0 ? 0 : 1;
  }
  if (found.all() > 0) return 1;
  return of.failed() ? 2 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  auto const how = parse({argv + 1, argv + argc});
  torture::queue_report result;
  auto const start = std::chrono::steady_clock::now();
  try {
    auto const on = find_engine(how.engine);
    if (how.snapshot > 0) return torture::under_a_snapshot(on, how.snapshot, how.segment) ? 0 : 1;
    std::printf("seed %u\n", how.seed);
    std::fflush(stdout);
    directed(how, on, result);
    if (how.faults > 0 && how.only.empty()) random_mix(how, on, result);
  } catch (std::exception const& e) {
    result.failure(e.what());
  }
  result.print(how.engine, how.seed);
  std::printf("  seconds %.1f\n",
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return verdict(how, result);
}
