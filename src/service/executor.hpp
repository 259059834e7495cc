// The threads behind the asynchronous verbs: at most so many, started when there is work.
// What waits is not limited: it costs some hundred bytes each, and whoever asks must not block.
// Thread-safe.
#pragma once

#include "core/tx/background.hpp"

#include <daybook/pending.hpp>

#include <functional>
#include <memory>

namespace daybook {
inline namespace v1 {
namespace work {

class executor final : public core::background {
 public:
  /// 0: none, and post() throws daybook::error (error_code::bad_argument).
  explicit executor(unsigned at_most);
  executor(executor const&) = delete;
  executor& operator=(executor const&) = delete;
  /// As close().
  ~executor() override;

  /// After close() it settles with error_code::closed, at once and here.
  void post(std::shared_ptr<completion> completion, std::function<void()> work) override;
  /// What was not begun is settled with error_code::closed; waits for what was begun. Also on one
  /// of the threads (a callback may own the last of a book), where that one is not waited for.
  void close() noexcept;

  /// Whether the calling thread is one of those that completion::done_by() was told of.
  [[nodiscard]] static bool at_work_here(void const* threads) noexcept;

 private:
  struct state;
  struct job;
  static void serve(std::shared_ptr<state> const& state);
  static void carry_out(job dispatch) noexcept;

  unsigned at_most_;
  std::shared_ptr<state> state_;  // shared with the threads, one of which may survive this
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
