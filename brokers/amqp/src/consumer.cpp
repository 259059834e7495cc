#include "consumer.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace amqp {

namespace {

/// Between two looks at what heartbeats are due, where nothing else happens.
constexpr std::chrono::milliseconds beat{500};

}  // namespace

consumer::consumer(address const& to, connection_options const& options,
                   consumer_start const& start)
    : connection_(to, options), bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (bell_ < 0) throw error({.kind = error_code::io}, "no eventfd is to be had");
  try {
    static_cast<void>(connection_.ready(start.queue));
    connection_.consume(start);
  } catch (...) {
    ::close(bell_);
    throw;
  }
  thread_ = std::jthread([this](std::stop_token const& stop) { work(stop); });
}

consumer::~consumer() {
  thread_.request_stop();
  wake();
  thread_.join();
  ::close(bell_);
}

void consumer::wake() const noexcept {
  std::uint64_t const one = 1;
  static_cast<void>(!::write(bell_, &one, sizeof one));
}

void consumer::work(std::stop_token const& stop) {
  try {
    while (!stop.stop_requested()) {
      serve_requests();
      std::vector<delivery> come;
      while (auto one = connection_.next(std::chrono::milliseconds{0})) {
        come.push_back(std::move(*one));
        if (come.size() == 1000) break;
      }
      if (!come.empty()) {
        std::lock_guard const lock(guard_);
        std::move(come.begin(), come.end(), std::back_inserter(waiting_));
        changed_.notify_all();
        continue;  // there may be more in the client's buffer, which poll() does not see
      }
      std::array<pollfd, 2> all{pollfd{connection_.socket(), POLLIN, 0}, pollfd{bell_, POLLIN, 0}};
      ::poll(all.data(), all.size(), static_cast<int>(beat.count()));
      std::uint64_t rung = 0;
      static_cast<void>(!::read(bell_, &rung, sizeof rung));
    }
    serve_requests();
  } catch (...) {
    std::lock_guard const lock(guard_);
    fault_ = std::current_exception();
    changed_.notify_all();
  }
}

void consumer::serve_requests() {
  std::uint64_t acknowledge = 0;
  std::uint64_t give_back = 0;
  {
    std::lock_guard const lock(guard_);
    acknowledge = std::exchange(to_acknowledge_, 0);
    give_back = std::exchange(to_give_back_, 0);
  }
  if (acknowledge != 0) connection_.acknowledge(acknowledge);
  if (give_back != 0) connection_.give_back(give_back);
}

void consumer::check() const {
  if (fault_) std::rethrow_exception(fault_);
}

std::vector<delivery> consumer::take(broker::page_request const& request,
                                     std::stop_token const& stop) {
  using clock = std::chrono::steady_clock;
  std::vector<delivery> out;
  std::size_t bytes = 0;
  auto until = clock::now() + request.wait;
  std::unique_lock lock(guard_);
  for (;;) {
    bool const first = out.empty();
    while (!waiting_.empty() && out.size() < request.messages &&
           (out.empty() || bytes + waiting_.front().body.size() <= request.bytes)) {
      bytes += waiting_.front().body.size();
      out.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    bool const full = out.size() >= request.messages || !waiting_.empty();
    if (full || stop.stop_requested()) return out;
    if (first && !out.empty()) until = clock::now() + request.gather;
    // The messages that came before the fault are good; the next call tells of the fault.
    if (fault_ && !out.empty()) return out;
    check();
    if (clock::now() >= until) return out;
    changed_.wait_until(lock, stop, until, [&] { return !waiting_.empty() || fault_; });
  }
}

void consumer::acknowledge(std::uint64_t up_to) {
  {
    std::lock_guard const lock(guard_);
    check();
    to_acknowledge_ = up_to;
  }
  wake();
}

void consumer::give_back(std::uint64_t up_to) noexcept {
  {
    std::lock_guard const lock(guard_);
    to_give_back_ = up_to;
  }
  wake();
}

void delivered_page::replace(std::vector<delivery> all, std::string const& topic) {
  all_ = std::move(all);
  headers_.clear();
  headers_.reserve(all_.size());
  views_.clear();
  views_.reserve(all_.size());
  for (auto const& one : all_) {
    auto& headers = headers_.emplace_back();
    for (auto const& [name, value] : one.headers) headers.push_back({name, value});
    views_.push_back({.topic = topic,
                      .partition = 0,
                      .position = one.offset,
                      .id = one.id,
                      .key = one.key,
                      .body = one.body,
                      .headers = headers,
                      .sent = one.sent,
                      .redelivered = one.redelivered});
  }
}

}  // namespace amqp
}  // namespace v1
}  // namespace daybook
