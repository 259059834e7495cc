// The background: one thread that renews this process's lease on a connection of its own, so
// that neither a busy pool nor a long step can make it late.
#pragma once

#include "core/lease/holder.hpp"
#include "db/pool.hpp"

#include <daybook/observer.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

namespace daybook {
inline namespace v1 {
namespace work {

class renewal {
 public:
  renewal(core::holder& of, db::pool::connect connect, observer& watch,
          std::chrono::milliseconds lease, bool one_writer, db::stock keeps);
  renewal(renewal const&) = delete;
  renewal& operator=(renewal const&) = delete;
  /// Stops and joins: within one statement's time-out.
  ~renewal() = default;

  /// One renewal now, on the same connection. On failure: throws daybook::error.
  bool renew_now();

 private:
  void serve(std::stop_token const& stop);
  /// How long to wait for the next one.
  std::chrono::milliseconds once();

  core::holder* of_;
  db::pool::connect connect_;
  observer* watch_;
  std::chrono::milliseconds lease_;
  bool one_writer_;
  db::stock keeps_;
  std::chrono::milliseconds tell_at_;  ///< of being late: once in half a lease, then in each whole
  std::mutex session_guard_;
  std::unique_ptr<db::session> session_;
  std::mutex sleep_guard_;
  std::condition_variable_any sleep_;
  std::jthread thread_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
