// A pending as a std::future. Optional: daybook.hpp does not include it, for <future> takes longer
// to compile than any other header that it needs.
// Thread safety: as the pending's; the std::future is on its own.
//
//   auto coming = daybook::to_future(book.start_async(daybook::process{"nightly"}));
#pragma once

#include <daybook/pending.hpp>

#include <exception>
#include <future>
#include <utility>

namespace daybook {
inline namespace v1 {

/// The same answer. The destructor of the std::future does not wait.
/// On failure: throws daybook::error (error_code::bad_argument) where the pending is spent.
template <class T>
[[nodiscard]] std::future<T> to_future(pending<T> answer) {
  std::promise<T> promise;
  auto future = promise.get_future();
  std::move(answer).then([promise = std::move(promise)](pending<T> ready) mutable {
    try {
      promise.set_value(std::move(ready).get());
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  });
  return future;
}

}  // namespace v1
}  // namespace daybook
