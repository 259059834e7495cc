#include "supervise.hpp"

#include <algorithm>
#include <csignal>

#include <unistd.h>

namespace command {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// How soon a lost run is noticed; a child's end and signals wake us at once.
constexpr milliseconds at_most{100};

class supervisor {
 public:
  supervisor(child& job, signals& caught, limits const& within)
      : job_(job), caught_(caught), within_(within) {
    if (within_.timeout) timeout_at_ = clock::now() + *within_.timeout;
  }

  child_end work() {
    for (;;) {
      while (auto const one = caught_.next()) act_on(*one);
      if (!status_) see();
      look_at_limits();
      if (status_ && (phase_ != phase::ending || job_.group_is_empty())) break;
      caught_.wait(pause());
    }
    job_.take_terminal_back();
    return {why_, *status_, whom_to_interrupt(), asked_};
  }

 private:
  enum class phase { working, ending, killed };

  void see() {
    status_ = job_.poll();
    if (job_.was_stopped() && job_.has_terminal()) {
      job_.take_terminal_back();
      // The shell sees the job as stopped when all of its group are.
      ::kill(0, SIGTSTP);
      stop_too();
    }
    if (status_ && phase_ == phase::working && !status_->success()) end(why_, within_.grace);
  }

  void look_at_limits() {
    if (phase_ == phase::working && !status_) {
      if (within_.lost.stop_requested()) {
        end(ended_by::loss, within_.grace_when_lost);
      } else if (timeout_at_ && clock::now() >= *timeout_at_) {
        end(ended_by::timeout, within_.grace);
      }
    } else if (phase_ == phase::ending && clock::now() >= kill_at_) {
      job_.send(SIGKILL);
      phase_ = phase::killed;
    }
  }

  void end(ended_by why, milliseconds grace) {
    why_ = why;
    phase_ = phase::ending;
    kill_at_ = clock::now() + grace;
    job_.send(SIGTERM);
    job_.send(SIGCONT);  // one that is stopped gets no TERM
  }

  void act_on(caught_signal const& one) {
    switch (one.number) {
      case SIGCHLD: return;
      case SIGTSTP:
        if (one.sender == ::getpid()) return;
        job_.send(SIGTSTP);
        if (one.sender == 0) stop_too();  // from the terminal: to us as to our whole group
        return;
      case SIGCONT: go_on(); return;
      case SIGINT: interrupted_ = true; [[fallthrough]];
      default: asked_ = asked_ || asks_to_end(one.number); job_.send(one.number);
    }
  }

  void stop_too() {
    stop_ourselves();
    go_on();
  }

  void go_on() {
    job_.give_terminal();
    job_.send(SIGCONT);
  }

  [[nodiscard]] milliseconds pause() const {
    auto until = clock::now() + at_most;
    if (phase_ == phase::ending) until = std::min(until, kill_at_);
    if (phase_ == phase::ending && status_) until = std::min(until, clock::now() + at_most / 10);
    if (timeout_at_ && phase_ == phase::working) until = std::min(until, *timeout_at_);
    return std::chrono::ceil<milliseconds>(until - clock::now());
  }

  [[nodiscard]] interrupt whom_to_interrupt() const {
    if (why_ != ended_by::itself || !status_->by_signal || status_->number != SIGINT) {
      return interrupt::none;
    }
    if (interrupted_) return interrupt::ourselves;
    return job_.has_terminal() ? interrupt::our_group : interrupt::none;
  }

  child& job_;
  signals& caught_;
  limits const& within_;
  std::optional<clock::time_point> timeout_at_;
  clock::time_point kill_at_{};
  phase phase_ = phase::working;
  ended_by why_ = ended_by::itself;
  std::optional<child_status> status_;
  bool interrupted_ = false;
  bool asked_ = false;
};

}  // namespace

child_end supervise(child& job, signals& caught, limits const& within) {
  return supervisor(job, caught, within).work();
}

void pass_interrupt_on(interrupt to) noexcept {
  // A shell goes on with its script when a command merely exits with 130: it must see it die.
  if (to == interrupt::our_group) ::kill(0, SIGINT);
  if (to == interrupt::ourselves) ::kill(::getpid(), SIGINT);
}

}  // namespace command
