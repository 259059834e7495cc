// Renews the lease of this process in a thread, on a connection of its own: neither a busy pool nor
// a long step makes it late.
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

class lease_renewer {
 public:
  lease_renewer(core::holder& holder, db::pool::connect connect, observer& watcher,
                std::chrono::milliseconds lease, bool one_writer, db::stock policy);
  lease_renewer(lease_renewer const&) = delete;
  lease_renewer& operator=(lease_renewer const&) = delete;
  /// Stops and joins the thread: within the time-out of one statement.
  ~lease_renewer() = default;

  /// One renewal now, on the same connection. On failure: throws daybook::error.
  bool renew_now();

 private:
  void serve(std::stop_token const& stop);
  /// Renews; reports a failure. Returns the pause before the next renewal.
  std::chrono::milliseconds renew_or_report();

  core::holder* holder_;
  db::pool::connect connect_;
  observer* observer_;
  std::chrono::milliseconds lease_;
  bool one_writer_;
  db::stock policy_;
  /// Reports lateness after half a lease, then after each lease.
  std::chrono::milliseconds report_at_;
  std::mutex session_guard_;
  std::unique_ptr<db::session> session_;
  std::mutex sleep_guard_;
  std::condition_variable_any sleep_;
  std::jthread thread_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
