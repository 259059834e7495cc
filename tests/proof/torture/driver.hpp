// What the drivers of the torture share: their words, the engine and the worker, trials in several
// lanes, a server to hurt, the verdict.
// Thread safety: one thread.
#pragma once

#include "proof/torture/child.hpp"
#include "proof/torture/record.hpp"
#include "proof/torture/server_faults.hpp"
#include "support/engines.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

namespace torture {

/// What a failpoint does to a worker.
inline std::array<std::string, 4> const fault_actions{"kill", "cut", "fail", "stop"};

struct driver_settings {
  std::string engine;
  std::string only;
  int faults = 40;
  int lanes = 6;  ///< most trials wait: for a lock to be given up, for a process
  int server_faults = 0;
  unsigned seed = std::random_device{}();
  std::string worker;
  std::vector<std::size_t> expected;  ///< flaws, by their place among the names
};

/// The words of a command line: --NAME VALUE, or --NAME alone for a bool.
class switches {
 public:
  using target = std::variant<int*, unsigned*, std::string*, bool*>;
  /// With those that every driver has. `flaws`: what --expect may name.
  switches(driver_settings& to, std::span<std::string_view const> flaws);
  void add(std::string const& name, target into) { known_[name] = into; }
  /// False: nobody could make sense of it.
  [[nodiscard]] bool read(std::span<char* const> words);

 private:
  [[nodiscard]] bool take(std::string const& name, std::string const& value);

  driver_settings* to_;
  std::span<std::string_view const> flaws_;
  std::map<std::string, target> known_;
};

/// On failure: throws std::runtime_error.
[[nodiscard]] support::engine find_engine(std::string const& name);
/// It stands beside this program.
[[nodiscard]] std::string worker_path(std::string const& name);

/// So many jobs in several lanes; `make` makes a lane, `run` does the job of that number in it.
template <class Make, class Run>
void in_lanes(driver_settings const& how, std::size_t jobs, std::minstd_rand& dice, record& to,
              Make const& make, Run const& run) {
  std::vector<std::thread> lanes;
  auto const count = static_cast<std::size_t>(how.lanes);
  for (std::size_t first = 0; first < count; ++first) {
    // A share fixed beforehand, and dice of its own: a seed repeats the same trials.
    lanes.emplace_back([&, first, own_dice = std::minstd_rand(dice())]() mutable {
      try {
        auto const one = make();
        for (auto at = first; at < jobs; at += count) run(*one, at, own_dice);
      } catch (std::exception const& e) {
        to.failure(std::string("a lane broke: ") + e.what());
      }
    });
  }
  for (auto& one : lanes) one.join();
}

/// A server of its own is hurt while workers are at work; `make` makes their lane, which hurts it
/// in every other fault of a mix. Mixes are short, so that many end and are checked to the last
/// effect.
template <class Make, class Mix>
void hurt_the_server(driver_settings const& how, support::engine const& on, record& to,
                     Make const& make, Mix const& mix) {
  constexpr int in_a_mix = 30;
  support::private_server const own(on);
  own.use_for_tests();
  server_faults hurts(on, own);
  std::minstd_rand dice(how.seed + 2);
  auto const one = make();
  for (int left = how.server_faults; left > 0; left -= in_a_mix) {
    mix(*one, 2 * std::min(left, in_a_mix), dice, hurts);
  }
  if (!hurts.complete()) to.failure("not every kind of fault has struck the server");
}

/// The flaws that are expected. Only what is there against the promise counts: no crash, no wrong
/// exit code.
template <class Findings>
std::int64_t caught(driver_settings const& how, Findings const& found) {
  std::int64_t out = 0;
  for (auto const kind : how.expected) out += found.count[kind];
  return out;
}

/// Exit code: 0 good, 1 violations, 2 only something else that went wrong; where flaws are
/// expected, 0 when there are some.
template <class Findings>
int verdict(driver_settings const& how, Findings const& found, bool failed) {
  if (how.expected.empty()) return found.all() > 0 ? 1 : failed ? 2 : 0;
  auto const count = caught(how, found);
  std::printf("caught: %lld\n", static_cast<long long>(count));
  return count > 0 ? 0 : 1;
}

/// Runs `all` with the report it fills, and prints that. Returns what verdict() says. A flaw that
/// is expected is looked for with one seed after the other: what happens is a matter of chance,
/// too.
template <class Report>
int drive(driver_settings& how, std::function<void(support::engine const&, Report&)> const& all) {
  constexpr std::chrono::minutes longest_search{3};
  Report result;
  auto const start = std::chrono::steady_clock::now();
  auto const is_missed = [&] {
    return !how.expected.empty() && caught(how, result.found()) == 0 &&
           std::chrono::steady_clock::now() - start < longest_search;
  };
  try {
    auto const on = find_engine(how.engine);
    for (bool again = true; again; again = is_missed()) {
      if (result.trials() > 0) ++how.seed;
      std::printf("seed %u\n", how.seed);
      std::fflush(stdout);
      all(on, result);
    }
  } catch (std::exception const& e) {
    result.failure(e.what());
  }
  result.print(how.engine, how.seed);
  std::printf("  seconds %.1f\n",
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return verdict(how, result.found(), result.failed());
}

}  // namespace torture
