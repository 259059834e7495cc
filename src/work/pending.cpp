// The part of daybook::pending that knows no type: settled once, waited for, followed up.
#include "base/platform.hpp"
#include "work/executor.hpp"

#include <daybook/error.hpp>
#include <daybook/pending.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

completion::completion() : process_(base::process_id()) {}
completion::~completion() = default;

bool completion::settled() const noexcept {
  std::lock_guard const lock(guard_);
  return settled_;
}

void completion::check_waiting() const {
  if (base::process_id() != process_) {
    throw error({.kind = fault::forked},
                "waiting for an asynchronous call of the process that this one was forked from");
  }
  if (threads_ != nullptr && executor::at_work_here(threads_)) {
    throw error({.kind = fault::bad_argument},
                "waiting for an asynchronous call on a thread of its own book, which does such "
                "calls: use then() or co_await");
  }
}

bool completion::wait_until(std::chrono::steady_clock::time_point when) const {
  if (settled()) return true;
  check_waiting();
  std::unique_lock lock(guard_);
  return changed_.wait_until(lock, when, [this] { return settled_; });
}

void completion::wait() const {
  if (settled()) return;
  check_waiting();
  std::unique_lock lock(guard_);
  changed_.wait(lock, [this] { return settled_; });
}

bool completion::when_settled(std::function<void()>& next) {
  std::lock_guard const lock(guard_);
  if (settled_) return false;
  next_ = std::move(next);
  return true;
}

void completion::settle(std::exception_ptr failure) noexcept {
  std::function<void()> next;
  {
    std::lock_guard const lock(guard_);
    failure_ = std::move(failure);
    settled_ = true;
    next.swap(next_);
  }
  changed_.notify_all();
  if (next) next();
}

void completion::rethrow() {
  // Taken out, so that its life ends with who catches it, not on the thread that settled.
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void complain_of_spent_pending() {
  throw error({.kind = fault::bad_argument}, "the answer of this pending was taken before");
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
