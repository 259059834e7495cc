// The schedules and aggregations of a file, made in the book and served by a node; again with each
// reload. Thread safety: one thread at a time. Lifetime: all that is borrowed must outlive it.
#pragma once

#include "launch.hpp"
#include "settings.hpp"

#include <daybook/aggregation.hpp>
#include <daybook/book.hpp>
#include <daybook/node.hpp>

#include <set>
#include <string>
#include <vector>

namespace command {

class served {
 public:
  served(daybook::book& book, daybook::node& node, launch_site const& at)
      : book_(book), node_(node), at_(at) {}

  /// Makes or changes what the file declares, and serves that and nothing else; what it no longer
  /// has stays in the book. On failure: throws daybook::error; do it again. Or complaint (65): its
  /// tables are not as the file says, and nothing was changed.
  void obey(settings const& file);

 private:
  struct aggregate {
    declared_aggregate what;
    daybook::aggregation of;
  };
  /// Those that have a schedule.
  std::vector<aggregate> made(settings const& file);
  /// Returns the name of its schedule.
  std::string serve(aggregate const& one);

  daybook::book& book_;
  daybook::node& node_;
  launch_site const& at_;
  std::set<std::string> names_;
};

}  // namespace command
