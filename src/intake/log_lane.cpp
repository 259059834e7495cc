// A lane that reads a log: its places are rows of the book, each moved from where it was, in the
// transaction of the effect.
#include "base/failpoint.hpp"
#include "base/mutant.hpp"
#include "base/rows.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"
#include "intake/lane.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace intakes {

namespace {

/// How long an anchor is waited for: it is there, or the log has given it up.
constexpr std::chrono::seconds longest_wait_for_anchor{5};

std::string words_of(broker::log_extent const& extent) {
  return extent.topic + "/" + std::to_string(extent.partition);
}

}  // namespace

void log_lane::work() {
  while (active() && !stopping()) {
    auto end = find_places();
    if (end == progress::done) end = read();
    if (end != progress::anew) return;
  }
}

bool log_lane::is_ours(broker::log_extent const& extent) const noexcept {
  return extent.partition % declared().options.lanes == options().lane;
}

std::map<log_lane::partition, log_lane::state> log_lane::known_places() const {
  std::map<partition, state> out;
  core::read(context(), [&](db::session& session) {
    out.clear();
    auto const found = db::run(session, context().sql["intake.places"], {declared().id});
    for (std::size_t i = 0; i < found.size(); ++i) {
      auto const row = found.row(i);
      partition const at{db::get<std::string>(row[0]),
                         static_cast<std::int32_t>(db::get<std::int64_t>(row[1]))};
      out[at] = {db::get<std::int64_t>(row[2]), db::get<std::string>(row[3]), 0};
    }
  });
  return out;
}

/// `begin` is for the partitions that the first lane sees at its first look. One that comes later
/// did not exist when that was meant: all of it is new.
lane::progress log_lane::add_places(std::vector<broker::log_extent> const& missing) {
  auto const end = write([&](db::session& session) {
    bool const first =
        db::run(session, context().sql["intake.begin"], {declared().id}).affected > 0 ||
        base::left_out("intake_new_at_end");
    bool const at_end = first && declared().options.begin == log_begin::end;
    base::rows rows;
    for (auto const& one : missing) {
      rows.begin()
          .add(std::string_view(one.topic))
          .add(std::int64_t{one.partition})
          .add(at_end ? one.end : one.first);
    }
    if (!rows.empty()) {
      db::run(session, context().sql["intake.place_all"], {declared().id, rows.text()});
    }
    return true;
  });
  return end == outcome::done ? progress::done : progress::anew;
}

lane::progress log_lane::find_places() {
  auto const extents = source_->extents();
  partitions_ = extents.size();
  auto known = known_places();
  std::vector<broker::log_extent> missing;
  for (auto const& one : extents) {
    if (!known.contains({one.topic, one.partition})) missing.push_back(one);
  }
  if (!missing.empty()) {
    if (auto const end = add_places(missing); end != progress::done) return end;
    known = known_places();
  }
  places_.clear();
  for (auto const& one : extents) {
    if (!is_ours(one)) continue;
    auto place = known[{one.topic, one.partition}];
    place.end = one.end;
    if (auto const end = check_extent(one, place); end != progress::done) return end;
    places_[{one.topic, one.partition}] = std::move(place);
  }
  for (auto const& [at, place] : known) {
    // A name of its own: clang 14 lets no lambda see a structured binding.
    bool const there = std::any_of(extents.begin(), extents.end(), [&at = at](auto const& one) {
      return one.topic == at.topic && one.partition == at.number;
    });
    if (!there && at.number % declared().options.lanes == options().lane) {
      return stop(at.topic + "/" + std::to_string(at.number) +
                  " is gone from the log, and was read up to " + std::to_string(place.next) +
                  ": where the log was made anew, declare another intake for it");
    }
  }
  if (!places_.empty()) source_->read_from(places());
  return progress::done;
}

/// Whether the log is the one that was read, and still has what comes next.
lane::progress log_lane::check_extent(broker::log_extent const& extent, state& place) {
  if (place.next > extent.end) {
    return stop(words_of(extent) + " ends at " + std::to_string(extent.end) +
                ", and was read up to " + std::to_string(place.next) +
                ": the log was made anew, or has lost messages; move the intake to a position of "
                "this log, then resume it");
  }
  if (place.next < extent.first) return skip_gap(extent, place);
  if (place.next > extent.first && !place.anchor.empty() &&
      anchor_differs({extent.topic, extent.partition}, place)) {
    return stop("the message of " + words_of(extent) + " at " + std::to_string(place.next - 1) +
                " is another than the one that was taken: the log was made anew; move the intake "
                "to a position of this log, then resume it");
  }
  return progress::done;
}

lane::progress log_lane::skip_gap(broker::log_extent const& extent, state& place) {
  auto const gone = extent.first - place.next;
  if (declared().options.on_gap == gap_policy::stop && !base::left_out("intake_jump")) {
    return stop(std::to_string(gone) + " messages of " + words_of(extent) + ", from " +
                std::to_string(place.next) + " up to " + std::to_string(extent.first) +
                ", are gone from the log and were never taken: move the intake behind them, or "
                "declare it with on_gap skip; then resume it");
  }
  base::rows rows;
  rows.begin()
      .add(std::string_view(extent.topic))
      .add(std::int64_t{extent.partition})
      .add(place.next)
      .add(extent.first)
      .add(std::string_view())
      .add(std::int64_t{0})
      .add(std::int64_t{0})
      .add(gone);
  auto const end = write([&](db::session& session) {
    return db::run(session, context().sql["intake.move"], {declared().id, rows.text()}).affected ==
           1;
  });
  if (end != outcome::done) return progress::anew;
  report().skipped += gone;
  place.next = extent.first;
  place.anchor.clear();
  return progress::done;
}

/// One that the log does not have any more, for it keeps the newest of each key, says nothing.
bool log_lane::anchor_differs(partition const& at, state const& place) {
  if (base::left_out("intake_anchor")) return false;
  broker::log_place const before{at.topic, at.number, place.next - 1};
  source_->read_from(std::span(&before, 1));
  auto const found =
      source_->take({.messages = 1, .wait = longest_wait_for_anchor, .gather = {}}, options().stop);
  if (found.empty() || found.front().position != before.next) return false;
  return anchor_of(found.front()) != place.anchor;
}

std::vector<broker::log_place> log_lane::places() const {
  std::vector<broker::log_place> out;
  out.reserve(places_.size());
  for (auto const& [at, place] : places_) out.push_back({at.topic, at.number, place.next});
  return out;
}

bool log_lane::at_end() const {
  return std::all_of(places_.begin(), places_.end(),
                     [](auto const& one) { return one.second.next >= one.second.end; });
}

lane::progress log_lane::read() {
  constexpr std::chrono::seconds between_extents{30};
  auto looked = base::boot_clock::now();
  for (;;) {
    if (stopping() || (!waits_for_more() && at_end())) return progress::ended;
    auto const messages = source_->take(next_page(), options().stop);
    static_cast<void>(base::hit_failpoint("intake.taken"));
    if (stopping() || !active()) return progress::ended;
    // A log may end with positions that have no message for us.
    if (messages.empty() && !waits_for_more()) return progress::ended;
    if (auto const end = take_page(messages); end != progress::done) return end;
    auto const now = base::boot_clock::now();
    if (messages.empty() || now - looked > between_extents) {
      looked = now;
      if (source_->partitions() != partitions_) return progress::anew;
    }
  }
}

lane::progress log_lane::take_page(std::span<broker::message const> messages) {
  if (messages.empty()) return progress::done;
  auto page = mapped_page(messages);
  // Delivered once more: the place has passed it.
  std::erase_if(page, [&](mapped const& one) {
    auto const found = places_.find({std::string(one.message.topic), one.message.partition});
    return found == places_.end() || one.message.position < found->second.next;
  });
  auto const end = take(page);
  if (end != progress::done) return end;
  source_->report(places());
  static_cast<void>(base::hit_failpoint("intake.settled"));
  return end;
}

lane::progress log_lane::commit(std::span<mapped> part) {
  struct move {
    std::int64_t to = 0;
    mapped const* last = nullptr;
    std::int64_t taken = 0;
    std::int64_t refused = 0;
  };
  std::map<partition, move> moves;
  sorted_part sorted;
  for (auto const& one : part) {
    auto& move = moves[{std::string(one.message.topic), one.message.partition}];
    move.to = one.message.position + 1;
    move.last = &one;
    ++(one.refused.empty() ? move.taken : move.refused);
    sorted.add(one);
  }
  std::map<partition, std::string> anchors;
  base::rows rows;
  for (auto const& [at, move] : moves) {
    auto const& anchor = anchors[at] = anchor_of(move.last->message);
    rows.begin()
        .add(std::string_view(at.topic))
        .add(std::int64_t{at.number})
        .add(places_[at].next)
        .add(move.to)
        .add(std::string_view(anchor))
        .add(move.taken)
        .add(move.refused)
        .add(std::int64_t{0});
  }
  auto const moved = [&](db::session& session) {
    return db::run(session, context().sql["intake.move"], {declared().id, rows.text()}).affected ==
               static_cast<std::int64_t>(moves.size()) ||
           base::left_out("intake_once");
  };
  if (base::left_out("intake_apart") && write(moved) != outcome::done) return progress::anew;
  if (base::left_out("intake_refused_apart")) {
    write([&](db::session& session) {
      effects().put_aside(session, sorted.refused);
      return true;
    });
  }
  auto const first = effects().reserve(sorted.good);
  auto const end = write([&](db::session& session) {
    if (!base::left_out("intake_apart") && !moved(session)) return false;
    effects().write(session, sorted.good, first);
    if (!base::left_out("intake_refused_apart")) effects().put_aside(session, sorted.refused);
    if (base::hit_failpoint("intake.effect_done")) session.cut();
    return true;
  });
  if (end != outcome::done) return progress::anew;  // moved by a person, or it is not known
  for (auto const& [at, move] : moves) places_[at] = {move.to, anchors[at], places_[at].end};
  count(static_cast<std::int64_t>(sorted.good.size()),
        static_cast<std::int64_t>(sorted.refused.size()));
  return progress::done;
}

}  // namespace intakes
}  // namespace v1
}  // namespace daybook
