#include "schedule/decide.hpp"

#include <utility>

namespace daybook {
inline namespace v1 {
namespace schedules {

namespace {

constexpr std::chrono::microseconds instant{1};

/// The last tick that is due; empty: none is.
std::optional<timestamp> newest(definition const& schedule, timestamp now) {
  auto const last = schedule.previous(now + instant);
  if (!last || *last <= schedule.decided) return std::nullopt;
  return last;
}

/// From the oldest that is not decided to `last`, which is one of them.
skipped range(definition const& schedule, timestamp last, std::string why) {
  skipped out{last, last, 1, std::move(why)};
  // From the oldest on: should there be too many to count, what is said of them is still right.
  auto at = schedule.next(schedule.decided);
  if (at) out.first = *at;
  for (; at && *at < last && out.count < most_counted; at = schedule.next(*at)) ++out.count;
  return out;
}

std::optional<skipped> before(definition const& schedule, timestamp tick, std::string why) {
  auto const last = schedule.previous(tick);
  if (!last || *last <= schedule.decided) return std::nullopt;
  return range(schedule, *last, std::move(why));
}

decision launch_newest(definition const& schedule, timestamp last) {
  return {before(schedule, last, "missed; " + text_of(last) + " was launched for it"), last};
}

/// The oldest of the newest `most`.
decision launch_oldest(definition const& schedule, timestamp last) {
  timestamp oldest = last;
  for (int left = schedule.options.max_ticks - 1; left > 0; --left) {
    auto const earlier = schedule.previous(oldest);
    if (!earlier || *earlier <= schedule.decided) break;
    oldest = *earlier;
  }
  return {before(schedule, oldest,
                 "missed; more than " + std::to_string(schedule.options.max_ticks) + " were"),
          oldest};
}

}  // namespace

std::optional<skipped> skip_all(definition const& schedule, timestamp now, std::string why) {
  auto const last = newest(schedule, now);
  if (!last) return std::nullopt;
  return range(schedule, *last, std::move(why));
}

decision decide(definition const& schedule, timestamp now) {
  if (schedule.state != schedule_state::active) return {};
  auto const last = newest(schedule, now);
  if (!last) return {};
  if (schedule.running) {
    auto const oldest = schedule.next(schedule.decided);
    // What was late before the one that runs was launched waits in line, and all that come later.
    bool const in_line = !oldest || !schedule.running_since || *oldest < *schedule.running_since;
    if (schedule.options.overlap == overlap::queue || in_line) return {};
    auto out = range(schedule, *last, text_of(*schedule.running) + " still ran");
    out.goes_on = true;
    return {std::move(out), std::nullopt};
  }
  switch (schedule.options.catch_up) {
    case catch_up::last: return launch_newest(schedule, *last);
    case catch_up::all: return launch_oldest(schedule, *last);
    case catch_up::skip:
      if (now - *last <= schedule.options.grace) {
        return {before(schedule, *last, "missed"), *last};
      }
      return {range(schedule, *last, "missed"), std::nullopt};
  }
  return {};
}

std::optional<timestamp> due(definition const& schedule) {
  if (schedule.its != standing::none && schedule.its != standing::alive) return schedule.now;
  std::optional<timestamp> out;
  if (schedule.state == schedule_state::active) {
    out = schedule.next(schedule.decided);
    // A late tick beside one that runs waits for the end of that.
    bool const late = schedule.running && out && *out <= schedule.now;
    if (late && decide(schedule, schedule.now).nothing()) out.reset();
  }
  bool const removed = schedule.state == schedule_state::removed;
  if (schedule.open_due && !schedule.running && !removed && (!out || *schedule.open_due < *out)) {
    out = schedule.open_due;
  }
  return out;
}

std::optional<timestamp> overdue(definition const& schedule) {
  if (schedule.left) return schedule.left;
  if (schedule.its == standing::alive) return std::nullopt;
  auto const since = schedule.can_be_told() ? due(schedule) : schedule.open_due;
  return since && *since <= schedule.now ? since : std::nullopt;
}

}  // namespace schedules
}  // namespace v1
}  // namespace daybook
