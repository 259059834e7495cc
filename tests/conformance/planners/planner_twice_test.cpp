// A key that a query gives more than once.
#include "conformance/watching.hpp"

#include <daybook/planner.hpp>

#include <string>

namespace conformance {
namespace {

using daybook::launch_rule;
using daybook::pass_report;
using daybook::query_strategy;

class given_twice : public watching {
 protected:
  daybook::planner make(launch_rule rule) {
    return book_.make_planner(
        "letters",
        {.queue = "letters",
         .strategy = query_strategy{"select 'a' union all select 'b' union all select 'a'"},
         .rule = rule,
         .page = 1});
  }
  daybook::queue letters_{book_.make_queue("letters", {.attempts = 1})};
};

/// Also where its task is done before it comes again, in a later page.
TEST_P(given_twice, a_key_is_launched_once_by_a_pass) {
  for (auto const rule : {launch_rule::always, launch_rule::no_overlap}) {
    SCOPED_TRACE(static_cast<int>(rule));
    auto plan = make(rule);
    for (auto const* const letter : {"a", "b"}) {
      plan.forget(key(letter), {.actor = "anna", .reason = "anew"});
      letters_.remove(key(letter));
    }
    int done = 0;
    auto const sum =
        plan.pass({.on_progress = [&](pass_report const&) { done += drain(letters_); }});
    EXPECT_EQ(sum.launched, 2);
    EXPECT_EQ(done, 2);
    EXPECT_EQ(plan.find(key("a")).value().launches, 1);
  }
}

TEST_P(given_twice, what_failed_in_a_pass_is_the_next_ones) {
  auto plan = make(launch_rule::after_failure);
  int failed = 0;
  auto const fail_all = [&](pass_report const&) {
    while (auto batch = letters_.claim()) {
      for (auto const& one : batch->tasks()) {
        batch->finish(one, daybook::result::failure("no"));
        ++failed;
      }
      EXPECT_EQ(std::move(*batch).complete(), outcome::done);
    }
  };
  EXPECT_EQ(plan.pass({.on_progress = fail_all}).launched, 2);
  EXPECT_EQ(failed, 2);
  EXPECT_EQ(plan.pass({.on_progress = fail_all}).launched, 2) << "the next pass is another";
  EXPECT_EQ(failed, 4);
}

TEST_P(given_twice, a_key_is_once_in_a_preview) {
  EXPECT_EQ(make(launch_rule::always).preview().size(), 2U);
}

DAYBOOK_ON_EVERY_ENGINE(given_twice);

}  // namespace
}  // namespace conformance
