// The planners that a node serves. Each has a thread of its own, so that a long pass delays no
// other planner. All nodes read the time of the next pass from the book; the first node makes it.
// Thread-safe.
#pragma once

#include "core/tx/context.hpp"
#include "planner/store.hpp"
#include "service/engine.hpp"

#include <daybook/node.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace work {

[[nodiscard]] planners::surroundings surroundings_of(engine& book);

class planner_service {
 public:
  planner_service(engine& book, std::chrono::milliseconds poll);
  planner_service(planner_service const&) = delete;
  planner_service& operator=(planner_service const&) = delete;
  ~planner_service() { stop(); }

  // As node's verbs.
  void plan(std::string_view planner, plan_serving serving);
  void remove_planner(std::string_view planner);
  void start();
  void wake() noexcept;
  /// The first half of stop().
  void ask_to_stop() noexcept;
  void stop() noexcept;
  /// Makes all due passes in this thread, until stop(). Returns the number of keys launched.
  std::int64_t drain();

 private:
  /// A planner, and the thread that makes its passes.
  struct served {
    std::string name;
    plan_serving serving;
    std::mutex guard;
    std::condition_variable_any changed;
    bool awake = false;
    std::shared_ptr<planners::store> last;  ///< of the last pass; guard protects it
    std::mutex ending;                      ///< held while joining the thread
    std::jthread thread;
  };
  using planner_ref = std::shared_ptr<served>;

  void spawn(planner_ref const& planner);
  void serve(served& planner, std::stop_token const& stop) const;
  /// The time until the next pass; empty if none is planned.
  [[nodiscard]] std::optional<std::chrono::microseconds> due_in(std::string const& name) const;
  [[nodiscard]] pass_report pass(served& planner, std::stop_token const& stop) const;
  [[nodiscard]] std::vector<planner_ref> all() const;

  engine* engine_;
  std::chrono::milliseconds poll_;
  mutable std::mutex guard_;
  std::map<std::string, planner_ref, std::less<>> planners_;
  bool started_ = false;
  std::stop_source stopping_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
