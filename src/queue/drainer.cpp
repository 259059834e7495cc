#include "queue/drainer.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

/// Who wants one at a time claims so many at most.
constexpr int singles = 100;

}  // namespace

drainer::~drainer() {
  if (of_->with().forked()) return;
  if (now_) kept_.push_back(std::move(now_));
  for (auto const& one : kept_) {
    try {
      if (!one->gone) one->of->complete();
    } catch (std::exception const& e) {
      of_->with().watch.retried("complete", e.what());
      leave_behind(*one);
    }
  }
}

std::vector<handed> drainer::next(std::size_t most) {
  if (now_ && local_clock::now() - flushed_ >= how_.flush_every) {
    flushed_ = local_clock::now();
    if (!now_->of->flush()) leave(now_, true, {});
  }
  do {
    if (now_ && (now_->gone || now_->next == now_->size())) settle();
    if (!now_) take({.limit = most == 1 ? std::min(how_.batch, singles) : static_cast<int>(most)});
  } while (now_ && !may_begin());
  return give(most);
}

std::vector<handed> drainer::next_suspect() {
  end();
  take({.limit = 1, .suspects = true});
  return give(1);
}

/// A hand-out waits for the renewal of its book; here there may be none but this thread.
bool drainer::may_begin() {
  if (!lease_lasts(*of_)) renew();
  if (is_ours(*now_)) return true;
  leave(now_, true, {});
  return false;
}

void drainer::renew() {
  auto const& with = of_->with();
  core::insist([&] {
    core::read(with, with.lease,
               [&](db::session& on) { static_cast<void>(of_->lease().renew(on)); });
  });
}

void drainer::take(claim_options const& how) {
  auto claimed = of_->claim(how);
  if (!claimed) return;
  // It is told what becomes of them, and owned by nobody: see its lifetime.
  std::shared_ptr<giver> const self(std::shared_ptr<giver>(), this);
  now_ = std::make_shared<hand>(self, std::move(claimed), how.suspects);
}

std::vector<handed> drainer::give(std::size_t most) {
  std::vector<handed> out;
  if (!now_) return out;
  most = std::min(most, now_->size() - now_->next);
  out.reserve(most);
  for (; most > 0; --most) {
    auto const& task = now_->of->tasks()[now_->next];
    if (task.slot.count() > 0) std::this_thread::sleep_until(now_->made + task.slot);
    out.push_back(handed(now_, now_->next++));
  }
  return out;
}

void drainer::settle() {
  auto const over = std::exchange(now_, nullptr);
  if (over->gone) return;
  kept_.push_back(over);
  if (over->of->all_ended()) {
    over->of->complete();
    kept_.pop_back();
  } else {
    over->of->flush();
  }
}

void drainer::end() {
  if (now_) kept_.push_back(std::exchange(now_, nullptr));
  for (; !kept_.empty(); kept_.pop_back()) {
    if (!kept_.back()->gone) kept_.back()->of->complete();
  }
}

bool drainer::note(hand& of, std::size_t at, result how, local_clock::duration) {
  if (of.gone) return false;
  of.of->finish(of.of->tasks()[at], std::move(how));
  return true;
}

void drainer::leave(std::shared_ptr<hand> const& of, bool lost, local_clock::duration) noexcept {
  if (!lost) return;
  of->gone = true;
  of->lost.request_stop();
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
