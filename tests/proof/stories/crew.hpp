// Processes at work on aggregations (hand.cpp), and what is done to them: killed, stopped, started
// again. Each arms failpoints for itself, too: connections cut at COMMIT, errors, its own death.
// Thread safety: one thread.
#pragma once

#include "proof/torture/child.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace story {

struct post {
  std::string what;
  std::string role;
};

/// Eight aggregators, two reverters, one settler.
[[nodiscard]] std::vector<post> everybody(std::string const& what);

struct crew_settings {
  std::string hand;  ///< the program
  std::string url;
  std::string tally;  ///< a file
  int chunk = 500;
  unsigned seed = 1;
  std::chrono::milliseconds longest_stop{600};
};

class crew {
 public:
  crew(std::vector<post> posts, crew_settings how);

  /// Waits a moment, starts anew who has ended, strikes one.
  void strike();
  /// Everybody goes on, is asked to end, and does.
  void end();

  /// What went wrong that no fault explains: an exit by itself, no end when asked to.
  [[nodiscard]] std::vector<std::string> const& failures() const { return failures_; }
  [[nodiscard]] long faults() const;
  /// "killed 12, stopped 7, ...; aggregate 140, ..."
  [[nodiscard]] std::string text() const;

 private:
  using clock = std::chrono::steady_clock;
  struct place {
    post is;
    std::unique_ptr<torture::child> who;
    std::optional<clock::time_point> wakes;  ///< it is stopped
  };

  int up_to(int most) { return std::uniform_int_distribution<int>(0, most)(dice_); }
  void start(place& at);
  void stop(place& at);
  void tend(place& at);
  [[nodiscard]] std::map<char, long> letters() const;

  crew_settings how_;
  std::minstd_rand dice_;
  std::vector<place> places_;
  std::map<std::string, long> kinds_;
  std::vector<std::string> failures_;
};

}  // namespace story
