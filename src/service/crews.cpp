#include "service/crews.hpp"

#include "base/limits.hpp"

#include <daybook/error.hpp>
#include <daybook/names.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

namespace {}  // namespace

crews::crews(engine& of)
    : with_(of.ready()), lease_(&of.lease()), upkeep_(of, [this] { return everybody(); }) {}

void crews::work(std::string_view queue, order how) {
  with_.check_process();
  check_name("queue name", queue);
  how = checked(std::move(how), queue);
  auto inside = queues::open(with_, *lease_, queue);
  if (!inside)
    base::refuse_argument("there is no queue '" + std::string(queue) + "' to work: make it first");
  std::lock_guard const lock(guard_);
  if (stopped_) base::refuse_argument("this node was stopped: make another");
  if (auto const here = all_.find(queue); here != all_.end()) {
    return here->second->change(std::move(how));
  }
  auto const made = std::make_shared<crew>(std::move(inside), clock_, std::move(how));
  if (started_) made->start();
  all_.emplace(queue, made);
}

std::optional<work_counts> crews::leave(std::string_view queue) {
  with_.check_process();
  std::shared_ptr<crew> gone;
  {
    std::lock_guard const lock(guard_);
    auto const known = all_.find(queue);
    if (known == all_.end()) return std::nullopt;
    leaving_.push_back(known->second);
    gone = std::move(known->second);
    all_.erase(known);
  }
  gone->stop();
  std::lock_guard const lock(guard_);
  std::erase(leaving_, gone);
  return gone->counts();
}

void crews::start() {
  std::lock_guard const lock(guard_);
  if (stopped_) return;
  started_ = true;
  for (auto const& [name, one] : all_) one->start();
  upkeep_.start();
}

void crews::wake() noexcept {
  for (auto const& one : everybody()) one->wake();
  upkeep_.wake();
}

void crews::ask_to_stop() noexcept {
  {
    std::lock_guard const lock(guard_);
    stopped_ = true;
  }
  upkeep_.ask_to_stop();
  auto const last = everybody_left();
  for (auto const& one : last) one->close();
  for (auto const& one : last) one->ask_to_stop();
}

void crews::stop() noexcept {
  ask_to_stop();
  for (auto const& one : everybody_left()) one->stop();
  upkeep_.stop();
}

std::optional<work_counts> crews::counts(std::string_view queue) const {
  std::lock_guard const lock(guard_);
  auto const known = all_.find(queue);
  if (known == all_.end()) return std::nullopt;
  return known->second->counts();
}

crews::all crews::everybody() const {
  std::lock_guard const lock(guard_);
  all out;
  for (auto const& [name, one] : all_) out.push_back(one);
  return out;
}

crews::all crews::everybody_left() const {
  auto out = everybody();
  std::lock_guard const lock(guard_);
  out.insert(out.end(), leaving_.begin(), leaving_.end());
  return out;
}

crews::drain::drain(crews& of) : of_(&of) { of.with_.check_process(); }

queues::drainer& crews::drain::from(std::shared_ptr<crew> const& which) {
  auto& out = hands_[which];
  if (!out) {
    out = std::make_unique<queues::drainer>(which->queue(), which->options().claims);
  }
  return *out;
}

std::int64_t crews::drain::due() {
  std::int64_t out = 0;
  for (auto const& one : of_->everybody()) out += one->drain(from(one));
  return out;
}

std::int64_t crews::drain::suspects() {
  std::int64_t out = 0;
  for (auto const& one : of_->everybody()) {
    out += one->drain_suspects(from(one));
    from(one).end();
  }
  return out;
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
