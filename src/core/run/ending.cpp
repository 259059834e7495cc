// How an attempt ends: by its owner, by its deadline, by being dropped.
#include "base/text.hpp"
#include "core/run/run.hpp"

#include <daybook/error.hpp>

#include <exception>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

value or_null(std::string const& text) {
  return text.empty() ? value(nullptr) : value(std::string_view(text));
}

value or_null(std::optional<int> const& number) {
  return number ? value(std::int64_t{*number}) : value(nullptr);
}

}  // namespace

/// Not for long, for an exception may be on its way: what this does not settle the background does.
void held_run::let_go(std::string_view why) noexcept {
  constexpr std::chrono::milliseconds brief = std::chrono::seconds{2};
  try {
    auto const by = end_by({.name = "end", .patience = brief});
    // The last: what was open in between the first two may have been settled by another process.
    bool const held = write_end(by, run_state::interrupted, why) ||
                      write_end(by, run_state::unknown, why) ||
                      write_end(by, run_state::interrupted, why);
    if (held) context_.watch.released(event({}, why));
    return;
  } catch (...) {
    disown();
  }
  try {
    lease_->disown_orphans(*context_.sessions.lend(brief));
  } catch (...) {
    context_.watch.lost(event({}, "could not be handed back yet"));
  }
}

outcome held_run::end(run_state state, std::string_view why) {
  context_.check_process();
  check_turn();
  settle_pending();
  bool const was_open = std::exchange(open_, false);
  if (!was_open || lost_) return outcome::lost;
  auto const text = base::bounded(why, longest_error);
  auto what = outcome::lost;
  try {
    what = try_end(state, text);
  } catch (...) {
    disown();
    throw;
  }
  if (what == outcome::lost) {
    mark_lost();
    return what;
  }
  if (holder_) holder_->ended({process(), key(), held_.uuid});
  if (what == outcome::unknown || state == run_state::unknown) {
    context_.watch.failed(event({}, text));
    context_.watch.unknown(event({}, text));
  } else if (state == run_state::succeeded) {
    context_.watch.finished(event());
  } else if (state == run_state::failed) {
    context_.watch.failed(event({}, text));
  } else {
    context_.watch.released(event({}, text));
  }
  if (also_at_end_.after) also_at_end_.after(event({}, text));
  return what;
}

/// While this holder lives the run would be nobody else's: the background lets go of it.
void held_run::disown() {
  if (holder_) lease_->add_orphan({process(), key(), held_.uuid});
}

outcome held_run::try_end(run_state state, std::string_view why) {
  for (;;) {
    try {
      if (write_end(end_by(for_a_lease(context_, "end")), state, why)) return outcome::done;
      bool before = false;
      std::optional<standing> still;
      read(context_, context_.lease, [&](db::session& session) {
        still = standing_now(session);
        // Another process's fence is not ours to advance: see done_by_us().
        before = !holder_ && end_recorded(session, held_, state);
        if (before) session.confirm_seen();
      });
      if (before) return outcome::done;
      if (!still) return outcome::lost;
      if (still->deadline_over) {
        pass_deadline();
        return outcome::lost;
      }
      // Else what kept it from ending so has been settled meanwhile, by another process: again.
      if (state == run_state::unknown) {
        if (!still->intents) return try_end(run_state::interrupted, why);
      } else if (still->intents && (state == run_state::succeeded || still->unknown)) {
        std::string const text = "the outcome of an at-most-once step is unknown";
        auto const ended =
            try_end(run_state::unknown, why.empty() ? text : text + "; " + std::string(why));
        return ended == outcome::done ? outcome::unknown : ended;
      }
      continue;
    } catch (lost_reply const&) {
      if (!holder_) continue;
    }
    auto const what = resolve_end(state);
    if (what == fate::never_will) continue;
    return what == fate::had_committed ? outcome::done : outcome::lost;
  }
}

bool held_run::write_end(executing const& execute, run_state state, std::string_view why) const {
  progress_values const far{holder_ ? holder_->progress_of(*hand_) : std::nullopt};
  bool const done = state == run_state::succeeded;
  auto const step = done ? value_type(nullptr) : or_null(hand_->step);
  auto const wrote =
      execute({state, why}, {process(), key(), held_.epoch, held_.uuid, held_.seen, stamp_,
                             std::int64_t{static_cast<int>(state)}, why, step, or_null(output_),
                             or_null(exit_code_), far.done(), far.total(), far.note()});
  return wrote.affected == 1;
}

held_run::executing held_run::end_by(transact_options options) const {
  return [this, options](ending ending, std::initializer_list<value_type> values) {
    if (!also_at_end_.write && !hand_->deadline)
      return write(context_, options, context_.sql["run.end"], values);
    db::table out;
    transact(context_, options, [&](db::session& session) {
      out = end_on(session)(ending, values);
      return out.affected == 1 ? decision::commit : decision::rollback;
    });
    return out;
  };
}

held_run::executing held_run::end_on(db::session& session) const {
  return [this, &session](ending ending, std::initializer_list<value_type> values) {
    if (!had_in_time(session)) return db::table();
    auto out = db::run(session, context_.sql["run.end"], values);
    if (also_at_end_.write && out.affected == 1)
      also_at_end_.write(session, ending.first, ending.second);
    return out;
  };
}

/// Whether the history says that this acquisition ended so. One that a take-over wrote says
/// "interrupted".
bool held_run::end_recorded(db::session& session, acquisition const& held, run_state state) const {
  auto const found =
      db::run(session, context_.sql["run.end_recorded"], {process(), key(), held.epoch, held.uuid});
  if (found.size() == 0) return false;
  std::int64_t recorded = 0;
  decode(found.row(0)[0], recorded);
  return recorded == static_cast<int>(state);
}

std::optional<standing> held_run::standing_now(db::session& session) const {
  auto const found = db::run(session, context_.sql["run.standing"],
                             {process(), key(), held_.epoch, held_.uuid, held_.seen});
  if (found.size() == 0) return std::nullopt;
  standing out;
  std::int64_t intents = 0;
  decode(found.row(0)[0], out.deadline_over);
  decode(found.row(0)[1], intents);
  decode(found.row(0)[2], out.unknown);
  out.intents = intents > 0;
  return out;
}

/// Nobody's last word: start() by anybody, and our own renewal, do the same.
void held_run::pass_deadline() {
  try {
    transact(context_, {.name = "deadline"}, [&](db::session& session) {
      db::run(session, context_.sql["run.pass_deadline"],
              {process(), key(), held_.epoch, held_.uuid, or_null(hand_->step), or_null(output_),
               or_null(exit_code_)});
      return decision::commit;
    });
  } catch (error const&) {
    return;
  }
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
