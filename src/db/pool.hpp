// Sessions on loan: made when needed, at most so many, the broken ones thrown away.
// Thread-safe. A lent session belongs to the thread that has it, and goes back by itself.
#pragma once

#include "db/session.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace db {

class pool;

/// What becomes of sessions between two loans.
enum class stock : std::uint8_t {
  kept,    ///< they stay open; who finds none free waits
  single,  ///< one, of one thread: who finds it taken is that thread itself, and would wait for
           ///< ever
  none,    ///< each is made for its loan, and gone after it
};

class from_pool {
 public:
  from_pool(pool& pool, std::unique_ptr<session> session)
      : pool_(&pool), session_(std::move(session)) {}
  from_pool(from_pool&&) noexcept = default;
  from_pool& operator=(from_pool&&) = delete;
  ~from_pool();
  session& operator*() const noexcept { return *session_; }
  session* operator->() const noexcept { return session_.get(); }

 private:
  pool* pool_;
  std::unique_ptr<session> session_;
};

class pool {
 public:
  using connect = std::function<std::unique_ptr<session>()>;
  pool(connect mode, unsigned at_most, stock keeps = stock::kept)
      : connect_(std::move(mode)),
        keeps_(keeps),
        free_places_(keeps == stock::single ? 1 : at_most) {}
  pool(pool const&) = delete;
  pool& operator=(pool const&) = delete;

  /// Waits for a place at most `patience`. On failure: daybook::error (error_code::conflict, or
  /// error_code::bad_argument where there is one) when none was free, or what connecting throws.
  [[nodiscard]] from_pool lend(std::chrono::milliseconds patience);
  /// Throws away the idle ones: after the server went away they are all dead.
  void forget_idle();

 private:
  friend class from_pool;
  void give_back(std::unique_ptr<session> session) noexcept;

  connect connect_;
  stock keeps_;
  std::mutex guard_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<session>> idle_;
  unsigned free_places_;
};

}  // namespace db
}  // namespace v1
}  // namespace daybook
