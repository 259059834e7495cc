#include "intake/store.hpp"

#include "base/limits.hpp"
#include "core/admin/operate.hpp"
#include "core/run/run.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"
#include "intake/lane.hpp"

#include <daybook/error.hpp>

#include <exception>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace intakes {

namespace {

std::shared_ptr<queues::store> queue_for(dependencies const& parts, std::string_view name,
                                         intake_options const& options) {
  auto const& queue = queue_of(options);
  if (queue.empty()) return nullptr;
  auto into = queues::open(parts.context, *parts.lease, queue);
  if (!into) refuse(name, "there is no queue '" + queue + "': make it first");
  if (!options.into.empty() && into->present().options.period.count() > 0) {
    refuse(name, "the queue '" + queue + "' has a period: a message is done once (into); the " +
                     "members of such a queue come and go by messages (members)");
  }
  return into;
}

refused_message refused_in(std::span<cell const> row) {
  refused_message out;
  out.number = db::get<std::int64_t>(row[0]);
  out.at = db::time_in(row[1]).value_or(timestamp{});
  decode(row[2], out.topic);
  out.partition = static_cast<std::int32_t>(db::get<std::int64_t>(row[3]));
  decode(row[4], out.position);
  out.attempts = static_cast<int>(db::get<std::int64_t>(row[5]));
  decode(row[6], out.id);
  decode(row[7], out.key);
  decode(row[8], out.reason);
  decode(row[9], out.body);
  return out;
}

}  // namespace

std::shared_ptr<store> make(dependencies const& parts, std::string_view name,
                            intake_options const& options) {
  check(name, options);
  auto const into = queue_for(parts, name, options);
  write(parts.context, name, options, into.get());
  return open(parts, name);
}

std::shared_ptr<store> open(dependencies const& parts, std::string_view name) {
  auto found = look(parts.context, name);
  if (!found) return nullptr;
  auto into = queue_for(parts, name, found->options);
  return std::make_shared<store>(parts, std::move(*found), std::move(into));
}

std::unique_ptr<store> store::now() const {
  auto found = look(context(), declared_.name);
  if (!found) refuse(declared_.name, "it is not there any more");
  auto into = queue_of(found->options) == queue_of(declared_.options)
                  ? queue_
                  : queue_for(parts_, declared_.name, found->options);
  return std::make_unique<store>(parts_, std::move(*found), std::move(into));
}

void store::check_body(intake_body const& body) const {
  static_cast<void>(effect(context(), declared_, queue(), body));
}

template <class Lane, class Open>
take_report store::take_with(Open const& open, take_options const& options) const {
  context().check_process();
  take_report report;
  auto declared = now();
  auto const lanes = declared->declared().options.lanes;
  base::limits("intake", declared_.name).between("the lane", options.lane, 0, lanes - 1);
  auto const state = [&] {
    report.state = declared->declared().state;
    report.error = declared->declared().error;
    return report.state;
  };
  if (state() != intake_state::active) return report;
  auto attempt = parts_.runs->start(process(process_of(declared_.name)),
                                    key(std::to_string(options.lane)), {});
  if (!attempt) {
    report.holder = attempt.holder();
    return report;
  }
  report.ran = true;
  auto held = std::move(attempt).take();
  try {
    auto const source = open();
    for (bool outdated = true; outdated && state() == intake_state::active;) {
      Lane lane(*source, *declared, held, options, report);
      lane.work();
      outdated = lane.outdated();
      if (outdated) declared = now();
      if (report.state == intake_state::stopped) break;
    }
  } catch (std::exception const& e) {
    static_cast<void>(std::move(held).release(e.what()));
    throw;
  }
  if (report.state == intake_state::stopped) {
    static_cast<void>(std::move(held).fail(report.error));
  } else if (options.stop.stop_requested() || report.state == intake_state::paused) {
    static_cast<void>(std::move(held).release("asked to stop"));
  } else {
    static_cast<void>(std::move(held).finish());
  }
  return report;
}

take_report store::take_from(broker::log& source, take_options const& options) const {
  return take_with<log_lane>([&] { return &source; }, options);
}

take_report store::take_from(broker::queue& source, take_options const& options) const {
  return take_with<queue_lane>([&] { return &source; }, options);
}

take_report store::take_from(broker::log_factory const& open, take_options const& options) const {
  return take_with<log_lane>(open, options);
}

take_report store::take_from(broker::queue_factory const& open, take_options const& options) const {
  return take_with<queue_lane>(open, options);
}

intake_info store::info() const {
  context().check_process();
  auto const seen = now();
  auto const& by = seen->declared();
  intake_info out{by.name, by.options, by.state, by.error};
  core::read(context(), [&](db::session& session) {
    out.places.clear();
    out.refused = db::get<std::int64_t>(
        db::run(session, context().sql["intake.count_refused"], {by.id}).row(0)[0]);
    auto const found = db::run(session, context().sql["intake.places"], {by.id});
    for (std::size_t i = 0; i < found.size(); ++i) {
      auto const row = found.row(i);
      auto& one = out.places.emplace_back();
      decode(row[0], one.topic);
      one.partition = static_cast<std::int32_t>(db::get<std::int64_t>(row[1]));
      decode(row[2], one.next);
      one.moved = db::time_in(row[4]).value_or(timestamp{});
      decode(row[5], one.taken);
      decode(row[6], one.refused);
      decode(row[7], one.skipped);
    }
  });
  return out;
}

std::vector<refused_message> store::refused(refused_query const& query) const {
  context().check_process();
  base::limits("intake", declared_.name)
      .between("the number of messages (limit)", query.limit, 1, 10'000);
  std::vector<refused_message> out;
  core::read(context(), [&](db::session& session) {
    out.clear();
    auto const found = db::run(session, context().sql["intake.refused"],
                               {declared_.id, query.after, std::int64_t{query.limit}});
    for (std::size_t i = 0; i < found.size(); ++i) out.push_back(refused_in(found.row(i)));
  });
  return out;
}

bool store::change(std::string_view action, std::string_view detail, audit_note const& note,
                   std::function<bool(db::session&)> const& guarded) const {
  context().check_process();
  auto const process = process_of(declared_.name);
  key const none;
  core::change const change{context(), process, none.str(), action, core::bounded_remark(note)};
  return core::make(change, std::string(detail) + "request " + queues::store::new_id(), guarded);
}

bool store::retry(std::int64_t number, audit_note const& note, intake_body const& body) const {
  auto const seen = now();
  auto const& by = seen->declared();
  auto const found = refused({.after = number - 1, .limit = 1});
  if (found.empty() || found.front().number != number) return false;
  auto const& one = found.front();
  broker::header const name{by.options.id.name, one.id};
  broker::message const message{.topic = one.topic,
                                .partition = one.partition,
                                .position = one.position.value_or(-1),
                                .id = one.id,
                                .key = one.key,
                                .body = one.body,
                                .headers = std::span(&name, one.id.empty() ? 0 : 1)};
  effect const effects(context(), by, seen->queue(), body);
  bool const in_queue = effects.names_are_keys();
  auto const again = map(message, by.options, in_queue, in_queue);
  if (!again.refused.empty()) {
    refuse(by.name,
           "message " + std::to_string(number) + " still cannot be taken: " + again.refused);
  }
  mapped const* const part = &again;
  auto const first = effects.reserve(std::span(&part, 1));
  return change(
      "retry", "message " + std::to_string(number) + "; ", note, [&](db::session& session) {
        if (db::run(session, context().sql["intake.drop_refused"], {by.id, number}).affected == 0) {
          return false;
        }
        effects.write(session, std::span(&part, 1), first);
        return true;
      });
}

bool store::discard(std::int64_t number, audit_note const& note) const {
  return change(
      "discard", "message " + std::to_string(number) + "; ", note, [&](db::session& session) {
        return db::run(session, context().sql["intake.drop_refused"], {declared_.id, number})
                   .affected > 0;
      });
}

bool store::move(broker::log_place const& place, audit_note const& note) const {
  if (place.next < 0) refuse(declared_.name, "a position is 0 or more");
  auto const places = info().places;
  for (auto const& one : places) {
    if (one.topic != place.topic || one.partition != place.partition) continue;
    auto const detail = place.topic + "/" + std::to_string(place.partition) + " from " +
                        std::to_string(one.next) + " to " + std::to_string(place.next) + "; ";
    return change("move", detail, note, [&](db::session& session) {
      bool const moved = db::run(session, context().sql["intake.put_place"],
                                 {declared_.id, std::string_view(place.topic),
                                  std::int64_t{place.partition}, one.next, place.next})
                             .affected > 0;
      if (moved) db::run(session, context().sql["intake.touch"], {declared_.id});
      return moved;
    });
  }
  return false;
}

bool store::set_state(intake_state state, audit_note const& note) const {
  auto const* const word = state == intake_state::active ? "resume" : "pause";
  return change(word, "", note, [&](db::session& session) {
    return db::run(session, context().sql["intake.set_state"],
                   {declared_.id, static_cast<std::int64_t>(state), std::string_view()})
               .affected > 0;
  });
}

std::vector<change_info> store::changes() const {
  context().check_process();
  return core::list_changes(context(), process_of(declared_.name), key().str());
}

}  // namespace intakes
}  // namespace v1
}  // namespace daybook
