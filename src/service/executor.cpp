#include "service/executor.hpp"

#include <daybook/error.hpp>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace work {

namespace {

thread_local void const* serving = nullptr;

std::exception_ptr closed() {
  return std::make_exception_ptr(error({.kind = error_code::closed},
                                       "the book was closed before this asynchronous call began"));
}

}  // namespace

struct executor::job {
  std::shared_ptr<completion> into;
  std::function<void()> work;
};

struct executor::state {
  std::mutex guard;
  std::condition_variable changed;
  std::deque<job> queue;
  std::vector<std::thread> threads;
  std::size_t idle = 0;
  bool open = true;
};

executor::executor(unsigned at_most) : at_most_(at_most), state_(std::make_shared<state>()) {}

executor::~executor() { close(); }

void executor::carry_out(job dispatch) noexcept {
  std::exception_ptr failure;
  try {
    dispatch.work();
  } catch (...) {
    failure = std::current_exception();
  }
  // What the work held (a run) is free before anybody hears of its end.
  dispatch.work = nullptr;
  dispatch.into->settle(std::move(failure));
}

void executor::serve(std::shared_ptr<state> const& state) {
  serving = state.get();
  std::unique_lock lock(state->guard);
  for (;;) {
    ++state->idle;
    state->changed.wait(lock, [&] { return !state->open || !state->queue.empty(); });
    --state->idle;
    if (state->queue.empty()) return;
    auto next = std::move(state->queue.front());
    state->queue.pop_front();
    lock.unlock();
    carry_out(std::move(next));
    lock.lock();
  }
}

void executor::post(std::shared_ptr<completion> completion, std::function<void()> work) {
  if (at_most_ == 0) {
    throw error({.kind = error_code::bad_argument},
                "a book on a borrowed handle is of one thread and has no asynchronous calls: open "
                "it by URL, or on connections that are lent");
  }
  completion->done_by(state_.get());
  std::unique_lock lock(state_->guard);
  if (!state_->open) {
    lock.unlock();
    work = nullptr;
    completion->settle(closed());
    return;
  }
  auto& threads = state_->threads;
  if (state_->queue.size() >= state_->idle && threads.size() < at_most_) {
    try {
      threads.emplace_back([of = state_] { serve(of); });
    } catch (std::system_error const& e) {
      if (threads.empty()) {
        throw error({.kind = error_code::io, .retryable = true},
                    "no thread could be started for asynchronous calls: " + std::string(e.what()));
      }
    }
  }
  state_->queue.push_back({std::move(completion), std::move(work)});
  lock.unlock();
  state_->changed.notify_one();
}

void executor::close() noexcept {
  std::deque<job> refused;
  std::vector<std::thread> threads;
  {
    std::lock_guard const lock(state_->guard);
    state_->open = false;
    refused.swap(state_->queue);
    threads.swap(state_->threads);
  }
  state_->changed.notify_all();
  // Before waiting: what was begun may wait for one of these.
  for (auto& one : refused) {
    one.work = nullptr;
    one.into->settle(closed());
  }
  for (auto& one : threads) {
    if (one.get_id() == std::this_thread::get_id()) {
      one.detach();
    } else {
      one.join();
    }
  }
}

bool executor::at_work_here(void const* threads) noexcept { return serving == threads; }

}  // namespace work
}  // namespace v1
}  // namespace daybook
