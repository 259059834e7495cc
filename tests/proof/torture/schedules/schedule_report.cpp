#include "proof/torture/schedules/schedule_report.hpp"

#include <algorithm>
#include <cstdio>

namespace torture {

namespace {

double seconds_at(std::vector<std::int64_t> const& sorted, std::size_t percent) {
  if (sorted.empty()) return 0;
  return static_cast<double>(sorted[(sorted.size() - 1) * percent / 100]) / 1e6;
}

}  // namespace

void schedule_report::add(schedule_findings const& found, std::string const& where) {
  for (auto const& one : found.said) note("VIOLATION " + where + ": " + one);
  std::lock_guard const lock(guard_);
  found_ += found;
}

schedule_findings schedule_report::found() const {
  std::lock_guard const lock(guard_);
  return found_;
}

void schedule_report::print(std::string const& engine, unsigned seed) const {
  print_trials(engine, seed);
  print_notes();
  auto all = found();
  for (std::size_t kind = 0; kind < schedule_flaw_kinds; ++kind) {
    std::printf("  %-17s %lld\n", std::string(schedule_flaw_names[kind]).c_str(),
                static_cast<long long>(all.count[kind]));
  }
  std::sort(all.late_us.begin(), all.late_us.end());
  std::printf("  late: p50 %.3f s, p99 %.3f s\n", seconds_at(all.late_us, 50),
              seconds_at(all.late_us, 99));
  std::printf(
      "  %s; ticks %lld, effects %lld, skipped %lld, failed %lld, taken over %lld,"
      " forgotten %lld, violations %lld\n",
      kinds().c_str(), static_cast<long long>(all.ticks), static_cast<long long>(all.effects),
      static_cast<long long>(all.skipped), static_cast<long long>(all.failed),
      static_cast<long long>(all.taken_over), static_cast<long long>(all.forgotten),
      static_cast<long long>(all.all()));
  print_sum(all.all());
}

}  // namespace torture
