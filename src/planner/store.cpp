#include "planner/store.hpp"

#include "base/limits.hpp"
#include "core/admin/operate.hpp"
#include "core/run/run.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"
#include "planner/periods.hpp"
#include "planner/strategy.hpp"

#include <daybook/error.hpp>

#include <string>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace planners {

namespace {

std::shared_ptr<queues::store> target(surroundings const& around, std::string_view name,
                                      std::string const& queue) {
  auto into = queues::open(around.with, *around.lease, queue);
  if (!into) bad(name, "there is no queue '" + queue + "': make it first");
  if (into->present().options.period.count() > 0) {
    bad(name, "the queue '" + queue + "' has a period: an instance is done once");
  }
  return into;
}

/// The run that is its passes', taken so that there is none meanwhile.
run between_passes(surroundings const& around, std::string_view name) {
  core::backoff pauses(core::usual_patience);
  for (;;) {
    auto attempt = around.runs->start(process(process_of(name)), {}, {});
    if (attempt) return std::move(attempt).take();
    if (pauses.pause()) continue;
    auto const by = attempt.holder().value_or(lease_holder{});
    throw error({.kind = error_code::configuration},
                "plan '" + std::string(name) + "': a pass by process " + std::to_string(by.pid) +
                    " on " + by.node + " is under way since " + utc_text(by.since) +
                    ", and its queue, its kind, and what it sweeps are changed between passes: "
                    "stop that, or declare it again when it is over");
  }
}

/// A pass that began before, and what it still launches, would go by the old declaration. Who loses
/// the run, because others took this process for dead, writes nothing.
void write_between_passes(surroundings const& around, std::string_view name,
                          planner_options const& options, queues::store const& store) {
  auto held = between_passes(around, name);
  examine(around, name, options);  // passes have launched since
  held.internals().ends_with({.write = [&](db::session& session, run_state, std::string_view) {
    turn(session, around.with, name, options, store);
  }});
  if (std::move(held).finish()) return;
  throw error(
      {.kind = error_code::conflict},
      "plan '" + std::string(name) +
          "': a pass began while it was declared, and nothing was changed: declare it again");
}

}  // namespace

std::shared_ptr<store> make(surroundings const& around, std::string_view name,
                            planner_options const& options) {
  check(name, options);
  auto into = target(around, name, options.queue);
  if (into->present().options.in_order && options.priority != planner_options{}.priority) {
    bad(name, "a priority of " + std::to_string(options.priority) + ": the tasks of queue '" +
                  options.queue +
                  "' are done in the order in which they were added (in_order): leave it out");
  }
  examine(around, name, options);
  around.declared->add(name, options);
  if (!write(around.with, name, options, *into)) write_between_passes(around, name, options, *into);
  return open(around, name);
}

std::shared_ptr<store> open(surroundings const& around, std::string_view name) {
  auto found = look(around.with, name);
  if (!found) return nullptr;
  auto into = target(around, name, found->options.queue);
  return std::make_shared<store>(around, std::move(*found), std::move(into));
}

std::shared_ptr<store> open(surroundings const& around, std::string_view name,
                            planner_options const& declared) {
  around.declared->add(name, declared);
  return open(around, name);
}

void store::need_own_sql() const { around_.declared->need(definition_, around_.url); }

std::shared_ptr<queues::store> store::from(std::string const& queue) const {
  std::lock_guard const lock(sources_->guard);
  auto& one = sources_->all[queue];
  if (!one) one = queues::open(with(), *around_.lease, queue);
  return one;
}

std::unique_ptr<store> store::now() const {
  auto found = look(with(), definition_.name);
  if (!found) bad(definition_.name, "it is not there any more");
  auto into = found->options.queue == definition_.options.queue
                  ? queue_
                  : target(around_, definition_.name, found->options.queue);
  auto out = std::make_unique<store>(around_, std::move(*found), std::move(into));
  out->follow(*this);
  return out;
}

planner_info store::info() const {
  with().check_process();
  auto const now = look(with(), definition_.name);
  if (!now) bad(definition_.name, "it is not there any more");
  planner_info out{
      .name = definition_.name,
      .options = now->options,
      .paused = now->paused,
      .passes = now->passes,
      .last_pass = db::time_of(now->ended_us),
      .next_pass = now->paused ? std::nullopt : std::optional(db::time_of(now->next_us)),
      .launched = now->launched,
      .refused = 0,
      .error = now->error};
  core::read(with(), [&](db::session& session) {
    decode(db::run(session, with().sql["planned.count_refused"], {definition_.id}).row(0)[0],
           out.refused);
  });
  return out;
}

std::vector<refused_key> store::refusals(refusals_query const& query) const {
  with().check_process();
  base::limits("plan", definition_.name)
      .between("the number of keys (limit)", query.limit, 1, 10'000);
  std::vector<refused_key> out;
  core::read(with(), [&](db::session& session) {
    out.clear();
    auto const found =
        db::run(session, with().sql["planned.refused"],
                {definition_.id, std::string_view(query.after), std::int64_t{query.limit}});
    for (std::size_t i = 0; i < found.size(); ++i) {
      auto const row = found.row(i);
      auto& one = out.emplace_back();
      decode(row[0], one.key);
      decode(row[1], one.reason);
      one.first = db::time_in(row[2]).value_or(timestamp{});
      one.last = db::time_in(row[3]).value_or(timestamp{});
      decode(row[4], one.count);
    }
  });
  return out;
}

std::optional<planned_key> store::find(key const& key) const {
  with().check_process();
  std::optional<planned_key> out;
  core::read(with(), [&](db::session& session) {
    out.reset();
    auto const found = db::run(session, with().sql["planned.find"], {definition_.id, key.str()});
    if (found.size() == 0) return;
    auto const row = found.row(0);
    out.emplace();
    out->key = key.str();
    decode(row[0], out->launches);
    out->first = db::time_in(row[1]);
    out->last = db::time_in(row[2]);
    decode(row[3], out->refusals);
    out->first_refused = db::time_in(row[4]);
    out->last_refused = db::time_in(row[5]);
    decode(row[6], out->reason);
  });
  return out;
}

bool store::change(std::string_view action, std::string_view subject, audit_note const& note,
                   std::function<bool(db::session&)> const& guarded) const {
  with().check_process();
  auto const process = process_name();
  key const piece;
  core::change const change{with(), process, piece.str(), action, core::bounded_remark(note)};
  auto const detail = std::string(subject) + "request " + queues::store::new_id();
  return core::make(change, detail, guarded);
}

bool store::forget(key const& key, audit_note const& note) const {
  return change("forget", "key " + key.str() + "; ", note, [&](db::session& session) {
    auto const forgotten =
        db::run(session, with().sql["planned.forget"], {definition_.id, key.str()});
    db::run(session, with().sql["period.forget"], {definition_.id, key.str()});
    return forgotten.affected > 0;
  });
}

bool store::pause(bool paused, audit_note const& note) const {
  return change(paused ? "pause" : "resume", "", note, [&](db::session& session) {
    return db::run(session, with().sql["planner.pause"],
                   {definition_.id, std::int64_t{paused ? 1 : 0}})
               .affected > 0;
  });
}

std::vector<change_info> store::changes() const {
  with().check_process();
  return core::list_changes(with(), process_name(), key().str());
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
