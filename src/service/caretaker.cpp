#include "service/caretaker.hpp"

#include "base/digest.hpp"
#include "base/platform.hpp"
#include "core/tx/date.hpp"
#include "core/tx/transact.hpp"

#include <daybook/error.hpp>
#include <daybook/queue.hpp>
#include <daybook/run.hpp>
#include <daybook/watch.hpp>

#include <exception>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

namespace {

/// Somebody waits for the end: another node goes on.
struct stopped {};

/// One question each time, and by chance, so that nodes that were started together do not all ask
/// at once.
constexpr std::chrono::milliseconds between_looks = std::chrono::minutes{5};

key key_of(std::string const& queue, std::string const& date) {
  auto const room = longest_name - date.size() - 1;
  return key((queue.size() <= room ? queue : base::digest({queue})) + "/" + date);
}

}  // namespace

caretaker::caretaker(engine& of, std::function<crews()> whose)
    : engine_(&of), with_(of.ready()), whose_(std::move(whose)) {}

void caretaker::start() {
  thread_ = std::jthread([this](std::stop_token const& stop) { serve(stop); });
}

void caretaker::wake() noexcept {
  std::lock_guard const lock(guard_);
  awake_ = true;
  stirred_.notify_one();
}

void caretaker::ask_to_stop() noexcept { thread_.request_stop(); }

void caretaker::stop() noexcept {
  ask_to_stop();
  std::lock_guard const one_of_them(ending_);
  if (thread_.joinable()) thread_.join();
}

void caretaker::serve(std::stop_token const& stop) {
  for (;;) {
    {
      std::unique_lock lock(guard_);
      stirred_.wait_for(lock, stop, base::jitter(between_looks * 2), [this] { return awake_; });
      awake_ = false;
    }
    if (stop.stop_requested()) return;
    try {
      look(stop);
    } catch (std::exception const& e) {
      with_.watch.retried("upkeep", e.what());
    }
  }
}

void caretaker::look(std::stop_token const& stop) {
  auto const date = today();
  for (auto const& one : whose_()) {
    if (stop.stop_requested()) return;
    auto const& name = one->queue()->name();
    if (!one->options().upkeep || done_[name] == date) continue;
    try {
      if (attend(*one->queue(), date, stop)) done_[name] = date;
    } catch (std::exception const& e) {
      with_.watch.retried("upkeep", e.what());
    }
  }
}

std::string caretaker::today() const {
  std::int64_t now_us = 0;
  core::read(with_, [&](db::session& on) {
    decode(db::run(on, with_.sql["queue.now"], {}).row(0)[0], now_us);
  });
  timestamp const now{std::chrono::microseconds(now_us)};
  return core::text_of(std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(now)));
}

bool caretaker::attend(queues::store& of, std::string const& date, std::stop_token const& stop) {
  auto attempt = engine_->runs().start(process("upkeep"), key_of(of.name(), date), {.once = true});
  if (!attempt) return attempt.why() == refusal::done_before;
  auto mine = std::move(attempt).take();
  try {
    // First, for it needs nothing of the application's.
    static_cast<void>(mine.at_least_once("upkeep", [&](effect const&) {
      auto const sum = of.upkeep(stop);
      if (stop.stop_requested()) throw stopped();
      return "merged " + std::to_string(sum.merged) + ", trimmed " + std::to_string(sum.trimmed) +
             ", rearmed " + std::to_string(sum.rearmed) + ", forgotten " +
             std::to_string(sum.forgotten) + ", removed " + std::to_string(sum.removed);
    }));
    if (auto table = daybook::queue(of.shared_from_this()).watched()) {
      static_cast<void>(mine.at_least_once("reconcile", [&](effect const&) {
        auto const sum =
            table->reconcile([&](watch_progress const&) { return !stop.stop_requested(); });
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
  with_.watch.retried("upkeep", "of queue '" + of.name() + "': the run was lost to another");
  return false;
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
