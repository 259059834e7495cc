// This process as a holder: one row, renewed while it lives, and the runs that hang on it.
// A holder that was declared dead never lives again; the process goes on as a new one.
// Thread-safe.
#pragma once

#include "base/platform.hpp"
#include "core/lease/in_hand.hpp"
#include "core/tx/context.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace core {

/// How far two clocks of the database (before and after a fail-over) may be apart before a lease
/// that lies in the future counts as over.
inline constexpr std::chrono::microseconds max_skew = std::chrono::seconds{60};

/// What a renewal came to. A fault of the database is thrown.
enum class renewal : std::uint8_t { renewed, dead };

struct orphan {
  std::string process;
  std::string key;
  std::string acquisition;
  base::boot_clock::time_point since = base::boot_clock::now();
  bool on_its_way = true;  ///< its transaction may be: committed later than it is looked for
  std::int64_t seen = 0;   ///< not 0: its fence did not hold, maybe since its row went back
};

/// The end of a run that the database has acknowledged.
struct ended_run {
  std::string process;
  std::string key;
  std::string acquisition;
};

/// A run in hand past its deadline.
struct overdue {
  std::string process;
  std::string key;
  acquisition held;
  std::string step;
};

/// One life of a holder.
class incarnation {
 public:
  explicit incarnation(std::string uuid) : uuid_(std::move(uuid)) {}
  [[nodiscard]] std::string const& uuid() const noexcept { return uuid_; }

  void add(std::shared_ptr<in_hand> const& running);
  void remove(std::shared_ptr<in_hand> const& running);
  void set_step(in_hand& running, std::string_view step);
  void set_held(in_hand& running, acquisition const& held);
  void set_progress(in_hand& running, progress how_far);
  [[nodiscard]] acquisition held_of(in_hand const& running) const;
  [[nodiscard]] std::optional<progress> progress_of(in_hand const& running) const;
  /// For the row: what core/lease/in_hand.hpp writes of each.
  [[nodiscard]] std::string lines() const;
  /// What it has in hand, to be looked at.
  [[nodiscard]] std::vector<std::shared_ptr<in_hand>> held() const;
  /// Its row's count of renewals and of what people took from it, as far as it knows.
  [[nodiscard]] std::int64_t recalls() const;
  void recalled(std::int64_t count);
  /// Of those that ended since the last look, the newest. Where one is lost, so are all later ones.
  void ended(ended_run run);
  [[nodiscard]] std::vector<ended_run> take_ended();
  /// Asks those past their deadline to stop; returns those that are so for longer than `grace`,
  /// whose owners had time to say it themselves.
  [[nodiscard]] std::vector<overdue> past_deadline(base::boot_clock::duration grace);
  /// All its runs are lost.
  void die();
  [[nodiscard]] bool dead() const;
  /// No renewal for too long: its runs are asked to stop, though the fence may still let them by.
  void suspect();

  /// When the last renewal that succeeded was sent.
  void renewed(base::boot_clock::time_point sent);
  [[nodiscard]] base::boot_clock::duration since_renewal() const;

 private:
  std::string uuid_;
  mutable std::mutex guard_;
  std::set<std::shared_ptr<in_hand>> held_;
  base::boot_clock::time_point sent_ = base::boot_clock::now();
  std::int64_t recalls_ = 0;
  std::deque<ended_run> ended_;
  bool dead_ = false;
};

class holder {
 public:
  explicit holder(context const& context) : context_(context) {}
  holder(holder const&) = delete;
  holder& operator=(holder const&) = delete;

  /// The life that may take work; registers a new one when there is none or it is dead.
  /// On failure: throws daybook::error.
  [[nodiscard]] std::shared_ptr<incarnation> current();
  /// The present life, or null before the first run.
  [[nodiscard]] std::shared_ptr<incarnation> peek() const;
  /// Looks whether the present life was declared dead and has not noticed: one is given nothing.
  /// True: it was; the next current() is a new one. Not within a transaction. On failure: throws
  /// daybook::error.
  bool drop_if_dead() const;

  /// Renews on a session of the caller's. On failure: throws daybook::error.
  renewal renew(db::session& session);
  /// The same inside the caller's transaction, where the engine has one writer. False: declared
  /// dead; the fence of that very transaction decides what this means. The caller reports
  /// incarnation::renewed() when its transaction has committed.
  [[nodiscard]] bool renew_within(db::session& session, incarnation const& holder);

  /// An acquisition that may be ours although no run of ours knows it: its reply was lost and the
  /// database went away before this was settled, or we failed after it. It is let go of as soon as
  /// possible, for a live holder's run is nobody else's.
  void add_orphan(orphan orphan);
  /// Tries each. One stays until it was let go of, or for so long that its transaction cannot be
  /// on its way any more: where that is still committing, nothing is seen of it. Never throws.
  void disown_orphans(db::session& session) noexcept;
  /// Records that attempts of ours are past their deadline. Never throws.
  void pass_deadlines(db::session& session) noexcept;
  [[nodiscard]] bool has_orphan(std::string_view process, std::string_view key) const;

  /// From before it is claimed until its end is acknowledged, or it is known never to be made.
  void has_claim(std::string const& id);
  void leaves_claim(std::string const& id) noexcept;
  /// How often the book was found to be an older copy of itself: what was written in between, and
  /// the database has acknowledged, is not there.
  [[nodiscard]] std::int64_t setbacks() const noexcept { return setbacks_; }

  /// Ends this life: nothing is held any more. Never throws.
  void stop() noexcept;

 private:
  /// Between things that may wait for others' locks: together they may last longer than the lease.
  /// False: no more of them.
  [[nodiscard]] bool keeps_alive(db::session& session) noexcept;
  /// Which of its runs were taken from it; empty: it was declared dead.
  [[nodiscard]] std::optional<std::int64_t> find_recalled(db::session& session,
                                                          incarnation& holder);
  /// Compares what the book says is this life's with what it has. False: it was set back.
  [[nodiscard]] bool has_what_it_had(db::session& session, incarnation& holder);
  /// Ends a life that knows of what the book does not: all that is in its name is for others, or
  /// for the next life, to go on with.
  void set_back(db::session& session, incarnation& holder);

  context context_;
  mutable std::mutex guard_;
  std::mutex registering_;
  std::shared_ptr<incarnation> now_;
  std::vector<orphan> orphans_;
  std::mutex looking_;
  bool looks_ = false;
  std::multiset<std::string, std::less<>> claims_;
  std::set<std::string, std::less<>> left_;  ///< of these, while it is looked
  std::atomic<std::int64_t> setbacks_ = 0;
};

/// A claim that this process has, or may have: as long as it lives.
class claim_mark {
 public:
  claim_mark(holder& holder, std::string id) : holder_(&holder), id_(std::move(id)) {
    holder_->has_claim(id_);
  }
  claim_mark(claim_mark const&) = delete;
  claim_mark& operator=(claim_mark const&) = delete;
  ~claim_mark() { holder_->leaves_claim(id_); }

 private:
  holder* holder_;
  std::string id_;
};

/// Declares it dead, once and for ever, unless it has renewed meanwhile. On failure: as write();
/// twice is as good as once.
void mark_dead(context const& context, std::string_view holder_uuid);

}  // namespace core
}  // namespace v1
}  // namespace daybook
