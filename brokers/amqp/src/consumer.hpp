// A consumer with a thread of its own, which reads the connection all the time: so heartbeats go on
// while the book commits, and the next page is here before it is asked for.
// Thread safety: one thread uses it; the thread inside is its own.
#pragma once

#include "connection.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace amqp {

class consumer {
 public:
  /// On failure: throws daybook::error.
  consumer(address const& to, connection_options const& options, consumer_start const& start);
  consumer(consumer const&) = delete;
  consumer& operator=(consumer const&) = delete;
  ~consumer();

  /// As broker::queue::take(); deliveries from `from` on of a stream.
  [[nodiscard]] std::vector<delivery> take(broker::page_request const& request,
                                           std::stop_token const& stop);
  /// Asks the thread to settle, or to give back, all deliveries up to this tag. On failure: throws
  /// what has ended the connection.
  void acknowledge(std::uint64_t up_to);
  void give_back(std::uint64_t up_to) noexcept;

 private:
  void work(std::stop_token const& stop);
  void serve_requests();
  void wake() const noexcept;
  void check() const;  ///< precondition: the caller holds guard_

  connection connection_;
  int bell_;  ///< an eventfd
  mutable std::mutex guard_;
  std::condition_variable_any changed_;
  std::deque<delivery> waiting_;
  std::uint64_t to_acknowledge_ = 0;
  std::uint64_t to_give_back_ = 0;
  std::exception_ptr fault_;
  std::jthread thread_;
};

/// Deliveries of a page, and the views of them.
class delivered_page {
 public:
  void replace(std::vector<delivery> all, std::string const& topic);
  [[nodiscard]] std::span<broker::message const> views() const noexcept { return views_; }

 private:
  std::vector<delivery> all_;
  std::vector<std::vector<broker::header>> headers_;
  std::vector<broker::message> views_;
};

}  // namespace amqp
}  // namespace v1
}  // namespace daybook
