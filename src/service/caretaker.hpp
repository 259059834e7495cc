// Upkeep of the queues that a node works: once a day by one of the nodes, as a run that everybody
// can see. A thread of its own, for it may take minutes; most of the time it sleeps.
// Thread-safe.
#pragma once

#include "core/tx/context.hpp"
#include "service/crew.hpp"
#include "service/engine.hpp"

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

class caretaker {
 public:
  using crews = std::vector<std::shared_ptr<crew>>;

  /// `whose`: those to look after, asked for each time.
  caretaker(engine& of, std::function<crews()> whose);
  caretaker(caretaker const&) = delete;
  caretaker& operator=(caretaker const&) = delete;
  ~caretaker() { stop(); }

  /// Once.
  void start();
  /// Looks at once.
  void wake() noexcept;
  void ask_to_stop() noexcept;
  /// The same, and waits for what it is at.
  void stop() noexcept;

 private:
  void serve(std::stop_token const& stop);
  void look(std::stop_token const& stop);
  /// The database's.
  [[nodiscard]] std::string today() const;
  /// False: somebody else is at it.
  bool attend(queues::store& of, std::string const& date, std::stop_token const& stop);

  engine* engine_;
  core::context with_;
  std::function<crews()> whose_;
  std::map<std::string, std::string> done_;  ///< by queue: the last date; its thread's
  std::mutex ending_;                        ///< held by who waits for the thread
  std::mutex guard_;
  std::condition_variable_any stirred_;
  bool awake_ = false;
  std::jthread thread_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
