// One queue of a book, as this process knows it: its options, and all verbs that are not about one
// claim.
// Thread-safe.
#pragma once

#include "base/platform.hpp"
#include "core/lease/holder.hpp"
#include "core/tx/context.hpp"
#include "core/tx/transact.hpp"
#include "db/session.hpp"
#include "queue/members/orphan.hpp"
#include "queue/members/taking.hpp"
#include "queue/model/id_block.hpp"
#include "queue/model/row.hpp"
#include "queue/model/settle.hpp"

#include <daybook/queue.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace queues {

class batch;

class store : public std::enable_shared_from_this<store> {
 public:
  store(core::context const& context, core::holder& lease, std::string name, row row);
  store(store const&) = delete;
  store& operator=(store const&) = delete;

  [[nodiscard]] std::string const& name() const noexcept { return name_; }
  [[nodiscard]] row present() const;
  /// Reads the row again where a claim saw another version of it. Not within a transaction.
  void follow_seen();
  /// At least to this version; 0: to the newest.
  void follow(std::int64_t version);
  void follow(row seen);

  // Members: members.cpp
  bool add(key const& key, task_options const& options);
  bool add_in(db::session& session, key const& key, task_options const& options);
  import_report import(std::function<std::optional<entry>()> const& next,
                       task_options const& options,
                       std::function<bool(import_report const&)> const& on_progress = {});
  /// The first of so many ids for add_all_in(); 0 where that takes them itself.
  [[nodiscard]] std::int64_t reserve(std::int64_t count) const;
  /// Those that are not there already, in a transaction that has begun; how many. `first`: of as
  /// many ids as there are entries, from reserve().
  std::int64_t add_all_in(db::session& session, std::span<entry const> all, std::int64_t first,
                          task_options const& options) const;
  /// As retry, in a transaction that has begun. False: there is no such key.
  bool retry_in(db::session& session, key const& key) const;
  bool remove(key const& key);
  bool remove_in(db::session& session, key const& key);
  bool set_payload(key const& key, std::optional<std::string> const& payload);
  bool ask(key const& key, asked request);
  /// A transaction that takes effect once though its reply is lost. False: `body` did not want it.
  bool do_once(std::string_view name, std::function<bool(db::session&)> const& body) const;
  void pause(bool paused);
  bool open_round(timestamp at);

  // Claims: take.cpp, reclaim.cpp, requests.cpp
  std::unique_ptr<batch> claim(claim_options const& options);
  /// What is due, and nothing else that claim() looks after.
  std::unique_ptr<batch> try_claim(claim_options const& options);
  /// A claim within a transaction that has begun.
  taking take_in(db::session& session, std::string const& id, std::string const& holder,
                 claim_options const& options);
  /// The calls of a claim, in a transaction that together() makes; the texts are borrowed.
  search add_taking(std::vector<db::call>& calls, std::string const& id, std::string const& holder,
                    claim_options const& options);
  [[nodiscard]] static taking answered(std::span<db::table> answers, claim_options const& options);
  /// What was taken and committed; the calls give what it found. Null: nothing is due.
  /// On failure the claim is an orphan.
  std::unique_ptr<batch> taken(taking taking, std::string const& id, std::string const& holder);
  std::unique_ptr<batch> settle_claim(std::string const& id, std::string const& holder);
  std::int64_t reclaim();
  std::int64_t attend();  ///< how many of what people asked for were done
  /// The same where it was not done for a second.
  void attend_at_times();

  // upkeep.cpp, inspect.cpp
  maintenance_report upkeep(std::stop_token const& stop = {});  ///< asked between two pieces
  [[nodiscard]] std::optional<task_info> find(key const& key) const;
  [[nodiscard]] std::optional<task_info> find_in(db::session& session, key const& key) const;
  /// Whether something is asked of a member that no claim has done yet.
  [[nodiscard]] bool is_asked_in(db::session& session, std::int64_t member) const;
  [[nodiscard]] std::vector<task_info> tasks(tasks_query const& query) const;
  [[nodiscard]] queue_counts counts(counting scope) const;
  /// By the database's clock.
  [[nodiscard]] std::int64_t now_us() const;

  [[nodiscard]] core::context const& with() const noexcept { return context_; }
  [[nodiscard]] core::holder& lease() const noexcept { return *lease_; }
  /// The life that may take work.
  [[nodiscard]] std::string holder() const { return lease_->current()->uuid(); }
  [[nodiscard]] static std::string new_id();
  /// Whether calls that do not wait for each other's answers are worth while: one round trip then.
  [[nodiscard]] bool goes_together() const noexcept {
    return !context_.dialect.one_writer && !context_.borrowed;
  }
  /// Where the engine has one writer, every write of a claim renews.
  void renew_within(db::session& session) const;
  /// A claim that may be ours although nobody knows it: looked after by the next claim().
  void add_orphan(std::string claim, std::string holder, orphaned when = orphaned::before_work);
  void settle_orphans();

  // wake.cpp
  /// One statement, where a claim that finds nothing is several.
  [[nodiscard]] outlook look_out() const;
  [[nodiscard]] bool has_suspects() const;
  /// Wakes the hand-outs of this process.
  void ring() const noexcept;
  /// The same when the transaction that is open has been committed.
  void ring_after(db::session& session) const;

 private:
  void stock_ids();    ///< so that next_id() need not ask the database, if that can be
  void check_block();  ///< drops it where its ids may be given out again
  [[nodiscard]] std::int64_t next_id(db::session& session);
  [[nodiscard]] std::int64_t block(std::int64_t count, std::chrono::milliseconds wait) const;
  void arm(db::session& session, std::int64_t lo, std::int64_t hi,
           task_options const& options) const;
  [[nodiscard]] std::int64_t own_ids_in(db::session& session, std::int64_t first,
                                        std::int64_t count) const;
  void arm_all(db::session& session, std::int64_t lo, std::int64_t count,
               task_options const& options) const;
  std::int64_t load_all_in(db::session& session, std::span<entry const> piece, std::int64_t first,
                           task_options const& options) const;
  import_report import_piece(std::span<entry const> piece, task_options const& options);

  /// From when, by the queue's rate, and how many of `limit` may start.
  struct permission {
    std::int64_t limit = 0;
    std::int64_t slot_us = 0;   ///< between two starts; 0: no rate
    std::int64_t first_us = 0;  ///< from now to the first start
    std::int64_t next_us = 0;   ///< the instant of the first start
  };
  [[nodiscard]] permission permitted(db::session& session, row const& here, int limit) const;
  std::unique_ptr<batch> batch_of(db::table found, std::string const& id,
                                  std::string const& holder);
  [[nodiscard]] bool others_lock_it(bool suspects) const;
  [[nodiscard]] std::int64_t segments_for(std::int64_t limit) const;
  void learn(std::int64_t ids, std::size_t segments, std::int64_t version);
  void settle_orphan(orphan const& one);
  bool reclaim_one(std::string const& id, std::string const& holder);
  std::int64_t attend_page(row const& here, std::int64_t& after) const;
  bool attend_one(db::session& session, row const& here, std::span<cell const> request,
                  std::int64_t now_us) const;

  /// `size`: of this piece, in segments, and then of the next. False: it was the last.
  bool tidy_piece(row const& here, std::int64_t& after, std::int64_t& size,
                  maintenance_report& sum) const;
  [[nodiscard]] std::vector<segment> tidied(db::session& session, row const& here,
                                            std::vector<segment> const& piece, std::int64_t now_us,
                                            maintenance_report& sum) const;
  std::int64_t forget_old(row const& here, std::stop_token const& stop) const;
  std::int64_t forget_done(row const& here, std::stop_token const& stop) const;
  core::context context_;
  core::holder* lease_;
  std::string name_;
  mutable std::mutex guard_;
  row row_;
  base::boot_clock::time_point attended_{};
  std::mutex stocking_;  ///< held while a block is taken
  id_block block_;
  std::int64_t seen_version_ = 0;  ///< of the queue's row, by the last claim
  double ids_a_segment_ = 1000;    ///< as the last claims found them
  std::vector<orphan> orphans_;
  mutable std::vector<std::string> marks_;  ///< of do_once(), whose replies have come
};

/// Makes the queue, or changes it to these options; null `note`: nobody is written down for that.
/// On failure: daybook::error.
std::shared_ptr<store> make(core::context const& context, core::holder& lease,
                            std::string_view name, queue_options const& options,
                            audit_note const* note = nullptr);
/// Both empty: there is none of that name.
std::shared_ptr<store> open(core::context const& context, core::holder& lease,
                            std::string_view name);
[[nodiscard]] std::optional<row> look(core::context const& context, std::string_view name);
[[nodiscard]] std::vector<std::string> names(core::context const& context);

}  // namespace queues
}  // namespace v1
}  // namespace daybook
