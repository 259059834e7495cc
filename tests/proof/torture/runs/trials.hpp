// The trials: one failpoint and what it does, then the recovery, then the check.
#pragma once

#include "proof/torture/child.hpp"
#include "proof/torture/runs/outside.hpp"
#include "proof/torture/runs/report.hpp"
#include "proof/torture/server_faults.hpp"
#include "support/engines.hpp"

#include <daybook/book.hpp>
#include <daybook/testing.hpp>

#include <chrono>
#include <random>
#include <string>
#include <vector>

namespace torture {

/// Those that a worker at runs passes.
[[nodiscard]] inline std::vector<std::string_view> run_failpoints() {
  return daybook::testing::failpoints(daybook::testing::failpoint_room::runs);
}

/// Which of its places a failpoint is hit at: at which step, or after which lost reply.
[[nodiscard]] unsigned variants_of(std::string const& failpoint);

/// Whether that place is another for this action: an error is the same at each step.
[[nodiscard]] bool differs(std::string const& failpoint, std::string const& action,
                           unsigned variant);

/// A database with its book, for trials one after the other.
class lane {
 public:
  lane(support::engine const& on, std::string worker, report& to, bool real_clock = false);
  lane(lane const&) = delete;
  lane& operator=(lane const&) = delete;
  ~lane();

  /// One failpoint, one action. On failure of the test itself: throws std::exception.
  void one(std::string const& failpoint, std::string const& action, unsigned variant,
           std::minstd_rand& dice);
  /// SIGSTOP past the lease by the real clock.
  void real_stop(std::string const& failpoint, unsigned skip);
  /// Several workers at a few keys, `faults` random faults among them; where there is a server of
  /// our own to hurt, every other of them to that.
  void mix(int workers, int faults, std::minstd_rand& dice, server_faults* to = nullptr);

 private:
  using milliseconds = std::chrono::milliseconds;
  struct trial {
    std::string name;  ///< for people
    std::string failpoint;
    std::string action;
    std::string key;
    std::string prefix = "daybook_";
    environment armed;
    std::string source;            ///< where the doubt comes from; for the resolution's failpoints
    std::vector<std::string> way;  ///< what the worker needs to get to the failpoint
    std::vector<std::string> of_all;  ///< what its heirs need, too
    bool probe = false;               ///< the at-most-once step has one
    bool at_payment = false;          ///< the failpoint acts when only the intent is there
    bool no_step_left = false;        ///< for an heir, when the failpoint has acted
  };

  trial prepare(std::string const& failpoint, std::string const& action, unsigned variant,
                std::minstd_rand& dice);
  void find_the_way(trial& to);
  void bury_a_holder(trial const& of, std::string const& at);
  void leave_it_unknown(trial const& of);
  /// True: the job is finished.
  [[nodiscard]] bool ends_by_itself(trial const& of);
  void killed(trial const& of);
  [[nodiscard]] bool stopped(trial const& of);
  void stopped_while_writing(trial const& of, std::minstd_rand& dice);
  void finish(trial const& of, bool over);
  void look_at_all(trial const& of, std::string const& keys, moment when, std::string const& fault);
  [[nodiscard]] std::vector<std::string> words(trial const& of,
                                               std::vector<std::string> const& more = {}) const;
  [[nodiscard]] std::vector<std::string> first_words(trial const& of, milliseconds lease) const;
  [[nodiscard]] std::vector<std::string> heirs_words(trial const& of, milliseconds lease) const;
  [[nodiscard]] bool writes_alone(std::string const& failpoint) const;
  void past_the_lease(trial const& of);
  void jump_past_the_lease(bool patient);
  void settle(trial const& of, std::vector<std::string> more = {});
  void fail(trial const& of, std::string const& what, child const& who);
  void act_as_a_person(std::string const& group, int how_many);
  void drain(std::string const& keys, int how_many, std::string const& fault);
  void count_tally(std::string const& file);

  std::string worker_;
  report* report_;
  support::fresh_database database_;
  daybook::book book_;
  std::string dialect_;
  std::string outside_file_;
  outside world_;
  int number_ = 0;
  int acts_ = 0;
};

}  // namespace torture
