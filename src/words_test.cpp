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
  each_has_its_own<period_anchor>({period_anchor::from_turn, period_anchor::from_finish});
  each_has_its_own<new_member_policy>({new_member_policy::next_round, new_member_policy::now});
  each_has_its_own<beginning>({beginning::with_claim, beginning::announced});
  each_has_its_own<result::kind>({result::kind::success, result::kind::failure,
                                  result::kind::snooze, result::kind::cancel,
                                  result::kind::unknown});
  each_has_its_own<task_request>({task_request::run_now, task_request::retry, task_request::discard,
                                  task_request::was_done, task_request::was_not_done});
  each_has_its_own<stop_reason>(
      {stop_reason::none, stop_reason::timeout, stop_reason::lost, stop_reason::closing});
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
  each_has_its_own<intake_state>(
      {intake_state::active, intake_state::paused, intake_state::stopped});
  each_has_its_own<message_identity::from>(
      {message_identity::from::id, message_identity::from::key, message_identity::from::position,
       message_identity::from::header, message_identity::from::digest});
  each_has_its_own<payload_form>({payload_form::text, payload_form::base64});
  each_has_its_own<log_begin>({log_begin::beginning, log_begin::end});
  each_has_its_own<gap_policy>({gap_policy::stop, gap_policy::skip});
  each_has_its_own<failure_policy>({failure_policy::stop, failure_policy::refuse});
  each_has_its_own<take_until>({take_until::end, take_until::stop});
  each_has_its_own<isolation>(
      {isolation::read_committed, isolation::repeatable_read, isolation::serializable});
  each_has_its_own<fence_position>({fence_position::last, fence_position::first});
  each_has_its_own<start_refusal>({start_refusal::running_elsewhere, start_refusal::done_before,
                                   start_refusal::unknown_outcome, start_refusal::other_date});
  each_has_its_own<outcome>({outcome::done, outcome::skipped, outcome::lost, outcome::unknown});
  each_has_its_own<commit_outcome>(
      {commit_outcome::committed, commit_outcome::rolled_back, commit_outcome::lost});
  each_has_its_own<error_code>({error_code::bad_argument, error_code::unreachable,
                                error_code::not_permitted, error_code::configuration,
                                error_code::read_only, error_code::full, error_code::io,
                                error_code::conflict, error_code::constraint, error_code::statement,
                                error_code::forked, error_code::closed, error_code::internal});
  each_has_its_own<severity>({severity::ok, severity::warning, severity::failed});
  each_has_its_own<work_kind>({work_kind::run, work_kind::tasks});
  each_has_its_own<lease_state>({lease_state::held, lease_state::lost});
  each_has_its_own<change_outcome>(
      {change_outcome::changed, change_outcome::unchanged, change_outcome::no_such_run});
  each_has_its_own<effect_state>({effect_state::done, effect_state::not_done});
}

}  // namespace
