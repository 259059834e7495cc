#include "queue/members/store.hpp"

#include "base/limits.hpp"
#include "base/rows.hpp"
#include "queue/members/opened.hpp"
#include "queue/members/people.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::seconds;

constexpr hours longest_period{24 * 36525};
constexpr hours longest_backoff{24 * 365};

[[noreturn]] void bad(std::string_view queue, std::string const& what) {
  throw error({.kind = error_code::bad_argument}, "queue '" + std::string(queue) + "': " + what);
}

void check_times(std::string_view queue, queue_options const& of) {
  base::limits const in("queue", queue);
  bool const once = of.period == microseconds{0};
  if (!once) in.between("the period (0: each task once)", of.period, seconds{1}, longest_period);
  if (of.grain != microseconds{0}) {
    if (of.grain < seconds{1}) bad(queue, "a grain below a second");
    if (!once && of.grain > of.period) bad(queue, "a grain above the period");
  }
  in.between("the first back-off", of.backoff, seconds{0}, longest_backoff);
  in.between("the longest back-off", of.longest_backoff, of.backoff, longest_backoff);
  in.between("the retention", of.retention, hours{1}, longest_period);
  if (of.done_retention != seconds{0}) {
    if (!once) bad(queue, "members of a queue with a period are never done for good (forget_done)");
    if (of.done_retention < std::chrono::minutes{1} || of.done_retention > of.retention) {
      bad(queue,
          "members are removed (forget_done) a minute after their end or later, and before "
          "their outcomes are (retention)");
    }
  }
  if (of.in_order && (!once || of.rounds)) {
    bad(queue, "a queue whose tasks are done in order has neither a period nor rounds (in_order)");
  }
  in.between("the burst", of.burst, 1, 1'000'000);
  if (of.rate && (of.rate->count < 1 || of.rate->per < microseconds{1} ||
                  of.rate->per / of.rate->count < microseconds{1})) {
    bad(queue, "a rate of " + std::to_string(of.rate->count) + " in " +
                   std::to_string(of.rate->per.count()) +
                   " us: it must be at least one task in a time, and at most one a microsecond");
  }
  if (of.rate && of.rate->per / of.rate->count > microseconds(longest_period) / of.burst) {
    bad(queue, "a burst of " + std::to_string(of.burst) + " is saved up in more than a century");
  }
}

void check(std::string_view name, queue_options const& of) {
  check_name("queue name", name);
  check_times(name, of);
  base::limits const in("queue", name);
  in.between("the number of attempts", of.attempts, 1, 1000);
  in.between("the crash limit", of.crash_limit, 1, 100);
  in.between("the running limit", of.running_limit, 0, 1'000'000);
  in.between("the segment", of.segment, 1, 1000);
  if (of.mode == step_mode::unrecorded) bad(name, "a mode of its own is wanted");
}

std::int64_t slot_of(queue_options const& of) {
  return of.rate ? of.rate->per.count() / of.rate->count : 0;
}

microseconds grain_of(queue_options const& of) {
  if (of.grain != microseconds{0}) return of.grain;
  return std::max<microseconds>(seconds{1}, of.period / 16);
}

/// For queue.make and queue.change.
template <class Execute>
void with_row(std::string_view name, queue_options const& of, Execute const& execute) {
  execute({name, std::int64_t{of.period.count()}, std::int64_t{grain_of(of).count()},
           static_cast<std::int64_t>(of.period_anchor), static_cast<std::int64_t>(of.mode),
           std::int64_t{of.record_every_outcome ? 1 : 0}, std::int64_t{of.attempts},
           std::int64_t{microseconds(of.backoff).count()},
           std::int64_t{microseconds(of.longest_backoff).count()}, std::int64_t{of.crash_limit},
           std::int64_t{of.running_limit}, slot_of(of), std::int64_t{of.rounds ? 1 : 0},
           std::int64_t{microseconds(of.retention).count()}, std::int64_t{of.segment},
           static_cast<std::int64_t>(of.new_member_policy),
           std::int64_t{microseconds(of.done_retention).count()}, std::int64_t{of.in_order ? 1 : 0},
           std::int64_t{of.burst}});
}

void write_row(core::context const& with, bool there, std::string_view name,
               queue_options const& of, audit_note const* by) {
  auto const& statement = with.sql[there ? "queue.change" : "queue.make"];
  with_row(name, of, [&](std::initializer_list<value> values) {
    if (by == nullptr) {
      core::write(with, {.name = "queue"}, statement, values);
      return;
    }
    write_down(with, name, "make", there ? "other options" : "a new queue", *by,
               [&](db::session& on) { db::run(on, statement, values); });
  });
}

row row_of(std::span<cell const> cells) {
  row out;
  std::vector<std::int64_t> n(21);
  for (std::size_t i = 0; i < n.size(); ++i) decode(cells[i], n[i]);
  decode(cells[21], out.round_us);
  out.id = n[0];
  out.version = n[1];
  auto& to = out.options;
  to.period = microseconds(n[2]);
  to.grain = microseconds(n[3]);
  to.period_anchor = static_cast<daybook::period_anchor>(n[4]);
  to.mode = static_cast<step_mode>(n[5]);
  to.record_every_outcome = n[6] != 0;
  to.attempts = static_cast<int>(n[7]);
  to.backoff = std::chrono::duration_cast<std::chrono::milliseconds>(microseconds(n[8]));
  to.longest_backoff = std::chrono::duration_cast<std::chrono::milliseconds>(microseconds(n[9]));
  to.crash_limit = static_cast<int>(n[10]);
  to.running_limit = static_cast<int>(n[11]);
  if (n[12] > 0) to.rate = rate{1, microseconds(n[12])};
  to.rounds = n[13] != 0;
  to.retention = std::chrono::duration_cast<hours>(microseconds(n[14]));
  to.segment = static_cast<int>(n[15]);
  out.paused = n[16] != 0;
  to.new_member_policy = static_cast<daybook::new_member_policy>(n[17]);
  to.done_retention = std::chrono::duration_cast<seconds>(microseconds(n[18]));
  to.in_order = n[19] != 0;
  to.burst = static_cast<int>(n[20]);
  out.by = {n[2],
            n[3],
            to.period_anchor,
            to.mode,
            to.record_every_outcome,
            to.attempts,
            n[8],
            n[9],
            to.crash_limit,
            n[15],
            to.in_order};
  return out;
}

bool same(queue_options const& there, queue_options const& wanted) {
  return there.period == wanted.period && there.grain == grain_of(wanted) &&
         there.period_anchor == wanted.period_anchor && there.mode == wanted.mode &&
         there.record_every_outcome == wanted.record_every_outcome &&
         there.attempts == wanted.attempts && there.backoff == wanted.backoff &&
         there.longest_backoff == wanted.longest_backoff &&
         there.crash_limit == wanted.crash_limit && there.running_limit == wanted.running_limit &&
         slot_of(there) == slot_of(wanted) && there.rounds == wanted.rounds &&
         there.retention == wanted.retention && there.segment == wanted.segment &&
         there.new_member_policy == wanted.new_member_policy &&
         there.done_retention == wanted.done_retention && there.in_order == wanted.in_order &&
         there.burst == wanted.burst;
}

queue_options whole(queue_options of) {
  if (of.in_order) of.segment = 1;
  return of;
}

}  // namespace

store::store(core::context const& with, core::holder& lease, std::string name, row what)
    : with_(with), lease_(&lease), name_(std::move(name)), row_(std::move(what)) {}

row store::present() const {
  std::lock_guard const lock(guard_);
  return row_;
}

void store::follow_seen() {
  std::int64_t seen = 0;
  {
    std::lock_guard const lock(guard_);
    seen = seen_version_;
  }
  if (seen == 0) return;
  try {
    follow(seen);
  } catch (error const&) {
    return;  // the claim stands; the next one tries again
  }
}

void store::follow(std::int64_t version) {
  {
    std::lock_guard const lock(guard_);
    if (version != 0 && row_.version >= version) return;
  }
  if (auto found = look(with_, name_)) follow(std::move(*found));
}

void store::follow(row seen) {
  std::lock_guard const lock(guard_);
  if (seen.version > row_.version) row_ = std::move(seen);
}

std::shared_ptr<store> opened::of(core::context const& with, core::holder& lease,
                                  std::string_view name, row what) {
  std::lock_guard const lock(guard_);
  auto& kept = by_id_[what.id];
  // It may have been read before another of us read what somebody changed meanwhile.
  if (kept && what.version < kept->present().version) {
    if (auto now = look(with, name)) what = std::move(*now);
  }
  // Another, or an older one: the database is not what it was, as when a copy was put back.
  if (!kept || kept->name() != name || what.version < kept->present().version) {
    kept = std::make_shared<store>(with, lease, std::string(name), std::move(what));
  } else {
    kept->follow(std::move(what));
  }
  return kept;
}

std::optional<row> look(core::context const& with, std::string_view name) {
  std::optional<row> out;
  core::read(with, [&](db::session& on) {
    auto const found = db::run(on, with.sql["queue.look"], {name});
    out.reset();
    if (found.size() > 0) out = row_of(found.row(0));
  });
  return out;
}

std::shared_ptr<store> make(core::context const& with, core::holder& lease, std::string_view name,
                            queue_options const& wanted, audit_note const* by) {
  check(name, wanted);
  auto const options = whole(wanted);
  auto found = look(with, name);
  if (found && found->options.in_order != options.in_order) {
    bad(name, "whether its tasks are done in order (in_order) is chosen when it is made");
  }
  // In doubt both may be tried again: each leaves the row as asked for.
  for (bool tried = false; !found || !same(found->options, options); tried = true) {
    try {
      write_row(with, found.has_value(), name, options, by);
    } catch (core::lost_reply const&) {
      if (tried) throw;
    }
    found = look(with, name);
    if (tried) break;
  }
  if (!found) {
    throw error({.kind = error_code::conflict},
                "the queue '" + std::string(name) + "' was removed while it was made");
  }
  return with.queues->of(with, lease, name, std::move(*found));
}

std::shared_ptr<store> open(core::context const& with, core::holder& lease, std::string_view name) {
  auto found = look(with, name);
  if (!found) return nullptr;
  return with.queues->of(with, lease, name, std::move(*found));
}

std::vector<std::string> names(core::context const& with) {
  std::vector<std::string> out;
  core::read(with, [&](db::session& on) {
    auto const found = db::run(on, with.sql["queue.names"], {});
    out.resize(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) decode(found.row(i)[0], out[i]);
  });
  return out;
}

std::vector<segment> ranges_of(std::string_view column) {
  constexpr std::size_t width = 10;
  auto const numbers = base::numbers_in(column);
  std::vector<segment> out;
  out.reserve(numbers.size() / width);
  for (std::size_t at = 0; at + width <= numbers.size(); at += width) {
    auto const* const n = &numbers[at];
    out.push_back({n[0], n[1], static_cast<int>(n[3]), static_cast<task_state>(n[4]),
                   static_cast<int>(n[5]), static_cast<int>(n[6]), n[7], n[8], n[9]});
  }
  std::sort(out.begin(), out.end(), [](segment const& a, segment const& b) { return a.lo < b.lo; });
  return out;
}

segment segment_of(std::span<cell const> columns) {
  segment out;
  std::int64_t lane = 0;
  std::int64_t state = 0;
  std::int64_t attempts = 0;
  std::int64_t crashes = 0;
  decode(columns[0], out.lo);
  decode(columns[1], out.hi);
  decode(columns[2], lane);
  decode(columns[3], state);
  decode(columns[4], attempts);
  decode(columns[5], crashes);
  decode(columns[6], out.turn_us);
  decode(columns[7], out.period_us);
  decode(columns[8], out.due_us);
  out.lane = static_cast<int>(lane);
  out.state = static_cast<task_state>(state);
  out.attempts = static_cast<int>(attempts);
  out.crashes = static_cast<int>(crashes);
  return out;
}

std::string text_of(std::span<segment const> segments) {
  base::rows out;
  for (auto const& s : segments) {
    out.begin().add(s.lo).add(s.hi).add(std::int64_t{s.lane});
    out.add(static_cast<std::int64_t>(s.state)).add(std::int64_t{s.attempts});
    out.add(std::int64_t{s.crashes}).add(s.turn_us).add(s.period_us).add(s.due_us);
  }
  return out.text();
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
