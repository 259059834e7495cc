// A claim in hand; the inside of daybook::claim.
// Thread safety: tasks may be finished from any thread; complete() and the end belong to one.
#pragma once

#include "db/session.hpp"
#include "queue/claims/ledger.hpp"
#include "queue/members/store.hpp"
#include "queue/model/settle.hpp"

#include <daybook/claim.hpp>
#include <daybook/task.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace base {
class rows;
}  // namespace base

namespace queues {

/// What becomes of a claim's tasks, as values of claim.complete.
struct ends {
  std::string segments;
  std::string outcomes;
  std::string over = "[]";  ///< for end_series()
  std::vector<last_failure> failed = {};
};
[[nodiscard]] ends text_of(settled settled, policy const& policy);
/// To the observer, once it is committed.
void tell(store const& store, last_failure const& failure, std::string_view key) noexcept;

class batch {
 public:
  batch(std::shared_ptr<store> store, std::string id, std::string holder,
        std::vector<segment> ranges, std::vector<task> tasks);
  batch(batch const&) = delete;
  batch& operator=(batch const&) = delete;
  /// Ends it as complete() does; never throws.
  ~batch();

  [[nodiscard]] store& of() const noexcept { return *store_; }
  [[nodiscard]] std::string const& id() const noexcept { return id_; }
  [[nodiscard]] std::string const& holder() const noexcept { return holder_; }
  [[nodiscard]] std::vector<task> const& tasks() const noexcept { return tasks_; }
  /// How many ids it has taken, those without a member among them.
  [[nodiscard]] std::int64_t size() const noexcept;
  [[nodiscard]] std::string idempotency_key(task const& task) const;
  [[nodiscard]] std::size_t segments() const noexcept { return ranges_.size(); }
  /// The queue's rate: when each task may start.
  void space_starts(std::int64_t first_us, std::int64_t slot_us);
  /// Its tasks begin when begin() says so; the claim's ledger says that they do.
  void announce() { announced_.assign(tasks_.size(), 0), ledger_used_ = true; }
  [[nodiscard]] bool announces() const noexcept { return !announced_.empty(); }
  /// What another batch of this claim may have written.
  void read(ledger const& ledger);
  [[nodiscard]] bool has_begun(task const& task) const;
  /// It was never claimed, or is nobody's any more: its end writes nothing.
  void forget() noexcept {
    over_ = true;
    mark_.reset();
  }

  outcome begin(std::span<task const* const> tasks);
  /// So many, from this place on.
  outcome begin(std::size_t first, std::size_t count);
  void finish(task const& task, result result);
  outcome perform(std::span<task const* const> tasks,
                  std::function<void(transaction&)> const& body);
  bool finish_in(db::session& yours, std::span<task const* const> tasks);
  bool flush();
  /// Whether its end would hand nothing back.
  [[nodiscard]] bool all_ended() const;
  outcome complete();
  /// `next` is null where nothing is due.
  outcome complete_and_claim(claim_options const& options, std::unique_ptr<batch>& next);
  /// For the claim that follows this one.
  [[nodiscard]] claim_options options_again(int limit) const noexcept {
    return {.limit = limit,
            .beginning = announces() ? beginning::announced : beginning::with_claim};
  }

 private:
  friend class share;
  enum class standing : std::uint8_t {
    open,
    in_ledger,  ///< finished in a transaction that somebody else may still roll back
    noted,      ///< in memory only
    written,    ///< in the ledger for good
  };
  enum class end : std::uint8_t { ours, gone };

  [[nodiscard]] std::size_t position(task const& task) const;
  /// Throws where it is finished already.
  std::size_t open_position(task const& task) const;
  [[nodiscard]] bool write_done(db::session& session, std::string const& rows,
                                std::int64_t count) const;
  void doubt(std::span<std::size_t const> positions) noexcept;
  outcome begin(std::span<std::size_t const> places);
  /// Those of `places` that are not announced, as rows of claim.done.
  [[nodiscard]] std::int64_t add_begun(base::rows& rows, std::span<std::size_t const> places) const;
  [[nodiscard]] bool lock_claim(db::session& session) const;
  /// Of each task: not 0 where the ledger has it.
  [[nodiscard]] std::vector<char> in_ledger(db::session& session) const;
  void read_ledger(db::session& session);
  /// How it ends is in `ending`; where a ledger has to be read first, that is found here.
  end end_in(db::session& session, policy const& policy, ends& ending);
  void tell(ends const& ending) const noexcept;
  outcome what_became();
  outcome ended(std::function<void(db::session&)> const& and_then);
  /// The same, and the next claim, in one trip; where nothing has to be read in between.
  [[nodiscard]] bool goes_together() const;
  outcome end_together(claim_options const& options, std::unique_ptr<batch>* next);
  [[nodiscard]] settled settle_all(policy const& policy) const;

  std::shared_ptr<store> store_;
  std::string id_;
  std::string holder_;
  std::optional<core::claim_mark> mark_;  ///< until it is over
  std::vector<segment> ranges_;
  std::vector<task> tasks_;  ///< in the order of ids

  mutable std::mutex guard_;
  std::vector<standing> standings_;
  std::vector<verdict> verdicts_;
  std::vector<char> announced_;  ///< of each task: not 0 where it was begun; empty: all were
  std::mutex flushing_;          ///< one at a time; before guard_
  bool ledger_used_ = false;
  bool over_ = false;
  // Of a COMMIT without a reply. They stay, for whoever asks what became of it may fail, too.
  std::vector<char> doubtful_;  ///< of each task: not 0 where the ledger may have it all the same
  bool end_in_doubt_ = false;
  bool begin_in_doubt_ = false;
  /// Of an end that is written: what came after it may have failed, and the end be asked for again.
  std::optional<outcome> became_;
};

[[nodiscard]] task_state state_of(verdict::kind kind) noexcept;
/// A row of claim.done: `task`, and so many neighbours in all.
void add_done(base::rows& rows, task const& task, std::int64_t count, verdict const& verdict);

}  // namespace queues
}  // namespace v1
}  // namespace daybook
