#include "db/pool.hpp"

#include <daybook/error.hpp>

namespace daybook {
inline namespace v1 {
namespace db {

from_pool::~from_pool() {
  if (session_) pool_->give_back(std::move(session_));
}

from_pool pool::lend(std::chrono::milliseconds patience) {
  std::unique_lock lock(guard_);
  if (keeps_ == stock::single && free_places_ == 0) {
    throw error({.kind = error_code::bad_argument},
                "the handle that this book borrows is in use, by a step whose body calls the book "
                "again or by another thread: call it after the step, or open the book by URL");
  }
  if (!freed_.wait_for(lock, patience, [&] { return free_places_ > 0; })) {
    throw error({.kind = error_code::conflict, .retryable = true},
                "every connection of the book is in use: raise book_options::connections, or use "
                "fewer threads");
  }
  --free_places_;
  std::unique_ptr<session> last;
  if (!idle_.empty()) {
    last = std::move(idle_.back());
    idle_.pop_back();
  }
  lock.unlock();
  if (last && last->restore()) return {*this, std::move(last)};
  last.reset();
  try {
    return {*this, connect_()};
  } catch (...) {
    give_back(nullptr);
    throw;
  }
}

void pool::forget_idle() {
  std::vector<std::unique_ptr<session>> dropped;
  std::lock_guard const lock(guard_);
  dropped.swap(idle_);
}

void pool::give_back(std::unique_ptr<session> session) noexcept {
  if (keeps_ == stock::none) session.reset();
  {
    std::lock_guard const lock(guard_);
    ++free_places_;
    if (session && session->usable()) idle_.push_back(std::move(session));
  }
  freed_.notify_one();
}

}  // namespace db
}  // namespace v1
}  // namespace daybook
