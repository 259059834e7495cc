// What a person does to a queue and its tasks, with who and why; and what they look at.
// Thread-safe.
//
// What is asked for is a row that is added, and so is who and why: neither waits for a claim, nor
// a claim for them. They stand with the changes of the process "queue:NAME".
#pragma once

#include "queue/members/store.hpp"

#include <daybook/operate.hpp>
#include <daybook/queue.hpp>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace queues {

// As queue::ask().
bool put_request(store const& store, key const& key, task_request request, audit_note const& note);
std::int64_t put_requests(store const& store, task_state state, task_request request,
                          audit_note const& note,
                          std::function<void(std::int64_t)> const& on_progress);
/// Null `note`: nobody is written down for that.
bool put_priority(store const& store, key const& task, int priority, audit_note const* note);
// As queue's functions of the same names.
[[nodiscard]] std::int64_t in_front(store const& store, key const& task);
bool remove(store& store, key const& key, audit_note const& note);
bool pause(store const& store, bool paused, audit_note const& note);
/// What somebody has done to a queue, in the transaction of `act`, which may be run again.
void write_down(core::context const& context, std::string_view queue, std::string_view action,
                std::string const& detail, audit_note const& note,
                std::function<void(db::session&)> const& act);
[[nodiscard]] std::vector<task_outcome> outcomes(store const& store, key const& key, int limit);
/// Under a key; of the queue itself where it is empty, which no key is.
[[nodiscard]] std::vector<change_info> changes(store const& store, std::string_view key);
[[nodiscard]] queue_info info(store const& store);

}  // namespace queues
}  // namespace v1
}  // namespace daybook
