// Upkeep: fewer rows for the same tasks, a changed period followed, old outcomes forgotten. In
// small transactions that pass over what others have in hand.
#include "db/cells.hpp"
#include "queue/members/series.hpp"
#include "queue/members/segment_text.hpp"
#include "queue/members/store.hpp"

#include "base/mutant.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <iterator>
#include <optional>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

/// So much is locked at a time, in pieces of at least so many segments.
constexpr std::int64_t ids_a_piece = 10'000;
constexpr std::int64_t least_piece = 10;
constexpr std::int64_t largest_piece = 1000;
constexpr std::int64_t ids_at_once = 100'000;

/// So many segments, should they be as these.
std::int64_t piece_like(std::vector<segment> const& segments) {
  auto const count = static_cast<std::int64_t>(segments.size());
  return std::clamp(ids_a_piece * count / ids_in(segments), least_piece, largest_piece);
}

}  // namespace

std::vector<segment> store::tidied(db::session& session, row const& here,
                                   std::vector<segment> const& piece, std::int64_t now_us,
                                   maintenance_report& sum) const {
  std::vector<segment> out;
  for (auto const& one : piece) {
    auto const next = rearmed(here.by, one, now_us);
    if (next != one) ++sum.rearmed;
    auto const found = db::run(session, context_.sql["segment.living"], {here.id, one.lo, one.hi});
    std::vector<std::int64_t> living(found.size());
    for (std::size_t i = 0; i < living.size(); ++i) decode(found.row(i)[0], living[i]);
    auto const left = trimmed(next, living);
    sum.trimmed += one.size() - ids_in(left);
    out.insert(out.end(), left.begin(), left.end());
  }
  auto const before = out.size();
  out = merged(out, here.by.segment);
  sum.merged += static_cast<std::int64_t>(before - out.size());
  return out;
}

bool store::tidy_piece(row const& here, std::int64_t& after, std::int64_t& size,
                       maintenance_report& sum) const {
  bool more = false;
  auto const from = after;
  auto const most = size;
  auto const before = sum;
  core::transact(context_, {.name = "upkeep"}, [&](db::session& session) {
    sum = before;
    after = from;
    auto const found = db::run(session, context_.sql["segment.piece"], {here.id, from, most});
    more = std::cmp_equal(found.size(), most);
    std::vector<segment> piece(found.size());
    for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = segment_of(found.row(i));
    if (piece.empty()) return core::decision::rollback;
    size = piece_like(piece);
    if (std::cmp_less(2 * size, piece.size())) {  // wider than those before: in smaller pieces
      more = true;
      return core::decision::rollback;
    }
    // The last is read again with the next piece, whose first may be its neighbour.
    after = more ? piece[piece.size() - 2].hi : piece.back().hi;
    auto const now_us =
        db::get<std::int64_t>(db::run(session, context_.sql["queue.now"], {}).row(0)[0]);
    auto const better = tidied(session, here, piece, now_us, sum);
    if (better == piece) return core::decision::rollback;
    std::vector<segment> gone;
    std::vector<segment> fresh;
    auto const less = [](segment const& a, segment const& b) { return a.lo < b.lo; };
    for (auto const& one : piece) {
      auto const at = std::lower_bound(better.begin(), better.end(), one, less);
      if (at == better.end() || *at != one) gone.push_back(one);
    }
    for (auto const& one : better) {
      auto const at = std::lower_bound(piece.begin(), piece.end(), one, less);
      if (at == piece.end() || *at != one) fresh.push_back(one);
    }
    db::run(session, context_.sql["segment.remove_all"], {text_of(gone)});
    if (!fresh.empty()) db::run(session, context_.sql["segment.put"], {here.id, text_of(fresh)});
    return core::decision::commit;
  });
  return more;
}

std::int64_t store::forget_old(row const& here, std::stop_token const& stop) const {
  auto const now = now_us();
  auto const before = now - std::chrono::microseconds(here.options.retention).count();
  std::int64_t sum = 0;
  // What it did before its reply was lost is not counted.
  auto const prune = [&](std::string_view reason, std::initializer_list<value> values) {
    core::insist([&] {
      sum += core::write(context_, {.name = "forget"}, context_.sql[reason], values).affected;
    });
  };
  // From one that is there to the next: ids leave gaps, and those that triggers give are far above.
  std::optional<std::int64_t> next;
  auto const look_above = [&](std::int64_t after) {
    core::read(context_, [&](db::session& session) {
      decode(db::run(session, context_.sql["outcome.next"], {after}).row(0)[0], next);
    });
    return next.has_value();
  };
  for (std::int64_t after = 0; !stop.stop_requested() && look_above(after);
       after = *next - 1 + ids_at_once) {
    prune("outcome.prune", {here.id, *next - 1, *next - 1 + ids_at_once, before});
  }
  auto const outcomes = sum;
  prune("claim.prune", {now - tombstone_us});
  return outcomes;
}

maintenance_report store::upkeep(std::stop_token const& stop) {
  context_.check_process();
  follow(0);
  auto const here = present();
  maintenance_report sum;
  sum.removed = forget_done(here, stop);
  if (here.by.in_order) forget_strays(context_, here.id, stop);
  std::int64_t after = 0;
  std::int64_t size = std::clamp(ids_a_piece / here.by.segment, least_piece, largest_piece);
  for (bool more = true; more && !stop.stop_requested();) {
    auto const from = after;
    auto const most = size;
    auto const so_far = sum;
    core::insist([&] {
      after = from;
      size = most;
      sum = so_far;
      more = tidy_piece(here, after, size, sum);
    });
  }
  sum.forgotten = forget_old(here, stop);
  return sum;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
