#include "proof/torture/runs/report.hpp"

#include <algorithm>
#include <cstdio>

namespace torture {

void report::add(findings const& found, std::string const& where) {
  if (found.all() == 0) return;
  note("VIOLATION " + where + ": " + found.text());
  std::lock_guard const lock(guard_);
  found_ += found;
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

findings report::found() const {
  std::lock_guard const lock(guard_);
  return found_;
}

std::int64_t report::attempts() const {
  std::lock_guard const lock(guard_);
  return attempted_;
}

void report::print(std::string const& engine, unsigned seed) const {
  print_trials(engine, seed);
  print_times();
  print_notes();
  auto const all = found();
  for (std::size_t kind = 0; kind < flaw_kinds; ++kind) {
    std::printf("  %-17s %lld\n", std::string(flaw_names[kind]).c_str(),
                static_cast<long long>(all.count[kind]));
  }
  auto const accepted = all.of(flaw::stale_accepted);
  std::printf("  zombies that wrote %lld, effects of theirs accepted %lld\n",
              static_cast<long long>(attempts()), static_cast<long long>(accepted));
  print_sum(all.all());
}

void report::print_times() const {
  std::lock_guard const lock(guard_);
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
}

}  // namespace torture
