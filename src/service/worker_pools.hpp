// The queues that a node works: a worker pool for each, and their daily maintenance.
// Thread-safe.
#pragma once

#include "core/tx/context.hpp"
#include "service/engine.hpp"
#include "service/maintenance_service.hpp"
#include "service/timeout_watcher.hpp"
#include "service/worker_pool.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace work {

class worker_pools {
 public:
  explicit worker_pools(engine& book);
  worker_pools(worker_pools const&) = delete;
  worker_pools& operator=(worker_pools const&) = delete;

  // As node's verbs.
  void work(std::string_view queue, work_spec spec);
  std::optional<work_counts> leave(std::string_view queue);
  void start();
  void wake() noexcept;
  /// The first half of stop(): starts no further task and asks the handlers to stop.
  void ask_to_stop() noexcept;
  void stop() noexcept;
  [[nodiscard]] std::optional<work_counts> counts(std::string_view queue) const;
  /// True in a child of fork(): threads and locks belong to the parent there.
  [[nodiscard]] bool forked() const noexcept { return context_.forked(); }

  /// One call of node::drain(), in the calling thread.
  class drain {
   public:
    explicit drain(worker_pools& pools);
    /// Works all due tasks but suspects. Returns their number.
    std::int64_t due();
    /// Call it last: ends the claims of tasks that were handed back.
    std::int64_t suspects();

   private:
    queues::drainer& drainer_of(std::shared_ptr<worker_pool> const& pool);

    worker_pools* pools_;
    std::map<std::shared_ptr<worker_pool>, std::unique_ptr<queues::drainer>> drainers_;
  };

 private:
  using pool_list = std::vector<std::shared_ptr<worker_pool>>;
  [[nodiscard]] pool_list all() const;
  /// Includes the pools that leave() is stopping: stop() waits for these, too.
  [[nodiscard]] pool_list all_with_leaving() const;

  core::context context_;
  core::holder* lease_;
  timeout_watcher clock_;
  mutable std::mutex guard_;
  bool started_ = false;
  bool stopped_ = false;
  std::map<std::string, std::shared_ptr<worker_pool>, std::less<>> pools_by_queue_;
  pool_list leaving_;
  maintenance_service maintenance_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
