#include "http/guesses.hpp"

namespace command {

namespace {

constexpr std::size_t most_addresses = 10'000;
constexpr std::chrono::minutes window{1};

}  // namespace

bool guesses::too_many(std::string const& address) {
  std::lock_guard const locked(guard_);
  auto const found = by_address_.find(address);
  if (found == by_address_.end()) return false;
  if (clock::now() - found->second.since > window) {
    by_address_.erase(found);
    return false;
  }
  return found->second.count >= most_;
}

void guesses::wrong(std::string const& address) {
  std::lock_guard const locked(guard_);
  auto const now = clock::now();
  if (by_address_.size() >= most_addresses) forget_old(now);
  auto& one = by_address_[address];
  if (one.count == 0 || now - one.since > window) one = {now, 0};
  ++one.count;
}

/// Where all are new, all are forgotten: a guesser with so many addresses is not stopped by them.
void guesses::forget_old(clock::time_point now) {
  std::erase_if(by_address_, [&](auto const& one) { return now - one.second.since > window; });
  if (by_address_.size() >= most_addresses) by_address_.clear();
}

}  // namespace command
