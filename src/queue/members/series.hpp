// Queues whose tasks are done in order: which of them are over, and which may begin.
// Thread safety: the session's. Nothing here is for queues without an order.
#pragma once

#include "core/tx/context.hpp"
#include "db/session.hpp"
#include "queue/model/settle.hpp"

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>

namespace daybook {
inline namespace v1 {
namespace queues {

/// New members with the ids [lo, hi), which one segment holds.
void begin_series(core::context const& context, db::session& session, std::int64_t lo,
                  std::int64_t hi);
/// One that was over is to be done again: it is the last of its series.
void begin_again(core::context const& context, db::session& session, std::int64_t member,
                 std::int64_t now_us);
[[nodiscard]] bool is_over(segment const& segment) noexcept;

/// For series.take: the first of each series that are due in a lane.
[[nodiscard]] std::string heads_of(core::context const& context, db::session& session,
                                   std::int64_t queue, int lane, std::int64_t limit);

/// Those of the segments that are over, for end_series().
[[nodiscard]] std::string over_in(std::span<written const> back);
/// They hold nobody up any more.
void end_series(core::context const& context, db::session& session, std::string const& over);

/// Forgets those of members that were removed, until it is to stop; how many.
std::int64_t forget_strays(core::context const& context, std::int64_t queue,
                           std::stop_token const& stop = {});

}  // namespace queues
}  // namespace v1
}  // namespace daybook
