// What a failpoint does, and which verbs pass it. Programs include <daybook/testing.hpp>.
// Thread safety: values.
#pragma once

#include <cstdint>

namespace daybook {
inline namespace v1 {
namespace testing {

/// What an armed failpoint does to the process.
enum class failpoint_action : std::uint8_t {
  kill,  ///< SIGKILL to itself
  stop,  ///< SIGSTOP to itself: somebody must continue it
  fail,  ///< throws daybook::error (error_code::internal)
  cut,   ///< closes the connection and behaves as if the server had done it
};

/// Which verbs pass a failpoint: those of runs, and whatever every process does; of queues; of
/// schedules; of aggregations; of intakes.
enum class failpoint_room : std::uint8_t { runs, queues, schedules, aggregations, intakes };

}  // namespace testing
}  // namespace v1
}  // namespace daybook
