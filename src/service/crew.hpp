// One queue as a node works it: a hand-out, the threads it feeds, and the handler they call.
// Thread-safe.
#pragma once

#include "core/tx/context.hpp"
#include "queue/fetch/drainer.hpp"
#include "queue/members/store.hpp"
#include "service/alarm.hpp"
#include "service/in_hand.hpp"

#include <daybook/hand_out.hpp>
#include <daybook/job.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

/// How a queue is to be worked: with one of the two handlers.
struct order {
  job_handler one = {};
  batch_handler many = {};
  work_options options = {};
};
/// Throws daybook::error (fault::bad_argument) for options out of their range, or no handler.
order checked(order of, std::string_view queue);

class crew {
 public:
  /// `clock` must outlive it. Precondition: the order was checked.
  crew(std::shared_ptr<queues::store> of, alarm& clock, order how);
  crew(crew const&) = delete;
  crew& operator=(crew const&) = delete;
  ~crew();

  // On failure, both: throws, where no thread is to be had say, and all is as it was.
  /// Once.
  void start();
  /// For what begins from now on. What is in hand goes on as it was.
  void change(order how);
  void wake() noexcept;

  // The end, in steps that others may be told of in between.
  /// Begins nothing more.
  void close() noexcept;
  /// Asks the handlers to stop.
  void ask_to_stop() noexcept { closing_.request_stop(); }
  /// As close(); waits for the handlers, writes down what they did and hands back the rest.
  void stop() noexcept;

  // In this thread, for node::drain().
  /// What is due, one after the other, until nothing is, or it is closed; how many tasks.
  std::int64_t drain(queues::drainer& from);
  std::int64_t drain_suspects(queues::drainer& from);

  [[nodiscard]] std::shared_ptr<queues::store> const& queue() const noexcept { return of_; }
  [[nodiscard]] work_options options() const;
  [[nodiscard]] work_counts counts() const noexcept { return counts_.read(); }

 private:
  struct present {
    explicit present(order of) : how(std::move(of)) {}
    order how;
    std::stop_source over;  ///< another has come: for threads that wait for a task
  };
  struct post {
    bool manned = false;
    std::thread thread = {};
  };
  class attempt;

  /// Under the guard, which those that are made wait for: who is not wanted then goes again.
  void man(int threads);
  void serve(std::size_t place) noexcept;
  /// Null: this thread is to end.
  [[nodiscard]] std::shared_ptr<present const> order_for(std::size_t place);
  [[nodiscard]] std::shared_ptr<present const> now() const;
  void take(present const& by);
  void work(order const& by, std::span<handed> tasks);
  /// Has it in hand, or, on failure, hands it back: no handler was called.
  void take_in_hand(std::optional<attempt>& now, order const& by, std::span<handed> tasks);
  void work_one(order const& by, handed& what);
  void work_all(order const& by, std::span<handed> what);
  /// Of what a handler threw.
  [[nodiscard]] result failed(order const& by, in_hand const& inside, std::string why) const;
  void finish(handed& what, result how);

  std::shared_ptr<queues::store> of_;
  alarm* clock_;
  tally counts_;
  std::stop_source closing_;
  std::mutex ending_;  ///< held by who waits for the threads; before guard_
  mutable std::mutex guard_;
  bool closed_ = false;
  std::shared_ptr<present const> now_;
  std::unique_ptr<hand_out> out_;
  std::deque<post> posts_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
