#include "proof/torture/planners/plans_report.hpp"

#include <cstdio>

namespace torture {

void plans_report::add(plan_findings const& found, std::string const& where) {
  if (found.all() > 0) note("VIOLATION " + where + ": " + found.first);
  std::lock_guard const lock(guard_);
  found_ += found;
}

plan_findings plans_report::found() const {
  std::lock_guard const lock(guard_);
  return found_;
}

void plans_report::print(std::string const& engine, unsigned seed) const {
  print_trials(engine, seed);
  print_notes();
  auto const all = found();
  for (std::size_t kind = 0; kind < plan_flaw_kinds; ++kind) {
    std::printf("  %-17s %lld\n", std::string(plan_flaw_names[kind]).c_str(),
                static_cast<long long>(all.count[kind]));
  }
  auto const n = [](std::int64_t of) { return static_cast<long long>(of); };
  std::printf("  orders %lld; events launched %lld, refused %lld, dead %lld; periods %lld\n",
              n(all.orders), n(all.events), n(all.refused), n(all.dead), n(all.periods));
  std::printf("  sweeps %lld: rows %lld, late %lld\n", n(all.sweeps), n(all.rows), n(all.late));
  print_sum(all.all());
}

}  // namespace torture
