// The asynchronous verbs with Asio's completion tokens: callbacks, asio::use_future,
// asio::use_awaitable, asio::deferred. Each completes with void(std::exception_ptr, ANSWER), posted
// to the executor of the handler, which has work until then. Optional: daybook.hpp does not include
// it. Standalone Asio, or Boost.Asio where DAYBOOK_USE_BOOST_ASIO is defined (the same in the whole
// program). No cancelling; the executor must live until the end of what was asked.
// Thread safety: as the run's and the book's.
//
//   auto attempt = co_await daybook::asio::async_start(book, process{"nightly"}, key{}, token);
#pragma once

#include <daybook/book.hpp>
#include <daybook/detail/export.hpp>
#include <daybook/names.hpp>
#include <daybook/pending.hpp>
#include <daybook/run.hpp>

#ifdef DAYBOOK_USE_BOOST_ASIO
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#else
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/execution/outstanding_work.hpp>
#include <asio/post.hpp>
#include <asio/prefer.hpp>
#endif

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace asio {

#ifdef DAYBOOK_USE_BOOST_ASIO
namespace net = ::boost::asio;
#else
namespace net = ::asio;
#endif

/// An empty answer beside an exception, because a completion always has both.
template <class T>
[[nodiscard]] T no_answer() {
  if constexpr (std::is_same_v<T, start_result>) {
    return T(process("(see the exception)"), key(), start_refusal::running_elsewhere);
  } else if constexpr (std::is_constructible_v<T, outcome>) {
    return T(outcome::lost);
  } else {
    return T(outcome::lost, {});
  }
}

/// Any asynchronous verb with a token: `begin`, called when the operation is initiated (at once, or
/// when what asio::deferred returned is called), makes its pending<T>.
template <class T, class Begin, class Token>
auto async_answer(Begin begin, Token&& token) {
  return net::async_initiate<Token, void(std::exception_ptr, T)>(
      [begin = std::move(begin)](auto handler) mutable {
        // An executor that counts as outstanding work, so that the context runs until the answer.
        auto work = net::prefer(net::get_associated_executor(handler),
                                net::execution::outstanding_work.tracked);
        auto deliver = [work = std::optional(std::move(work)),
                        handler = std::optional(std::move(handler))](std::exception_ptr failure,
                                                                     T answer) mutable {
          // The work is not moved into what is posted: the context may be destroyed as soon as the
          // handler was called and the work is over, and post() may still be in it.
          net::post(*work, [handler = std::move(*handler), failure = std::move(failure),
                            answer = std::move(answer)]() mutable {
            std::move(handler)(std::move(failure), std::move(answer));
          });
          // Both keep something in the context (a strand), also where they were moved from: they go
          // before the work is over. The executor's own part goes before its count of work does; a
          // work guard would end the work first.
          handler.reset();
          work.reset();
        };
        std::optional<pending<T>> coming;
        std::exception_ptr refused;
        try {
          coming = begin();
        } catch (...) {
          refused = std::current_exception();
        }
        if (refused) return deliver(std::move(refused), no_answer<T>());
        std::move(*coming).then([deliver = std::move(deliver)](pending<T> done) mutable {
          std::exception_ptr failure;
          auto value = no_answer<T>();
          try {
            value = std::move(done).get();
          } catch (...) {
            failure = std::current_exception();
          }
          deliver(std::move(failure), std::move(value));
        });
      },
      token);
}

/// As book::start_async. The book must be there when the operation is initiated.
template <class Token>
auto async_start(book& book, process const& name, key const& run_key, start_options options,
                 Token&& token) {
  return async_answer<start_result>(
      [&book, name, run_key, options] { return book.start_async(name, run_key, options); },
      std::forward<Token>(token));
}
template <class Token>
auto async_start(book& book, process const& name, key const& run_key, Token&& token) {
  return async_start(book, name, run_key, start_options{}, std::forward<Token>(token));
}

/// As run::step_async. The run must be where it is when the operation is initiated.
template <named_step_body F, class Token>
auto async_step(run& held, std::string_view name, step_options options, F& body, Token&& token) {
  return async_answer<step_result<std::invoke_result_t<F&, transaction&>>>(
      [&held, name = std::string(name), options, body]() mutable {
        return held.step_async(name, options, body);
      },
      std::forward<Token>(token));
}
template <named_step_body F, class Token>
auto async_step(run& held, std::string_view name, F& body, Token&& token) {
  return async_step(held, name, step_options{}, body, std::forward<Token>(token));
}
template <class F, class Token>
void async_step(run&, std::string_view, F const&& unnamed_body, Token&&) = delete;
template <class F, class Token>
void async_step(run&, std::string_view, step_options, F const&& unnamed_body, Token&&) = delete;

template <class Token>
auto async_record(run& held, std::string_view name, Token&& token) {
  return async_answer<step_result<void>>(
      [&held, name = std::string(name)] { return held.record_async(name); },
      std::forward<Token>(token));
}

/// The endings take the run; what was not ended (the database is away) is handed back.
template <class Token>
auto async_finish(run&& held, Token&& token) {
  return async_answer<end_result>(
      [held = std::move(held)]() mutable { return std::move(held).finish_async(); },
      std::forward<Token>(token));
}
template <class Token>
auto async_fail(run&& held, std::string_view why, Token&& token) {
  return async_answer<end_result>(
      [held = std::move(held), why = std::string(why)]() mutable {
        return std::move(held).fail_async(why);
      },
      std::forward<Token>(token));
}
template <class Token>
auto async_release(run&& held, std::string_view why, Token&& token) {
  return async_answer<end_result>(
      [held = std::move(held), why = std::string(why)]() mutable {
        return std::move(held).release_async(why);
      },
      std::forward<Token>(token));
}

}  // namespace asio
}  // namespace v1
}  // namespace daybook
