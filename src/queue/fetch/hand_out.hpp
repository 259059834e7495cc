// The inside of daybook::task_fetcher: the claims in hand, and the thread that fetches, flushes and
// ends them. Threads that work wait for the database in perform() and finish_in() only.
// Thread-safe.
#pragma once

#include "queue/claims/batch.hpp"
#include "queue/fetch/ear.hpp"
#include "queue/fetch/hand.hpp"
#include "queue/members/store.hpp"

#include <daybook/task_fetcher.hpp>
#include <daybook/task.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace queues {

/// How often to see whether a lease that has run low was renewed. It costs no trip to the database.
inline constexpr std::chrono::milliseconds between_glances{20};
/// How often a busy process looks whether suspects wait; doubled while it could not be quiet.
inline constexpr std::chrono::seconds between_suspects{5};

/// Throws daybook::error (error_code::bad_argument) for options out of their range.
task_fetcher_options checked(task_fetcher_options options, std::string_view queue);

class dispenser final : public giver, public std::enable_shared_from_this<dispenser> {
 public:
  dispenser(std::shared_ptr<store> store, task_fetcher_options options);
  dispenser(dispenser const&) = delete;
  dispenser& operator=(dispenser const&) = delete;
  ~dispenser() override = default;

  /// Once, after it was made.
  void start();
  void close() noexcept;
  /// Closes and waits for the thread's end.
  void stop() noexcept;
  void wake() noexcept;
  std::optional<claimed_task> next(std::stop_token const& stop);
  std::vector<claimed_task> next_batch(std::size_t most, std::chrono::milliseconds gather,
                                       std::stop_token const& stop);
  void change(task_fetcher_options options);
  [[nodiscard]] task_fetcher_counts counts() const;

  bool note(hand& claim, std::size_t index, result result, local_clock::duration took) override;
  void leave(std::shared_ptr<hand> const& claim, bool lost,
             local_clock::duration took) noexcept override;
  [[nodiscard]] bool gone(hand const& claim) const override;

 private:
  enum class act : std::uint8_t { wait, end, flush, begin, claim, peek, claim_suspect, look };
  struct plan {
    act what = act::wait;
    std::shared_ptr<hand> of = {};
    int limit = 0;  ///< of the claim that goes with it; 0: none. Of act::begin: how many tasks
    instant until = instant::max();
  };
  using hands = std::deque<std::shared_ptr<hand>>;

  // By the claimer's thread.
  void serve() noexcept;
  [[nodiscard]] plan choose(instant now);
  [[nodiscard]] plan choose_suspect(instant now, instant& later);
  [[nodiscard]] plan choose_to_begin(instant now, instant& later);
  [[nodiscard]] int wanted(std::size_t leaving) const;
  [[nodiscard]] bool hungry() const noexcept;
  [[nodiscard]] bool makes_room() const;
  void wait(std::unique_lock<std::mutex>& lock, instant until);
  /// False: the database failed.
  bool attempt(plan const& plan) noexcept;
  void act_on(plan const& plan);
  [[nodiscard]] claim_options asked_for(int limit);
  void give_noted(hand& claim);
  void end(std::shared_ptr<hand> const& claim, int limit);
  void flush(std::shared_ptr<hand> const& claim);
  void begin(std::shared_ptr<hand> const& claim, std::size_t count);
  void claim(int limit);
  void claim_suspect();
  void peek(int limit);
  void begin_to_look();
  void found(std::size_t tasks, int limit);
  /// Work has come, says this process.
  void rung() noexcept;
  void look();
  void drop_dead();
  void add(std::unique_ptr<batch> batch, bool suspect);
  void failed(plan const& plan) noexcept;

  /// With others: no suspect.
  enum class company : std::uint8_t { none, others };
  /// Waits no longer than that. Empty: too late, asked to stop, or closed.
  std::optional<claimed_task> give(std::unique_lock<std::mutex>& lock, instant until,
                                   std::stop_token const& stop, company beside);

  // Under the guard.
  /// Whose task is given next; null: there is none that may begin.
  [[nodiscard]] std::shared_ptr<hand> first_to_give(company beside) const;
  [[nodiscard]] std::shared_ptr<hand> first_of_others() const;
  /// That of the suspect; null: none is in hand.
  [[nodiscard]] std::shared_ptr<hand> suspect() const;
  /// Whether a task only waits for the record of its beginning.
  [[nodiscard]] bool gives_soon() const;
  /// The claimer is to write such records before threads have to wait for them.
  [[nodiscard]] bool runs_short(hand const& claim) const;
  /// How many tasks begin within the time that a record of beginnings reaches ahead.
  [[nodiscard]] std::size_t window() const;
  void remove(std::shared_ptr<hand> const& claim) noexcept;
  void lose(std::shared_ptr<hand> const& claim) noexcept;
  void measure(local_clock::duration took) noexcept;
  void saw_threads() noexcept;
  void look_again_at(instant when);

  std::shared_ptr<store> store_;
  task_fetcher_options options_;

  mutable std::mutex guard_;
  std::condition_variable_any given_;    ///< for threads that want a task
  ear to_do_;                            ///< for the claimer
  std::condition_variable_any stopped_;  ///< for those who stop it
  hands hands_;                          ///< in the order of their claims
  std::size_t ready_ = 0;                ///< tasks in them that no thread has had
  std::size_t held_ = 0;                 ///< the sum of theirs
  std::size_t open_ = 0;                 ///< with those of lost ones
  std::size_t waiting_ = 0;              ///< threads
  std::size_t threads_ = 0;              ///< most that waited or worked since the last claim
  int last_size_ = 0;
  double seconds_ = 0;  ///< that a task takes; 0: not known yet
  bool closed_ = false;
  bool ended_ = false;
  bool stirred_ = false;  ///< something has changed that the claimer waits for
  bool asleep_ = false;   ///< the last claim found nothing: it looks before it claims
  bool rung_ = false;     ///< since it last began to look
  bool more_ = false;     ///< a claim has found something since it last looked

  // When what is due.
  instant poll_at_{};
  instant look_at_{};
  instant reclaim_at_{};
  instant suspects_at_{};
  local_clock::duration suspects_every_;
  bool suspects_ = false;  ///< some wait, as far as it knows
  instant resume_at_{};    ///< after a fault
  std::chrono::milliseconds pause_;

  std::thread thread_;
};

}  // namespace queues
}  // namespace v1
}  // namespace daybook
