// An answer that is to come: wait for it, be called with it or await it. <daybook/future.hpp> makes
// a std::future of it.
// Dropped, the work goes on and its answer is thrown away: an unwanted run is handed back. There
// is no cancelling: a transaction that was asked for is done, or fails.
// Thread safety: one thread at a time. Lifetime: may outlive its book, unless the answer is a run.
//
//   auto attempt = book.start_async(daybook::process{"nightly"}).get();
//   auto attempt = co_await book.start_async(daybook::process{"nightly"});
#pragma once

#include <daybook/detail/export.hpp>

#include <chrono>
#include <concepts>
#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace daybook {
inline namespace v1 {

namespace work {

/// What a pending shares with the thread that does the work; for this library only.
class DAYBOOK_EXPORT completion {
 public:
  completion();
  completion(completion const&) = delete;
  completion& operator=(completion const&) = delete;
  virtual ~completion();

  [[nodiscard]] bool settled() const noexcept;
  /// False: not until then.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point when) const;
  void wait() const;
  /// Keeps `next` for the thread that settles. False: this is settled, and `next` was not taken.
  [[nodiscard]] bool when_settled(std::function<void()>& next);
  /// Wakes waiting threads and calls the callback. Once.
  void settle(std::exception_ptr failure) noexcept;
  /// By which threads: they must not wait for themselves.
  void done_by(void const* threads) noexcept;

 protected:
  /// Once. Precondition: settled.
  void rethrow();

 private:
  void check_waiting() const;

  struct state;  // behind a pointer: <mutex> and its like would cost each of our users' sources
  std::unique_ptr<state> state_;
};

template <class T>
class answer final : public completion {
 public:
  /// Before settle().
  void put(T value) { value_.emplace(std::move(value)); }
  T take() {
    rethrow();
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

/// Throws daybook::error (error_code::bad_argument): the pending was spent.
[[noreturn]] DAYBOOK_EXPORT void complain_of_spent_pending();

}  // namespace work

template <class T>
class [[nodiscard]] pending {
 public:
  explicit pending(std::shared_ptr<work::answer<T>> answer) noexcept : answer_(std::move(answer)) {}

  /// Waits. On failure: throws what the blocking form would have thrown; error_code::closed when
  /// the book went before the work began; error_code::bad_argument when it is not ready and this is
  /// one of the threads that do the work (a callback must not wait: use then() or co_await).
  T get() && {
    auto const answer = spent();
    answer->wait();
    return answer->take();
  }
  /// Whether get() would return, or throw, at once. False once it is spent.
  [[nodiscard]] bool ready() const noexcept { return answer_ && answer_->settled(); }
  /// As ready(), but waits up to this time. On failure: as get() where waiting is not allowed.
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> at_most) const {
    if (!answer_) work::complain_of_spent_pending();
    using clock = std::chrono::steady_clock;
    // The longest and the shortest there are, added to now, would be before it and after it.
    using seconds = std::chrono::duration<double>;
    constexpr seconds longest = std::chrono::hours{24 * 36525};
    seconds wait = at_most;
    if (wait < seconds::zero()) wait = seconds::zero();
    if (wait > longest) wait = longest;
    return answer_->wait_until(clock::now() + std::chrono::ceil<clock::duration>(wait));
  }
  /// Calls `callback` once, with this pending, ready: get() there returns or throws at once. On the
  /// book's thread that did the work; here and now when it is ready already. An exception of
  /// `callback` ends the program, as in a thread's function.
  template <std::invocable<pending> F>
  void then(F callback) && {
    auto const answer = spent();
    // A std::function is copied; what users capture (a run) need not be.
    auto kept = std::make_shared<F>(std::move(callback));
    std::function<void()> next = [kept = std::move(kept), answer] { (*kept)(pending(answer)); };
    if (!answer->when_settled(next)) call(next);
  }
  /// A coroutine goes on where a callback of then() would be called, without suspending when it is
  /// ready. <daybook/asio.hpp> brings it to an executor of your own.
  class awaiter;
  awaiter operator co_await() && { return awaiter(spent()); }

 private:
  std::shared_ptr<work::answer<T>> spent() {
    if (!answer_) work::complain_of_spent_pending();
    return std::exchange(answer_, nullptr);
  }
  static void call(std::function<void()> const& next) noexcept { next(); }

  std::shared_ptr<work::answer<T>> answer_;
};

// --- Inline implementations ---

template <class T>
class pending<T>::awaiter {
 public:
  explicit awaiter(std::shared_ptr<work::answer<T>> answer) noexcept : answer_(std::move(answer)) {}
  [[nodiscard]] bool await_ready() const noexcept { return answer_->settled(); }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> caller) const {
    auto const kept = answer_;  // the caller may go on, and end, before this returns
    std::function<void()> next = [caller] { caller.resume(); };
    return kept->when_settled(next);
  }
  T await_resume() const { return answer_->take(); }

 private:
  std::shared_ptr<work::answer<T>> answer_;
};

}  // namespace v1
}  // namespace daybook
