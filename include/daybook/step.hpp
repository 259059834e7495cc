// A step: what its body is given, what it may return, and what came of it.
// In one of three modes: with its effect in one transaction (run::step), done and then recorded
// (run::at_least_once), or the intent recorded, done, and the outcome recorded
// (run::at_most_once).
// Thread safety: values.
//
//   auto sent = run.at_least_once("mail", [&](daybook::effect const& e) {
//     return mailer.send(letter, e.idempotency_key());
//   });
#pragma once

#include <daybook/carried.hpp>
#include <daybook/detail/export.hpp>
#include <daybook/outcome.hpp>
#include <daybook/transaction.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace daybook {
inline namespace v1 {

enum class isolation : std::uint8_t { read_committed, repeatable_read, serializable };
/// Where in a step's transaction the run's row is written: `last` keeps its lock short when the
/// effect is long; `first` finds out early that the run was lost, when the effect is short.
enum class fence_position : std::uint8_t { last, first };

struct step_options {
  isolation level = isolation::read_committed;  ///< SQLite is always serializable
  fence_position fence = fence_position::last;
};

/// What the body of a step outside the database is given.
class effect {
 public:
  effect(std::string idempotency_key, std::int64_t attempt, std::stop_token stop)
      : key_(std::move(idempotency_key)), attempt_(attempt), stop_(std::move(stop)) {}
  /// The same for every attempt at this step of this run. Receivers that keep it drop
  /// duplicates; how long they keep it is theirs to say.
  [[nodiscard]] std::string const& idempotency_key() const noexcept { return key_; }
  [[nodiscard]] std::int64_t attempt() const noexcept { return attempt_; }
  /// Requested when the run is known to be lost: break off.
  [[nodiscard]] std::stop_token const& stop() const noexcept { return stop_; }

 private:
  std::string key_;
  std::int64_t attempt_;
  std::stop_token stop_;
};

/// Thrown by the body of an at-most-once step that knows: nothing has happened. The step may be
/// tried again; every other exception leaves its outcome unknown.
class DAYBOOK_EXPORT not_done : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class F>
concept step_body =
    std::invocable<F&, transaction&> && carried<std::invoke_result_t<F&, transaction&>>;
template <class F>
concept effect_body =
    std::invocable<F&, effect const&> && carried<std::invoke_result_t<F&, effect const&>>;

/// Bodies of the asynchronous forms, which are copied.
template <class F>
concept named_step_body = step_body<F> && std::copy_constructible<std::decay_t<F>>;
template <class F>
concept named_effect_body = effect_body<F> && std::copy_constructible<std::decay_t<F>>;

/// What a look at the outside world says of an at-most-once step whose outcome is not recorded.
template <class T>
class probed {
 public:
  [[nodiscard]] static probed done(T carries) { return probed(outcome::done, std::move(carries)); }
  [[nodiscard]] static probed not_done() { return probed(outcome::lost, {}); }
  [[nodiscard]] static probed unknown() { return probed(outcome::unknown, {}); }
  [[nodiscard]] outcome what() const noexcept { return what_; }  ///< lost: not done
  /// On failure: daybook::error (fault::bad_argument) unless what() is done.
  [[nodiscard]] T const& value() const {
    if (what_ != outcome::done) complain_of_no_value(what_);
    return value_;
  }

 private:
  probed(outcome what, T carries) : what_(what), value_(std::move(carries)) {}
  outcome what_;
  T value_;
};

template <>
class probed<void> {
 public:
  [[nodiscard]] static probed done() { return probed(outcome::done); }
  [[nodiscard]] static probed not_done() { return probed(outcome::lost); }
  [[nodiscard]] static probed unknown() { return probed(outcome::unknown); }
  [[nodiscard]] outcome what() const noexcept { return what_; }  ///< lost: not done

 private:
  explicit probed(outcome what) : what_(what) {}
  outcome what_;
};

template <class P, class T>
concept probe_for = std::invocable<P&, effect const&> &&
    std::same_as<std::invoke_result_t<P&, effect const&>, probed<T>>;

/// The answer of a step: false when the run was lost, or the outcome is unknown; else done or
/// skipped, with the value.
template <class T>
class [[nodiscard]] stepped {
 public:
  stepped(outcome what, T carried_value) : what_(what), value_(std::move(carried_value)) {}
  explicit operator bool() const noexcept {
    return what_ == outcome::done || what_ == outcome::skipped;
  }
  [[nodiscard]] outcome what() const noexcept { return what_; }
  /// The body's value, now or from the attempt that did the step. On failure: daybook::error
  /// (fault::bad_argument) when false.
  [[nodiscard]] T const& value() const {
    if (!*this) complain_of_no_value(what_);
    return value_;
  }

 private:
  outcome what_;
  T value_;
};

template <>
class [[nodiscard]] stepped<void> {
 public:
  explicit stepped(outcome what) : what_(what) {}
  explicit operator bool() const noexcept {
    return what_ == outcome::done || what_ == outcome::skipped;
  }
  [[nodiscard]] outcome what() const noexcept { return what_; }

 private:
  outcome what_;
};

// --- Inline implementations ---

template <class T>
stepped<T> decoded_step(outcome what, std::string text) {
  if constexpr (std::is_void_v<T>) {
    return stepped<void>(what);
  } else if constexpr (std::integral<T>) {
    std::int64_t number = 0;
    if (what == outcome::done || what == outcome::skipped) decode_carried(text, number);
    return stepped<T>(what, static_cast<T>(number));
  } else {
    return stepped<T>(what, std::move(text));
  }
}

/// A probe's answer as text.
struct probe_answer {
  outcome what = outcome::unknown;
  std::string value;
};

template <class T>
probe_answer encode_probed(probed<T> const& from) {
  if constexpr (std::is_void_v<T>) {
    return {from.what(), {}};
  } else {
    if (from.what() != outcome::done) return {from.what(), {}};
    auto const value = [](probed<T> const& one) -> T { return one.value(); };
    return {from.what(), call_encoded(value, from)};
  }
}

}  // namespace v1
}  // namespace daybook
