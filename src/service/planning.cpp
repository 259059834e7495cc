#include "service/planning.hpp"

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

planners::surroundings surroundings_of(engine& of) {
  return {of.ready(), &of.lease(), &of.runs(), &of.declared(), of.where().shown};
}

planning::planning(engine& of, std::chrono::milliseconds poll) : engine_(&of), poll_(poll) {}

void planning::plan(std::string_view planner, plan_serving how) {
  auto const found = planners::open(surroundings_of(*engine_), planner);
  if (!found) {
    throw error({.kind = fault::bad_argument},
                "there is no plan '" + std::string(planner) + "': make it first");
  }
  found->need_own_sql();
  unplan(planner);
  auto one = std::make_shared<served>();
  one->name = planner;
  one->how = std::move(how);
  std::lock_guard const lock(guard_);
  if (stopping_.stop_requested()) {
    throw error({.kind = fault::bad_argument}, "this node was stopped: make another");
  }
  all_[one->name] = one;
  if (started_) launch(one);
}

void planning::unplan(std::string_view planner) {
  place gone;
  {
    std::lock_guard const lock(guard_);
    auto const found = all_.find(planner);
    if (found == all_.end()) return;
    gone = std::move(found->second);
    all_.erase(found);
  }
  gone->thread.request_stop();
  std::lock_guard const one_of_them(gone->ending);
  if (gone->thread.joinable()) gone->thread.join();
}

/// With `guard_` held.
void planning::launch(place const& one) {
  one->thread =
      std::jthread([this, one = one.get()](std::stop_token const& stop) { serve(*one, stop); });
}

void planning::start() {
  std::lock_guard const lock(guard_);
  started_ = true;
  for (auto const& [name, one] : all_) launch(one);
}

std::vector<planning::place> planning::everybody() const {
  std::lock_guard const lock(guard_);
  std::vector<place> out;
  for (auto const& [name, one] : all_) out.push_back(one);
  return out;
}

void planning::wake() noexcept {
  for (auto const& one : everybody()) {
    std::lock_guard const lock(one->guard);
    one->awake = true;
    one->stirred.notify_one();
  }
}

void planning::ask_to_stop() noexcept {
  {
    std::lock_guard const lock(guard_);  // nobody comes in between
    stopping_.request_stop();
  }
  for (auto const& one : everybody()) one->thread.request_stop();
}

void planning::stop() noexcept {
  ask_to_stop();
  for (auto const& one : everybody()) {
    std::lock_guard const one_of_them(one->ending);
    if (one->thread.joinable()) one->thread.join();
  }
}

std::optional<std::chrono::microseconds> planning::due_in(std::string const& name) const {
  std::optional<std::chrono::microseconds> out;
  auto const with = engine_->ready();
  core::read(with, [&](db::session& on) {
    out.reset();
    auto const found = db::run(on, with.sql["planner.due"], {std::string_view(name)});
    if (found.size() == 0) return;
    std::int64_t us = 0;
    decode(found.row(0)[0], us);
    out = std::chrono::microseconds(us);
  });
  return out;
}

passed planning::pass(served& one, std::stop_token const& stop) const {
  // As it was declared last.
  auto const now = planners::open(surroundings_of(*engine_), one.name);
  if (!now) return {};
  {
    std::lock_guard const lock(one.guard);
    if (one.last) now->follow(*one.last);
    one.last = now;
  }
  auto const sum = now->pass({.check = one.how.check, .stop = stop, .told = {}});
  if (sum.ran && one.how.after) one.how.after(one.name, sum);
  return sum;
}

void planning::serve(served& one, std::stop_token const& stop) const {
  while (!stop.stop_requested()) {
    auto wait = std::chrono::duration_cast<std::chrono::microseconds>(poll_);
    try {
      auto const due = due_in(one.name);
      if (due && due->count() <= 0) {
        // Of one that is being made elsewhere the end is not known: asked again as often as for
        // what nodes do not know of.
        if (pass(one, stop).ran) continue;
      } else if (due) {
        wait = std::min(wait, *due);
      }
    } catch (std::exception const& e) {
      engine_->bare().watch.retried("plan " + one.name, e.what());
    }
    std::unique_lock lock(one.guard);
    one.stirred.wait_for(lock, stop, wait, [&] { return one.awake; });
    one.awake = false;
  }
}

std::int64_t planning::drain() {
  std::int64_t sum = 0;
  for (auto const& one : everybody()) {
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
