// The planners that a node serves: a thread for each, which makes a pass when its time has come, so
// that a long one holds up no other. Nodes ask the book when that is; who is first has it.
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

[[nodiscard]] planners::surroundings surroundings_of(engine& of);

class planning {
 public:
  planning(engine& of, std::chrono::milliseconds poll);
  planning(planning const&) = delete;
  planning& operator=(planning const&) = delete;
  ~planning() { stop(); }

  // As node's verbs.
  void plan(std::string_view planner, plan_serving how);
  void unplan(std::string_view planner);
  void start();
  void wake() noexcept;
  /// The first half of stop().
  void ask_to_stop() noexcept;
  void stop() noexcept;
  /// In this thread, until stop(): a pass of each whose time has come; how many keys were launched.
  std::int64_t drain();

 private:
  /// A planner, and who makes its passes.
  struct served {
    std::string name;
    plan_serving how;
    std::mutex guard;
    std::condition_variable_any stirred;
    bool awake = false;
    std::shared_ptr<planners::store> last;  ///< of the last pass; guarded
    std::mutex ending;                      ///< held by who waits for the thread
    std::jthread thread;
  };
  using place = std::shared_ptr<served>;

  void launch(place const& one);
  void serve(served& one, std::stop_token const& stop) const;
  /// How long until the next pass; empty: none is to be made.
  [[nodiscard]] std::optional<std::chrono::microseconds> due_in(std::string const& name) const;
  [[nodiscard]] passed pass(served& one, std::stop_token const& stop) const;
  [[nodiscard]] std::vector<place> everybody() const;

  engine* engine_;
  std::chrono::milliseconds poll_;
  mutable std::mutex guard_;
  std::map<std::string, place, std::less<>> all_;
  bool started_ = false;
  std::stop_source stopping_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
