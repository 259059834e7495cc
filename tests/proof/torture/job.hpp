// What the torture driver and its workers agree on: the job, its ledger, the exit codes.
#pragma once

#include <chrono>
#include <string>

namespace torture {

/// Steps "step1".. with an effect each in the database; one that is only recorded; one that is
/// done outside at least once, and one at most once.
inline constexpr int effect_steps = 4;
inline constexpr char const* recorded_step = "recorded";
inline constexpr char const* sent_step = "sent";
inline constexpr char const* paid_step = "paid";
inline constexpr int all_steps = effect_steps + 3;
/// What every attempt carries on, once the first of its steps is behind it.
inline constexpr char const* carried_name = "cursor";
inline constexpr char const* process_name = "torture";

inline std::string step_name(int number) { return "step" + std::to_string(number); }

/// How a worker ends; its exit code.
enum class ending : int {
  finished = 0,
  busy = 10,
  done_before = 11,
  lost = 12,
  error = 13,
  not_reached = 14,  ///< the job is over and an armed failpoint has not acted
  usage = 15,
  unknown = 16,  ///< the at-most-once step has no known outcome: a person decides
};

/// One letter for each run of a worker in a mix, appended to the tally file.
enum class tally : char {
  finished = 'F',
  busy = 'B',
  lost = 'L',
  given_back = 'G',
  error = 'E',
  unknown = 'U',
};

/// Beside DAYBOOK_FAILPOINT: what is armed when that one has cut the connection or failed, in the
/// same words. So a worker gets into the resolution of a doubt and is hit there.
inline constexpr char const* then_variable = "TORTURE_THEN";
/// A file for the names of all failpoints that a worker passes while one is armed, one a line, and
/// this word where one has cut or failed.
inline constexpr char const* passed_variable = "TORTURE_PASSED";
inline constexpr char const* acted_word = "-acted-";
/// A failpoint that no worker passes whose book is there: to arm it is to look.
inline constexpr char const* never_acts = "migrate.begun";

}  // namespace torture
