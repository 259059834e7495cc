#include "proof/torture/record.hpp"

#include <algorithm>
#include <cstdio>

namespace torture {

namespace {
constexpr std::size_t most_shown = 30;
}

void record::hit(std::string const& failpoint, std::string const& action) {
  std::lock_guard const lock(guard_);
  ++hits_[failpoint][action];
}

void record::trial(std::string const& kind) {
  std::lock_guard const lock(guard_);
  ++trials_[kind];
}

void record::failure(std::string const& what) {
  std::lock_guard const lock(guard_);
  failures_.push_back(what);
}

void record::note(std::string const& line) {
  std::lock_guard const lock(guard_);
  notes_.push_back(line);
}

void record::require_hit(std::string const& failpoint, std::string const& action) {
  std::lock_guard const lock(guard_);
  if (hits_[failpoint][action] > 0) return;
  failures_.push_back("failpoint " + failpoint + "=" + action + " was never reached");
}

std::int64_t record::trials() const {
  std::lock_guard const lock(guard_);
  std::int64_t sum = 0;
  for (auto const& [kind, count] : trials_) sum += count;
  return sum;
}

std::string record::kinds() const {
  std::lock_guard const lock(guard_);
  std::string out;
  for (auto const& [kind, count] : trials_) {
    out += (out.empty() ? "" : ", ") + kind + " " + std::to_string(count);
  }
  return out;
}

bool record::failed() const {
  std::lock_guard const lock(guard_);
  return !failures_.empty();
}

void record::print_trials(std::string const& engine, unsigned seed) const {
  std::printf("engine %s  seed %u  trials %lld\n", engine.c_str(), seed,
              static_cast<long long>(trials()));
  std::lock_guard const lock(guard_);
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
}

void record::print_notes() const {
  std::lock_guard const lock(guard_);
  for (std::size_t at = 0; at < std::min(notes_.size(), most_shown); ++at) {
    std::printf("  %s\n", notes_[at].c_str());
  }
  for (std::size_t at = 0; at < std::min(failures_.size(), most_shown); ++at) {
    std::printf("  FAILURE %s\n", failures_[at].c_str());
  }
}

void record::print_sum(std::int64_t violations) const {
  auto const sum = trials();
  std::lock_guard const lock(guard_);
  std::printf("  failures %zu\n", failures_.size());
  std::printf("  violations %lld / %lld trials", static_cast<long long>(violations),
              static_cast<long long>(sum));
  if (violations == 0 && sum > 0) {
    std::printf(" (95%% upper bound %.4f)", 3.0 / static_cast<double>(sum));
  }
  std::printf("\n");
}

}  // namespace torture
