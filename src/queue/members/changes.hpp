// Changes of many members at once, in a transaction that the caller has begun.
// Thread safety: one thread.
#pragma once

#include "queue/members/store.hpp"

#include <daybook/queue.hpp>

#include <span>

namespace daybook {
inline namespace v1 {
namespace queues {

/// Gives those of the keys that are members these payloads.
void set_payloads_in(store const& queue, db::session& session, std::span<entry const> all);
/// Removes those of the keys that are members. A task in hand is finished all the same.
void remove_all_in(store const& queue, db::session& session, std::span<key const> all);

}  // namespace queues
}  // namespace v1
}  // namespace daybook
