// The schedules, queues and aggregations of a file, made in the book and served by a node; again
// with each reload.
// Thread safety: one thread at a time. Lifetime: all that is borrowed must outlive it.
#pragma once

#include "config/settings.hpp"
#include "daemon/children/launch.hpp"
#include "daemon/departures.hpp"
#include "output/work_told.hpp"

#include <daybook/aggregation.hpp>
#include <daybook/book.hpp>
#include <daybook/job.hpp>
#include <daybook/node.hpp>

#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace command {

class served {
 public:
  served(daybook::book& book, daybook::node& node, launch_site const& site, work_told& worked)
      : book_(book), node_(node), site_(site), worked_(worked) {}

  /// Makes or changes what the file declares, and has the node serve that and nothing else; what
  /// the file no longer has stays in the book. Waits for no command: what a queue has in hand that
  /// is dropped goes on beside the others, and is told to the log when it has ended. On failure:
  /// throws daybook::error, or std::system_error where no thread is to be had; do it again: what
  /// was begun is in force until then, beside all of the old. Or complaint (65): what only the
  /// database can find wrong, the tables of an aggregation or what a plan reads. What is served
  /// stays as it was; in the book are the aggregations, the queues of plans and the plans that were
  /// made before it.
  void obey(settings const& file, std::chrono::milliseconds poll);
  /// The same, but that the queues are worked by others.
  void obey_without_work(settings const& file);
  /// For what queues that were dropped have in hand.
  void wait_for_dropped() { leaving_.wait(); }

 private:
  /// What a file has the node do.
  struct names {
    std::set<std::string> schedules;
    std::set<std::string> queues;
    std::set<std::string> plans;
  };
  struct aggregate {
    declared_aggregate what;
    daybook::aggregation of;
  };
  /// Those that have a schedule.
  std::vector<aggregate> made(settings const& file);
  /// All of it but the work of queues, beside what is served already.
  names serve(settings const& file);
  void serve(aggregate const& one, std::set<std::string>& now);
  void serve(std::vector<declared_plan> const& plans, std::set<std::string>& now);
  /// Serves no more what is not there.
  void drop_others(names const& now);
  void leave(std::string const& queue);
  void make(declared_queue const& queue);
  /// `now`: the schedules that are to be served; the name is put there, too.
  void serve(std::string const& name, daybook::tick_handler handler, std::set<std::string>& now);
  void serve_schedules_of(declared_queue const& queue, std::set<std::string>& now);

  daybook::book& book_;
  daybook::node& node_;
  launch_site const& site_;
  work_told& worked_;
  std::set<std::string> schedules_;  ///< which the node serves
  std::set<std::string> queues_;     ///< which it works
  std::set<std::string> plans_;      ///< whose passes it makes
  std::set<std::string> told_;       ///< queues whose table has no triggers
  departures leaving_;
};

/// Has a node work a queue that was made. Lifetime: `site` must outlive the node.
void work(daybook::node& node, declared_queue const& queue, launch_site const& site,
          daybook::work_options const& options);

/// What the file says of it.
[[nodiscard]] daybook::work_options work_options_of(declared_queue const& queue,
                                                    std::chrono::milliseconds poll);

}  // namespace command
