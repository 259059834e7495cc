#include "service/intakes/intake_service.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

namespace {

constexpr std::chrono::milliseconds first_pause{100};
constexpr std::chrono::milliseconds longest_pause = std::chrono::seconds{30};

error no_intake(std::string_view name) {
  return error({.kind = error_code::bad_argument},
               "there is no intake '" + std::string(name) + "': make it first");
}

}  // namespace

intakes::dependencies dependencies_of(engine& book) {
  return {book.ready(), &book.lease(), &book.runs()};
}

void intake_service::take_in(std::string_view intake, source_factory source, intake_body body) {
  auto const found = intakes::open(dependencies_of(*engine_), intake);
  if (!found) throw no_intake(intake);
  found->check_body(body);  // here, not in a thread
  remove_intake(intake);
  auto one = std::make_shared<served>();
  one->name = intake;
  one->source = std::move(source);
  one->body = std::move(body);
  std::lock_guard const lock(guard_);
  if (stopping_.stop_requested()) {
    throw error({.kind = error_code::bad_argument}, "this node was stopped: make another");
  }
  intakes_[one->name] = one;
  if (started_) spawn(one);
}

void intake_service::end(served& intake) noexcept {
  for (auto& one : intake.threads) one.request_stop();
  std::lock_guard const one_stop(intake.ending);
  for (auto& one : intake.threads) {
    if (one.joinable()) one.join();
  }
}

void intake_service::remove_intake(std::string_view intake) {
  intake_ref removed;
  {
    std::lock_guard const lock(guard_);
    auto const found = intakes_.find(intake);
    if (found == intakes_.end()) return;
    removed = std::move(found->second);
    intakes_.erase(found);
  }
  end(*removed);
}

/// Precondition: the caller holds guard_. As many lanes as the intake has when it begins.
void intake_service::spawn(intake_ref const& intake) {
  auto const found = intakes::open(dependencies_of(*engine_), intake->name);
  if (!found) throw no_intake(intake->name);
  for (int lane = 0; lane < found->declared().options.lanes; ++lane) {
    intake->threads.emplace_back([this, intake = intake.get(), lane](std::stop_token const& stop) {
      serve(*intake, lane, stop);
    });
  }
}

void intake_service::start() {
  std::lock_guard const lock(guard_);
  started_ = true;
  for (auto const& [name, one] : intakes_) spawn(one);
}

std::vector<intake_service::intake_ref> intake_service::all() const {
  std::lock_guard const lock(guard_);
  std::vector<intake_ref> out;
  for (auto const& [name, one] : intakes_) out.push_back(one);
  return out;
}

void intake_service::wake() noexcept {
  for (auto const& one : all()) {
    std::lock_guard const lock(one->guard);
    ++one->wakes;
    one->changed.notify_all();
  }
}

void intake_service::ask_to_stop() noexcept {
  {
    std::lock_guard const lock(guard_);  // nobody comes in between
    stopping_.request_stop();
  }
  for (auto const& one : all()) {
    for (auto& thread : one->threads) thread.request_stop();
  }
}

void intake_service::stop() noexcept {
  ask_to_stop();
  for (auto const& one : all()) end(*one);
}

take_report intake_service::take(served& intake, take_options options) const {
  auto const found = intakes::open(dependencies_of(*engine_), intake.name);
  if (!found) throw no_intake(intake.name);
  options.body = intake.body;
  return std::visit([&](auto const& open) { return found->take_from(open, options); },
                    intake.source);
}

void intake_service::serve(served& intake, int lane, std::stop_token const& stop) const {
  auto pause = first_pause;
  std::int64_t wakes = 0;
  while (!stop.stop_requested()) {
    auto wait = poll_;
    try {
      static_cast<void>(
          take(intake,
               {.lane = lane, .until = take_until::stop, .body = {}, .stop = stop, .wait = poll_}));
      pause = first_pause;
    } catch (std::exception const& e) {
      engine_->bare().watch.retried("intake " + intake.name, e.what());
      wait = pause;
      pause = std::min(pause * 2, longest_pause);
    }
    std::unique_lock lock(intake.guard);
    intake.changed.wait_for(lock, stop, wait, [&] { return intake.wakes != wakes; });
    wakes = intake.wakes;
  }
}

std::int64_t intake_service::drain() {
  std::int64_t sum = 0;
  for (auto const& one : all()) {
    auto const found = intakes::open(dependencies_of(*engine_), one->name);
    if (!found) continue;
    for (int lane = 0; lane < found->declared().options.lanes; ++lane) {
      if (stopping_.stop_requested()) return sum;
      try {
        sum += take(*one, {.lane = lane, .stop = stopping_.get_token(), .wait = first_pause}).taken;
      } catch (std::exception const& e) {
        // As a handler's failure: it harms nobody else.
        engine_->bare().watch.retried("intake " + one->name, e.what());
      }
    }
  }
  return sum;
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
