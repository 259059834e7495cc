// Daily maintenance of the queues that a node works. One of the nodes does it, as a run that people
// can see, in a thread of its own: it may take minutes.
// Thread-safe.
#pragma once

#include "core/tx/context.hpp"
#include "service/engine.hpp"
#include "service/worker_pool.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace work {

class maintenance_service {
 public:
  using pool_list = std::vector<std::shared_ptr<worker_pool>>;

  /// `pools`: returns the queues to maintain; called for each round.
  maintenance_service(engine& book, std::function<pool_list()> pools);
  maintenance_service(maintenance_service const&) = delete;
  maintenance_service& operator=(maintenance_service const&) = delete;
  ~maintenance_service() { stop(); }

  /// Call it once.
  void start();
  /// Starts a round at once.
  void wake() noexcept;
  void ask_to_stop() noexcept;
  /// As ask_to_stop(); then waits for the thread.
  void stop() noexcept;

 private:
  void serve(std::stop_token const& stop);
  void maintain_all(std::stop_token const& stop);
  /// The date of the database's clock.
  [[nodiscard]] std::string today() const;
  /// False if another node maintains this queue now.
  bool maintain(queues::store& queue, std::string const& date, std::stop_token const& stop);

  engine* engine_;
  core::context context_;
  std::function<pool_list()> pools_;
  std::map<std::string, std::string> done_;  ///< the last date, by queue; for the thread alone
  std::mutex ending_;                        ///< held while joining the thread
  std::mutex guard_;
  std::condition_variable_any changed_;
  bool awake_ = false;
  std::jthread thread_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
