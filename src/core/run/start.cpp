// Starting a run: one compare-and-swap; where it is refused, who has it; where its holder is
// dead, the take-over.
#include "core/run/start.hpp"

#include "base/failpoint.hpp"
#include "base/limits.hpp"
#include "base/uuid.hpp"
#include "core/run/run.hpp"
#include "core/run/token.hpp"
#include "db/date.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"

#include <daybook/error.hpp>

#include <exception>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

constexpr std::chrono::milliseconds longest_deadline = std::chrono::hours{24 * 3653};

std::optional<std::chrono::microseconds> to_length(cell const& cell) {
  std::optional<std::int64_t> us;
  decode(cell, us);
  if (!us) return std::nullopt;
  return std::chrono::microseconds(*us);
}

void check_options(start_options const& options) {
  if (options.deadline) {
    base::limits("start_options")
        .between("the deadline", *options.deadline, std::chrono::milliseconds{1}, longest_deadline);
  }
  bool const four_digits =
      !options.date || (options.date->ok() && options.date->year() >= std::chrono::year{1} &&
                        options.date->year() <= std::chrono::year{9999});
  if (!four_digits) {
    throw error({.kind = error_code::bad_argument},
                "the date of a run's data must be one of the calendar, of the years 1 to 9999");
  }
}

}  // namespace

bool runs::look::in_hand() const noexcept {
  return state == run_state::running || state == run_state::ready;
}

start_result runs::start(process const& name, key const& run_key, start_options options) {
  return *start_with(name, run_key, options, {});
}

std::optional<start_result> runs::start_with(process const& name, key const& run_key,
                                             start_options options, beside const& also) {
  context_.check_process();
  check_options(options);
  bool said_no = false;
  beside const noted = [&](db::session& session) {
    said_no = !also(session);
    return !said_no;
  };
  backoff pauses(usual_patience);
  for (;;) {
    if (lease_->has_orphan(name.str(), run_key.str())) {
      read(context_, [&](db::session& session) { lease_->disown_orphans(session); });
    }
    auto const seen = look_at(name, run_key);
    if (auto no = refused(name, run_key, seen, options)) {
      // That is for ever: an answer that a fail-over takes back would be none.
      if (no->why() == start_refusal::done_before) confirm_seen(context_);
      return no;
    }
    std::exception_ptr locked;
    if (seen.in_hand()) {
      if (take_over(name, run_key, seen)) continue;
    } else if (auto held =
                   try_once(name, run_key, options, seen.epoch, locked, also ? noted : beside())) {
      return start_result(std::move(*held));
    }
    if (said_no) return std::nullopt;
    // Free, and yet not given to us: our holder was declared dead and has not noticed, or others
    // are busy with it.
    lease_->drop_if_dead();
    if (pauses.pause()) continue;
    if (locked) std::rethrow_exception(locked);
    return start_result(name, run_key, start_refusal::running_elsewhere, seen.who);
  }
}

/// Nobody declares itself dead: who is late renews, unless another was faster.
bool runs::is_mine(std::string_view holder) const {
  auto const self = lease_->peek();
  return self && !self->dead() && self->uuid() == holder;
}

std::optional<start_result> runs::refused(process const& name, key const& run_key, look const& seen,
                                          start_options options) const {
  if (!seen.exists) return std::nullopt;
  if (seen.state == run_state::unknown)
    return start_result(name, run_key, start_refusal::unknown_outcome);
  if (seen.in_hand()) {
    bool const dead = seen.holder_ended || (seen.lease_over && !is_mine(seen.who.holder));
    if (dead || seen.deadline_over) return std::nullopt;
    return start_result(name, run_key, start_refusal::running_elsewhere, seen.who);
  }
  if (options.once && seen.succeeded)
    return start_result(name, run_key, start_refusal::done_before);
  bool const resumes =
      seen.state != run_state::succeeded && seen.state != run_state::discarded && !options.restart;
  if (resumes && options.date && seen.date && *options.date != *seen.date) {
    return start_result(name, run_key, start_refusal::other_date);
  }
  return std::nullopt;
}

std::optional<run> runs::try_once(process const& name, key const& run_key, start_options options,
                                  std::int64_t epoch, std::exception_ptr& locked,
                                  beside const& also) {
  try {
    auto const who = lease_->current();
    auto const got = try_start(name, run_key, options, epoch, who->uuid(), also);
    if (!got) return std::nullopt;
    auto held = std::make_unique<held_run>(
        context_, *lease_, who,
        run_identity{name, run_key, got->number, got->attempt, got->date, got->time_left},
        acquisition{got->epoch, got->acquisition, got->version});
    if (got->attempt > 1) held->remembers(memory_of(name, run_key, got->number));
    context_.watch.started({name.str(), run_key.str(), {}, got->number, got->attempt, {}});
    return run(std::move(held));
  } catch (error const& e) {
    // The row, or the whole database, is locked by a transaction that does not end: somebody has
    // it in hand.
    if (e.kind() != error_code::conflict) throw;
    locked = std::current_exception();
    return std::nullopt;
  }
}

std::optional<runs::taken> runs::try_start(process const& name, key const& run_key,
                                           start_options options, std::int64_t epoch,
                                           std::string const& holder_uuid, beside const& also) {
  auto const first = base::new_uuid();
  auto acquisition = first;
  int lost = 0;  // replies
  auto const date = options.date ? db::text_of(*options.date) : std::string();
  std::optional<std::int64_t> deadline;
  if (options.deadline) deadline = std::chrono::microseconds(*options.deadline).count();
  auto const orphaned = [&] {
    auto const add = [&](std::string const& detail) {
      lease_->add_orphan({.process = name.str(),
                          .key = run_key.str(),
                          .acquisition = detail,
                          .on_its_way = lost > 0});
    };
    add(first);
    if (acquisition != first) add(acquisition);
  };
  // After a lost reply the same statement is run again, and takes what it had taken itself: the
  // acquisition of this call, which nobody else can have written. The second such statement may
  // itself come late, and would take from the third what that has taken, were it not another's.
  for (;;) {
    try {
      auto const rows = write_start(
          also, {name.str(), run_key.str(), epoch, acquisition, holder_uuid,
                 std::int64_t{options.once ? 1 : 0}, std::int64_t{options.restart ? 1 : 0},
                 std::string_view(lost > 0 ? first : ""), to_value(deadline),
                 options.date ? value(std::string_view(date)) : value(nullptr)});
      if (rows.size() == 0) return std::nullopt;
      taken got;
      decode(rows.row(0)[0], got.number);
      decode(rows.row(0)[1], got.attempt);
      decode(rows.row(0)[2], got.epoch);
      got.time_left = to_length(rows.row(0)[3]);
      got.date = db::to_date(rows.row(0)[4]);
      decode(rows.row(0)[5], got.version);
      got.acquisition = acquisition;
      return got;
    } catch (lost_reply const&) {
      // What was done beside it cannot be done twice.
      if (++lost < 3 && !also) {
        if (lost == 2) acquisition = base::new_uuid();
        continue;
      }
      orphaned();
      throw;
    } catch (error const& e) {
      // What is internal may have failed after the COMMIT; all other faults come before it.
      if (lost > 0 || e.kind() == error_code::internal) orphaned();
      throw;
    } catch (...) {
      orphaned();
      throw;
    }
  }
}

db::table runs::write_start(beside const& also, std::initializer_list<value> values) {
  transact_options const options{.name = also ? "launch" : "start"};
  auto const& start = context_.sql["run.start"];
  if (!also) return write(context_, options, start, values);
  db::table out;
  transact(context_, options, [&](db::session& session) {
    out = {};
    if (!also(session)) return decision::rollback;
    out = db::run(session, start, values);
    return out.size() > 0 ? decision::commit : decision::rollback;
  });
  return out;
}

runs::look runs::look_at(process const& name, key const& run_key) {
  look seen;
  read(context_, [&](db::session& session) {
    auto const rows = db::run(session, context_.sql["run.look"],
                              {name.str(), run_key.str(), std::int64_t{max_skew.count()}});
    seen = {};
    if (rows.size() == 0) return;
    auto const row = rows.row(0);
    seen.exists = true;
    std::int64_t state = 0;
    decode(row[0], state);
    seen.state = static_cast<run_state>(state);
    decode(row[1], seen.epoch);
    decode(row[2], seen.succeeded);
    decode(row[3], seen.who.holder);
    decode(row[4], seen.who.node);
    decode(row[5], seen.who.pid);
    seen.who.since = db::time_of(db::get<std::int64_t>(row[6]));
    seen.who.until = db::time_of(db::get<std::int64_t>(row[7]));
    std::string lines;
    decode(row[8], lines);
    seen.line = find_line(lines, name.str(), run_key.str());
    if (seen.line) {
      seen.who.in_hand = seen.line->step;
      seen.who.in_hand_since = db::time_of(db::get<std::int64_t>(row[9])) - seen.line->step_for;
    }
    decode(row[10], seen.holder_ended);
    decode(row[11], seen.lease_over);
    decode(row[12], seen.deadline_over);
    seen.date = db::to_date(row[13]);
  });
  return seen;
}

bool runs::take_over(process const& name, key const& run_key, look const& seen) {
  // First the holder is dead, once and for ever; then its row is free. In two transactions: a
  // row that a stopped process keeps locked must not undo the first.
  try {
    if (!seen.holder_ended && seen.lease_over && !is_mine(seen.who.holder)) {
      mark_dead(context_, seen.who.holder);
    }
    progress_values const far{seen.line ? seen.line->how_far : std::nullopt};
    auto const freed = write(context_, {.name = "free"}, context_.sql["run.free"],
                             {name.str(), run_key.str(), seen.who.holder, seen.who.in_hand,
                              far.done(), far.total(), far.note()});
    if (freed.affected == 1) {
      context_.watch.taken_over({name.str(), run_key.str(), {}, 0, 0, seen.who.node});
    }
  } catch (lost_reply const&) {
    return true;  // both do nothing the second time: look at it afresh
  } catch (error const& e) {
    if (e.kind() == error_code::conflict) return false;
    throw;
  }
  return true;
}

memory runs::memory_of(process const& name, key const& run_key, std::int64_t number) {
  memory out;
  read(context_, context_.lease, [&](db::session& session) {
    out = {};
    auto const rows =
        db::run(session, context_.sql["run.memory"], {name.str(), run_key.str(), number});
    for (std::size_t at = 0; at < rows.size(); ++at) {
      std::string kind, of, value;
      std::int64_t mode = 0;
      decode(rows.row(at)[0], kind);
      decode(rows.row(at)[1], of);
      decode(rows.row(at)[2], value);
      decode(rows.row(at)[3], mode);
      if (kind == "step") out.steps[of] = {value, static_cast<step_mode>(mode)};
      if (kind == "intent") out.intents.insert(of);
      if (kind == "carry") out.carried[of] = value;
    }
  });
  return out;
}

std::optional<run> runs::attach(std::string_view text) {
  auto const what = read_token(text);
  if (!what) {
    throw error({.kind = error_code::bad_argument},
                "this is no token of a run (DAYBOOK_RUN): it is made by 'daybook run' or "
                "run::token(), and must be handed on whole");
  }
  bool held = false;
  auto identity = what->identity;
  auto holding = what->held;
  read(context_, [&](db::session& session) {
    auto const rows = db::run(
        session, context_.sql["run.held"],
        {identity.process.str(), identity.key.str(), holding.epoch, holding.uuid, std::int64_t{0}});
    held = rows.size() == 1;
    if (!held) return;
    identity.time_left = to_length(rows.row(0)[0]);
    identity.date = db::to_date(rows.row(0)[1]);
    decode(rows.row(0)[2], holding.seen);
  });
  if (!held) return std::nullopt;
  auto attached = std::make_unique<held_run>(context_, *lease_, nullptr, identity, holding);
  attached->remembers(memory_of(identity.process, identity.key, identity.number));
  return run(std::move(attached));
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
