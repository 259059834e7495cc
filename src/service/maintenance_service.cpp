#include "service/maintenance_service.hpp"

#include "base/digest.hpp"
#include "base/platform.hpp"
#include "db/date.hpp"
#include "core/tx/transact.hpp"

#include <daybook/error.hpp>
#include <daybook/queue.hpp>
#include <daybook/run.hpp>
#include <daybook/table_sync.hpp>

#include <exception>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

namespace {

/// The node stops: another node goes on.
struct stopped {};

/// A random pause around this one, so that nodes started together do not ask at the same time.
constexpr std::chrono::milliseconds between_rounds = std::chrono::minutes{5};

key key_of(std::string const& queue, std::string const& date) {
  auto const room = longest_name - date.size() - 1;
  return key((queue.size() <= room ? queue : base::digest({queue})) + "/" + date);
}

}  // namespace

maintenance_service::maintenance_service(engine& book, std::function<pool_list()> pools)
    : engine_(&book), context_(book.ready()), pools_(std::move(pools)) {}

void maintenance_service::start() {
  thread_ = std::jthread([this](std::stop_token const& stop) { serve(stop); });
}

void maintenance_service::wake() noexcept {
  std::lock_guard const lock(guard_);
  awake_ = true;
  changed_.notify_one();
}

void maintenance_service::ask_to_stop() noexcept { thread_.request_stop(); }

void maintenance_service::stop() noexcept {
  ask_to_stop();
  std::lock_guard const one_stop(ending_);
  if (thread_.joinable()) thread_.join();
}

void maintenance_service::serve(std::stop_token const& stop) {
  for (;;) {
    {
      std::unique_lock lock(guard_);
      changed_.wait_for(lock, stop, base::jitter(between_rounds * 2), [this] { return awake_; });
      awake_ = false;
    }
    if (stop.stop_requested()) return;
    try {
      maintain_all(stop);
    } catch (std::exception const& e) {
      context_.watch.retried("upkeep", e.what());
    }
  }
}

void maintenance_service::maintain_all(std::stop_token const& stop) {
  auto const date = today();
  for (auto const& pool : pools_()) {
    if (stop.stop_requested()) return;
    auto const& name = pool->queue()->name();
    if (!pool->options().upkeep || done_[name] == date) continue;
    try {
      if (maintain(*pool->queue(), date, stop)) done_[name] = date;
    } catch (std::exception const& e) {
      context_.watch.retried("upkeep", e.what());
    }
  }
}

std::string maintenance_service::today() const {
  std::int64_t now_us = 0;
  core::read(context_, [&](db::session& session) {
    decode(db::run(session, context_.sql["queue.now"], {}).row(0)[0], now_us);
  });
  timestamp const now{std::chrono::microseconds(now_us)};
  return db::text_of(std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(now)));
}

bool maintenance_service::maintain(queues::store& queue, std::string const& date,
                                   std::stop_token const& stop) {
  auto attempt =
      engine_->runs().start(process("upkeep"), key_of(queue.name(), date), {.once = true});
  if (!attempt) return attempt.why() == start_refusal::done_before;
  auto mine = std::move(attempt).take();
  try {
    // First: it needs no table of the application.
    static_cast<void>(mine.at_least_once("upkeep", [&](effect const&) {
      auto const sum = queue.upkeep(stop);
      if (stop.stop_requested()) throw stopped();
      return "merged " + std::to_string(sum.merged) + ", trimmed " + std::to_string(sum.trimmed) +
             ", rearmed " + std::to_string(sum.rearmed) + ", forgotten " +
             std::to_string(sum.forgotten) + ", removed " + std::to_string(sum.removed);
    }));
    if (auto table = daybook::queue(queue.shared_from_this()).followed()) {
      static_cast<void>(mine.at_least_once("reconcile", [&](effect const&) {
        auto const sum =
            table->reconcile([&](reconcile_progress const&) { return !stop.stop_requested(); });
        if (!sum.complete) throw stopped();
        return "added " + std::to_string(sum.added) + ", removed " + std::to_string(sum.removed) +
               ", refused " + std::to_string(sum.refused);
      }));
    }
  } catch (stopped const&) {
    static_cast<void>(std::move(mine).release("the node stops"));
    return false;
  } catch (std::exception const& e) {
    static_cast<void>(std::move(mine).fail(e.what()));
    throw;
  }
  if (std::move(mine).finish()) return true;
  context_.watch.retried("upkeep", "of queue '" + queue.name() + "': the run was lost to another");
  return false;
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
