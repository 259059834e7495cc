#include "queue/model/settle.hpp"

#include "base/mutant.hpp"

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

int plain_lane(int lane) { return lane % priorities; }

/// The next turn of a task that is done with this one, for better or worse.
written rolled_on(policy const& policy, segment segment, task_state state) {
  segment.state = state;
  segment.attempts = 0;
  segment.crashes = 0;
  segment.lane = plain_lane(segment.lane);
  segment.period_us = policy.period_us;
  if (policy.period_us == 0) {
    segment.due_us = never_us;
    return {segment, arming::at};
  }
  if (policy.period_anchor == period_anchor::from_finish) {
    segment.due_us = policy.grain_us;
    return {segment, arming::from_finish};
  }
  segment.due_us = 0;
  return {segment, arming::next_turn};
}

written waits_for_a_person(segment segment, task_state state) {
  segment.state = state;
  segment.lane = plain_lane(segment.lane);
  segment.due_us = never_us;
  return {segment, arming::at};
}

written later(segment segment, std::int64_t delay_us, int attempts) {
  segment.state = task_state::waiting;
  segment.attempts = attempts;
  segment.crashes = 0;
  segment.lane = plain_lane(segment.lane);
  segment.due_us = delay_us;
  return {segment, arming::delay};
}

written after_failure(policy const& policy, segment segment, std::int64_t id) {
  int const failed = segment.attempts + (base::left_out("attempts") ? 0 : 1);
  if (failed < policy.attempts)
    return later(segment, backoff_us(policy, id, segment.turn_us, failed), failed);
  if (policy.period_us > 0) return rolled_on(policy, segment, task_state::failed);
  segment.attempts = failed;
  return waits_for_a_person(segment, task_state::dead);
}

written after_crash(policy const& policy, segment segment) {
  segment.crashes += 1;
  if (policy.mode == step_mode::at_most_once)
    return waits_for_a_person(segment, task_state::unknown);
  if (segment.crashes >= policy.crash_limit) return waits_for_a_person(segment, task_state::dead);
  segment.state = task_state::quarantined;
  segment.lane = priorities + plain_lane(segment.lane);
  return {segment, arming::at};
}

written after(policy const& policy, segment const& segment, ending const& task, unfinished rest) {
  if (task.how == nullptr) {
    bool const crashed = rest == unfinished::crashed && task.begun;
    return crashed ? after_crash(policy, segment) : written{segment, arming::at};
  }
  switch (task.how->what) {
    case verdict::kind::success: return rolled_on(policy, segment, task_state::succeeded);
    case verdict::kind::failure: return after_failure(policy, segment, task.id);
    case verdict::kind::snooze: return later(segment, task.how->delay_us, segment.attempts);
    case verdict::kind::cancel: return rolled_on(policy, segment, task_state::discarded);
    case verdict::kind::unknown: return waits_for_a_person(segment, task_state::unknown);
    case verdict::kind::none: break;
  }
  return {segment, arming::at};
}

/// What history says of it; empty: nothing.
std::optional<told> telling(segment const& segment, written const& back, ending const& task,
                            unfinished rest) {
  told out{segment.lo, segment.hi, back.what.state, segment.attempts + 1, segment.turn_us};
  if (task.how == nullptr) {
    if (rest == unfinished::handed_back || !task.begun) return std::nullopt;
    out.remark = "its worker died";
    return out;
  }
  out.finished_us = task.how->finished_us;
  out.remark = task.how->remark;
  if (task.how->what == verdict::kind::failure && out.state == task_state::waiting) {
    out.state = task_state::failed;  // the attempt has; the task goes on
  }
  return out;
}

bool is_last_failure(task_state state) {
  return state == task_state::failed || state == task_state::dead || state == task_state::unknown;
}

bool alike(segment const& a, segment const& b) {
  return a.lane == b.lane && a.state == b.state && a.attempts == b.attempts &&
         a.crashes == b.crashes && a.turn_us == b.turn_us && a.period_us == b.period_us &&
         (a.due_us == b.due_us || base::left_out("merge"));
}

void append(std::vector<written>& rows, written const& next, std::int64_t widest) {
  if (!rows.empty()) {
    auto& last = rows.back();
    if (last.how == next.how && last.what.hi == next.what.lo && alike(last.what, next.what) &&
        last.what.size() + next.what.size() <= widest) {
      last.what.hi = next.what.hi;
      return;
    }
  }
  rows.push_back(next);
}

void append(std::vector<told>& rows, told next) {
  if (!rows.empty()) {
    auto& last = rows.back();
    bool const same = last.hi == next.lo && last.state == next.state &&
                      last.attempts == next.attempts && last.turn_us == next.turn_us &&
                      last.finished_us == next.finished_us && last.remark == next.remark;
    if (same && next.hi - last.lo <= widest_outcome) {
      last.hi = next.hi;
      return;
    }
  }
  rows.push_back(std::move(next));
}

/// History in fewer rows: a success stands for all its ids that have no row of their own, so those
/// between which there is nothing but such rows are one. A reader takes the row of the most
/// attempts, of these the narrowest, and so none of fewer attempts may lie in between.
std::vector<told> folded(std::vector<told> all) {
  constexpr auto none = static_cast<std::size_t>(-1);
  std::vector<told> out;
  auto open = none;
  std::int64_t reach = 0;
  for (auto& next : all) {
    bool const plain =
        next.state == task_state::succeeded && next.remark.empty() && !next.finished_us;
    if (open != none && (next.lo != reach || next.attempts < out[open].attempts)) open = none;
    reach = next.hi;
    if (open != none && plain && next.attempts == out[open].attempts &&
        next.turn_us == out[open].turn_us && next.hi - out[open].lo <= widest_outcome) {
      out[open].hi = next.hi;
      continue;
    }
    if (plain) open = out.size();
    out.push_back(std::move(next));
  }
  return out;
}

/// The ids for which one of a range's tasks stands: its own, and the holes around it.
class cover {
 public:
  cover(segment const& segment, std::span<ending const> living)
      : segment_(segment),
        living_(living),
        tight_(std::cmp_less(living.size() * 2, segment.size())) {}

  [[nodiscard]] segment piece(std::size_t index) const {
    auto out = segment_;
    if (tight_) {
      out.lo = living_[index].id;
      out.hi = out.lo + 1;
      return out;
    }
    out.lo = index == 0 ? segment_.lo : living_[index].id;
    out.hi = index + 1 == living_.size() ? segment_.hi : living_[index + 1].id;
    return out;
  }

 private:
  segment segment_;
  std::span<ending const> living_;
  bool tight_;
};

std::uint64_t mixed(std::uint64_t value) {
  // The finalizer of SplitMix64: every bit of the input reaches every bit of the output.
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

std::int64_t first_turn_after(std::int64_t turn_us, std::int64_t period_us, std::int64_t now_us) {
  auto const periods = now_us < turn_us ? 1 : (now_us - turn_us) / period_us + 1;
  return turn_us + period_us * periods;
}

}  // namespace

std::int64_t backoff_us(policy const& policy, std::int64_t id, std::int64_t turn_us, int failed) {
  auto wait = policy.backoff_us;
  for (int i = 1; i < failed && wait < policy.longest_backoff_us; ++i) wait *= 2;
  wait = std::min(wait, policy.longest_backoff_us);
  auto const seed = static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15U +
                    static_cast<std::uint64_t>(turn_us) + static_cast<std::uint64_t>(failed);
  return wait + wait / 10 * static_cast<std::int64_t>(mixed(seed) % 1000) / 1000;
}

settled settle(policy const& policy, std::span<segment const> ranges,
               std::span<ending const> living, unfinished rest) {
  settled out;
  std::size_t next = 0;
  for (auto const& range : ranges) {
    while (next < living.size() && living[next].id < range.lo) ++next;
    auto const first = next;
    while (next < living.size() && living[next].id < range.hi) ++next;
    auto const inside = living.subspan(first, next - first);
    cover const covered(range, inside);
    for (std::size_t at = 0; at < inside.size(); ++at) {
      auto const piece = covered.piece(at);
      auto const back = after(policy, piece, inside[at], rest);
      append(out.back, back, policy.segment);
      auto tell = telling(piece, back, inside[at], rest);
      if (!tell) continue;
      if (is_last_failure(back.what.state)) {
        out.failed.push_back(
            {inside[at].id, back.what.state, tell->attempts, back.what.crashes, tell->remark});
      }
      append(out.history, std::move(*tell));
    }
  }
  if (!policy.record_every_outcome) out.history = folded(std::move(out.history));
  return out;
}

std::optional<segment> change(policy const& policy, segment one, asked request, std::int64_t now_us,
                              std::int64_t due_us) {
  bool const waits = one.state == task_state::dead || one.state == task_state::unknown ||
                     one.state == task_state::discarded;
  bool const for_good = one.due_us == never_us;
  auto const afresh = [&] {
    one.attempts = 0;
    one.crashes = 0;
    one.lane = plain_lane(one.lane);
    // What was done at this turn is another piece of work by now; what was not is the same still.
    if (for_good && one.state == task_state::succeeded) {
      one.turn_us = std::max(now_us, one.turn_us + 1);
    }
    one.due_us = std::min(one.due_us, due_us);
    one.state = task_state::waiting;
    return one;
  };
  auto const roll = [&](task_state state) {
    auto back = rolled_on(policy, one, state);
    if (back.how == arming::next_turn || back.how == arming::from_finish) {
      back.what.turn_us = first_turn_after(one.turn_us, policy.period_us, now_us);
      back.what.due_us = back.what.turn_us;
    }
    return back.what;
  };
  switch (request) {
    case asked::run_now:
      if (one.due_us <= due_us || (for_good && waits)) return std::nullopt;
      if (for_good) return afresh();
      one.due_us = due_us;
      return one;
    case asked::retry: return afresh();
    case asked::discard:
      // Asked for twice is as good as once, but each turn may be given up.
      if (one.state == task_state::discarded && one.due_us > now_us) return std::nullopt;
      return roll(task_state::discarded);
    case asked::was_done:
      if (one.state != task_state::unknown) return std::nullopt;
      return roll(task_state::succeeded);
    case asked::was_not_done:
      if (one.state != task_state::unknown) return std::nullopt;
      return afresh();
  }
  return std::nullopt;
}

std::optional<segment> with_priority(segment one, int priority) {
  if (plain_lane(one.lane) == priority) return std::nullopt;
  one.lane += priority - plain_lane(one.lane);
  return one;
}

std::vector<segment> carve(segment const& whole, segment const& one) {
  std::vector<segment> out;
  auto piece = whole;
  piece.hi = one.lo;
  if (piece.size() > 0) out.push_back(piece);
  out.push_back(one);
  piece.lo = one.hi;
  piece.hi = whole.hi;
  if (piece.size() > 0) out.push_back(piece);
  return out;
}

std::int64_t ids_in(std::span<segment const> segments) noexcept {
  std::int64_t sum = 0;
  for (auto const& one : segments) sum += one.size();
  return sum;
}

std::vector<segment> merged(std::span<segment const> in_order, std::int64_t widest) {
  std::vector<segment> out;
  for (auto const& next : in_order) {
    if (!out.empty() && out.back().hi == next.lo && alike(out.back(), next) &&
        out.back().size() + next.size() <= widest) {
      out.back().hi = next.hi;
    } else {
      out.push_back(next);
    }
  }
  return out;
}

std::vector<segment> trimmed(segment const& whole, std::span<std::int64_t const> living) {
  if (std::cmp_greater_equal(living.size() * 2, whole.size())) return {whole};
  std::vector<segment> out;
  for (auto const id : living) {
    if (!out.empty() && out.back().hi == id) {
      ++out.back().hi;
    } else {
      out.push_back(whole);
      out.back().lo = id;
      out.back().hi = id + 1;
    }
  }
  return out;
}

segment rearmed(policy const& policy, segment segment, std::int64_t now_us) {
  auto const before = segment.period_us;
  if (before == policy.period_us) return segment;
  segment.period_us = policy.period_us;
  bool const done = segment.state == task_state::succeeded || segment.state == task_state::failed ||
                    segment.state == task_state::discarded;
  bool const rolling = before > 0 && segment.due_us == segment.turn_us;
  if (!done || (before > 0 && !rolling)) return segment;
  auto const last = before > 0 ? segment.turn_us - before : segment.turn_us;
  if (policy.period_us == 0) {
    segment.turn_us = last;
    segment.due_us = never_us;
    return segment;
  }
  auto const next = last + policy.period_us;
  segment.turn_us =
      (std::max(next, now_us) + policy.grain_us - 1) / policy.grain_us * policy.grain_us;
  segment.due_us = segment.turn_us;
  return segment;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
