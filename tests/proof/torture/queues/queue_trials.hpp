// The trials of queues: one failpoint and what it does, the recovery, the check; poison; a mix.
#pragma once

#include "proof/torture/child.hpp"
#include "proof/torture/queues/queue_report.hpp"
#include "proof/torture/server_faults.hpp"
#include "support/engines.hpp"

#include <daybook/book.hpp>
#include <daybook/testing.hpp>

#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace torture {

/// A failpoint, and where the doubt comes from that leads there; empty: the straight way does.
struct queue_place {
  std::string failpoint;
  std::string source;
  std::optional<unsigned> skip = {};  ///< so many hits pass; empty: now and then some
};

/// Every failpoint that a worker at queues passes on this engine.
[[nodiscard]] std::vector<queue_place> queue_places(std::string_view dialect);

/// A database with its book, for trials one after the other.
class queue_lane {
 public:
  queue_lane(support::engine const& on, std::string worker, queue_report& to);
  queue_lane(queue_lane const&) = delete;
  queue_lane& operator=(queue_lane const&) = delete;
  ~queue_lane();

  [[nodiscard]] std::string const& dialect() const noexcept { return dialect_; }
  void one(queue_place const& at, std::string const& action, std::minstd_rand& dice);
  /// A task that kills its worker: no more of them than the limit, and it is dead then.
  void poison();
  /// Several workers at two queues, so many random faults among them; where there is a server of
  /// our own to hurt, every other of them to that.
  void mix(int workers, int keys, int faults, std::minstd_rand& dice, server_faults* to = nullptr);

 private:
  using milliseconds = std::chrono::milliseconds;
  struct trial {
    std::string name;
    std::string queue;
    std::string failpoint;
    std::string action;
    environment armed;
    std::vector<std::string> way;
    bool forgets = false;         ///< some of its history, on purpose
    bool twice_in_doubt = false;  ///< the failpoint acts while another doubt is resolved
    bool gives_up = false;        ///< that other doubt is left to the next claim, with an error
  };

  trial prepare(queue_place const& at, std::string const& action, std::minstd_rand& dice);
  [[nodiscard]] std::vector<std::string> words(std::string const& queue,
                                               std::vector<std::string> const& more) const;
  [[nodiscard]] std::string outside_file(std::string const& queue) const;
  [[nodiscard]] bool writes_alone(std::string const& failpoint) const;
  void past_the_lease(std::chrono::microseconds by);
  void bury_a_holder(trial const& of);
  void stopped(trial const& of, child& worker, std::minstd_rand& dice);
  void settle(trial const& of);
  void look(trial const& of, moment when);
  void fail(trial const& of, std::string const& what, child const& who);
  void fill(std::string const& queue, int keys);
  void jump_in_a_mix(std::minstd_rand& dice, bool patient);
  void drain(trial const& of);

  std::string worker_;
  queue_report* report_;
  support::fresh_database database_;
  daybook::book book_;
  std::string dialect_;
  std::string folder_;
  int number_ = 0;
};

}  // namespace torture
