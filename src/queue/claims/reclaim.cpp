// Taking back what dead holders had in hand: what they had begun and not finished becomes suspect.
#include "queue/claims/batch.hpp"
#include "queue/members/series.hpp"
#include "queue/members/segment_text.hpp"
#include "queue/members/store.hpp"

#include "base/mutant.hpp"

#include <daybook/error.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

/// The tasks of a claim, and how they ended where its ledger knows.
std::vector<ending> endings_of(core::context const& context, db::session& session,
                               std::int64_t queue, std::vector<segment> const& ranges,
                               ledger const& known) {
  std::vector<ending> out;
  auto next = known.ended.begin();
  for (auto const& range : ranges) {
    auto const found = db::run(session, context.sql["segment.living"], {queue, range.lo, range.hi});
    for (std::size_t i = 0; i < found.size(); ++i) {
      ending one;
      decode(found.row(i)[0], one.id);
      while (next != known.ended.end() && next->hi <= one.id) ++next;
      if (next != known.ended.end() && next->lo <= one.id) one.how = &next->how;
      one.begun = known.has_begun(one.id);
      out.push_back(one);
    }
  }
  return out;
}

/// In the order of ids, as they are.
std::vector<std::string> keys_of(core::context const& context, db::session& session,
                                 std::int64_t queue, std::vector<last_failure> const& all) {
  constexpr std::int64_t page = 1000;
  std::vector<std::string> out;
  while (out.size() < all.size()) {
    auto const found = db::run(session, context.sql["member.range"],
                               {queue, all[out.size()].id, all.back().id + 1, page});
    auto const before = out.size();
    for (std::size_t i = 0; i < found.size() && out.size() < all.size(); ++i) {
      std::int64_t id = 0;
      decode(found.row(i)[0], id);
      if (id == all[out.size()].id) decode(found.row(i)[1], out.emplace_back());
    }
    if (out.size() == before) out.emplace_back();  // removed meanwhile
  }
  return out;
}

void mark_dead(core::context const& context, std::string const& holder) {
  try {
    core::mark_dead(context, holder);
  } catch (core::lost_reply const&) {
    // claim.seize looks whether it is.
  }
}

}  // namespace

bool store::reclaim_one(std::string const& id, std::string const& holder) {
  std::vector<last_failure> failed;
  std::vector<std::string> keys;
  for (;;) {
    try {
      auto const decided = core::transact(context_, {.name = "reclaim"}, [&](db::session& session) {
        auto const seized = db::run(session, context_.sql["claim.seize"], {id});
        auto const here = present();
        std::int64_t queue = 0;
        std::int64_t claimed_us = 0;
        if (seized.size() > 0) {
          decode(seized.row(0)[0], queue);
          decode(seized.row(0)[1], claimed_us);
        }
        if (queue != here.id) return core::decision::rollback;
        auto const column = db::run(session, context_.sql["claim.ranges"], {id});
        auto const ranges = ranges_of(std::get<std::string>(column.cells.at(0)));
        auto known = ledger_of(context_, session, id);
        if (base::left_out("ledger")) known = {};
        auto const endings = endings_of(context_, session, here.id, ranges, known);
        auto texts =
            queues::text_of(settle(here.by, ranges, endings, unfinished::crashed), here.by);
        if (!known.empty()) db::run(session, context_.sql["claim.forget_done"], {id});
        db::run(session, context_.sql["claim.complete"],
                {id, holder, texts.segments, texts.outcomes,
                 std::int64_t{here.by.record_every_outcome ? 1 : 0}});
        end_series(context_, session, texts.over);
        db::run(session, context_.sql["claim.bury"], {id, queue, holder, claimed_us});
        keys = keys_of(context_, session, queue, texts.failed);
        failed = std::move(texts.failed);
        return core::decision::commit;
      });
      if (decided != core::decision::commit) return false;
      for (std::size_t i = 0; i < failed.size(); ++i) {
        if (!keys[i].empty()) tell(*this, failed[i], keys[i]);
      }
      return true;
    } catch (core::lost_reply const&) {
      // Once more: seized by then, it is not there for the taking.
    }
  }
}

std::int64_t store::reclaim() {
  context_.check_process();
  struct found {
    std::string id;
    std::string holder;
    bool marked = false;
  };
  std::vector<found> abandoned;
  auto const here = present();
  core::read(context_, [&](db::session& session) {
    auto const rows = db::run(session, context_.sql["claim.abandoned"],
                              {here.id, std::int64_t{core::max_skew.count()}});
    abandoned.assign(rows.size(), {});
    for (std::size_t i = 0; i < abandoned.size(); ++i) {
      decode(rows.row(i)[0], abandoned[i].id);
      decode(rows.row(i)[1], abandoned[i].holder);
      decode(rows.row(i)[2], abandoned[i].marked);
    }
  });
  std::int64_t count = 0;
  auto const who = lease_->peek();
  for (auto const& one : abandoned) {
    // Nobody declares itself dead: who is late renews, unless another was faster.
    if (!one.marked && who && !who->dead() && one.holder == who->uuid()) continue;
    if (!one.marked) mark_dead(context_, one.holder);
    if (reclaim_one(one.id, one.holder)) ++count;
  }
  return count;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
