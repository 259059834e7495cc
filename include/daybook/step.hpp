// A step: the argument of its body, its value, and its answer. In one of three modes: with its
// effect in one transaction (run::step), done and then recorded (run::at_least_once), or the intent
// recorded, done, and the outcome recorded (run::at_most_once).
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

/// The argument of the body of a step outside the database.
class effect {
 public:
  effect(std::string idempotency_key, std::int64_t attempt, std::stop_token stop)
      : key_(std::move(idempotency_key)), attempt_(attempt), stop_(std::move(stop)) {}
  /// The same for every attempt at this step of this run. Receivers that keep it drop duplicates.
  /// Each receiver decides how long it keeps it.
  [[nodiscard]] std::string const& idempotency_key() const noexcept { return key_; }
  [[nodiscard]] std::int64_t attempt() const noexcept { return attempt_; }
  /// A stop is requested when the run is lost: break off.
  [[nodiscard]] std::stop_token const& stop() const noexcept { return stop_; }

 private:
  std::string key_;
  std::int64_t attempt_;
  std::stop_token stop_;
};

/// Throw it from the body of an at-most-once step to say that nothing has happened. The step may
/// then be tried again. Any other exception leaves the outcome unknown.
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

/// The answer of a probe: did an at-most-once step without a recorded outcome happen?
template <class T>
class probe_result {
 public:
  [[nodiscard]] static probe_result done(T carries) {
    return probe_result(outcome::done, std::move(carries));
  }
  [[nodiscard]] static probe_result not_done() { return probe_result(outcome::lost, {}); }
  [[nodiscard]] static probe_result unknown() { return probe_result(outcome::unknown, {}); }
  [[nodiscard]] outcome what() const noexcept { return outcome_; }  ///< lost: not done
  /// On failure: daybook::error (error_code::bad_argument) unless what() is done.
  [[nodiscard]] T const& value() const {
    if (outcome_ != outcome::done) complain_of_no_value(outcome_);
    return value_;
  }

 private:
  probe_result(outcome outcome, T carries) : outcome_(outcome), value_(std::move(carries)) {}
  outcome outcome_;
  T value_;
};

template <>
class probe_result<void> {
 public:
  [[nodiscard]] static probe_result done() { return probe_result(outcome::done); }
  [[nodiscard]] static probe_result not_done() { return probe_result(outcome::lost); }
  [[nodiscard]] static probe_result unknown() { return probe_result(outcome::unknown); }
  [[nodiscard]] outcome what() const noexcept { return outcome_; }  ///< lost: not done

 private:
  explicit probe_result(outcome outcome) : outcome_(outcome) {}
  outcome outcome_;
};

template <class P, class T>
concept probe_for = std::invocable<P&, effect const&> &&
    std::same_as<std::invoke_result_t<P&, effect const&>, probe_result<T>>;

/// The answer of a step: false when the run was lost, or the outcome is unknown; else done or
/// skipped, with the value.
template <class T>
class [[nodiscard]] step_result {
 public:
  step_result(outcome outcome, T carried_value)
      : outcome_(outcome), value_(std::move(carried_value)) {}
  explicit operator bool() const noexcept {
    return outcome_ == outcome::done || outcome_ == outcome::skipped;
  }
  [[nodiscard]] outcome what() const noexcept { return outcome_; }
  /// The body's value, now or from the attempt that did the step. On failure: daybook::error
  /// (error_code::bad_argument) when false.
  [[nodiscard]] T const& value() const {
    if (!*this) complain_of_no_value(outcome_);
    return value_;
  }

 private:
  outcome outcome_;
  T value_;
};

template <>
class [[nodiscard]] step_result<void> {
 public:
  explicit step_result(outcome outcome) : outcome_(outcome) {}
  explicit operator bool() const noexcept {
    return outcome_ == outcome::done || outcome_ == outcome::skipped;
  }
  [[nodiscard]] outcome what() const noexcept { return outcome_; }

 private:
  outcome outcome_;
};

// --- Inline implementations ---

template <class T>
step_result<T> decoded_step(outcome outcome, std::string text) {
  if constexpr (std::is_void_v<T>) {
    return step_result<void>(outcome);
  } else if constexpr (std::integral<T>) {
    std::int64_t number = 0;
    if (outcome == outcome::done || outcome == outcome::skipped) decode_carried(text, number);
    return step_result<T>(outcome, static_cast<T>(number));
  } else {
    return step_result<T>(outcome, std::move(text));
  }
}

/// A probe's answer as text.
struct probe_answer {
  outcome what = outcome::unknown;
  std::string value;
};

template <class T>
probe_answer encode_probed(probe_result<T> const& probed) {
  if constexpr (std::is_void_v<T>) {
    return {probed.what(), {}};
  } else {
    if (probed.what() != outcome::done) return {probed.what(), {}};
    auto const get = [](probe_result<T> const& one) -> T { return one.value(); };
    return {probed.what(), call_encoded(get, probed)};
  }
}

}  // namespace v1
}  // namespace daybook
