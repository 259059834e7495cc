// Sessions on loan: made when needed, at most so many, the broken ones thrown away.
// Thread-safe. A lent session belongs to the thread that has it, and goes back by itself.
#pragma once

#include "db/session.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace db {

class pool;

class lent {
 public:
  lent(pool& from, std::unique_ptr<session> what) : from_(&from), what_(std::move(what)) {}
  lent(lent&&) noexcept = default;
  lent& operator=(lent&&) = delete;
  ~lent();
  session& operator*() const noexcept { return *what_; }
  session* operator->() const noexcept { return what_.get(); }

 private:
  pool* from_;
  std::unique_ptr<session> what_;
};

class pool {
 public:
  using connect = std::function<std::unique_ptr<session>()>;
  pool(connect how, unsigned at_most) : connect_(std::move(how)), free_places_(at_most) {}
  pool(pool const&) = delete;
  pool& operator=(pool const&) = delete;

  /// Waits for a place at most `patience`. On failure: daybook::error (fault::conflict) when none
  /// was free, or what connecting throws.
  [[nodiscard]] lent lend(std::chrono::milliseconds patience);
  /// Throws away the idle ones: after the server went away they are all dead.
  void forget_idle();

 private:
  friend class lent;
  void give_back(std::unique_ptr<session> what) noexcept;

  connect connect_;
  std::mutex guard_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<session>> idle_;
  unsigned free_places_;
};

}  // namespace db
}  // namespace v1
}  // namespace daybook
