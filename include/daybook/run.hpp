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

#include <daybook/detail/export.hpp>
#include <daybook/names.hpp>
#include <daybook/outcome.hpp>
#include <daybook/step.hpp>
#include <daybook/pending.hpp>
#include <daybook/time.hpp>
#include <daybook/transaction.hpp>

#include <chrono>
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

class external_transaction;
class pending_end;

namespace core {
class held_run;
}  // namespace core

/// The answer of finish(), fail() and release().
class [[nodiscard]] end_result {
 public:
  explicit end_result(outcome outcome) : outcome_(outcome) {}
  /// False: this ending was not recorded. what() says why.
  explicit operator bool() const noexcept { return outcome_ == outcome::done; }
  /// done; lost (to another holder, or past its deadline); or unknown: an at-most-once step of the
  /// run was begun and its outcome never recorded, so the run has ended as run_state::unknown.
  [[nodiscard]] outcome what() const noexcept { return outcome_; }

 private:
  outcome outcome_;
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
  /// On failure: what the body throws goes through after a rollback; a step whose COMMIT could not
  /// be resolved throws daybook::error. The same name twice in one attempt is
  /// error_code::bad_argument, unless the first time threw; so is a name that an earlier attempt
  /// used in another mode.
  template <step_body F>
  auto step(std::string_view name, F&& body)
      -> step_result<std::invoke_result_t<F&, transaction&>> {
    return step(name, step_options{}, std::forward<F>(body));
  }
  template <step_body F>
  auto step(std::string_view name, step_options options, F&& body)
      -> step_result<std::invoke_result_t<F&, transaction&>>;

  /// Does `body(effect)`, which acts outside the database, and then records it. A crash in
  /// between means that a later attempt does it again, with the same idempotency key.
  /// On failure: what the body throws goes through, and nothing is recorded. Names as in step().
  template <effect_body F>
  auto at_least_once(std::string_view name, F&& body)
      -> step_result<std::invoke_result_t<F&, effect const&>>;

  /// Records the intent, does `body(effect)`, records the outcome: never twice. A crash in between
  /// leaves outcome::unknown to the next attempt, which asks `probe(effect)` if there is one;
  /// where that does not know either, this attempt ends with run_state::unknown, until
  /// book::resolve(). On failure: a body that throws daybook::not_done leaves nothing behind; after
  /// any other exception the probe is asked, and the exception goes through unless the probe
  /// says done. Names as in step().
  template <effect_body F>
  auto at_most_once(std::string_view name, F&& body)
      -> step_result<std::invoke_result_t<F&, effect const&>>;
  template <effect_body F, probe_for<std::invoke_result_t<F&, effect const&>> P>
  auto at_most_once(std::string_view name, F&& body, P&& probe)
      -> step_result<std::invoke_result_t<F&, effect const&>>;

  /// Records a step that was done outside the database (by a child process, say), at least once.
  /// `text` is what it carries to later attempts; `took`, for people, how long it took.
  step_result<void> record(std::string_view name, std::string_view text = {},
                           std::optional<std::chrono::microseconds> took = {});
  /// The two halves of an at-most-once step that a child process does. intend() answers done (go
  /// on), skipped, lost, or unknown: an earlier intent has no recorded outcome. Then record()
  /// settles the step as done, abandon() as not done. In between, finish() ends the run as
  /// run_state::unknown; fail(), release() and dropping the run leave the question to the next
  /// attempt.
  step_result<void> intend(std::string_view name);
  step_result<void> abandon(std::string_view name);

  /// Whether an earlier attempt, or this one, did the step.
  [[nodiscard]] bool done(std::string_view name) const;
  /// The mode in which an attempt at this run has done or begun the step; empty: none has.
  [[nodiscard]] std::optional<step_mode> mode_of(std::string_view step) const;
  /// The value of a finished step; empty: it is not done.
  [[nodiscard]] std::optional<std::string> value(std::string_view step) const;

  // In a transaction of the application's (book::join), which alone commits it.

  /// As step(), in `yours`: done *when yours commits*, which the library cannot see. Until then the
  /// step is pending: the lease goes on, and the next call that is given this run, or confirm(),
  /// finds out what became of it. Several steps may be in one transaction; their names are free
  /// again when it was rolled back. On failure: outcome::lost, or a throw: roll yours back.
  template <step_body F>
  auto step(external_transaction& yours, std::string_view name, F&& body)
      -> step_result<std::invoke_result_t<F&, transaction&>>;
  /// Says whether the pending steps committed. Call it after your COMMIT or ROLLBACK has returned.
  commit_outcome confirm();
  /// The same after a lost reply to your COMMIT. Makes sure that a transaction that has not
  /// committed by now never will. On failure: throws daybook::error, and the run is given up.
  commit_outcome resolve();
  /// The run succeeds when yours commits.
  pending_end finish(external_transaction& yours) &&;

  /// Keeps a value (JSON, a cursor, a file's name; valid UTF-8 of at most 1 MiB) for later steps
  /// and attempts of this run, in a transaction of its own. Do not call it within a step's body.
  step_result<void> set_value(std::string_view name, std::string_view text);
  /// What set_value() kept, by this attempt or an earlier one.
  [[nodiscard]] std::optional<std::string> stored_value(std::string_view name) const;

  /// How far the work is, for people. Costs nothing: it is written with the next renewal or step;
  /// a run of another process (book::attach) writes it at once. `total` 0: not known. `note` is
  /// cut at 200 bytes. A step's body may call it, too.
  /// On failure: error_code::bad_argument when `done` is negative or beyond its total.
  void progress(std::int64_t done, std::int64_t total = 0, std::string_view note = {});

  /// Tells people which step a child process has in hand for this run; empty: none. Costs nothing:
  /// it is written with the next renewal, and with the end of an attempt that does not succeed.
  void step_in_hand(std::string_view name);

  /// Keeps an exit code and the end of the output (8 KiB) with the attempt when it ends. Bytes that
  /// are no UTF-8 text are replaced.
  void keep(std::optional<int> exit_code, std::string_view output);

  /// Ends the run as succeeded, from any state in which this attempt holds it.
  end_result finish() &&;
  /// The run failed; `why` (cut at 2000 bytes) is kept, and the next start() resumes it.
  end_result fail(std::string_view why) &&;
  /// Hands the run back unfinished: the next start() resumes it at once.
  end_result release(std::string_view why) &&;

  [[nodiscard]] process const& process_name() const;
  [[nodiscard]] key const& run_key() const;
  /// 1 for the first run under this key; one more after each success.
  [[nodiscard]] std::int64_t number() const;
  /// 1 for the first attempt at this run.
  [[nodiscard]] std::int64_t attempt() const;
  [[nodiscard]] bool resumed() const { return attempt() > 1; }
  [[nodiscard]] std::int64_t epoch() const;
  /// The date of the data that the run works on, as its first attempt got it.
  [[nodiscard]] std::optional<std::chrono::year_month_day> date() const;
  /// The time until the deadline when this attempt started; empty: there is no deadline.
  [[nodiscard]] std::optional<std::chrono::microseconds> time_left() const;
  /// A stop is requested when this process has lost the run, or must suspect it, and when the
  /// deadline is past.
  [[nodiscard]] std::stop_token stop() const;
  /// A text with which another process can record steps under this attempt: see book::attach().
  /// Valid until the run's end, or until a lost COMMIT reply of one of its own steps was resolved.
  [[nodiscard]] std::string token() const;
  /// The same key for every attempt at this step of this run; for receivers that drop duplicates.
  [[nodiscard]] std::string idempotency_key(std::string_view step) const;

  /// False: moved from, or spent by finish(joined&); then all that is asked of it throws
  /// daybook::error (error_code::bad_argument).
  explicit operator bool() const noexcept { return held_ != nullptr; }

  /// For the other rooms of this library only.
  [[nodiscard]] core::held_run& internals() const { return held(); }

  // --- The same verbs on one of the book's threads. Meanwhile the run may be moved, dropped (it is
  // handed back after that verb) and asked what never changes; all else is
  // error_code::bad_argument, except in the step's body. Arguments are copied. On failure: the
  // pending throws.

  /// As step(). `body` is copied, and must have a name: what is captured by a closure written
  /// inside a co_await expression is destroyed twice by g++ 12 (name a std::ref to a body that
  /// cannot be copied, and keep it). It is no coroutine: no transaction is open while one waits.
  template <named_step_body F>
  auto step_async(std::string_view name, F& body) {
    return step_async(name, step_options{}, body);
  }
  template <named_step_body F>
  auto step_async(std::string_view name, step_options options, F& body)
      -> pending<step_result<std::invoke_result_t<F&, transaction&>>> {
    return async([name = std::string(name), options, body](run& self) mutable {
      return self.step(name, options, body);
    });
  }
  template <class F>
  void step_async(std::string_view name, F const&& unnamed_body) = delete;
  template <class F>
  void step_async(std::string_view name, step_options options, F const&& unnamed_body) = delete;

  /// As at_least_once() and at_most_once(), with bodies (and probes) that have a name.
  template <named_effect_body F>
  auto at_least_once_async(std::string_view name, F& body)
      -> pending<step_result<std::invoke_result_t<F&, effect const&>>> {
    return async([name = std::string(name), body](run& self) mutable {
      return self.at_least_once(name, body);
    });
  }
  template <class F>
  void at_least_once_async(std::string_view name, F const&& unnamed_body) = delete;
  template <named_effect_body F>
  auto at_most_once_async(std::string_view name, F& body)
      -> pending<step_result<std::invoke_result_t<F&, effect const&>>> {
    return async([name = std::string(name), body](run& self) mutable {
      return self.at_most_once(name, body);
    });
  }
  template <named_effect_body F, probe_for<std::invoke_result_t<F&, effect const&>> P>
  auto at_most_once_async(std::string_view name, F& body, P& probe)
      -> pending<step_result<std::invoke_result_t<F&, effect const&>>> {
    return async([name = std::string(name), body, probe](run& self) mutable {
      return self.at_most_once(name, body, probe);
    });
  }
  template <class F>
  void at_most_once_async(std::string_view name, F const&& unnamed_body) = delete;

  pending<step_result<void>> record_async(std::string_view name, std::string_view text = {});
  pending<step_result<void>> set_value_async(std::string_view name, std::string_view text);
  pending<end_result> finish_async() &&;
  pending<end_result> fail_async(std::string_view why) &&;
  pending<end_result> release_async(std::string_view why) &&;

 private:
  /// Calls `verb(run&)` on one of the book's threads; the pending has its result.
  template <class F>
  auto async(F verb) -> pending<std::invoke_result_t<F&, run&>>;
  void post(std::shared_ptr<work::completion> completion, std::function<void(run&)> verb);
  friend class pending_end;
  explicit run(std::shared_ptr<core::held_run> held) noexcept;

  using encoded_body = std::function<std::string(transaction&)>;
  using encoded_effect = std::function<std::string(effect const&)>;
  using encoded_probe = std::function<probe_answer(effect const&)>;
  outcome do_step(std::string_view name, step_options options, encoded_body const& body,
                  std::string& carried_value);
  outcome do_joined(external_transaction& yours, std::string_view name, encoded_body const& body,
                    std::string& carried_value);
  outcome do_at_least_once(std::string_view name, encoded_effect const& body, std::string& text);
  outcome do_at_most_once(std::string_view name, encoded_effect const& body,
                          encoded_probe const& probe, std::string& text);

  /// On failure: daybook::error (error_code::bad_argument) where this holds no run.
  [[nodiscard]] core::held_run& held() const;

  std::shared_ptr<core::held_run> held_;  // with an asynchronous verb under way
};

/// A run that succeeds when the application's transaction commits. Dropped unsettled, the run is
/// handed back if it can be, and is finished if yours had committed.
/// Thread safety: one thread. Lifetime: must not outlive the book.
class [[nodiscard]] DAYBOOK_EXPORT pending_end {
 public:
  pending_end(std::shared_ptr<core::held_run> held, outcome accepted) noexcept;
  pending_end(pending_end&&) noexcept;
  pending_end& operator=(pending_end&&) noexcept;
  ~pending_end();

  /// Whether the ending was accepted. If not, roll your transaction back; what() says why.
  explicit operator bool() const noexcept { return accepted_ == outcome::done; }
  [[nodiscard]] outcome what() const noexcept { return accepted_; }
  /// As run::confirm() and run::resolve().
  commit_outcome confirm();
  commit_outcome resolve();
  /// The run again, once. It goes on after commit_outcome::rolled_back; else it is over, its verbs
  /// throw daybook::error (error_code::bad_argument).
  run take_back() &&;

 private:
  [[nodiscard]] core::held_run& held() const;

  std::shared_ptr<core::held_run> held_;
  outcome accepted_;
};

/// The answer of start(): a run, or why not.
class [[nodiscard]] DAYBOOK_EXPORT start_result {
 public:
  explicit start_result(run held);
  start_result(process const& name, key const& run_key, start_refusal why,
               std::optional<lease_holder> holder = {});

  explicit operator bool() const noexcept { return run_.has_value(); }
  /// The run. On failure: daybook::error (error_code::bad_argument) if there is none; the message
  /// names the run, the reason and the remedy.
  daybook::run take() &&;
  /// Why there is no run. On failure: daybook::error (error_code::bad_argument) if there is one.
  [[nodiscard]] start_refusal why() const;
  /// The holder, if why() is running_elsewhere.
  [[nodiscard]] std::optional<lease_holder> const& holder() const noexcept { return holder_; }

 private:
  std::optional<daybook::run> run_;
  std::string asked_;  ///< "invoicing / 2026-11", where it was refused
  start_refusal why_ = start_refusal::running_elsewhere;
  std::optional<lease_holder> holder_;
};

// --- Inline implementations ---

// g++ 12 destroys an aggregate written inside a co_await expression twice.
static_assert(std::is_trivially_destructible_v<step_options>);

template <class F>
auto run::async(F verb) -> pending<std::invoke_result_t<F&, run&>> {
  auto answer = std::make_shared<work::answer<std::invoke_result_t<F&, run&>>>();
  post(answer,
       [verb = std::move(verb), put = answer.get()](run& self) mutable { put->put(verb(self)); });
  return pending<std::invoke_result_t<F&, run&>>(std::move(answer));
}

template <step_body F>
auto run::step(std::string_view name, step_options options, F&& body)
    -> step_result<std::invoke_result_t<F&, transaction&>> {
  std::string text;
  auto const outcome = do_step(
      name, options, [&body](transaction& tx) { return call_encoded(body, tx); }, text);
  return decoded_step<std::invoke_result_t<F&, transaction&>>(outcome, std::move(text));
}

template <step_body F>
auto run::step(external_transaction& yours, std::string_view name, F&& body)
    -> step_result<std::invoke_result_t<F&, transaction&>> {
  std::string text;
  auto const outcome = do_joined(
      yours, name, [&body](transaction& tx) { return call_encoded(body, tx); }, text);
  return decoded_step<std::invoke_result_t<F&, transaction&>>(outcome, std::move(text));
}

template <effect_body F>
auto run::at_least_once(std::string_view name, F&& body)
    -> step_result<std::invoke_result_t<F&, effect const&>> {
  std::string text;
  auto const outcome = do_at_least_once(
      name, [&body](effect const& e) { return call_encoded(body, e); }, text);
  return decoded_step<std::invoke_result_t<F&, effect const&>>(outcome, std::move(text));
}

template <effect_body F>
auto run::at_most_once(std::string_view name, F&& body)
    -> step_result<std::invoke_result_t<F&, effect const&>> {
  using answer = std::invoke_result_t<F&, effect const&>;
  return at_most_once(name, std::forward<F>(body),
                      [](effect const&) { return probe_result<answer>::unknown(); });
}

template <effect_body F, probe_for<std::invoke_result_t<F&, effect const&>> P>
auto run::at_most_once(std::string_view name, F&& body, P&& probe)
    -> step_result<std::invoke_result_t<F&, effect const&>> {
  std::string text;
  auto const outcome = do_at_most_once(
      name, [&body](effect const& e) { return call_encoded(body, e); },
      [&probe](effect const& e) { return encode_probed(probe(e)); }, text);
  return decoded_step<std::invoke_result_t<F&, effect const&>>(outcome, std::move(text));
}

}  // namespace v1
}  // namespace daybook
