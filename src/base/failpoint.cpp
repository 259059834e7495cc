#include "base/failpoint.hpp"

#include "base/platform.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <mutex>
#include <string>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace base {

namespace {

// A transaction's three, in the order it passes them; a few have more between.
constexpr std::array<std::string_view, 161> names{
    "migrate.begun",
    "migrate.before_commit",
    "migrate.committed",
    "register.begun",
    "register.before_commit",
    "register.committed",
    "renew.begun",
    "renew.before_commit",
    "renew.committed",
    "start.begun",
    "start.before_commit",
    "start.committed",
    "mark_dead.begun",
    "mark_dead.before_commit",
    "mark_dead.committed",
    "free.begun",
    "free.before_commit",
    "free.committed",
    "step.begun",
    "step.effect_done",
    "step.before_commit",
    "step.committed",
    "record.begun",
    "record.before_commit",
    "record.committed",
    "intend.begun",
    "intend.before_commit",
    "intend.committed",
    "effect.done",
    "abandon.begun",
    "abandon.before_commit",
    "abandon.committed",
    "unknown.begun",
    "unknown.before_commit",
    "unknown.committed",
    "carry.begun",
    "carry.before_commit",
    "carry.committed",
    "progress.begun",
    "progress.before_commit",
    "progress.committed",
    "deadline.begun",
    "deadline.before_commit",
    "deadline.committed",
    "disown.begun",
    "disown.before_commit",
    "disown.committed",
    "end.begun",
    "end.before_commit",
    "end.committed",
    "resolve.begun",
    "resolve.before_commit",
    "resolve.committed",
    "operate.begun",
    "operate.before_commit",
    "operate.committed",
    "stop.begun",
    "stop.before_commit",
    "stop.committed",
    // Of the verbs of queues.
    "block.begun",
    "block.before_commit",
    "block.committed",
    "queue.begun",
    "queue.before_commit",
    "queue.committed",
    "add.begun",
    "add.before_commit",
    "add.committed",
    "import.begun",
    "import.before_commit",
    "import.committed",
    "remove.begun",
    "remove.before_commit",
    "remove.committed",
    "payload.begun",
    "payload.before_commit",
    "payload.committed",
    "ask.begun",
    "ask.before_commit",
    "ask.committed",
    "pause.begun",
    "pause.before_commit",
    "pause.committed",
    "round.begun",
    "round.before_commit",
    "round.committed",
    "claim.begun",
    "claim.before_commit",
    "claim.committed",
    "claim.taken",
    "begin_task.begun",
    "begin_task.before_commit",
    "begin_task.committed",
    "settle_claim.begun",
    "settle_claim.before_commit",
    "settle_claim.committed",
    "complete.begun",
    "complete.before_commit",
    "complete.committed",
    "perform.begun",
    "perform.effect_done",
    "perform.before_commit",
    "perform.committed",
    "resolve_task.begun",
    "flush.begun",
    "flush.before_commit",
    "flush.committed",
    "reclaim.begun",
    "reclaim.before_commit",
    "reclaim.committed",
    "attend.begun",
    "attend.before_commit",
    "attend.committed",
    "upkeep.begun",
    "upkeep.before_commit",
    "upkeep.committed",
    "forget.begun",
    "forget.before_commit",
    "forget.committed",
    // Of the verbs of schedules.
    "schedule.begun",
    "schedule.before_commit",
    "schedule.committed",
    "launch.begun",
    "launch.before_commit",
    "launch.committed",
    "tick.begun",
    "tick.before_commit",
    "tick.committed",
    // Of the verbs of aggregations.
    "declare.begun",
    "declare.before_commit",
    "declare.committed",
    "aggregate_range.begun",
    "aggregate_range.before_commit",
    "aggregate_range.committed",
    "aggregate.begun",
    "aggregate.before_commit",
    "aggregate.committed",
    "close.begun",
    "close.before_commit",
    "close.committed",
    "settle.begun",
    "settle.before_commit",
    "settle.committed",
    "revert.begun",
    "revert.before_commit",
    "revert.committed",
    "remove_row.begun",
    "remove_row.before_commit",
    "remove_row.committed",
    // Of the tables that queues follow.
    "watch.begun",
    "watch.before_commit",
    "watch.committed",
    "reconcile.begun",
    "reconcile.before_commit",
    "reconcile.committed",
    // Of the intakes of messages.
    "intake.begun",
    "intake.taken",
    "intake.effect_done",
    "intake.before_commit",
    "intake.committed",
    "intake.settled",
};
/// The first of those of queues; what is before it is of runs, and of every process.
constexpr std::size_t first_of_queues = 59;
static_assert(names[first_of_queues] == "block.begun");
constexpr std::size_t first_of_schedules = 119;
static_assert(names[first_of_schedules] == "schedule.begun");
constexpr std::size_t first_of_aggregations = 128;
static_assert(names[first_of_aggregations] == "declare.begun");
constexpr std::size_t first_of_tables = 149;
static_assert(names[first_of_tables] == "watch.begun");
constexpr std::size_t first_of_intakes = 155;
static_assert(names[first_of_intakes] == "intake.begun");

struct place {
  std::string name;
  testing::failpoint_action action{};
  unsigned skip = 0;
};

struct armed_state {
  std::mutex guard;
  place now;
  place next = {};  ///< when that has acted; without a name: nothing
};

armed_state& armed() {
  static armed_state state;
  return state;
}

}  // namespace

std::span<std::string_view const> failpoint_names() noexcept { return names; }

std::span<std::string_view const> failpoint_names(testing::failpoint_room room) noexcept {
  std::span<std::string_view const> const all(names);
  switch (room) {
    case testing::failpoint_room::runs: return all.first(first_of_queues);
    case testing::failpoint_room::queues:
      return all.subspan(first_of_queues, first_of_schedules - first_of_queues);
    case testing::failpoint_room::schedules:
      return all.subspan(first_of_schedules, first_of_aggregations - first_of_schedules);
    case testing::failpoint_room::aggregations:
      return all.subspan(first_of_aggregations, first_of_tables - first_of_aggregations);
    case testing::failpoint_room::intakes: return all.subspan(first_of_intakes);
  }
  return {};
}

bool is_failpoint(std::string_view name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

namespace {

void check_name(std::string_view name) {
  if (is_failpoint(name)) return;
  throw error({.kind = error_code::bad_argument},
              "no failpoint is named '" + std::string(name) + "'");
}

}  // namespace

std::atomic<bool> failpoint_armed = false;

void arm_failpoint(std::string_view name, testing::failpoint_action action, unsigned skip) {
  check_name(name);
  auto& state = armed();
  std::lock_guard const lock(state.guard);
  state.now = {std::string(name), action, skip};
  state.next = {};
  failpoint_armed = true;
}

void arm_next_failpoint(std::string_view name, testing::failpoint_action action) {
  check_name(name);
  auto& state = armed();
  std::lock_guard const lock(state.guard);
  state.next = {std::string(name), action};
}

void disarm_failpoint() noexcept { failpoint_armed = false; }

bool hit_armed_failpoint(std::string_view name) {
  assert(is_failpoint(name));
  auto& state = armed();
  std::unique_lock lock(state.guard);
  if (!failpoint_armed || state.now.name != name) return false;
  if (state.now.skip > 0) {
    --state.now.skip;
    return false;
  }
  auto const action = state.now.action;
  state.now = std::exchange(state.next, {});
  failpoint_armed = !state.now.name.empty();
  lock.unlock();
  switch (action) {
    case testing::failpoint_action::kill: kill_self();
    case testing::failpoint_action::stop: stop_self(); return false;
    case testing::failpoint_action::fail:
      throw error({.kind = error_code::internal}, "failpoint " + std::string(name));
    case testing::failpoint_action::cut: return true;
  }
  return false;
}

}  // namespace base
}  // namespace v1
}  // namespace daybook
