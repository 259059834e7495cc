// What pgbench keeps, gathered: the changes of balances that it writes down, per teller and per
// branch, each with columns of its own.
// Thread safety: values.
#pragma once

#include <daybook/aggregation_options.hpp>

#include <string>

namespace pgbench {

/// `who`: "teller" or "branch".
inline daybook::aggregation_options per(std::string const& who, int chunk) {
  daybook::aggregation_options out;
  out.source.table = "pgbench_history";
  out.source.state = who + "_state";
  out.source.link = who + "_pay";
  out.source.group = {who == "teller" ? "tid" : "bid"};
  out.parent.table = who + "_pay";
  out.parent.state = "state";
  out.parent.count = "changes";
  out.sums = {{"delta", "total"}};
  out.allow_negative = true;
  out.chunk = chunk;
  return out;
}

}  // namespace pgbench
