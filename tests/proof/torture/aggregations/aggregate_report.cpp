#include "proof/torture/aggregations/aggregate_report.hpp"

#include <cstdio>

namespace torture {

void aggregate_report::add(bricks::findings const& found, std::string const& where) {
  if (found.all() > 0) note("VIOLATION " + where + ": " + found.text());
  std::lock_guard const lock(guard_);
  found_ += found;
  ++looks_;
}

bricks::findings aggregate_report::found() const {
  std::lock_guard const lock(guard_);
  return found_;
}

void aggregate_report::print(std::string const& engine, unsigned seed) const {
  print_trials(engine, seed);
  print_notes();
  auto const all = found();
  for (std::size_t kind = 0; kind < bricks::flaw_kinds; ++kind) {
    std::printf("  %-17s %lld\n", std::string(bricks::flaw_names[kind]).c_str(),
                static_cast<long long>(all.count[kind]));
  }
  std::printf("  snapshots %lld: parents %lld, rows %lld\n", static_cast<long long>(looks_),
              static_cast<long long>(all.parents), static_cast<long long>(all.rows));
  print_sum(all.all());
}

}  // namespace torture
