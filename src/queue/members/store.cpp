#include "queue/members/store.hpp"

#include "base/limits.hpp"
#include "core/tx/registry.hpp"
#include "queue/members/people.hpp"
#include "queue/members/segment_text.hpp"

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

[[noreturn]] void bad(std::string_view queue, std::string const& reason) {
  throw error({.kind = error_code::bad_argument}, "queue '" + std::string(queue) + "': " + reason);
}

void check_times(std::string_view queue, queue_options const& options) {
  base::limits const limits("queue", queue);
  bool const once = options.period == microseconds{0};
  if (!once)
    limits.between("the period (0: each task once)", options.period, seconds{1}, longest_period);
  if (options.grain != microseconds{0}) {
    if (options.grain < seconds{1}) bad(queue, "a grain below a second");
    if (!once && options.grain > options.period) bad(queue, "a grain above the period");
  }
  limits.between("the first back-off", options.backoff, seconds{0}, longest_backoff);
  limits.between("the longest back-off", options.longest_backoff, options.backoff, longest_backoff);
  limits.between("the retention", options.retention, hours{1}, longest_period);
  if (options.done_retention != seconds{0}) {
    if (!once) bad(queue, "members of a queue with a period are never done for good (forget_done)");
    if (options.done_retention < std::chrono::minutes{1} ||
        options.done_retention > options.retention) {
      bad(queue,
          "members are removed (forget_done) a minute after their end or later, and before "
          "their outcomes are (retention)");
    }
  }
  if (options.in_order && (!once || options.rounds)) {
    bad(queue, "a queue whose tasks are done in order has neither a period nor rounds (in_order)");
  }
  limits.between("the burst", options.burst, 1, 1'000'000);
  if (options.rate && (options.rate->count < 1 || options.rate->per < microseconds{1} ||
                       options.rate->per / options.rate->count < microseconds{1})) {
    bad(queue, "a rate of " + std::to_string(options.rate->count) + " in " +
                   std::to_string(options.rate->per.count()) +
                   " us: it must be at least one task in a time, and at most one a microsecond");
  }
  if (options.rate &&
      options.rate->per / options.rate->count > microseconds(longest_period) / options.burst) {
    bad(queue,
        "a burst of " + std::to_string(options.burst) + " is saved up in more than a century");
  }
}

void check(std::string_view name, queue_options const& options) {
  check_name("queue name", name);
  check_times(name, options);
  base::limits const limits("queue", name);
  limits.between("the number of attempts", options.attempts, 1, 1000);
  limits.between("the crash limit", options.crash_limit, 1, 100);
  limits.between("the running limit", options.running_limit, 0, 1'000'000);
  limits.between("the segment", options.segment, 1, 1000);
  if (options.mode == step_mode::unrecorded) bad(name, "a mode of its own is wanted");
}

std::int64_t slot_of(queue_options const& options) {
  return options.rate ? options.rate->per.count() / options.rate->count : 0;
}

microseconds grain_of(queue_options const& options) {
  if (options.grain != microseconds{0}) return options.grain;
  return std::max<microseconds>(seconds{1}, options.period / 16);
}

/// For queue.make and queue.change.
template <class Execute>
void with_row(std::string_view name, queue_options const& options, Execute const& execute) {
  execute(
      {name, std::int64_t{options.period.count()}, std::int64_t{grain_of(options).count()},
       static_cast<std::int64_t>(options.period_anchor), static_cast<std::int64_t>(options.mode),
       std::int64_t{options.record_every_outcome ? 1 : 0}, std::int64_t{options.attempts},
       std::int64_t{microseconds(options.backoff).count()},
       std::int64_t{microseconds(options.longest_backoff).count()},
       std::int64_t{options.crash_limit}, std::int64_t{options.running_limit}, slot_of(options),
       std::int64_t{options.rounds ? 1 : 0}, std::int64_t{microseconds(options.retention).count()},
       std::int64_t{options.segment}, static_cast<std::int64_t>(options.new_member_policy),
       std::int64_t{microseconds(options.done_retention).count()},
       std::int64_t{options.in_order ? 1 : 0}, std::int64_t{options.burst}});
}

void write_row(core::context const& context, bool there, std::string_view name,
               queue_options const& options, audit_note const* note) {
  auto const& statement = context.sql[there ? "queue.change" : "queue.make"];
  with_row(name, options, [&](std::initializer_list<value> values) {
    if (note == nullptr) {
      core::write(context, {.name = "queue"}, statement, values);
      return;
    }
    write_down(context, name, "make", there ? "other options" : "a new queue", *note,
               [&](db::session& session) { db::run(session, statement, values); });
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

queue_options whole(queue_options options) {
  if (options.in_order) options.segment = 1;
  return options;
}

}  // namespace

store::store(core::context const& context, core::holder& lease, std::string name, row row)
    : context_(context), lease_(&lease), name_(std::move(name)), row_(std::move(row)) {}

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
  if (auto found = look(context_, name_)) follow(std::move(*found));
}

void store::follow(row seen) {
  std::lock_guard const lock(guard_);
  if (seen.version > row_.version) row_ = std::move(seen);
}

std::optional<row> look(core::context const& context, std::string_view name) {
  std::optional<row> out;
  core::read(context, [&](db::session& session) {
    auto const found = db::run(session, context.sql["queue.look"], {name});
    out.reset();
    if (found.size() > 0) out = row_of(found.row(0));
  });
  return out;
}

namespace {

/// One store for each queue while the book is open, so that what one handle has left behind the
/// next looks after, however long that one lived. `row` was just read.
std::shared_ptr<store> opened(core::context const& context, core::holder& lease,
                              std::string_view name, row row) {
  return context.queues->keep<store>(row.id, [&](std::shared_ptr<store>& kept) {
    // It may have been read before another of us read what somebody changed meanwhile.
    if (kept && row.version < kept->present().version) {
      if (auto now = look(context, name)) row = std::move(*now);
    }
    // Another, or an older one: the database is not what it was, as when a copy was put back.
    if (!kept || kept->name() != name || row.version < kept->present().version) {
      kept = std::make_shared<store>(context, lease, std::string(name), std::move(row));
    } else {
      kept->follow(std::move(row));
    }
  });
}

}  // namespace

std::shared_ptr<store> make(core::context const& context, core::holder& lease,
                            std::string_view name, queue_options const& wanted,
                            audit_note const* note) {
  check(name, wanted);
  auto const options = whole(wanted);
  auto found = look(context, name);
  if (found && found->options.in_order != options.in_order) {
    bad(name, "whether its tasks are done in order (in_order) is chosen when it is made");
  }
  // In doubt both may be tried again: each leaves the row as asked for.
  for (bool tried = false; !found || !same(found->options, options); tried = true) {
    try {
      write_row(context, found.has_value(), name, options, note);
    } catch (core::lost_reply const&) {
      if (tried) throw;
    }
    found = look(context, name);
    if (tried) break;
  }
  if (!found) {
    throw error({.kind = error_code::conflict},
                "the queue '" + std::string(name) + "' was removed while it was made");
  }
  return opened(context, lease, name, std::move(*found));
}

std::shared_ptr<store> open(core::context const& context, core::holder& lease,
                            std::string_view name) {
  auto found = look(context, name);
  if (!found) return nullptr;
  return opened(context, lease, name, std::move(*found));
}

std::vector<std::string> names(core::context const& context) {
  std::vector<std::string> out;
  core::read(context, [&](db::session& session) {
    auto const found = db::run(session, context.sql["queue.names"], {});
    out.resize(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) decode(found.row(i)[0], out[i]);
  });
  return out;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
