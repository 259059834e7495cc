// Threads that do what nobody waits for. The room of threads implements it.
// Thread-safe.
#pragma once

#include <daybook/pending.hpp>

#include <functional>
#include <memory>

namespace daybook {
inline namespace v1 {
namespace core {

class background {
 public:
  background() = default;
  background(background const&) = delete;
  background& operator=(background const&) = delete;
  virtual ~background() = default;

  /// Does `work` on one of the threads, in the order of the calls, then drops it, then settles
  /// `completion`, with what `work` threw if it did. On failure: daybook::error (error_code::io)
  /// when there is no thread and none can be started.
  virtual void post(std::shared_ptr<work::completion> completion, std::function<void()> work) = 0;
};

}  // namespace core
}  // namespace v1
}  // namespace daybook
