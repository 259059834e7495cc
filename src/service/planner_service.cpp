#include "service/planner_service.hpp"

#include "base/platform.hpp"
#include "core/tx/transact.hpp"

#include <daybook/error.hpp>
#include <daybook/planner.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

planners::surroundings surroundings_of(engine& book) {
  return {book.ready(), &book.lease(), &book.runs(), &book.declared(), book.where().shown};
}

planner_service::planner_service(engine& book, std::chrono::milliseconds poll)
    : engine_(&book), poll_(poll) {}

void planner_service::plan(std::string_view planner, plan_serving serving) {
  auto const found = planners::open(surroundings_of(*engine_), planner);
  if (!found) {
    throw error({.kind = error_code::bad_argument},
                "there is no plan '" + std::string(planner) + "': make it first");
  }
  found->need_own_sql();
  remove_planner(planner);
  auto one = std::make_shared<served>();
  one->name = planner;
  one->serving = std::move(serving);
  std::lock_guard const lock(guard_);
  if (stopping_.stop_requested()) {
    throw error({.kind = error_code::bad_argument}, "this node was stopped: make another");
  }
  planners_[one->name] = one;
  if (started_) spawn(one);
}

void planner_service::remove_planner(std::string_view planner) {
  planner_ref removed;
  {
    std::lock_guard const lock(guard_);
    auto const found = planners_.find(planner);
    if (found == planners_.end()) return;
    removed = std::move(found->second);
    planners_.erase(found);
  }
  removed->thread.request_stop();
  std::lock_guard const one_stop(removed->ending);
  if (removed->thread.joinable()) removed->thread.join();
}

/// Precondition: the caller holds guard_.
void planner_service::spawn(planner_ref const& planner) {
  planner->thread = std::jthread(
      [this, planner = planner.get()](std::stop_token const& stop) { serve(*planner, stop); });
}

void planner_service::start() {
  std::lock_guard const lock(guard_);
  started_ = true;
  for (auto const& [name, one] : planners_) spawn(one);
}

std::vector<planner_service::planner_ref> planner_service::all() const {
  std::lock_guard const lock(guard_);
  std::vector<planner_ref> out;
  for (auto const& [name, one] : planners_) out.push_back(one);
  return out;
}

void planner_service::wake() noexcept {
  for (auto const& one : all()) {
    std::lock_guard const lock(one->guard);
    one->awake = true;
    one->changed.notify_one();
  }
}

void planner_service::ask_to_stop() noexcept {
  {
    std::lock_guard const lock(guard_);  // nobody comes in between
    stopping_.request_stop();
  }
  for (auto const& one : all()) one->thread.request_stop();
}

void planner_service::stop() noexcept {
  ask_to_stop();
  for (auto const& one : all()) {
    std::lock_guard const one_stop(one->ending);
    if (one->thread.joinable()) one->thread.join();
  }
}

std::optional<std::chrono::microseconds> planner_service::due_in(std::string const& name) const {
  std::optional<std::chrono::microseconds> out;
  auto const context = engine_->ready();
  core::read(context, [&](db::session& session) {
    out.reset();
    auto const found = db::run(session, context.sql["planner.due"], {std::string_view(name)});
    if (found.size() == 0) return;
    std::int64_t us = 0;
    decode(found.row(0)[0], us);
    out = std::chrono::microseconds(us);
  });
  return out;
}

pass_report planner_service::pass(served& planner, std::stop_token const& stop) const {
  // As it was declared last.
  auto const now = planners::open(surroundings_of(*engine_), planner.name);
  if (!now) return {};
  {
    std::lock_guard const lock(planner.guard);
    if (planner.last) now->follow(*planner.last);
    planner.last = now;
  }
  auto const sum = now->pass({.check = planner.serving.check, .stop = stop, .on_progress = {}});
  if (sum.ran && planner.serving.after) planner.serving.after(planner.name, sum);
  return sum;
}

void planner_service::serve(served& planner, std::stop_token const& stop) const {
  while (!stop.stop_requested()) {
    auto wait = std::chrono::duration_cast<std::chrono::microseconds>(poll_);
    try {
      auto const due = due_in(planner.name);
      if (due && due->count() <= 0) {
        // Of one that is being made elsewhere the end is not known: asked again as often as for
        // what nodes do not know of.
        if (pass(planner, stop).ran) continue;
      } else if (due) {
        wait = std::min(wait, *due);
      }
    } catch (std::exception const& e) {
      engine_->bare().watch.retried("plan " + planner.name, e.what());
    }
    std::unique_lock lock(planner.guard);
    planner.changed.wait_for(lock, stop, wait, [&] { return planner.awake; });
    planner.awake = false;
  }
}

std::int64_t planner_service::drain() {
  std::int64_t sum = 0;
  for (auto const& one : all()) {
    if (stopping_.stop_requested()) break;
    auto const due = due_in(one->name);
    if (!due || due->count() > 0) continue;
    try {
      sum += pass(*one, stopping_.get_token()).launched;
    } catch (std::exception const& e) {
      // As a handler's failure: it is kept, and harms nobody else.
      engine_->bare().watch.retried("plan " + one->name, e.what());
    }
  }
  return sum;
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
