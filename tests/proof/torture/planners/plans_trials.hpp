// The trials of planners: one failpoint and what it does, the recovery, the check.
// Thread safety: one thread.
#pragma once

#include "proof/torture/child.hpp"
#include "proof/torture/planners/plans.hpp"
#include "proof/torture/planners/plans_report.hpp"
#include "support/engines.hpp"

#include <daybook/book.hpp>

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace torture {

struct plans_fault {
  std::string failpoint;
  std::string action;
  unsigned skip = 0;  ///< so many hits pass

  [[nodiscard]] std::string armed() const {
    return failpoint + "=" + action + ":" + std::to_string(skip);
  }
};

struct plans_trial : plans_fault {
  std::optional<plans_fault> source = {};  ///< what leads there: it acts before

  [[nodiscard]] std::string name() const {
    return armed() + (source ? " after " + source->armed() : "");
  }
  /// The one that meets a worker on the straight way.
  [[nodiscard]] plans_fault const& first() const { return source ? *source : *this; }
};

/// What a worker has passed.
struct plans_passed {
  std::map<std::string, unsigned> before;  ///< how often
  std::set<std::string> after;             ///< one had acted
  int acted = 0;                           ///< with an error or a cut

  /// All its hits, which are some, were skipped.
  [[nodiscard]] bool only_skipped(plans_fault const& one) const;
};

/// A database with its book and its tables, for trials one after the other.
class plans_lane {
 public:
  plans_lane(support::engine const& on, std::string worker, std::string plans, plans_report& to);
  plans_lane(plans_lane const&) = delete;
  plans_lane& operator=(plans_lane const&) = delete;
  ~plans_lane();

  [[nodiscard]] std::string const& dialect() const noexcept { return dialect_; }
  // On failure of the test itself, both: throws std::exception.

  /// Everything once, and no fault: what is passed on the straight way.
  plans_passed look();
  /// Where its first failpoint is passed less often than the trial skips, at another of its times,
  /// which `of` then has: which tasks fail goes by their ids, and those by the trials before.
  plans_passed one(plans_trial& of, std::minstd_rand& dice);

 private:
  [[nodiscard]] std::unique_ptr<child> script(environment const& more = {});
  plans_passed passed();
  void prepare();
  plans_passed once(plans_trial const& of, std::minstd_rand& dice);
  void past_the_lease();
  void recover(plans_trial const& of, child::change came, child& who, std::minstd_rand& dice);
  void expect_finished(std::string const& name, child& who);
  void fail(std::string const& name, std::string const& what, child const& who);

  std::string worker_;
  std::string plans_;
  plans_report* report_;
  support::fresh_database database_;
  daybook::book book_;
  std::string dialect_;
  std::string passed_file_;
  std::string trial_;
  int number_ = 0;
};

}  // namespace torture
