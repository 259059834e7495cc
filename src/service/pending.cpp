// The part of daybook::pending that knows no type: settled once, waited for, followed up.
#include "base/platform.hpp"
#include "service/executor.hpp"

#include <daybook/error.hpp>
#include <daybook/pending.hpp>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

struct completion::state {
  std::mutex guard;
  std::condition_variable changed;
  std::function<void()> next;
  std::exception_ptr failure;
  bool settled = false;
  void const* threads = nullptr;
  std::int64_t process = base::process_id();
};

completion::completion() : state_(std::make_unique<state>()) {}
completion::~completion() = default;

void completion::done_by(void const* threads) noexcept { state_->threads = threads; }

bool completion::settled() const noexcept {
  std::lock_guard const lock(state_->guard);
  return state_->settled;
}

void completion::check_waiting() const {
  if (base::process_id() != state_->process) {
    throw error({.kind = error_code::forked},
                "waiting for an asynchronous call of the process that this one was forked from");
  }
  if (state_->threads != nullptr && executor::at_work_here(state_->threads)) {
    throw error({.kind = error_code::bad_argument},
                "waiting for an asynchronous call on a thread of its own book, which does such "
                "calls: use then() or co_await");
  }
}

bool completion::wait_until(std::chrono::steady_clock::time_point when) const {
  if (settled()) return true;
  check_waiting();
  std::unique_lock lock(state_->guard);
  return state_->changed.wait_until(lock, when, [this] { return state_->settled; });
}

void completion::wait() const {
  if (settled()) return;
  check_waiting();
  std::unique_lock lock(state_->guard);
  state_->changed.wait(lock, [this] { return state_->settled; });
}

bool completion::when_settled(std::function<void()>& next) {
  std::lock_guard const lock(state_->guard);
  if (state_->settled) return false;
  state_->next = std::move(next);
  return true;
}

void completion::settle(std::exception_ptr failure) noexcept {
  std::function<void()> next;
  {
    std::lock_guard const lock(state_->guard);
    state_->failure = std::move(failure);
    state_->settled = true;
    next.swap(state_->next);
  }
  state_->changed.notify_all();
  if (next) next();
}

void completion::rethrow() {
  // Taken out, so that its life ends with who catches it, not on the thread that settled.
  if (state_->failure) std::rethrow_exception(std::exchange(state_->failure, nullptr));
}

void complain_of_spent_pending() {
  throw error({.kind = error_code::bad_argument}, "the answer of this pending was taken before");
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
