#include "queue/fetch/ear.hpp"

#include <algorithm>
#include <exception>
#include <string>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

constexpr std::chrono::milliseconds first_pause{2};
constexpr std::chrono::milliseconds longest_idle_pause{1000};

}  // namespace

void ear::notify_one() noexcept {
  stirred_.notify_one();
  if (listening_) bell_.ring();
}

instant ear::after_a_pause() noexcept {
  pause_ = std::clamp(pause_ * 2, first_pause, longest_idle_pause);
  return again_at_ = local_clock::now() + pause_;
}

/// False: nothing is to be heard.
bool ear::connect() {
  if (session_) return true;
  auto const& with = store_->with();
  if (with.listeners == nullptr) return false;
  session_.emplace(with.listeners->lend(core::usual_patience));
  return true;
}

std::optional<instant> ear::listen() noexcept {
  if (deaf_ || (asleep_ && again_at_ == instant{})) return std::nullopt;
  if (local_clock::now() < again_at_) return again_at_;
  auto const& with = store_->with();
  auto const queue = store_->present().id;
  try {
    if (!asleep_) {
      deaf_ =
          !connect() || !(*session_)->listen(with.sql.prefix() + "wake_" + std::to_string(queue));
      if (deaf_) {
        session_.reset();
        return std::nullopt;
      }
    }
    bool settled = false;
    decode(db::run(**session_, with.sql["wake.sleep"], {queue}).row(0)[0], settled);
    asleep_ = true;
    if (!settled) return after_a_pause();
    pause_ = {};
    again_at_ = {};
    return std::nullopt;
  } catch (std::exception const& e) {
    with.watch.retried("listen", e.what());
  }
  session_.reset();
  asleep_ = false;
  return after_a_pause();
}

void ear::stop_listening() noexcept {
  if (!std::exchange(asleep_, false)) return;
  pause_ = {};
  again_at_ = {};
  try {
    db::run(**session_, store_->with().sql["wake.up"], {});
    (*session_)->stop_listening();
  } catch (std::exception const&) {
    session_.reset();  // the next sleep finds out
  }
}

void ear::close() noexcept {
  stop_listening();
  session_.reset();
}

bool ear::wait(std::unique_lock<std::mutex>& guard, instant until, bool const& stirred) {
  if (!asleep_) {
    auto const is_stirred = [&] { return stirred; };
    if (until == instant::max()) {
      stirred_.wait(guard, is_stirred);
    } else {
      stirred_.wait_until(guard, until, is_stirred);
    }
    return false;
  }
  if (stirred) return false;
  bell_.silence();
  listening_ = true;
  guard.unlock();
  bool heard = true;
  try {
    heard = (*session_)->hear(until, bell_);
  } catch (std::exception const& e) {
    store_->with().watch.retried("listen", e.what());
    session_.reset();
    asleep_ = false;
  }
  guard.lock();
  listening_ = false;
  return heard;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
