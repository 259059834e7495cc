#include "proof/torture/queues/queue_report.hpp"

#include <cstdio>

namespace torture {

void queue_report::add(queue_findings const& found, std::string const& where) {
  if (found.all() > 0) note("VIOLATION " + where + ": " + found.text());
  std::lock_guard const lock(guard_);
  found_ += found;
}

queue_findings queue_report::found() const {
  std::lock_guard const lock(guard_);
  return found_;
}

void queue_report::print(std::string const& engine, unsigned seed) const {
  print_trials(engine, seed);
  print_notes();
  auto const all = found();
  for (std::size_t kind = 0; kind < queue_flaw_kinds; ++kind) {
    std::printf("  %-17s %lld\n", std::string(queue_flaw_names[kind]).c_str(),
                static_cast<long long>(all.count[kind]));
  }
  std::printf("  effects %lld, outside %lld and again %lld\n", static_cast<long long>(all.effects),
              static_cast<long long>(all.outside), static_cast<long long>(all.outside_again));
  print_sum(all.all());
}

}  // namespace torture
