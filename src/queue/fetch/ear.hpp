// What a claimer without work waits for: a thread of its own process, or a word of another process,
// on a connection of its own. Where no word is to be had it waits for the time only.
// Thread safety: notify_one() by any thread that holds the guard; all else by the claimer.
#pragma once

#include "base/bell.hpp"
#include "db/pool.hpp"
#include "queue/members/store.hpp"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

namespace daybook {
inline namespace v1 {
namespace queues {

using local_clock = std::chrono::steady_clock;
using instant = local_clock::time_point;

class ear {
 public:
  explicit ear(std::shared_ptr<store> store) : store_(std::move(store)) {}
  ear(ear const&) = delete;
  ear& operator=(ear const&) = delete;
  ~ear() = default;

  void notify_one() noexcept;

  /// From now on wait() hears of what is added; what came before must be looked for after this.
  /// A time: not of all of it, so look again then, and call this before. Never throws: a connection
  /// that fails is told to the observer, and is made anew.
  std::optional<instant> listen() noexcept;
  /// Nobody need say a word to this one.
  void stop_listening() noexcept;
  /// The same, and gives back the connection.
  void close() noexcept;

  /// Waits for notify_one(), until then at the latest. True: a word was heard, or one may have been
  /// missed.
  bool wait(std::unique_lock<std::mutex>& guard, instant until, bool const& stirred);

 private:
  bool connect();
  [[nodiscard]] instant after_a_pause() noexcept;

  std::shared_ptr<store> store_;
  std::condition_variable_any stirred_;
  base::bell bell_;
  std::optional<db::from_pool> session_;
  std::chrono::milliseconds pause_{0};
  instant again_at_{};
  bool deaf_ = false;       ///< no such connection hears anything
  bool asleep_ = false;     ///< those who add can see it
  bool listening_ = false;  ///< within wait(), at the connection: it is rung for
};

}  // namespace queues
}  // namespace v1
}  // namespace daybook
