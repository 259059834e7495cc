#include "service/lease_renewer.hpp"

#include "base/platform.hpp"

#include <daybook/error.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

namespace {

constexpr auto the_writer =
    "another process, or a long step of this one, writes to the database's file, where one writes "
    "at a time: nobody can take the lease meanwhile, and it is renewed when that ends";

}  // namespace

lease_renewer::lease_renewer(core::holder& holder, db::pool::connect connect, observer& watcher,
                             std::chrono::milliseconds lease, bool one_writer, db::stock policy)
    : holder_(&holder),
      connect_(std::move(connect)),
      observer_(&watcher),
      lease_(lease),
      one_writer_(one_writer),
      policy_(policy),
      report_at_(lease / 2),
      thread_([this](std::stop_token const& stop) { serve(stop); }) {}

bool lease_renewer::renew_now() {
  std::lock_guard const lock(session_guard_);
  if (!session_ || !session_->usable()) session_ = connect_();
  try {
    bool const alive = holder_->renew(*session_) == core::renewal::renewed;
    if (alive) holder_->disown_orphans(*session_);
    holder_->pass_deadlines(*session_);
    if (policy_ == db::stock::none) session_.reset();
    return alive;
  } catch (error const& e) {
    if (policy_ == db::stock::none || e.breaks_connection() || e.in_doubt()) session_.reset();
    throw;
  }
}

std::chrono::milliseconds lease_renewer::renew_or_report() {
  auto const session = holder_->peek();
  auto const interval = lease_ / 6;
  if (!session || session->dead()) return interval;
  try {
    renew_now();
    report_at_ = lease_ / 2;
    return interval;
  } catch (std::exception const& e) {
    auto const late =
        std::chrono::duration_cast<std::chrono::milliseconds>(session->since_renewal());
    // A database with one writer is busy when our own long step writes: it renews when it ends.
    auto const* const known = dynamic_cast<error const*>(&e);
    bool const waits = one_writer_ && known != nullptr && known->kind() == error_code::conflict;
    if (late > report_at_) {
      report_at_ = late + lease_;
      observer_->renewal_late(late, waits ? the_writer : e.what());
    }
    if (late >= lease_ && !waits) session->suspect();
    return interval / 4 + base::jitter(interval / 4);
  }
}

void lease_renewer::serve(std::stop_token const& stop) {
  while (!stop.stop_requested()) {
    auto const pause = renew_or_report();
    std::unique_lock lock(sleep_guard_);
    sleep_.wait_for(lock, stop, pause, [] { return false; });
  }
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
