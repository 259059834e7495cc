// The workers of one queue on this node: they fetch tasks and call the handler.
// Thread-safe.
#pragma once

#include "core/tx/context.hpp"
#include "queue/fetch/drainer.hpp"
#include "queue/members/store.hpp"
#include "service/running_handler.hpp"
#include "service/timeout_watcher.hpp"

#include <daybook/task_fetcher.hpp>
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

/// How to work a queue. Exactly one of the handlers is set.
struct work_spec {
  job_handler single = {};
  batch_handler batch = {};
  work_options options = {};
};
/// Throws daybook::error (error_code::bad_argument) if an option is out of range or no handler is
/// set.
work_spec checked(work_spec spec, std::string_view queue);

class worker_pool {
 public:
  /// `clock` must outlive the pool. Precondition: checked() returned the spec.
  worker_pool(std::shared_ptr<queues::store> queue, timeout_watcher& clock, work_spec spec);
  worker_pool(worker_pool const&) = delete;
  worker_pool& operator=(worker_pool const&) = delete;
  ~worker_pool();

  // On failure, both throw (no thread can be started, for example) and change nothing.
  /// Call it once.
  void start();
  /// Applies to tasks that begin from now on; running handlers keep their spec.
  void change(work_spec spec);
  void wake() noexcept;

  // The end, in steps.
  /// Starts no further task.
  void close() noexcept;
  /// Asks the handlers to stop.
  void ask_to_stop() noexcept { closing_.request_stop(); }
  /// As close(); then waits for the handlers, records their results and hands back other tasks.
  void stop() noexcept;

  // In this thread, for node::drain().
  /// Works due tasks until none is left or the pool is closed. Returns the number of tasks.
  std::int64_t drain(queues::drainer& source);
  std::int64_t drain_suspects(queues::drainer& source);

  [[nodiscard]] std::shared_ptr<queues::store> const& queue() const noexcept { return queue_; }
  [[nodiscard]] work_options options() const;
  [[nodiscard]] work_counts counts() const noexcept { return counts_.read(); }

 private:
  struct versioned_spec {
    explicit versioned_spec(work_spec wanted) : spec(std::move(wanted)) {}
    work_spec spec;
    std::stop_source replaced;  ///< a new spec came: wakes threads that wait for a task
  };
  struct worker_slot {
    bool running = false;
    std::thread thread = {};
  };
  class attempt;

  /// Caller holds guard_. New threads wait for it and exit if no longer needed.
  void spawn(int threads);
  void serve(std::size_t index) noexcept;
  /// Null if the thread of this slot must end.
  [[nodiscard]] std::shared_ptr<versioned_spec const> spec_for(std::size_t index);
  [[nodiscard]] std::shared_ptr<versioned_spec const> now() const;
  void take(versioned_spec const& version);
  void work(work_spec const& spec, std::span<claimed_task> tasks);
  /// On failure, hands the tasks back and throws: no handler was called.
  void begin_attempt(std::optional<attempt>& current, work_spec const& spec,
                     std::span<claimed_task> tasks);
  void work_one(work_spec const& spec, claimed_task& task);
  void work_all(work_spec const& spec, std::span<claimed_task> tasks);
  /// The result of a task whose handler threw.
  [[nodiscard]] result failed(work_spec const& spec, running_handler const& handler,
                              std::string why) const;
  void finish(claimed_task& task, result handler_result);

  std::shared_ptr<queues::store> queue_;
  timeout_watcher* clock_;
  work_counters counts_;
  std::stop_source closing_;
  std::mutex ending_;  ///< held while joining threads; lock it before guard_
  mutable std::mutex guard_;
  bool closed_ = false;
  std::shared_ptr<versioned_spec const> spec_;
  std::unique_ptr<task_fetcher> fetcher_;
  std::deque<worker_slot> slots_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
