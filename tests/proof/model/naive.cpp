#include "naive.hpp"

#include "queue/model/settle.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

namespace model {

using daybook::task_state;

namespace {

constexpr us second = 1'000'000;

/// Only the jitter is the library's to choose; it must be within a tenth.
us backoff(daybook::queue_options const& by, row const& of, int failed) {
  us wait = by.backoff / std::chrono::microseconds(1);
  us const longest = by.longest_backoff / std::chrono::microseconds(1);
  for (int i = 1; i < failed; ++i) wait = std::min(wait * 2, longest);
  daybook::queues::policy policy;
  policy.backoff_us = by.backoff / std::chrono::microseconds(1);
  policy.longest_backoff_us = longest;
  us const chosen = daybook::queues::backoff_us(policy, of.id, of.turn, failed);
  if (chosen < wait || chosen > wait + wait / 10) throw std::runtime_error("jitter above a tenth");
  return chosen;
}

void wait_for_a_person(row& of, task_state state) {
  of.state = state;
  of.due = never;
}

us next_turn(us turn, us period, us now) {
  us const first = turn + period;
  return first > now ? first : turn + ((now - turn) / period + 1) * period;
}

}  // namespace

us up_to(us instant, us grain) { return (instant + grain - 1) / grain * grain; }

us grain_of(daybook::queue_options const& by) {
  if (by.grain.count() > 0) return by.grain.count();
  return std::max(second, us{by.period.count()} / 16);
}

row* naive::find(std::string const& key) {
  for (auto& [id, one] : rows) {
    if (one.key == key) return &one;
  }
  return nullptr;
}

void naive::add(options const& by, std::int64_t id, std::string key, int priority,
                std::optional<us> at, us now) {
  row one;
  one.id = id;
  one.key = std::move(key);
  one.priority = priority;
  one.period = by.period.count();
  auto const grain = grain_of(by);
  one.due = at ? up_to(*at, second) : by.rounds ? up_to(now, second) : now / grain * grain;
  one.turn = up_to(at ? one.due : now, grain);
  rows[id] = std::move(one);
}

std::vector<row const*> naive::eligible(bool rounds, bool suspects, us now) const {
  std::vector<row const*> out;
  if (paused) return out;
  us const until = rounds ? std::min(round.value_or(0), now) : now;
  for (auto const& [id, one] : rows) {
    bool const single = one.state == task_state::quarantined;
    if (one.claim == 0 && single == suspects && one.due <= until) out.push_back(&one);
  }
  return out;
}

std::string naive::illegal(std::vector<row const*> const& from,
                           std::vector<std::int64_t> const& ids) const {
  std::set<std::int64_t> const taken(ids.begin(), ids.end());
  if (taken.size() != ids.size()) return "a task is in the batch twice";
  int urgent = 10;
  std::size_t there = 0;
  for (auto const* one : from) {
    urgent = std::min(urgent, one->priority);
    if (taken.contains(one->id)) ++there;
  }
  if (there != taken.size()) return "a task is claimed that may not be";
  us latest = std::numeric_limits<us>::min();
  us earliest = never;
  for (auto const* one : from) {
    if (one->priority != urgent) {
      if (taken.contains(one->id)) return "there is a more urgent task than " + one->key;
    } else if (taken.contains(one->id)) {
      latest = std::max(latest, one->due);
    } else {
      earliest = std::min(earliest, one->due);
    }
  }
  return latest <= earliest ? "" : "there is an older task";
}

void naive::take(std::vector<std::int64_t> const& ids, int claim) {
  for (auto const id : ids) rows.at(id).claim = claim;
}

void naive::roll(options const& by, row& of, task_state state, us now) {
  us const period = by.period.count();
  of.state = state;
  of.attempts = 0;
  of.crashes = 0;
  of.period = period;
  if (period == 0) {
    of.due = never;
    return;
  }
  if (by.period_anchor == daybook::period_anchor::from_finish) {
    of.turn = up_to(now + period, grain_of(by));
  } else {
    of.turn = next_turn(of.turn, period, now);
  }
  of.due = of.turn;
}

void naive::fail(options const& by, row& of, us now) {
  if (of.attempts + 1 < by.attempts) {
    of.attempts += 1;
    of.crashes = 0;
    of.state = task_state::waiting;
    of.due = up_to(now + backoff(by, of, of.attempts), second);
  } else if (by.period.count() > 0) {
    roll(by, of, task_state::failed, now);
  } else {
    of.attempts += 1;
    wait_for_a_person(of, task_state::dead);
  }
}

void naive::crash(options const& by, row& of) {
  of.crashes += 1;
  if (by.mode == daybook::step_mode::at_most_once) {
    wait_for_a_person(of, task_state::unknown);
  } else if (of.crashes >= by.crash_limit) {
    wait_for_a_person(of, task_state::dead);
  } else {
    of.state = task_state::quarantined;
  }
}

void naive::apply(options const& by, row& of, verdict const& how, us now) {
  switch (how.what) {
    case daybook::result::kind::success: return roll(by, of, task_state::succeeded, now);
    case daybook::result::kind::failure: return fail(by, of, now);
    case daybook::result::kind::snooze:
      of.state = task_state::waiting;
      of.crashes = 0;
      of.due = up_to(now + how.delay, second);
      return;
    case daybook::result::kind::cancel: return roll(by, of, task_state::discarded, now);
    case daybook::result::kind::unknown: return wait_for_a_person(of, task_state::unknown);
  }
}

void naive::end(options const& by, int claim, bool crashed, us now) {
  for (auto& [id, one] : rows) {
    if (one.claim != claim) continue;
    bool const ended = one.how && (!crashed || one.how->written);
    if (ended) {
      apply(by, one, *one.how, now);
    } else if (crashed) {
      crash(by, one);
    }
    one.claim = 0;
    one.how.reset();
  }
}

void naive::change(options const& by, row& of, asked what, us now, us at) {
  us const front = at - (us{1} << 58);  // before all that has not been asked for
  bool const waits = of.state == task_state::dead || of.state == task_state::unknown ||
                     of.state == task_state::discarded;
  auto const afresh = [&] {
    if (of.due == never && of.state == task_state::succeeded) of.turn = std::max(now, of.turn + 1);
    of.state = task_state::waiting;
    of.attempts = 0;
    of.crashes = 0;
    of.due = std::min(of.due, front);
  };
  auto const give_up = [&](task_state state) {
    auto in_step = by;
    in_step.period_anchor = daybook::period_anchor::from_turn;
    roll(in_step, of, state, now);
  };
  switch (what) {
    case asked::run_now:
      if (of.due != never) {
        of.due = std::min(of.due, front);
      } else if (!waits) {
        afresh();
      }
      return;
    case asked::retry: return afresh();
    case asked::discard:
      // Asked for twice is as good as once; but each turn may be given up.
      if (of.state != task_state::discarded || of.due <= now) give_up(task_state::discarded);
      return;
    case asked::was_done:
      if (of.state == task_state::unknown) give_up(task_state::succeeded);
      return;
    case asked::was_not_done:
      if (of.state == task_state::unknown) afresh();
      return;
  }
}

void naive::attend(options const& by, us now) {
  std::deque<request> left;
  for (auto const& one : requests) {
    auto const found = rows.find(one.id);
    if (found == rows.end()) continue;
    if (found->second.claim != 0) {
      left.push_back(one);
    } else {
      change(by, found->second, one.what, now, one.at);
    }
  }
  requests = std::move(left);
}

void naive::upkeep(options const& by, us now) {
  us const period = by.period.count();
  for (auto& [id, one] : rows) {
    if (one.claim != 0 || one.period == period) continue;
    us const before = std::exchange(one.period, period);
    bool const done = one.state == task_state::succeeded || one.state == task_state::failed ||
                      one.state == task_state::discarded;
    // Asked for, or put off: that stands.
    if (!done || (before > 0 && one.due != one.turn)) continue;
    us const last = one.turn - before;
    if (period == 0) {
      one.turn = last;
      one.due = never;
    } else {
      one.turn = up_to(std::max(last + period, now), grain_of(by));
      one.due = one.turn;
    }
  }
}

}  // namespace model
