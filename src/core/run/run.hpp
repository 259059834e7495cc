// A run in hand: steps, endings, and what a lost COMMIT reply meant. Every write after the start
// carries the fence: epoch and acquisition of this attempt. It belongs to one thread at a time.
#pragma once

#include "core/lease/holder.hpp"
#include "core/lease/memory.hpp"
#include "core/lease/turn.hpp"
#include "core/run/beside_end.hpp"
#include "core/tx/context.hpp"
#include "core/tx/transact.hpp"

#include <daybook/book.hpp>
#include <daybook/names.hpp>
#include <daybook/run.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace core {

/// Bytes of an error text that a run or a step keeps.
inline constexpr std::size_t longest_error = 2000;

/// A run in hand; the inside of daybook::run.
class held_run {
 public:
  using body = std::function<std::string(transaction&)>;
  using value_type = daybook::value;  // value() is a verb here
  using act = std::function<std::string(effect const&)>;
  using probe = std::function<probe_answer(effect const&)>;

  /// `holder` is null for a run that another process holds (book::attach).
  held_run(context const& context, core::holder& lease, std::shared_ptr<incarnation> holder,
           run_identity identity, acquisition held);
  held_run(held_run const&) = delete;
  held_run& operator=(held_run const&) = delete;
  /// Releases what was not ended; never throws.
  ~held_run();

  void remembers(memory memory) { memory_ = std::move(memory); }
  void ends_with(beside_end also) { also_at_end_ = std::move(also); }

  outcome step(std::string_view name, step_options options, body const& work, std::string& value);
  outcome at_least_once(std::string_view name, act const& work, std::string& value);
  outcome at_most_once(std::string_view name, act const& work, probe const& look,
                       std::string& value);
  outcome record(std::string_view name, std::string_view value,
                 std::optional<std::chrono::microseconds> took);
  outcome intend(std::string_view name);
  outcome abandon(std::string_view name);
  outcome carry(std::string_view name, std::string_view value);
  [[nodiscard]] std::optional<std::string> carried(std::string_view name) const;
  /// A transaction that leaves no step; unknown: its reply was lost, and the caller looks.
  outcome write_fenced(std::string_view name, std::function<bool(db::session&)> const& body);
  void set_progress(std::int64_t done, std::int64_t total, std::string_view note);
  void set_step(std::string_view name);
  void keep(std::optional<int> exit_code, std::string_view output);
  /// Ends this attempt, in whatever way: it is over afterwards, also when this throws.
  outcome end(run_state state, std::string_view why);
  outcome step_in(db::session& yours, std::string_view book_id, std::string_view name,
                  body const& work, std::string& value);
  outcome end_in(db::session& yours, std::string_view book_id, run_state state);
  commit_outcome confirm();
  commit_outcome resolve();
  [[nodiscard]] bool done(std::string_view name) const;
  [[nodiscard]] std::optional<step_mode> mode_of(std::string_view step) const;
  [[nodiscard]] std::optional<std::string> value(std::string_view step) const;

  [[nodiscard]] bool is_open() const noexcept { return open_; }
  [[nodiscard]] run_identity const& identity() const noexcept { return identity_; }
  [[nodiscard]] acquisition const& held() const noexcept { return held_; }
  [[nodiscard]] std::stop_token stop() const noexcept { return hand_->lost.get_token(); }
  [[nodiscard]] std::string token() const;
  [[nodiscard]] std::string idempotency_key(std::string_view step) const;

  /// For an asynchronous verb, until turn().end(). On failure: throws as check_turn().
  void claim();
  /// Throws daybook::error (error_code::bad_argument) when an asynchronous verb has it.
  void check_turn() const;
  [[nodiscard]] core::turn& turn() noexcept { return turn_; }
  [[nodiscard]] core::background& asynchronous() const noexcept { return *context_.asynchronous; }

 private:
  enum class fate : std::uint8_t { had_committed, never_will, lost };
  // Steps: run.cpp
  outcome once(std::string_view name, step_mode mode, std::string& value,
               std::function<outcome()> const& attempt);
  [[nodiscard]] bool begin_step(std::string_view name, step_mode mode);
  void check_mode(std::string_view name, step_mode mode) const;
  void settle_lost();
  outcome try_step(std::string_view name, step_options options, body const& work,
                   std::string& value);
  decision do_step(db::session& session, std::string_view name, step_options options,
                   body const& work, std::string& value, bool& renewed, bool ours = true);
  template <class Execute>  // called with the values of run.step
  db::table with_step(finished_step const& step, std::string_view value,
                      Execute const& execute) const;
  bool write_step(db::session& session, finished_step const& step, std::string_view value) const;
  [[nodiscard]] bool had_in_time(db::session& session) const;
  outcome try_record(finished_step const& step, std::string& value);
  void next_stamp() noexcept;  ///< before each transaction that writes the run's row
  outcome wrote(bool committed = true) noexcept;  ///< after it; done, or lost
  [[nodiscard]] std::optional<outcome> done_by_us(db::session& session, std::string_view name,
                                                  std::string& value) const;

  // Steps outside the database: external.cpp
  outcome act_at_most_once(effect const& effect, act const& work, probe const& look,
                           std::string_view name, std::string& value);
  outcome settle_intent(effect const& effect, probe const& look, std::string_view name,
                        std::string& value, std::string_view why);
  bool settle_after(std::string_view subject, effect const& effect, probe const& look,
                    std::string_view name, std::string& value);
  bool mark_unknown(std::string_view name);
  outcome try_intend(std::string_view name);
  outcome intend_in_time(std::string_view name);
  outcome try_abandon(std::string_view name);
  outcome leave_unknown(std::string_view name, std::string_view why);
  [[nodiscard]] effect effect_of(std::string_view name) const;
  [[nodiscard]] bool lease_is_good();
  template <class F>
  std::string in_hand_while(std::string_view name, F const& work);
  // Endings: ending.cpp
  outcome try_end(run_state state, std::string_view why);
  /// `execute` is called with the values of run.end. Whether the fence held.
  using ending = std::pair<run_state, std::string_view>;
  using executing = std::function<db::table(ending, std::initializer_list<value_type>)>;
  bool write_end(executing const& execute, run_state state, std::string_view why) const;
  [[nodiscard]] executing end_by(transact_options options) const;
  [[nodiscard]] executing end_on(db::session& session) const;
  [[nodiscard]] bool end_recorded(db::session& session, acquisition const& held,
                                  run_state state) const;
  [[nodiscard]] std::optional<standing> standing_now(db::session& session) const;
  void pass_deadline();
  void disown();
  void let_go(std::string_view why) noexcept;

  // In transactions of the application's: joint.cpp
  void check_joinable(std::string_view book_id) const;
  void settle_within(db::session& yours);
  void settle_pending();
  commit_outcome settle(std::set<std::string, std::less<>> const& there, bool ended, bool held);
  [[nodiscard]] bool recorded_by(db::session& session, std::string_view step,
                                 std::vector<acquisition> const& candidates) const;
  [[nodiscard]] bool recorded_by_us(db::session& session, std::string_view step) const;

  // Lost replies: doubt.cpp
  fate resolve_step(std::string_view name, std::string& value);
  fate resolve_intent(std::string_view name, std::string_view token);
  [[nodiscard]] std::string intent_token(db::session& session, std::string_view name) const;
  fate resolve_written(std::string_view transaction_name);
  fate resolve_end(run_state state);
  using evidence =
      std::function<bool(db::session&, std::vector<acquisition> const& candidates, fate advanced)>;
  fate resolve_doubt(std::string_view transaction_name, evidence const& found_in);

  /// Where the engine has one writer, whose long step would keep the background from renewing.
  [[nodiscard]] bool renew_with(db::session& session) const;
  void mark_lost();
  [[nodiscard]] run_event event(std::string_view step = {}, std::string_view text = {}) const;
  [[nodiscard]] std::string const& process() const noexcept { return identity_.process.str(); }
  [[nodiscard]] std::string const& key() const noexcept { return identity_.key.str(); }

  context context_;
  core::holder* lease_;
  std::shared_ptr<incarnation> holder_;
  std::shared_ptr<in_hand> hand_;
  run_identity identity_;
  acquisition held_;
  std::int64_t stamp_ = 0;  ///< of the last write that was sent
  memory memory_;
  std::set<std::string, std::less<>> used_;  ///< names given, whatever came of them
  /// Steps, and an ending, that are there when the application commits.
  std::vector<pending_step> pending_steps_;
  std::optional<run_state> pending_end_;
  std::set<std::string, std::less<>> intended_;  ///< by intend(), and waiting for its other half
  std::optional<progress> far_;                  ///< of a step's body, where the holder is another
  std::optional<int> exit_code_;
  std::string output_;
  bool in_body_ = false;
  bool open_ = true;
  bool lost_ = false;
  core::turn turn_;
  beside_end also_at_end_;
};

}  // namespace core
}  // namespace v1
}  // namespace daybook
