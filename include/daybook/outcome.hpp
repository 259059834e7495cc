// The states of runs and steps, and the answers of calls.
// Thread safety: values.
//
//   if (auto answer = run.step("post", body); answer.what() == daybook::outcome::lost) return 79;
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/time.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {

/// The state of a run. The numbers are in the table and never change.
enum class run_state : std::int8_t {
  ready = 9,             ///< started, no step done by this attempt yet
  running = 8,           ///< at least one step done
  succeeded = 0,         ///< finished
  failed = -1,           ///< ended by fail()
  interrupted = -2,      ///< its holder died or let go; anyone resumes it
  deadline_passed = -3,  ///< it took longer than it was given; the next start resumes it
  unknown = -4,          ///< an at-most-once step's outcome is not known; a person decides
  discarded = -5,        ///< given up by a person; the next start begins afresh
};

/// How a step is recorded beside its effect. The numbers are in the table.
enum class step_mode : std::uint8_t {
  unrecorded = 0,     ///< done by a release that did not keep the mode
  tx = 1,             ///< effect, record and fence in one transaction
  at_least_once = 2,  ///< done, then recorded
  at_most_once = 3,   ///< the intent recorded, then done, then recorded
};

/// "running", "deadline-passed", ...
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(run_state state) noexcept;
/// "tx", "at-least-once", "at-most-once"; empty for unrecorded.
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(step_mode mode) noexcept;

/// Why start() gave no run.
enum class start_refusal : std::uint8_t {
  running_elsewhere,  ///< a live holder has it: start_result::holder() says who
  done_before,        ///< asked to be done once, and this key has succeeded
  unknown_outcome,    ///< run_state::unknown: a person decides first
  other_date,         ///< an unfinished run is there that works on the data of another date
};

/// The answer of a step or of an ending.
enum class outcome : std::uint8_t {
  done,     ///< now, by this attempt
  skipped,  ///< an earlier attempt of this run had done it; nothing was executed
  lost,     ///< this attempt no longer holds the run (or is past its deadline): nothing was
            ///< written, stop
  unknown,  ///< an at-most-once step was begun and nobody knows its end: the run waits for a
            ///< person; of a claim's end: see claim::complete()
};

/// Whether the writes in a transaction of the application's committed.
enum class commit_outcome : std::uint8_t {
  committed,    ///< it is there
  rolled_back,  ///< it is not, and the run is still held: it may be tried again
  lost,         ///< the run is not held any more
};

/// Who holds a run.
struct lease_holder {
  std::string holder;         ///< the holder's uuid
  std::string node;           ///< host name
  std::int64_t pid = 0;       ///< process id on that host
  timestamp since{};          ///< when this attempt started
  timestamp until{};          ///< presumed alive until then; renewed while it lives
  std::string in_hand;        ///< the step in hand as last renewed, or empty
  timestamp in_hand_since{};  ///< when that step began; meaningless without one
};

}  // namespace v1
}  // namespace daybook
