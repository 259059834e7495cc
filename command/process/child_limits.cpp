#include "process/child_limits.hpp"

#include <algorithm>

namespace command {

using std::chrono::milliseconds;

overseer::overseer(child& job, limits const& within) : job_(job), within_(within) {
  if (within_.timeout) timeout_at_ = clock::now() + *within_.timeout;
}

bool overseer::look() {
  if (within_.meanwhile) within_.meanwhile();
  if (!status_) {
    status_ = job_.poll();
    bool const failed = status_ && !status_->success();
    if (failed && phase_ == phase::working) end(ended_by::itself, within_.grace);
  }
  look_at_limits();
  return status_ && (phase_ == phase::working || job_.nothing_left());
}

void overseer::look_at_limits() {
  if (phase_ == phase::working && !status_) {
    if (within_.lost.stop_requested()) {
      end(ended_by::loss, within_.grace_when_lost);
    } else if (within_.stopping.stop_requested()) {
      end(ended_by::stop, within_.grace);
    } else if (timeout_at_ && clock::now() >= *timeout_at_) {
      end(ended_by::timeout, within_.grace);
    }
  }
  if (phase_ == phase::ending && (clock::now() >= kill_at_ || within_.kill.stop_requested())) {
    job_.kill();
    phase_ = phase::killed;
  }
}

void overseer::end(ended_by why, milliseconds grace) {
  why_ = why;
  phase_ = phase::ending;
  kill_at_ = clock::now() + grace;
  job_.end();
}

milliseconds overseer::pause(milliseconds at_most) const {
  if (within_.meanwhile) at_most = std::min<milliseconds>(at_most, std::chrono::seconds{1});
  auto until = clock::now() + at_most;
  if (phase_ == phase::ending) until = std::min(until, kill_at_);
  if (timeout_at_ && phase_ == phase::working) until = std::min(until, *timeout_at_);
  return std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(until - clock::now()));
}

}  // namespace command
