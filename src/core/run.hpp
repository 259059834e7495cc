// Runs: start, step, end, take over; and what a lost COMMIT reply meant.
// Every write after the start carries the fence: epoch and acquisition of this attempt.
// Thread safety: `runs` is thread-safe; a held_run belongs to one thread at a time.
#pragma once

#include "core/context.hpp"
#include "core/holder.hpp"
#include "core/transact.hpp"

#include <daybook/book.hpp>
#include <daybook/names.hpp>
#include <daybook/run.hpp>

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace core {

/// One acquisition of a run. After a lost COMMIT reply several may be on the row.
struct acquisition {
  std::int64_t epoch = 0;
  std::string uuid;
};

/// What identifies a run in hand.
struct run_identity {
  daybook::process process;
  daybook::key key;
  std::int64_t number = 0;
  std::int64_t attempt = 0;
};

/// A run in hand; the inside of daybook::run.
class held_run {
 public:
  using body = std::function<std::string(transaction&)>;

  /// `who` is null for a run that another process holds (book::attach).
  held_run(context const& with, core::holder& lease, std::shared_ptr<incarnation> who,
           run_identity identity, acquisition held);
  held_run(held_run const&) = delete;
  held_run& operator=(held_run const&) = delete;
  /// Releases what was not ended; never throws.
  ~held_run();

  /// What earlier attempts at this run did: name and carried value.
  void knows_done(std::map<std::string, std::string> steps) { done_before_ = std::move(steps); }

  outcome step(std::string_view name, step_options options, body const& work, std::string& value);
  outcome record(std::string_view name);
  /// Ends this attempt, in whatever way: it is over afterwards, also when this throws.
  bool end(run_state state, std::string_view why);
  [[nodiscard]] bool done(std::string_view name) const;

  [[nodiscard]] run_identity const& identity() const noexcept { return identity_; }
  [[nodiscard]] acquisition const& held() const noexcept { return held_; }
  [[nodiscard]] std::stop_token stop() const noexcept { return hand_->lost.get_token(); }
  [[nodiscard]] std::string token() const;
  [[nodiscard]] std::string idempotency_key(std::string_view step) const;

 private:
  enum class fate : std::uint8_t { had_committed, never_will, lost };

  outcome try_step(std::string_view name, step_options options, body const& work,
                   std::string& value);
  /// What happens inside a step's transaction.
  decision do_step(db::session& on, std::string_view name, step_options options, body const& work,
                   std::string& value, bool& renewed);
  outcome try_record(std::string_view name);
  [[nodiscard]] std::optional<outcome> done_by_us(db::session& on, std::string_view name,
                                                  std::string& value) const;
  fate resolve_step(std::string_view name, std::string& value);
  /// What step() and record() share: the name, what is done already, what came of it.
  template <class Try>
  outcome once(std::string_view name, std::string& value, Try const& attempt);
  bool try_end(run_state state, std::string_view why);
  [[nodiscard]] bool write_end(db::session& on, run_state state, std::string_view why) const;
  [[nodiscard]] bool end_recorded(db::session& on, acquisition const& by, run_state state) const;
  void disown();
  void let_go(std::string_view why) noexcept;
  fate resolve_end(run_state state);
  template <class Evidence>
  fate resolve(std::string_view transaction_name, Evidence const& evidence);
  /// Where the engine has one writer, whose long step would keep the background from renewing.
  [[nodiscard]] bool renew_with(db::session& on) const;
  void begin_step(std::string_view name);
  void mark_lost();
  [[nodiscard]] run_event event(std::string_view step = {}, std::string_view text = {}) const;
  /// What a held run is worth: as long as a lease, also while the database is away.
  [[nodiscard]] transact_options insist(std::string_view name,
                                        isolation level = isolation::read_committed) const;

  context with_;
  core::holder* lease_;
  std::shared_ptr<incarnation> who_;
  std::shared_ptr<in_hand> hand_;
  run_identity identity_;
  acquisition held_;
  std::map<std::string, std::string> done_before_;
  std::set<std::string, std::less<>> used_;  ///< names given, whatever came of them
  std::set<std::string, std::less<>> done_now_;
  bool open_ = true;
  bool lost_ = false;
};

class runs {
 public:
  runs(context const& with, core::holder& lease) : with_(with), lease_(&lease) {}

  started start(process const& name, key const& piece, start_options options);
  std::optional<run> attach(std::string_view text);

 private:
  struct taken {
    std::int64_t number = 0;
    std::int64_t attempt = 0;
    std::int64_t epoch = 0;
    std::int64_t steps_done = 0;
  };
  /// Who has it, or that it may be taken.
  struct look {
    bool exists = false;
    run_state state{};
    bool succeeded = false;
    occupant who;
    bool holder_ended = false;
    bool lease_over = false;
    [[nodiscard]] bool in_hand() const noexcept;
  };

  /// The run, or empty: refused, or (`locked` says by what) kept waiting for too long.
  std::optional<run> try_once(process const& name, key const& piece, start_options options,
                              std::exception_ptr& locked);
  /// Why not; empty where it may be taken, or taken over.
  static std::optional<started> refused(look const& seen, start_options options);

  std::optional<taken> try_start(process const& name, key const& piece, start_options options,
                                 std::string const& holder_uuid,
                                 std::string const& acquisition_uuid);
  /// A dead holder may take nothing; the next life may.
  void drop_if_dead(incarnation& who);
  look look_at(process const& name, key const& piece);
  /// Declares the holder dead where its lease is over, and frees the run. False: the row is locked
  /// by a process that does not go on.
  bool take_over(process const& name, key const& piece, look const& seen);
  std::map<std::string, std::string> steps_of(process const& name, key const& piece,
                                              std::int64_t number);

  context with_;
  core::holder* lease_;
};

}  // namespace core
}  // namespace v1
}  // namespace daybook
