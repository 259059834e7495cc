// A worker process as the driver sees it: started, stopped, continued, killed, waited for.
// Thread safety: one thread, which must outlive the child (the worker dies with it).
#pragma once

#include "proof/torture/job.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

namespace torture {

/// Before the words of a program that does not see to it by itself: it dies with its driver.
inline std::vector<std::string> dying_with_us(std::vector<std::string> words) {
  words.insert(words.begin(), {"/usr/bin/setpriv", "--pdeathsig", "KILL"});
  return words;
}

using environment = std::vector<std::pair<std::string, std::string>>;

class child {
 public:
  enum class state { exited, killed, stopped, silent };
  struct change {
    state what = state::silent;
    int code = 0;  ///< the exit code, or the signal

    [[nodiscard]] bool is(ending how) const {
      return what == state::exited && code == static_cast<int>(how);
    }
    [[nodiscard]] std::string text() const;
  };

  /// On failure: throws std::runtime_error.
  child(std::vector<std::string> const& words, environment const& more = {});
  child(child const&) = delete;
  child& operator=(child const&) = delete;
  /// Kills it.
  ~child();

  /// Its next change: it ended (then always that), or it was stopped.
  change wait(std::chrono::milliseconds patience);
  void send(int signal) const;
  void go_on() const;
  [[nodiscard]] pid_t id() const noexcept { return id_; }
  /// What it wrote to its stderr so far.
  [[nodiscard]] std::string words() const;

 private:
  pid_t id_ = 0;
  int errors_ = -1;
  bool over_ = false;
  change last_;
};

/// A worker that nothing is done to, and how it ended.
struct unharmed {
  std::unique_ptr<child> who;
  child::change came;
};
/// Where it ended because no server answered it in time, which is the machine's doing, another is
/// started, twice: what was left behind is to be judged when it was done, and not before.
unharmed run_unharmed(std::function<std::unique_ptr<child>()> const& start,
                      std::chrono::milliseconds patience);

}  // namespace torture
