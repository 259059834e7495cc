#include "core/admin/operate.hpp"

#include "base/limits.hpp"
#include "base/text.hpp"
#include "core/lease/in_hand.hpp"
#include "core/run/run.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"
#include "db/row_reader.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

constexpr std::size_t longest_remark = 255;
constexpr std::size_t longest_request = 64;

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

std::optional<sight> look_at(change const& change) {
  std::optional<sight> out;
  read(change.with, [&](db::session& session) {
    auto const rows =
        db::run(session, change.with.sql["operate.look"], {change.process, change.key});
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
    if (out->in_hand()) out->line = find_line(lines, change.process, change.key);
  });
  return out;
}

/// The same for no two acquisitions: with it a change finds its own row again.
std::string text_of(sight const& probe) {
  return "run " + std::to_string(probe.number) + ", attempt " + std::to_string(probe.attempt) +
         ", epoch " + std::to_string(probe.held.epoch);
}

void write_down(db::session& session, change const& change, std::string_view detail) {
  db::run(session, change.with.sql["operate.change"],
          {change.process, change.key, change.by.actor, change.action, change.by.reason, detail,
           change.by.request_value()});
}

bool is_written(db::session& session, change const& change, std::string_view detail) {
  std::int64_t found = 0;
  decode(db::run(
             session, change.with.sql["operate.changed"],
             {change.process, change.key, change.by.actor, change.action, change.by.reason, detail})
             .row(0)[0],
         found);
  return found > 0;
}

}  // namespace

bool make(change const& change, std::string_view detail,
          std::function<bool(db::session&)> const& guarded) {
  bool in_doubt = false;
  for (;;) {
    bool before = false;
    try {
      auto const decided = transact(change.with, {.name = "operate"}, [&](db::session& session) {
        bool const hit = guarded(session);
        // Also where it hit again: what it changed before may have been changed back since.
        before = in_doubt && is_written(session, change, detail);
        if (!hit || before) return decision::rollback;
        write_down(session, change, detail);
        return decision::commit;
      });
      if (before) confirm_seen(change.with);
      return before || decided == decision::commit;
    } catch (lost_reply const&) {
      in_doubt = true;
    }
  }
}

namespace {

std::vector<std::string> intents_of(change const& change, sight const& seen) {
  std::vector<std::string> out;
  read(change.with, [&](db::session& session) {
    out.clear();
    auto const rows = db::run(session, change.with.sql["inspect.intents"],
                              {change.process, change.key, seen.number});
    for (std::size_t at = 0; at < rows.size(); ++at) decode(rows.row(at)[0], out.emplace_back());
  });
  return out;
}

/// The step that a resolution means; empty: none that is unknown.
std::optional<std::string> meant(change const& change, sight const& seen,
                                 resolution const& resolution) {
  auto const open = intents_of(change, seen);
  if (resolution.step.empty() && open.size() > 1) {
    throw error({.kind = error_code::bad_argument}, "more than one step of " + change.process +
                                                        " is unknown: name one of them, say " +
                                                        open.front());
  }
  if (open.empty()) return std::nullopt;
  auto const& wanted = resolution.step.empty() ? open.front() : resolution.step;
  bool const there = std::find(open.begin(), open.end(), wanted) != open.end();
  return there ? std::optional(wanted) : std::nullopt;
}

change_outcome changed_if(bool hit) noexcept {
  return hit ? change_outcome::changed : change_outcome::unchanged;
}

}  // namespace

bounded_remark::bounded_remark(audit_note const& note)
    : actor(base::bounded(note.actor, longest_remark)),
      reason(base::bounded(note.reason, longest_remark)),
      request(base::bounded(note.request, longest_request)) {}

change_outcome release_run(context const& context, process const& name, key const& run_key,
                           audit_note const& note) {
  change const change{context, name.str(), run_key.str(), "release", bounded_remark(note)};
  auto const why =
      base::bounded("released by " + change.by.actor + ": " + change.by.reason, longest_error);
  auto const attempt = [&]() -> std::optional<change_outcome> {
    auto const seen = look_at(change);
    if (!seen) return change_outcome::no_such_run;
    if (!seen->in_hand()) return change_outcome::unchanged;
    progress_values const far{seen->line ? seen->line->how_far : std::nullopt};
    auto const step = seen->line ? seen->line->step : std::string();
    bool const released = make(change, text_of(*seen), [&](db::session& session) {
      if (!fenced(session, context.sql["operate.release"],
                  {change.process, change.key, seen->held.epoch, seen->held.uuid, why, step,
                   far.done(), far.total(), far.note()})) {
        return false;
      }
      db::run(session, context.sql["operate.recall"], {change.process, change.key});
      return true;
    });
    // Else it has ended, or its attempt is another now: look again.
    return released ? std::optional(change_outcome::changed) : std::nullopt;
  };
  return repeat_if_changed(attempt, [&] {
    throw error({.kind = error_code::conflict, .retryable = true},
                change.process + " changes hands faster than it can be released");
  });
}

change_outcome restart_run(context const& context, process const& name, key const& run_key,
                           audit_note const& note) {
  change const change{context, name.str(), run_key.str(), "restart", bounded_remark(note)};
  auto const seen = look_at(change);
  if (!seen) return change_outcome::no_such_run;
  if (seen->in_hand()) return change_outcome::unchanged;
  bool const discarded = make(change, text_of(*seen), [&](db::session& session) {
    return fenced(session, context.sql["operate.restart"],
                  {change.process, change.key, seen->held.epoch});
  });
  if (discarded) return change_outcome::changed;
  // Somebody has started it since; or there was nothing to change, for it had been discarded.
  auto const now = look_at(change);
  if (!now) return change_outcome::no_such_run;
  return changed_if(!now->in_hand() && now->state == run_state::discarded);
}

change_outcome resolve_step(context const& context, process const& name, key const& run_key,
                            resolution const& resolution, audit_note const& note) {
  change const change{context, name.str(), run_key.str(), "resolve", bounded_remark(note)};
  check_text("the value of step '" + resolution.step + "'", resolution.value);
  auto const seen = look_at(change);
  if (!seen) return change_outcome::no_such_run;
  if (seen->in_hand() || (resolution.epoch != 0 && resolution.epoch != seen->held.epoch)) {
    return change_outcome::unchanged;
  }
  auto const step = meant(change, *seen, resolution);
  if (!step) return change_outcome::unchanged;
  bool const done = resolution.effect == effect_state::done;
  auto const detail = "step " + *step + ": " + (done ? "done" : "not done") + "; " + text_of(*seen);
  return changed_if(make(change, detail, [&](db::session& session) {
    if (!fenced(session, context.sql["operate.resolve"],
                {change.process, change.key, seen->held.epoch, std::int64_t{done ? 1 : 0}})) {
      return false;
    }
    if (done) {
      db::run(session, context.sql["operate.record_step"],
              {change.process, change.key, seen->number, *step, resolution.value});
    }
    // Of two persons the second waited for the first, whose intent this was.
    return fenced(session, context.sql["run.forget_intent"],
                  {change.process, change.key, seen->number, *step});
  }));
}

std::vector<change_info> list_changes(context const& context, std::string_view process,
                                      std::string_view key) {
  std::vector<change_info> out;
  read(context, [&](db::session& session) {
    out.clear();
    auto const rows = db::run(session, context.sql["operate.changes"], {process, key});
    for (std::size_t at = 0; at < rows.size(); ++at) {
      auto& one = out.emplace_back();
      db::row_reader(rows.row(at)) >> one.at >> one.actor >> one.action >> one.reason >> one.detail;
    }
  });
  return out;
}

std::vector<change_info> list_changes(context const& context, changes_query const& query) {
  auto const text = [](std::string const& one) {
    return one.empty() ? value(nullptr) : value(std::string_view(one));
  };
  base::limits("changes_query").between("the limit", query.limit, 1, 10'000);
  auto const before = query.before > 0 ? query.before : std::numeric_limits<std::int64_t>::max();
  std::vector<change_info> out;
  read(context, [&](db::session& session) {
    out.clear();
    auto const rows =
        db::run(session, context.sql["operate.all_changes"],
                {text(query.actor), text(query.process), text(query.action), text(query.request),
                 query.since ? db::us_of(*query.since) : std::int64_t{0}, before,
                 std::int64_t{query.limit}});
    for (std::size_t at = 0; at < rows.size(); ++at) {
      auto const row = rows.row(at);
      auto& one = out.emplace_back();
      decode(row[0], one.id);
      one.at = db::time_of(db::get<std::int64_t>(row[1]));
      decode(row[2], one.process);
      decode(row[3], one.key);
      decode(row[4], one.actor);
      decode(row[5], one.action);
      decode(row[6], one.reason);
      decode(row[7], one.detail);
    }
  });
  return out;
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
