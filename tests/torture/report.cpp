#include "torture/report.hpp"

#include <algorithm>
#include <cstdio>

namespace torture {

namespace {
constexpr std::size_t most_shown = 20;
}

void report::hit(std::string const& failpoint, std::string const& action) {
  std::lock_guard const lock(guard_);
  ++hits_[failpoint][action];
}

void report::trial(std::string const& kind) {
  std::lock_guard const lock(guard_);
  ++trials_[kind];
}

void report::add(findings const& found, std::string const& where) {
  if (found.all() == 0) return;
  std::lock_guard const lock(guard_);
  found_ += found;
  notes_.push_back("VIOLATION " + where + ": " + found.text());
}

void report::failure(std::string const& what) {
  std::lock_guard const lock(guard_);
  failures_.push_back(what);
}

void report::zombies(std::int64_t how_many) {
  std::lock_guard const lock(guard_);
  attempted_ += how_many;
}

void report::took_over(std::chrono::milliseconds after) {
  std::lock_guard const lock(guard_);
  take_overs_.push_back(after);
}

void report::settled_after(std::int64_t leases) {
  std::lock_guard const lock(guard_);
  ++settled_[leases];
}

void report::outside(std::string const& fault, seen_outside const& seen) {
  std::lock_guard const lock(guard_);
  outside_[fault] += seen;
}

void report::note(std::string const& line) {
  std::lock_guard const lock(guard_);
  notes_.push_back(line);
}

void report::require_hits(std::vector<std::string_view> const& names,
                          std::vector<std::string> const& actions) {
  for (auto const name : names) {
    for (auto const& action : actions) {
      if (hits_[std::string(name)][action] == 0) {
        failure("failpoint " + std::string(name) + "=" + action + " was never reached");
      }
    }
  }
}

std::int64_t report::trials() const {
  std::lock_guard const lock(guard_);
  std::int64_t sum = 0;
  for (auto const& [kind, count] : trials_) sum += count;
  return sum;
}

findings report::found() const {
  std::lock_guard const lock(guard_);
  return found_;
}

bool report::failed() const {
  std::lock_guard const lock(guard_);
  return !failures_.empty();
}

void report::print(std::string const& engine, unsigned seed) const {
  auto const sum = trials();
  std::lock_guard const lock(guard_);
  std::printf("engine %s  seed %u  trials %lld\n", engine.c_str(), seed,
              static_cast<long long>(sum));
  for (auto const& [kind, count] : trials_) {
    std::printf("  %-10s %lld\n", kind.c_str(), static_cast<long long>(count));
  }
  for (auto const& [name, by_action] : hits_) {
    std::printf("  hits %-22s", name.c_str());
    for (auto const& [action, count] : by_action) {
      std::printf(" %s %lld", action.c_str(), static_cast<long long>(count));
    }
    std::printf("\n");
  }
  if (!take_overs_.empty()) {
    auto sorted = take_overs_;
    std::sort(sorted.begin(), sorted.end());
    std::printf("  take-over after the stop: median %lld ms, longest %lld ms\n",
                static_cast<long long>(sorted[sorted.size() / 2].count()),
                static_cast<long long>(sorted.back().count()));
  }
  for (auto const& [leases, count] : settled_) {
    std::printf("  settled after %lld leases %lld\n", static_cast<long long>(leases),
                static_cast<long long>(count));
  }
  for (auto const& [fault, seen] : outside_) {
    std::printf("  outside, %-6s at least once %lld, again %lld; at most once %lld, refused %lld\n",
                fault.c_str(), static_cast<long long>(seen.sent),
                static_cast<long long>(seen.sent_again), static_cast<long long>(seen.paid),
                static_cast<long long>(seen.refused));
  }
  for (std::size_t at = 0; at < std::min(notes_.size(), most_shown); ++at) {
    std::printf("  %s\n", notes_[at].c_str());
  }
  for (std::size_t at = 0; at < std::min(failures_.size(), most_shown); ++at) {
    std::printf("  FAILURE %s\n", failures_[at].c_str());
  }
  for (std::size_t kind = 0; kind < flaw_kinds; ++kind) {
    std::printf("  %-17s %lld\n", std::string(flaw_names[kind]).c_str(),
                static_cast<long long>(found_.count[kind]));
  }
  auto const accepted = found_.of(flaw::stale_accepted);
  std::printf("  zombies that wrote %lld, effects of theirs accepted %lld\n",
              static_cast<long long>(attempted_), static_cast<long long>(accepted));
  std::printf("  failures %zu\n", failures_.size());
  std::printf("  violations %lld / %lld trials", static_cast<long long>(found_.all()),
              static_cast<long long>(sum));
  if (found_.all() == 0 && sum > 0) {
    std::printf(" (95%% upper bound %.4f)", 3.0 / static_cast<double>(sum));
  }
  std::printf("\n");
}

}  // namespace torture
