// Planners of every strategy, the queues of their tasks, and the tables that they are of.
#pragma once

#include "proof/torture/planners/plans_job.hpp"
#include "support/engines.hpp"

#include <daybook/book.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace torture {

/// Orders, sales and effects of all trials, and the customers of one. No double is refused.
void make_plan_tables(support::fresh_database const& in, std::string_view dialect);
/// The customers of the trial before are no more.
void empty_customers(support::fresh_database const& in);

struct plan_sizes {
  int page = 3;                   ///< keys in one transaction, and rows of a page
  std::chrono::seconds again{0};  ///< the next sweep
  int comparisons = 0;
};
/// `since`: the first minute. Made again, they have other sizes.
void make_plans(daybook::book& in, std::string const& trial, plan_sizes const& of,
                daybook::timestamp since);

}  // namespace torture
