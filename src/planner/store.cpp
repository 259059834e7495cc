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
                          planner_options const& of, queues::store const& into) {
  auto held = between_passes(around, name);
  examine(around, name, of);  // passes have launched since
  held.internals().ends_with({.write = [&](db::session& on, run_state, std::string_view) {
    turn(on, around.with, name, of, into);
  }});
  if (std::move(held).finish()) return;
  throw error(
      {.kind = error_code::conflict},
      "plan '" + std::string(name) +
          "': a pass began while it was declared, and nothing was changed: declare it again");
}

}  // namespace

std::shared_ptr<store> make(surroundings const& around, std::string_view name,
                            planner_options const& of) {
  check(name, of);
  auto into = target(around, name, of.queue);
  if (into->present().options.in_order && of.priority != planner_options{}.priority) {
    bad(name, "a priority of " + std::to_string(of.priority) + ": the tasks of queue '" + of.queue +
                  "' are done in the order in which they were added (in_order): leave it out");
  }
  examine(around, name, of);
  around.declared->add(name, of);
  if (!write(around.with, name, of, *into)) write_between_passes(around, name, of, *into);
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

void store::need_own_sql() const { around_.declared->need(of_, around_.url); }

std::shared_ptr<queues::store> store::from(std::string const& queue) const {
  std::lock_guard const lock(sources_->guard);
  auto& one = sources_->all[queue];
  if (!one) one = queues::open(with(), *around_.lease, queue);
  return one;
}

std::unique_ptr<store> store::now() const {
  auto found = look(with(), of_.name);
  if (!found) bad(of_.name, "it is not there any more");
  auto into = found->options.queue == of_.options.queue
                  ? into_
                  : target(around_, of_.name, found->options.queue);
  auto out = std::make_unique<store>(around_, std::move(*found), std::move(into));
  out->follow(*this);
  return out;
}

planner_info store::info() const {
  with().check_process();
  auto const now = look(with(), of_.name);
  if (!now) bad(of_.name, "it is not there any more");
  planner_info out{
      .name = of_.name,
      .options = now->options,
      .paused = now->paused,
      .passes = now->passes,
      .last_pass = db::time_of(now->ended_us),
      .next_pass = now->paused ? std::nullopt : std::optional(db::time_of(now->next_us)),
      .launched = now->launched,
      .refused = 0,
      .error = now->error};
  core::read(with(), [&](db::session& on) {
    decode(db::run(on, with().sql["planned.count_refused"], {of_.id}).row(0)[0], out.refused);
  });
  return out;
}

std::vector<refused_key> store::refusals(refusals_query const& what) const {
  with().check_process();
  base::limits("plan", of_.name).between("the number of keys (limit)", what.limit, 1, 10'000);
  std::vector<refused_key> out;
  core::read(with(), [&](db::session& on) {
    out.clear();
    auto const found = db::run(on, with().sql["planned.refused"],
                               {of_.id, std::string_view(what.after), std::int64_t{what.limit}});
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

std::optional<planned_key> store::find(key const& of) const {
  with().check_process();
  std::optional<planned_key> out;
  core::read(with(), [&](db::session& on) {
    out.reset();
    auto const found = db::run(on, with().sql["planned.find"], {of_.id, of.str()});
    if (found.size() == 0) return;
    auto const row = found.row(0);
    out.emplace();
    out->key = of.str();
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

bool store::change(std::string_view action, std::string_view what, audit_note const& by,
                   std::function<bool(db::session&)> const& guarded) const {
  with().check_process();
  auto const process = process_name();
  key const piece;
  core::change const change{with(), process, piece.str(), action, core::bounded_remark(by)};
  auto const detail = std::string(what) + "request " + queues::store::new_id();
  return core::make(change, detail, guarded);
}

bool store::forget(key const& of, audit_note const& by) const {
  return change("forget", "key " + of.str() + "; ", by, [&](db::session& on) {
    auto const forgotten = db::run(on, with().sql["planned.forget"], {of_.id, of.str()});
    db::run(on, with().sql["period.forget"], {of_.id, of.str()});
    return forgotten.affected > 0;
  });
}

bool store::pause(bool paused, audit_note const& by) const {
  return change(paused ? "pause" : "resume", "", by, [&](db::session& on) {
    return db::run(on, with().sql["planner.pause"], {of_.id, std::int64_t{paused ? 1 : 0}})
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
