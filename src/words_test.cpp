#include <daybook/words.hpp>

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string_view>

namespace {

/// Each value has a word of its own; the compiler sees to it that each has one (-Wswitch).
template <class E>
void each_has_its_own(std::initializer_list<E> values) {
  std::set<std::string_view> words{"?"};
  for (auto const value : values) {
    EXPECT_TRUE(words.insert(daybook::word_of(value)).second) << daybook::word_of(value);
  }
  EXPECT_EQ(daybook::word_of(static_cast<E>(99)), "?");
}

TEST(words, each_value_has_its_own) {
  using namespace daybook;
  each_has_its_own<cadence>({cadence::from_turn, cadence::from_finish});
  each_has_its_own<on_new>({on_new::next_round, on_new::now});
  each_has_its_own<beginning>({beginning::with_claim, beginning::announced});
  each_has_its_own<result::kind>({result::kind::success, result::kind::failure,
                                  result::kind::snooze, result::kind::cancel,
                                  result::kind::unknown});
  each_has_its_own<task_request>({task_request::run_now, task_request::retry, task_request::discard,
                                  task_request::was_done, task_request::was_not_done});
  each_has_its_own<halt>({halt::none, halt::timeout, halt::lost, halt::closing});
  each_has_its_own<gap>({gap::after, gap::skip});
  each_has_its_own<fold>({fold::first, fold::second, fold::both});
  each_has_its_own<local_meaning::kind>(
      {local_meaning::kind::once, local_meaning::kind::never, local_meaning::kind::twice});
  each_has_its_own<catch_up>({catch_up::last, catch_up::all, catch_up::skip});
  each_has_its_own<overlap>({overlap::skip, overlap::queue});
  each_has_its_own<tick_state>({tick_state::due, tick_state::running, tick_state::done,
                                tick_state::failed, tick_state::skipped});
  each_has_its_own<schedule_state>(
      {schedule_state::active, schedule_state::paused, schedule_state::removed});
  each_has_its_own<launch_rule>({launch_rule::once, launch_rule::no_overlap,
                                 launch_rule::after_failure, launch_rule::always});
  each_has_its_own<window_strategy::unit>({window_strategy::unit::minute,
                                           window_strategy::unit::hour, window_strategy::unit::day,
                                           window_strategy::unit::month});
  each_has_its_own<isolation>(
      {isolation::read_committed, isolation::repeatable_read, isolation::serializable});
  each_has_its_own<fence_position>({fence_position::last, fence_position::first});
  each_has_its_own<refusal>({refusal::running_elsewhere, refusal::done_before,
                             refusal::unknown_outcome, refusal::other_date});
  each_has_its_own<outcome>({outcome::done, outcome::skipped, outcome::lost, outcome::unknown});
  each_has_its_own<settlement>({settlement::committed, settlement::rolled_back, settlement::lost});
  each_has_its_own<fault>({fault::bad_argument, fault::unreachable, fault::not_permitted,
                           fault::configuration, fault::read_only, fault::full, fault::io,
                           fault::conflict, fault::constraint, fault::statement, fault::forked,
                           fault::closed, fault::internal});
  each_has_its_own<verdict>({verdict::ok, verdict::warning, verdict::invalid});
  each_has_its_own<work_kind>({work_kind::run, work_kind::tasks});
}

}  // namespace
