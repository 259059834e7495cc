#include "service/worker_pools.hpp"

#include "base/limits.hpp"

#include <daybook/error.hpp>
#include <daybook/names.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

worker_pools::worker_pools(engine& book)
    : context_(book.ready()), lease_(&book.lease()), maintenance_(book, [this] { return all(); }) {}

void worker_pools::work(std::string_view queue, work_spec spec) {
  context_.check_process();
  check_name("queue name", queue);
  spec = checked(std::move(spec), queue);
  auto store = queues::open(context_, *lease_, queue);
  if (!store)
    base::refuse_argument("there is no queue '" + std::string(queue) + "' to work: make it first");
  std::lock_guard const lock(guard_);
  if (stopped_) base::refuse_argument("this node was stopped: make another");
  if (auto const known = pools_by_queue_.find(queue); known != pools_by_queue_.end()) {
    return known->second->change(std::move(spec));
  }
  auto const added = std::make_shared<worker_pool>(std::move(store), clock_, std::move(spec));
  if (started_) added->start();
  pools_by_queue_.emplace(queue, added);
}

std::optional<work_counts> worker_pools::leave(std::string_view queue) {
  context_.check_process();
  std::shared_ptr<worker_pool> removed;
  {
    std::lock_guard const lock(guard_);
    auto const known = pools_by_queue_.find(queue);
    if (known == pools_by_queue_.end()) return std::nullopt;
    leaving_.push_back(known->second);
    removed = std::move(known->second);
    pools_by_queue_.erase(known);
  }
  removed->stop();
  std::lock_guard const lock(guard_);
  std::erase(leaving_, removed);
  return removed->counts();
}

void worker_pools::start() {
  std::lock_guard const lock(guard_);
  if (stopped_) return;
  started_ = true;
  for (auto const& [name, pool] : pools_by_queue_) pool->start();
  maintenance_.start();
}

void worker_pools::wake() noexcept {
  for (auto const& pool : all()) pool->wake();
  maintenance_.wake();
}

void worker_pools::ask_to_stop() noexcept {
  {
    std::lock_guard const lock(guard_);
    stopped_ = true;
  }
  maintenance_.ask_to_stop();
  auto const last = all_with_leaving();
  for (auto const& pool : last) pool->close();
  for (auto const& pool : last) pool->ask_to_stop();
}

void worker_pools::stop() noexcept {
  ask_to_stop();
  for (auto const& pool : all_with_leaving()) pool->stop();
  maintenance_.stop();
}

std::optional<work_counts> worker_pools::counts(std::string_view queue) const {
  std::lock_guard const lock(guard_);
  auto const known = pools_by_queue_.find(queue);
  if (known == pools_by_queue_.end()) return std::nullopt;
  return known->second->counts();
}

worker_pools::pool_list worker_pools::all() const {
  std::lock_guard const lock(guard_);
  pool_list out;
  for (auto const& [name, pool] : pools_by_queue_) out.push_back(pool);
  return out;
}

worker_pools::pool_list worker_pools::all_with_leaving() const {
  auto out = all();
  std::lock_guard const lock(guard_);
  out.insert(out.end(), leaving_.begin(), leaving_.end());
  return out;
}

worker_pools::drain::drain(worker_pools& pools) : pools_(&pools) { pools.context_.check_process(); }

queues::drainer& worker_pools::drain::drainer_of(std::shared_ptr<worker_pool> const& pool) {
  auto& out = drainers_[pool];
  if (!out) {
    out = std::make_unique<queues::drainer>(pool->queue(), pool->options().claims);
  }
  return *out;
}

std::int64_t worker_pools::drain::due() {
  std::int64_t out = 0;
  for (auto const& pool : pools_->all()) out += pool->drain(drainer_of(pool));
  return out;
}

std::int64_t worker_pools::drain::suspects() {
  std::int64_t out = 0;
  for (auto const& pool : pools_->all()) {
    out += pool->drain_suspects(drainer_of(pool));
    drainer_of(pool).end();
  }
  return out;
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
