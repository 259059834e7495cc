#include "core/admin/operate.hpp"

#include "base/text.hpp"
#include "core/lease/in_hand.hpp"
#include "core/run/run.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

constexpr std::size_t longest_remark = 255;

/// A run as it was looked at. Every change names this epoch, so that it can hit no later attempt.
struct sight {
  run_state state{};
  std::int64_t number = 0;
  std::int64_t attempt = 0;
  acquisition held;
  std::optional<in_hand_line> line;
  [[nodiscard]] bool in_hand() const noexcept {
    return state == run_state::ready || state == run_state::running;
  }
};

std::optional<sight> look_at(change const& what) {
  std::optional<sight> out;
  read(what.with, [&](db::session& on) {
    auto const rows = db::run(on, what.with.sql["operate.look"], {what.process, what.key});
    out.reset();
    if (rows.size() == 0) return;
    auto const row = rows.row(0);
    out.emplace();
    std::int64_t state = 0;
    std::string lines;
    decode(row[0], state);
    decode(row[1], out->number);
    decode(row[2], out->attempt);
    decode(row[3], out->held.epoch);
    decode(row[4], out->held.uuid);
    decode(row[5], lines);
    out->state = static_cast<run_state>(state);
    if (out->in_hand()) out->line = find_line(lines, what.process, what.key);
  });
  return out;
}

/// The same for no two acquisitions: with it a change finds its own row again.
std::string text_of(sight const& of) {
  return "run " + std::to_string(of.number) + ", attempt " + std::to_string(of.attempt) +
         ", epoch " + std::to_string(of.held.epoch);
}

void write_down(db::session& on, change const& what, std::string_view detail) {
  db::run(on, what.with.sql["operate.change"],
          {what.process, what.key, what.by.actor, what.action, what.by.reason, detail});
}

bool is_written(db::session& on, change const& what, std::string_view detail) {
  std::int64_t found = 0;
  decode(db::run(on, what.with.sql["operate.changed"],
                 {what.process, what.key, what.by.actor, what.action, what.by.reason, detail})
             .row(0)[0],
         found);
  return found > 0;
}

}  // namespace

bool make(change const& what, std::string_view detail,
          std::function<bool(db::session&)> const& guarded) {
  bool in_doubt = false;
  for (;;) {
    bool before = false;
    try {
      auto const decided = transact(what.with, {.name = "operate"}, [&](db::session& on) {
        bool const hit = guarded(on);
        // Also where it hit again: what it changed before may have been changed back since.
        before = in_doubt && is_written(on, what, detail);
        if (!hit || before) return decision::rollback;
        write_down(on, what, detail);
        return decision::commit;
      });
      if (before) confirm_seen(what.with);
      return before || decided == decision::commit;
    } catch (lost_reply const&) {
      in_doubt = true;
    }
  }
}

namespace {

std::vector<std::string> intents_of(change const& what, sight const& seen) {
  std::vector<std::string> out;
  read(what.with, [&](db::session& on) {
    out.clear();
    auto const rows =
        db::run(on, what.with.sql["inspect.intents"], {what.process, what.key, seen.number});
    for (std::size_t at = 0; at < rows.size(); ++at) decode(rows.row(at)[0], out.emplace_back());
  });
  return out;
}

/// The step that a resolution means; empty: none that is unknown.
std::optional<std::string> meant(change const& what, sight const& seen, resolution const& how) {
  auto const open = intents_of(what, seen);
  if (how.step.empty() && open.size() > 1) {
    throw error({.kind = error_code::bad_argument}, "more than one step of " + what.process +
                                                        " is unknown: name one of them, say " +
                                                        open.front());
  }
  if (open.empty()) return std::nullopt;
  auto const& wanted = how.step.empty() ? open.front() : how.step;
  bool const there = std::find(open.begin(), open.end(), wanted) != open.end();
  return there ? std::optional(wanted) : std::nullopt;
}

}  // namespace

bounded_remark::bounded_remark(audit_note const& by)
    : actor(base::bounded(by.actor, longest_remark)),
      reason(base::bounded(by.reason, longest_remark)) {}

std::optional<bool> release_run(context const& with, process const& name, key const& piece,
                                audit_note const& by) {
  change const what{with, name.str(), piece.str(), "release", bounded_remark(by)};
  auto const why =
      base::bounded("released by " + what.by.actor + ": " + what.by.reason, longest_error);
  for (backoff pauses(usual_patience);;) {
    auto const seen = look_at(what);
    if (!seen) return std::nullopt;
    if (!seen->in_hand()) return false;
    progress_values const far{seen->line ? seen->line->how_far : std::nullopt};
    auto const step = seen->line ? seen->line->step : std::string();
    bool const released = make(what, text_of(*seen), [&](db::session& on) {
      if (!fenced(on, with.sql["operate.release"],
                  {what.process, what.key, seen->held.epoch, seen->held.uuid, why, step, far.done(),
                   far.total(), far.note()})) {
        return false;
      }
      db::run(on, with.sql["operate.recall"], {what.process, what.key});
      return true;
    });
    // Else it has ended, or its attempt is another now: look again.
    if (released) return true;
    if (!pauses.pause()) {
      throw error({.kind = error_code::conflict, .retryable = true},
                  what.process + " changes hands faster than it can be released");
    }
  }
}

std::optional<bool> restart_run(context const& with, process const& name, key const& piece,
                                audit_note const& by) {
  change const what{with, name.str(), piece.str(), "restart", bounded_remark(by)};
  auto const seen = look_at(what);
  if (!seen) return std::nullopt;
  if (seen->in_hand()) return false;
  bool const discarded = make(what, text_of(*seen), [&](db::session& on) {
    return fenced(on, with.sql["operate.restart"], {what.process, what.key, seen->held.epoch});
  });
  if (discarded) return true;
  // Somebody has started it since; or there was nothing to change, for it had been discarded.
  auto const now = look_at(what);
  if (!now) return std::nullopt;
  return !now->in_hand() && now->state == run_state::discarded;
}

std::optional<bool> resolve_step(context const& with, process const& name, key const& piece,
                                 resolution const& how, audit_note const& by) {
  change const what{with, name.str(), piece.str(), "resolve", bounded_remark(by)};
  check_text("the value of step '" + how.step + "'", how.value);
  auto const seen = look_at(what);
  if (!seen) return std::nullopt;
  if (seen->in_hand() || (how.epoch != 0 && how.epoch != seen->held.epoch)) return false;
  auto const step = meant(what, *seen, how);
  if (!step) return false;
  auto const detail =
      "step " + *step + ": " + (how.done ? "done" : "not done") + "; " + text_of(*seen);
  return make(what, detail, [&](db::session& on) {
    if (!fenced(on, with.sql["operate.resolve"],
                {what.process, what.key, seen->held.epoch, std::int64_t{how.done ? 1 : 0}})) {
      return false;
    }
    if (how.done) {
      db::run(on, with.sql["operate.record_step"],
              {what.process, what.key, seen->number, *step, how.value});
    }
    // Of two persons the second waited for the first, whose intent this was.
    return fenced(on, with.sql["run.forget_intent"], {what.process, what.key, seen->number, *step});
  });
}

std::vector<change_info> list_changes(context const& with, std::string_view process,
                                      std::string_view key) {
  std::vector<change_info> out;
  read(with, [&](db::session& on) {
    out.clear();
    auto const rows = db::run(on, with.sql["operate.changes"], {process, key});
    for (std::size_t at = 0; at < rows.size(); ++at) {
      auto const row = rows.row(at);
      auto& one = out.emplace_back();
      one.at = db::time_of(db::get<std::int64_t>(row[0]));
      decode(row[1], one.actor);
      decode(row[2], one.action);
      decode(row[3], one.reason);
      decode(row[4], one.detail);
    }
  });
  return out;
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
