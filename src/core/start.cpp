// Starting a run: one compare-and-swap; where it is refused, who has it; where its holder is
// dead, the take-over.
#include "base/failpoint.hpp"
#include "base/uuid.hpp"
#include "core/run.hpp"
#include "core/token.hpp"
#include "core/transact.hpp"

#include <daybook/error.hpp>

#include <exception>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

constexpr auto start_patience = std::chrono::seconds{10};

timestamp to_time(cell const& from) {
  std::int64_t us = 0;
  decode(from, us);
  return timestamp(std::chrono::microseconds(us));
}

}  // namespace

bool runs::look::in_hand() const noexcept {
  return state == run_state::running || state == run_state::ready;
}

started runs::start(process const& name, key const& piece, start_options options) {
  with_.check_process();
  backoff pauses(start_patience);
  for (;;) {
    // Where there is one writer, another's long step keeps us from writing; reading it does not.
    if (with_.dialect.one_writer) {
      if (auto no = refused(look_at(name, piece), options)) return std::move(*no);
    }
    std::exception_ptr locked;
    if (auto held = try_once(name, piece, options, locked)) return started(std::move(*held));
    auto const seen = look_at(name, piece);
    if (auto no = refused(seen, options)) return std::move(*no);
    if (seen.in_hand() && take_over(name, piece, seen)) continue;
    // Free, and yet not given to us: our holder was declared dead and has not noticed, or others
    // are busy with it.
    if (auto const who = lease_->peek()) drop_if_dead(*who);
    if (pauses.pause()) continue;
    if (locked && !seen.in_hand()) std::rethrow_exception(locked);
    return started(refusal::running_elsewhere, seen.who);
  }
}

std::optional<started> runs::refused(look const& seen, start_options options) {
  if (!seen.exists) return std::nullopt;
  if (seen.state == run_state::unknown) return started(refusal::unknown_outcome);
  if (seen.in_hand()) {
    if (seen.holder_ended || seen.lease_over) return std::nullopt;
    return started(refusal::running_elsewhere, seen.who);
  }
  if (options.once && seen.succeeded) return started(refusal::done_before);
  return std::nullopt;
}

std::optional<run> runs::try_once(process const& name, key const& piece, start_options options,
                                  std::exception_ptr& locked) {
  try {
    auto const who = lease_->current();
    if (lease_->has_orphan(name.str(), piece.str())) {
      read(with_, start_patience, [&](db::session& on) { lease_->disown_orphans(on); });
    }
    auto const acquisition_uuid = base::new_uuid();
    auto const got = try_start(name, piece, options, who->uuid(), acquisition_uuid);
    if (!got) return std::nullopt;
    auto held = std::make_unique<held_run>(with_, *lease_, who,
                                           run_identity{name, piece, got->number, got->attempt},
                                           acquisition{got->epoch, acquisition_uuid});
    if (got->steps_done > 0) held->knows_done(steps_of(name, piece, got->number));
    with_.watch.started({name.str(), piece.str(), {}, got->number, got->attempt, {}});
    return run(std::move(held));
  } catch (error const& e) {
    // The row, or the whole database, is locked by a transaction that does not end: somebody has
    // it in hand.
    if (e.kind() != fault::conflict) throw;
    locked = std::current_exception();
    return std::nullopt;
  }
}

void runs::drop_if_dead(incarnation& who) {
  bool alive = false;
  read(with_, start_patience, [&](db::session& on) {
    std::int64_t count = 0;
    decode(db::run(on, with_.sql["holder.alive"], {who.uuid()}).row(0)[0], count);
    alive = count == 1;
  });
  if (!alive) who.die();
}

std::optional<runs::taken> runs::try_start(process const& name, key const& piece,
                                           start_options options, std::string const& holder_uuid,
                                           std::string const& acquisition_uuid) {
  bool doubt = false;
  // After a lost COMMIT reply the same statement is run again, and takes what it had taken
  // itself: the acquisition of this call, which nobody else can have written.
  for (;;) {
    std::optional<taken> got;
    try {
      transact(with_, {.name = "start", .patience = start_patience}, [&](db::session& on) {
        got.reset();  // what a try took that was rolled back is not ours
        auto const rows =
            db::run(on, with_.sql["run.start"],
                    {name.str(), piece.str(), acquisition_uuid, holder_uuid,
                     std::int64_t{options.once ? 1 : 0}, std::int64_t{options.restart ? 1 : 0},
                     std::string_view(doubt ? acquisition_uuid : "")});
        if (rows.size() == 0) return decision::rollback;
        got.emplace();
        decode(rows.row(0)[0], got->number);
        decode(rows.row(0)[1], got->attempt);
        decode(rows.row(0)[2], got->epoch);
        decode(rows.row(0)[3], got->steps_done);
        return decision::commit;
      });
      return got;
    } catch (lost_reply const&) {
      doubt = true;
    } catch (error const&) {
      if (doubt) lease_->add_orphan({name.str(), piece.str(), acquisition_uuid});
      throw;
    }
  }
}

runs::look runs::look_at(process const& name, key const& piece) {
  look seen;
  read(with_, start_patience, [&](db::session& on) {
    auto const rows = db::run(on, with_.sql["run.look"],
                              {name.str(), piece.str(), std::int64_t{max_skew.count()}});
    seen = {};
    if (rows.size() == 0) return;
    auto const row = rows.row(0);
    seen.exists = true;
    std::int64_t state = 0;
    decode(row[0], state);
    seen.state = static_cast<run_state>(state);
    decode(row[1], seen.succeeded);
    decode(row[2], seen.who.holder);
    decode(row[3], seen.who.node);
    decode(row[4], seen.who.pid);
    seen.who.since = to_time(row[5]);
    seen.who.until = to_time(row[6]);
    std::string lines;
    decode(row[7], lines);
    seen.who.in_hand = step_in_hand(lines, name.str(), piece.str());
    decode(row[8], seen.holder_ended);
    decode(row[9], seen.lease_over);
  });
  return seen;
}

bool runs::take_over(process const& name, key const& piece, look const& seen) {
  // First the holder is dead, once and for ever; then its row is free. In two transactions: a
  // row that a stopped process keeps locked must not undo the first.
  try {
    if (!seen.holder_ended) {
      transact(with_, {.name = "mark_dead", .patience = start_patience}, [&](db::session& on) {
        db::run(on, with_.sql["holder.mark_dead"],
                {seen.who.holder, std::int64_t{max_skew.count()}});
        return decision::commit;
      });
    }
    auto const freed =
        transact(with_, {.name = "free", .patience = start_patience}, [&](db::session& on) {
          return db::run(on, with_.sql["run.free"], {name.str(), piece.str(), seen.who.holder})
                             .affected == 1
                     ? decision::commit
                     : decision::rollback;
        });
    if (freed == decision::commit) {
      with_.watch.taken_over({name.str(), piece.str(), {}, 0, 0, seen.who.node});
    }
  } catch (lost_reply const&) {
    return true;  // both do nothing the second time: look at it afresh
  } catch (error const& e) {
    if (e.kind() == fault::conflict) return false;
    throw;
  }
  return true;
}

std::map<std::string, std::string> runs::steps_of(process const& name, key const& piece,
                                                  std::int64_t number) {
  std::map<std::string, std::string> done;
  read(with_, with_.lease, [&](db::session& on) {
    done.clear();
    auto const rows = db::run(on, with_.sql["run.steps"], {name.str(), piece.str(), number});
    for (std::size_t at = 0; at < rows.size(); ++at) {
      std::string step;
      decode(rows.row(at)[0], step);
      decode(rows.row(at)[1], done[step]);
    }
  });
  return done;
}

std::optional<run> runs::attach(std::string_view text) {
  auto const what = read_token(text);
  if (!what) {
    throw error({.kind = fault::bad_argument},
                "this is no token of a run (DAYBOOK_RUN): it is made by 'daybook run' or "
                "run::token(), and must be handed on whole");
  }
  bool held = false;
  auto const& identity = what->identity;
  auto const& holding = what->held;
  read(with_, start_patience, [&](db::session& on) {
    held = db::run(on, with_.sql["run.held"],
                   {identity.process.str(), identity.key.str(), holding.epoch, holding.uuid})
               .size() == 1;
  });
  if (!held) return std::nullopt;
  auto attached = std::make_unique<held_run>(with_, *lease_, nullptr, identity, holding);
  attached->knows_done(steps_of(identity.process, identity.key, identity.number));
  return run(std::move(attached));
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
