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
#include "torture/trials.hpp"

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
  int trials = 0;
  int faults = 40;
  int lanes = 6;  ///< most trials wait: for a lock to be given up, for a process
  int server_faults = 0;
  unsigned seed = std::random_device{}();
  bool real_clock = false;
  std::string worker = "torture_worker";
  std::vector<std::size_t> expected;  ///< flaws
};

struct job {
  std::string failpoint;
  std::string action;
  unsigned variant;
};

std::vector<std::string> const actions{"kill", "cut", "fail", "stop"};

[[noreturn]] void usage() {
  std::fputs(
      "torture --engine NAME [--trials N] [--faults N] [--lanes N] [--seed S]"
      " [--only TEXT] [--server-faults N] [--real-clock] [--worker NAME] [--expect FLAW]\n",
      stderr);
  std::exit(3);
}

std::size_t flaw_named(std::string const& name) {
  auto const* const found = std::find(torture::flaw_names.begin(), torture::flaw_names.end(), name);
  if (found == torture::flaw_names.end()) usage();
  return static_cast<std::size_t>(found - torture::flaw_names.begin());
}

settings parse(std::vector<std::string> const& words) {
  settings out;
  for (std::size_t at = 0; at < words.size(); ++at) {
    auto const& word = words[at];
    auto const number = [&](auto& into) {
      if (++at >= words.size()) usage();
      auto const& text = words[at];
      auto const end = text.data() + text.size();
      auto const [stop, problem] = std::from_chars(text.data(), end, into);
      if (problem != std::errc{} || stop != end) usage();
    };
    auto const text = [&](std::string& into) {
      if (++at >= words.size()) usage();
      into = words[at];
    };
    if (word == "--engine") {
      text(out.engine);
    } else if (word == "--only") {
      text(out.only);
    } else if (word == "--worker") {
      text(out.worker);
    } else if (word == "--expect") {
      std::string name;
      text(name);
      out.expected.push_back(flaw_named(name));
    } else if (word == "--trials") {
      number(out.trials);
    } else if (word == "--faults") {
      number(out.faults);
    } else if (word == "--server-faults") {
      number(out.server_faults);
    } else if (word == "--lanes") {
      number(out.lanes);
    } else if (word == "--seed") {
      number(out.seed);
    } else if (word == "--real-clock") {
      out.real_clock = true;
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

/// Each failpoint with each action at each of its places, in a random order; again and again up
/// to `how.trials`.
std::vector<job> plan(settings const& how, std::minstd_rand& dice) {
  std::vector<job> out;
  do {
    auto const from = static_cast<std::ptrdiff_t>(out.size());
    for (auto const name : torture::run_failpoints()) {
      if (name.find(how.only) == std::string_view::npos) continue;
      for (unsigned at = 0; at < torture::variants_of(std::string(name)); ++at) {
        for (auto const& action : actions) {
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
  std::vector<std::thread> lanes;
  for (int lane_number = 0; lane_number < how.lanes; ++lane_number) {
    // A share fixed beforehand, and dice of its own: a seed repeats the same trials.
    lanes.emplace_back([&, lane_number, own_dice = std::minstd_rand(dice())]() mutable {
      try {
        torture::lane one(on, worker_path(how), to);
        for (auto at = static_cast<std::size_t>(lane_number); at < jobs.size();
             at += static_cast<std::size_t>(how.lanes)) {
          one.one(jobs[at].failpoint, jobs[at].action, jobs[at].variant, own_dice);
        }
      } catch (std::exception const& e) {
        to.failure(std::string("a lane broke: ") + e.what());
      }
    });
  }
  for (auto& one : lanes) one.join();
  if (how.only.empty()) to.require_hits(torture::run_failpoints(), actions);
}

void random_mix(settings const& how, support::engine const& on, torture::report& to) {
  std::minstd_rand dice(how.seed + 1);
  torture::lane one(on, worker_path(how), to);
  one.mix(4, how.faults, dice);
}

/// As many faults again strike the workers meanwhile. Mixes are short, so that many end and are
/// checked to the last effect.
void hurt_the_server(settings const& how, support::engine const& on, torture::report& to) {
  constexpr int in_a_mix = 30;
  support::private_server const own(on);
  own.use_for_tests();
  torture::server_faults hurts(on, own);
  std::minstd_rand dice(how.seed + 2);
  torture::lane one(on, worker_path(how), to);
  for (int left = how.server_faults; left > 0; left -= in_a_mix) {
    one.mix(4, 2 * std::min(left, in_a_mix), dice, &hurts);
  }
  if (!hurts.complete()) to.failure("not every kind of fault has struck the server");
}

void by_the_real_clock(settings const& how, support::engine const& on, torture::report& to) {
  torture::lane one(on, worker_path(how), to, true);
  one.real_stop("step.committed", 1);
  one.real_stop("step.effect_done", 2);    // the fence comes last: nothing of the run is locked
  one.real_stop("step.before_commit", 1);  // the run's row is locked
}

int verdict(settings const& how, torture::report const& of) {
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
  torture::report result;
  auto const start = std::chrono::steady_clock::now();
  try {
    auto const on = find_engine(how.engine);
    std::printf("seed %u\n", how.seed);
    std::fflush(stdout);
    if (how.real_clock) {
      by_the_real_clock(how, on, result);
    } else if (how.server_faults > 0) {
      hurt_the_server(how, on, result);
    } else {
      directed(how, on, result);
      if (how.faults > 0) random_mix(how, on, result);
    }
  } catch (std::exception const& e) {
    result.failure(e.what());
  }
  result.print(how.engine, how.seed);
  std::printf("  seconds %.1f\n",
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return verdict(how, result);
}
