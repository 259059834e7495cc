// Members that were done for long: an inbox does not grow for ever. In small transactions that pass
// over what others have in hand.
#include "queue/members/segment_text.hpp"
#include "queue/members/store.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

constexpr std::int64_t segments_a_pass = 100;
constexpr std::int64_t ids_at_once = 10'000;

std::vector<segment> done_after(core::context const& context, row const& here, task_state state,
                                std::int64_t after) {
  std::vector<segment> out;
  core::read(context, [&](db::session& session) {
    auto const found = db::run(session, context.sql["segment.of_state"],
                               {here.id, static_cast<std::int64_t>(state), after, segments_a_pass});
    out.assign(found.size(), {});
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = segment_of(found.row(i));
  });
  return out;
}

/// All but those that ended, or came, since then, and those whose end is still to be seen. What has
/// no outcome is older than those are kept.
std::int64_t forget_in(core::context const& context, db::session& session, db::entry const& members,
                       row const& here, segment const& segment, std::int64_t since_us) {
  std::int64_t sum = 0;
  auto lo = segment.lo;
  auto const forget_to = [&](std::int64_t hi) {
    if (lo >= hi) return;
    sum += db::run(session, members, {here.id, lo, hi, since_us}).affected;
  };
  auto const recent =
      db::run(session, context.sql["outcome.since"], {segment.lo, segment.hi, since_us});
  for (std::size_t i = 0; i < recent.size(); ++i) {
    std::int64_t first = 0;
    std::int64_t end = 0;
    decode(recent.row(i)[0], first);
    decode(recent.row(i)[1], end);
    forget_to(first);
    lo = std::max(lo, end);
  }
  forget_to(segment.hi);
  return sum;
}

}  // namespace

std::int64_t store::forget_done(row const& here, std::stop_token const& stop) const {
  if (here.options.done_retention.count() == 0) return 0;
  auto const since_us = now_us() - std::chrono::microseconds(here.options.done_retention).count();
  bool planned = false;
  core::read(context_, [&](db::session& session) {
    decode(db::run(session, context_.sql["queue.is_planned"], {here.id}).row(0)[0], planned);
  });
  std::int64_t sum = 0;
  for (auto const state : {task_state::succeeded, task_state::discarded}) {
    // Those above say of which successes they still wait to hear: what was discarded and what is
    // gone are one to them.
    auto const awaited = planned && state == task_state::succeeded
                             ? context_.sql.text_of("member.awaited",
                                                    {{"in_queue", ":queue"}, {"key", "member_key"}})
                             : "1 = 0";
    auto const members = context_.sql.made("member.forget", {{"awaited", awaited}});
    auto page = done_after(context_, here, state, 0);
    for (std::span<segment const> rest = page; !rest.empty() && !stop.stop_requested();) {
      std::int64_t removed = 0;
      std::size_t looked_at = 0;
      auto const forget = [&](db::session& session) {
        removed = 0;
        looked_at = 0;
        for (std::int64_t ids = 0; looked_at < rest.size() && ids < ids_at_once; ++looked_at) {
          auto const held = db::run(session, context_.sql["segment.hold"], {rest[looked_at].lo});
          if (held.size() == 0) continue;
          auto const now = segment_of(held.row(0));
          if (now.state != state || now.due_us != never_us) continue;
          ids += now.size();
          removed += forget_in(context_, session, members, here, now, since_us);
        }
        return removed > 0 ? core::decision::commit : core::decision::rollback;
      };
      try {
        core::transact(context_, {.name = "forget"}, forget);
      } catch (core::lost_reply const&) {
        continue;  // once more: what is gone is not counted then
      }
      sum += removed;
      auto const last = rest[looked_at - 1].hi;
      rest = rest.subspan(looked_at);
      if (!rest.empty() || std::cmp_less(page.size(), segments_a_pass)) continue;
      page = done_after(context_, here, state, last);
      rest = page;
    }
  }
  return sum;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
