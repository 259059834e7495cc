#include "queue/fetch/drainer.hpp"

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
  if (store_->with().forked()) return;
  if (now_) kept_.push_back(std::move(now_));
  for (auto const& one : kept_) {
    try {
      if (!one->gone) one->of->complete();
    } catch (std::exception const& e) {
      store_->with().watch.retried("complete", e.what());
      leave_behind(*one);
    }
  }
}

std::vector<claimed_task> drainer::next(std::size_t most) {
  if (now_ && local_clock::now() - flushed_ >= options_.flush_every) {
    flushed_ = local_clock::now();
    if (!now_->of->flush()) leave(now_, true, {});
  }
  for (;;) {
    if (now_ && (now_->gone || now_->next == now_->size())) settle();
    if (!now_) take(most == 1 ? std::min(options_.batch, singles) : static_cast<int>(most), false);
    if (!now_ || may_begin(most)) return give(most);
  }
}

std::vector<claimed_task> drainer::next_suspect() {
  end();
  take(1, true);
  if (now_ && !may_begin(1)) return {};
  return give(1);
}

/// A hand-out waits for the renewal of its book; here there may be none but this thread.
bool drainer::may_begin(std::size_t most) {
  if (!lease_lasts(*store_)) renew();
  auto const end = std::min(now_->next + most, now_->size());
  std::this_thread::sleep_until(now_->slot_of(end - 1));
  if (is_ours(*now_) && begin_to(end)) return true;
  leave(now_, true, {});
  return false;
}

/// As many at once as begin within half of the time in which what is finished is written.
bool drainer::begin_to(std::size_t end) {
  if (end <= now_->begun) return true;
  if (!now_->one_by_one) {
    auto const now = local_clock::now();
    auto const took = now - std::exchange(begun_, now);
    bool const quick = took < options_.flush_every / 2;
    window_ = std::max<std::size_t>(quick ? std::min(window_ * 2, now_->size()) : window_ / 2, 1);
    end = std::min(std::max(end, now_->begun + window_), now_->size());
  }
  if (now_->of->begin(now_->begun, end - now_->begun) == outcome::lost) return false;
  now_->begun = end;
  return true;
}

void drainer::renew() {
  auto const& with = store_->with();
  core::insist([&] {
    core::read(with, with.lease,
               [&](db::session& session) { static_cast<void>(store_->lease().renew(session)); });
  });
}

void drainer::take(int limit, bool suspect) {
  bool const once = store_->present().by.mode == step_mode::at_most_once;
  bool const by_hand = options_.beginning == beginning::announced;
  bool const soon = !suspect && !once && !by_hand && std::cmp_less_equal(limit, window_);
  auto claimed = store_->claim({.limit = limit,
                                .quarantined = suspect,
                                .beginning = soon ? beginning::with_claim : beginning::announced});
  if (!claimed) return;
  // It is told what becomes of them, and owned by nobody: see its lifetime.
  std::shared_ptr<giver> const self(std::shared_ptr<giver>(), this);
  now_ = std::make_shared<hand>(self, std::move(claimed), suspect);
  if (by_hand) now_->begun = now_->size();
}

std::vector<claimed_task> drainer::give(std::size_t most) {
  std::vector<claimed_task> out;
  if (!now_) return out;
  most = std::min(most, now_->size() - now_->next);
  out.reserve(most);
  for (; most > 0; --most) out.push_back(claimed_task(now_, now_->next++));
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

bool drainer::note(hand& claim, std::size_t index, result result, local_clock::duration) {
  if (claim.gone) return false;
  claim.of->finish(claim.of->tasks()[index], std::move(result));
  return true;
}

void drainer::leave(std::shared_ptr<hand> const& claim, bool lost, local_clock::duration) noexcept {
  if (!lost) return;
  claim->gone = true;
  claim->lost.request_stop();
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
