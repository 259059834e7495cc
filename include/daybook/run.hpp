// A run: one piece of work under one key, with at most one live holder, done step by step.
// A step's effect, its record and the fence commit in one transaction; a resumed run skips the
// steps that are done.
// Thread safety: a run belongs to one thread at a time; stop() may be read from any.
//
//   auto attempt = book.start(daybook::process{"invoicing"}, daybook::key{"2026-11"});
//   if (!attempt) return;                                   // busy or done: attempt.why()
//   auto run = std::move(attempt).take();
//   if (!run.step("draft", [](auto& tx) { tx.exec("insert into invoice select ..."); })) return;
//   std::move(run).finish();
#pragma once

#include <daybook/export.hpp>
#include <daybook/names.hpp>
#include <daybook/time.hpp>
#include <daybook/transaction.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace daybook {
inline namespace v1 {

namespace core {
class held_run;
}  // namespace core

/// Where a run stands. The numbers are in the table and never change.
enum class run_state : std::int8_t {
  ready = 9,             ///< started, no step done by this attempt yet
  running = 8,           ///< at least one step done
  succeeded = 0,         ///< finished
  failed = -1,           ///< ended by fail()
  interrupted = -2,      ///< its holder died or let go; anyone resumes it
  deadline_passed = -3,  ///< reserved
  unknown = -4,          ///< an at-most-once step's outcome is not known; a person decides
  discarded = -5,        ///< given up by a person
};

/// Why start() gave no run.
enum class refusal : std::uint8_t {
  running_elsewhere,  ///< a live holder has it: started::holder() says who
  done_before,        ///< asked to be done once, and this key has succeeded
  unknown_outcome,    ///< run_state::unknown: a person decides first
};

/// What came of a step or of an ending.
enum class outcome : std::uint8_t {
  done,     ///< now, by this attempt
  skipped,  ///< an earlier attempt of this run had done it; nothing was executed
  lost,     ///< this attempt no longer holds the run: nothing was written, stop
};

/// Who holds a run.
struct occupant {
  std::string holder;    ///< the holder's uuid
  std::string node;      ///< host name
  std::int64_t pid = 0;  ///< process id on that host
  timestamp since{};     ///< when this attempt started
  timestamp until{};     ///< presumed alive until then; renewed while it lives
  std::string in_hand;   ///< the step in hand as last renewed, or empty
};

/// What a step may carry to later attempts.
template <class T>
concept carried = std::integral<T> || std::same_as<T, std::string> || std::is_void_v<T>;
template <class F>
concept step_body =
    std::invocable<F&, transaction&> && carried<std::invoke_result_t<F&, transaction&>>;

enum class isolation : std::uint8_t { read_committed, repeatable_read, serializable };
/// Where in a step's transaction the run's row is written: `last` keeps its lock short when the
/// effect is long; `first` finds out early that the run was lost, when the effect is short.
enum class fence_position : std::uint8_t { last, first };

struct step_options {
  isolation level = isolation::read_committed;  ///< SQLite is always serializable
  fence_position fence = fence_position::last;
};

/// The answer of step(): false when the run was lost; else done or skipped, with the value.
template <class T>
class [[nodiscard]] stepped {
 public:
  stepped(outcome what, T carried_value) : what_(what), value_(std::move(carried_value)) {}
  explicit operator bool() const noexcept { return what_ != outcome::lost; }
  [[nodiscard]] outcome what() const noexcept { return what_; }
  /// The body's value, now or from the attempt that did the step. Meaningless when lost.
  [[nodiscard]] T const& value() const noexcept { return value_; }

 private:
  outcome what_;
  T value_;
};

template <>
class [[nodiscard]] stepped<void> {
 public:
  explicit stepped(outcome what) : what_(what) {}
  explicit operator bool() const noexcept { return what_ != outcome::lost; }
  [[nodiscard]] outcome what() const noexcept { return what_; }

 private:
  outcome what_;
};

/// The answer of finish() and fail().
class [[nodiscard]] ended {
 public:
  explicit ended(bool held) : held_(held) {}
  /// False: the run was lost, and nothing was written.
  explicit operator bool() const noexcept { return held_; }

 private:
  bool held_;
};

/// Move-only. Dropped without finish() or fail(), the run is interrupted: anyone resumes it.
/// Lifetime: must not outlive its book.
class [[nodiscard]] DAYBOOK_EXPORT run {
 public:
  explicit run(std::unique_ptr<core::held_run> held) noexcept;
  run(run&&) noexcept;
  run& operator=(run&&) noexcept;
  ~run();

  /// Does the step once: `body(tx)`'s effects, the record and the fence commit together, or
  /// nothing does. The body may be called again when the database asks for a retry, so it must
  /// have no effect outside `tx`. Effects must stay in this database; no DDL on MariaDB.
  /// On failure: what the body throws goes through after a rollback; a step that could not be
  /// settled throws daybook::error. The same name twice in one attempt is fault::bad_argument,
  /// unless the first time threw.
  template <step_body F>
  auto step(std::string_view name, F&& body) -> stepped<std::invoke_result_t<F&, transaction&>> {
    return step(name, step_options{}, std::forward<F>(body));
  }
  template <step_body F>
  auto step(std::string_view name, step_options options, F&& body)
      -> stepped<std::invoke_result_t<F&, transaction&>>;

  /// Records a step that was done outside the database (by a child process, say): at least once,
  /// for a crash before this call means that it is done again.
  stepped<void> record(std::string_view name);
  /// Whether an earlier attempt, or this one, did the step.
  [[nodiscard]] bool done(std::string_view name) const;

  /// The run succeeded. From any state held by this attempt.
  ended finish() &&;
  /// The run failed; `why` (cut at 2000 bytes) is kept, and the next start() resumes it.
  ended fail(std::string_view why) &&;
  /// Hands the run back unfinished: the next start() resumes it at once.
  ended release(std::string_view why) &&;

  [[nodiscard]] process const& process_name() const noexcept;
  [[nodiscard]] key const& run_key() const noexcept;
  /// 1 for the first run under this key; one more after each success.
  [[nodiscard]] std::int64_t number() const noexcept;
  /// 1 for the first attempt at this run.
  [[nodiscard]] std::int64_t attempt() const noexcept;
  [[nodiscard]] bool resumed() const noexcept { return attempt() > 1; }
  [[nodiscard]] std::int64_t epoch() const noexcept;
  /// Requested when this process is known to have lost the run. Pass it to long work.
  [[nodiscard]] std::stop_token stop() const noexcept;
  /// What another process needs to record steps under this attempt: book::attach(). It holds until
  /// this run's end, or until a lost COMMIT reply of a step of its own was resolved.
  [[nodiscard]] std::string token() const;
  /// The same key for every attempt at this step of this run; for receivers that drop duplicates.
  [[nodiscard]] std::string idempotency_key(std::string_view step) const;

 private:
  using encoded_body = std::function<std::string(transaction&)>;
  outcome do_step(std::string_view name, step_options options, encoded_body const& body,
                  std::string& carried_value);

  std::unique_ptr<core::held_run> held_;
};

/// The answer of start(): a run, or why not.
class [[nodiscard]] DAYBOOK_EXPORT started {
 public:
  explicit started(run held);
  explicit started(refusal why, std::optional<occupant> holder = {});

  explicit operator bool() const noexcept { return run_.has_value(); }
  /// Precondition: true.
  daybook::run take() &&;
  /// Precondition: false.
  [[nodiscard]] refusal why() const;
  /// Who has it, when why() is running_elsewhere.
  [[nodiscard]] std::optional<occupant> const& holder() const noexcept { return holder_; }

 private:
  std::optional<daybook::run> run_;
  refusal why_ = refusal::running_elsewhere;
  std::optional<occupant> holder_;
};

// --- Inline implementations ---

DAYBOOK_EXPORT std::string encode_carried(std::int64_t from);
DAYBOOK_EXPORT void decode_carried(std::string_view from, std::int64_t& to);

template <step_body F>
auto run::step(std::string_view name, step_options options, F&& body)
    -> stepped<std::invoke_result_t<F&, transaction&>> {
  using result = std::invoke_result_t<F&, transaction&>;
  std::string text;
  auto const what = do_step(
      name, options,
      [&body](transaction& tx) -> std::string {
        if constexpr (std::is_void_v<result>) {
          body(tx);
          return {};
        } else if constexpr (std::integral<result>) {
          return encode_carried(static_cast<std::int64_t>(body(tx)));
        } else {
          return body(tx);
        }
      },
      text);
  if constexpr (std::is_void_v<result>) {
    return stepped<void>(what);
  } else if constexpr (std::integral<result>) {
    std::int64_t number = 0;
    if (what != outcome::lost) decode_carried(text, number);
    return stepped<result>(what, static_cast<result>(number));
  } else {
    return stepped<result>(what, std::move(text));
  }
}

}  // namespace v1
}  // namespace daybook
