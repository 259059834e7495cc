// The queues that a node works: a crew for each, and who looks after them once a day.
// Thread-safe.
#pragma once

#include "core/tx/context.hpp"
#include "service/alarm.hpp"
#include "service/caretaker.hpp"
#include "service/crew.hpp"
#include "service/engine.hpp"

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

class crews {
 public:
  explicit crews(engine& of);
  crews(crews const&) = delete;
  crews& operator=(crews const&) = delete;

  // As node's verbs.
  void work(std::string_view queue, order how);
  std::optional<work_counts> leave(std::string_view queue);
  void start();
  void wake() noexcept;
  /// The first half of stop(): nothing more is begun, and the handlers are asked.
  void ask_to_stop() noexcept;
  void stop() noexcept;
  [[nodiscard]] std::optional<work_counts> counts(std::string_view queue) const;
  /// In a child of fork() the threads are the parent's, and so may be the locks.
  [[nodiscard]] bool forked() const noexcept { return with_.forked(); }

  /// In this thread: what one call of node::drain() has in hand.
  class drain {
   public:
    explicit drain(crews& of);
    /// All that is due, but suspects; how many tasks.
    std::int64_t due();
    /// The last of it: what was handed back is not in hand any more.
    std::int64_t suspects();

   private:
    queues::drainer& from(std::shared_ptr<crew> const& which);

    crews* of_;
    std::map<std::shared_ptr<crew>, std::unique_ptr<queues::drainer>> hands_;
  };

 private:
  using all = std::vector<std::shared_ptr<crew>>;
  [[nodiscard]] all everybody() const;
  /// With those that are being left: who stops waits for them, too.
  [[nodiscard]] all everybody_left() const;

  core::context with_;
  core::holder* lease_;
  alarm clock_;
  mutable std::mutex guard_;
  bool started_ = false;
  bool stopped_ = false;
  std::map<std::string, std::shared_ptr<crew>, std::less<>> all_;
  all leaving_;
  caretaker upkeep_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
