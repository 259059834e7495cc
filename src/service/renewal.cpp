#include "service/renewal.hpp"

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

renewal::renewal(core::holder& of, db::pool::connect connect, observer& watch,
                 std::chrono::milliseconds lease, bool one_writer, db::stock keeps)
    : of_(&of),
      connect_(std::move(connect)),
      watch_(&watch),
      lease_(lease),
      one_writer_(one_writer),
      keeps_(keeps),
      tell_at_(lease / 2),
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
    tell_at_ = lease_ / 2;
    return interval;
  } catch (std::exception const& e) {
    auto const late = std::chrono::duration_cast<std::chrono::milliseconds>(who->since_renewal());
    // A database with one writer is busy when our own long step writes: it renews when it ends.
    auto const* const known = dynamic_cast<error const*>(&e);
    bool const waits = one_writer_ && known != nullptr && known->kind() == fault::conflict;
    if (late > tell_at_) {
      tell_at_ = late + lease_;
      watch_->renewal_late(late, waits ? the_writer : e.what());
    }
    if (late >= lease_ && !waits) who->suspect();
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
