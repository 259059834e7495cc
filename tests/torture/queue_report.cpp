#include "torture/queue_report.hpp"

#include <algorithm>
#include <cstdio>

namespace torture {

namespace {
constexpr std::size_t most_shown = 30;
}

void queue_report::hit(std::string const& failpoint, std::string const& action) {
  std::lock_guard const lock(guard_);
  ++hits_[failpoint][action];
}

void queue_report::trial(std::string const& kind) {
  std::lock_guard const lock(guard_);
  ++trials_[kind];
}

void queue_report::add(queue_findings const& found, std::string const& where) {
  std::lock_guard const lock(guard_);
  found_ += found;
  if (found.all() > 0) notes_.push_back("VIOLATION " + where + ": " + found.text());
}

void queue_report::failure(std::string const& what) {
  std::lock_guard const lock(guard_);
  failures_.push_back(what);
}

void queue_report::note(std::string const& line) {
  std::lock_guard const lock(guard_);
  notes_.push_back(line);
}

std::int64_t queue_report::hits(std::string const& failpoint, std::string const& action) const {
  std::lock_guard const lock(guard_);
  auto const by_name = hits_.find(failpoint);
  if (by_name == hits_.end()) return 0;
  auto const by_action = by_name->second.find(action);
  return by_action == by_name->second.end() ? 0 : by_action->second;
}

queue_findings queue_report::found() const {
  std::lock_guard const lock(guard_);
  return found_;
}

bool queue_report::failed() const {
  std::lock_guard const lock(guard_);
  return !failures_.empty();
}

void queue_report::print(std::string const& engine, unsigned seed) const {
  std::lock_guard const lock(guard_);
  std::int64_t trials = 0;
  for (auto const& [kind, count] : trials_) trials += count;
  std::printf("engine %s  seed %u  trials %lld\n", engine.c_str(), seed,
              static_cast<long long>(trials));
  for (auto const& [kind, count] : trials_) {
    std::printf("  %-10s %lld\n", kind.c_str(), static_cast<long long>(count));
  }
  for (auto const& [name, by_action] : hits_) {
    std::printf("  hits %-26s", name.c_str());
    for (auto const& [action, count] : by_action) {
      std::printf(" %s %lld", action.c_str(), static_cast<long long>(count));
    }
    std::printf("\n");
  }
  for (std::size_t at = 0; at < std::min(notes_.size(), most_shown); ++at) {
    std::printf("  %s\n", notes_[at].c_str());
  }
  for (std::size_t at = 0; at < std::min(failures_.size(), most_shown); ++at) {
    std::printf("  FAILURE %s\n", failures_[at].c_str());
  }
  for (std::size_t kind = 0; kind < queue_flaw_kinds; ++kind) {
    std::printf("  %-17s %lld\n", std::string(queue_flaw_names[kind]).c_str(),
                static_cast<long long>(found_.count[kind]));
  }
  std::printf("  effects %lld, outside %lld and again %lld\n",
              static_cast<long long>(found_.effects), static_cast<long long>(found_.outside),
              static_cast<long long>(found_.outside_again));
  std::printf("  failures %zu\n", failures_.size());
  std::printf("  violations %lld / %lld trials", static_cast<long long>(found_.all()),
              static_cast<long long>(trials));
  if (found_.all() == 0 && trials > 0) {
    std::printf(" (95%% upper bound %.4f)", 3.0 / static_cast<double>(trials));
  }
  std::printf("\n");
}

}  // namespace torture
