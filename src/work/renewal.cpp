#include "work/renewal.hpp"

#include "base/platform.hpp"

#include <daybook/error.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

renewal::renewal(core::holder& of, db::pool::connect connect, observer& watch,
                 std::chrono::milliseconds lease, bool one_writer, db::stock keeps)
    : of_(&of),
      connect_(std::move(connect)),
      watch_(&watch),
      lease_(lease),
      one_writer_(one_writer),
      keeps_(keeps),
      thread_([this](std::stop_token const& stop) { serve(stop); }) {}

bool renewal::renew_now() {
  std::lock_guard const lock(session_guard_);
  if (!session_ || !session_->usable()) session_ = connect_();
  try {
    bool const alive = of_->renew(*session_) == core::renewal::renewed;
    if (alive) of_->disown_orphans(*session_);
    of_->pass_deadlines(*session_);
    if (keeps_ == db::stock::none) session_.reset();
    return alive;
  } catch (error const& e) {
    if (keeps_ == db::stock::none || e.breaks_connection() || e.in_doubt()) session_.reset();
    throw;
  }
}

std::chrono::milliseconds renewal::once() {
  auto const who = of_->peek();
  auto const interval = lease_ / 6;
  if (!who || who->dead()) return interval;
  try {
    renew_now();
    return interval;
  } catch (std::exception const& e) {
    auto const late = std::chrono::duration_cast<std::chrono::milliseconds>(who->since_renewal());
    if (late > lease_ / 2) watch_->renewal_late(late, e.what());
    // A database with one writer is busy when our own long step writes: it renews when it ends.
    auto const* const known = dynamic_cast<error const*>(&e);
    bool const our_own_writer = one_writer_ && known != nullptr && known->kind() == fault::conflict;
    if (late >= lease_ && !our_own_writer) who->suspect();
    return interval / 4 + base::jitter(interval / 4);
  }
}

void renewal::serve(std::stop_token const& stop) {
  while (!stop.stop_requested()) {
    auto const pause = once();
    std::unique_lock lock(sleep_guard_);
    sleep_.wait_for(lock, stop, pause, [] { return false; });
  }
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
