#include "process/supervise.hpp"

#include <csignal>

#include <unistd.h>

namespace command {

namespace {

using std::chrono::milliseconds;

/// How soon a lost run is noticed; a child's end and signals wake us at once.
constexpr milliseconds at_most{100};

class supervisor {
 public:
  supervisor(child& job, signals& caught, limits const& within)
      : job_(job), caught_(caught), over_(job, within) {}

  child_end work() {
    for (;;) {
      while (auto const one = caught_.next()) act_on(*one);
      bool const over = over_.look();
      if (job_.was_stopped() && job_.has_terminal()) stop_with_it();
      if (over) break;
      caught_.wait(over_.pause(at_most));
    }
    job_.take_terminal_back();
    return {over_.why(), over_.status(), whom_to_interrupt(), asked_};
  }

 private:
  void stop_with_it() {
    job_.take_terminal_back();
    // The shell sees the job as stopped when all of its group are.
    ::kill(0, SIGTSTP);
    stop_too();
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

  [[nodiscard]] interrupt whom_to_interrupt() const {
    auto const& status = over_.status();
    if (over_.why() != ended_by::itself || !status.by_signal || status.number != SIGINT) {
      return interrupt::none;
    }
    if (interrupted_) return interrupt::ourselves;
    return job_.has_terminal() ? interrupt::our_group : interrupt::none;
  }

  child& job_;
  signals& caught_;
  overseer over_;
  bool interrupted_ = false;
  bool asked_ = false;
};

}  // namespace

child_end supervise(child& job, signals& caught, limits const& within) {
  return supervisor(job, caught, within).work();
}

void pass_interrupt_on(interrupt interrupt) noexcept {
  // A shell goes on with its script when a command merely exits with 130: it must see it die.
  if (interrupt == interrupt::our_group) ::kill(0, SIGINT);
  if (interrupt == interrupt::ourselves) ::kill(::getpid(), SIGINT);
}

}  // namespace command
