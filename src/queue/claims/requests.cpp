// What people asked for is done here, by the next claim: the task is cut out of its segment.
#include "queue/members/series.hpp"
#include "queue/members/segment_text.hpp"
#include "queue/members/store.hpp"

#include <daybook/error.hpp>

#include <span>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

constexpr std::int64_t at_once = 100;

}  // namespace

/// False: the task is in a claim, or another has its segment; the request stays.
bool store::attend_one(db::session& session, row const& here, std::span<cell const> request,
                       std::int64_t now_us) const {
  std::int64_t seq = 0;
  std::int64_t member = 0;
  std::int64_t kind = 0;
  decode(request[0], seq);
  decode(request[1], member);
  decode(request[2], kind);
  std::int64_t at_us = 0;
  decode(request[3], at_us);
  auto const found = db::run(session, context_.sql["segment.hold"], {member});
  if (found.size() == 0) {
    // Of a member that is gone nothing is asked any more.
    auto const living =
        db::run(session, context_.sql["segment.living"], {here.id, member, member + 1});
    if (living.size() > 0) return false;
  } else {
    auto const whole = segment_of(found.row(0));
    auto one = whole;
    one.lo = member;
    one.hi = member + 1;
    auto const changed = at_us < 0 ? with_priority(one, static_cast<int>(at_us + priorities))
                                   : change(here.by, one, static_cast<asked>(kind), now_us,
                                            at_us > 0 ? at_us - front_us : now_us);
    if (changed) {
      db::run(session, context_.sql["segment.remove"], {whole.hi});
      db::run(session, context_.sql["segment.put"], {here.id, text_of(carve(whole, *changed))});
      written const put{*changed};
      if (here.by.in_order) {
        end_series(context_, session, over_in(std::span(&put, 1)));
        if (is_over(whole) && !is_over(*changed)) begin_again(context_, session, member, now_us);
      }
    }
  }
  db::run(session, context_.sql["request.remove"], {seq});
  return true;
}

std::int64_t store::attend() {
  {
    std::lock_guard const lock(guard_);
    attended_ = base::boot_clock::now();
  }
  auto const here = present();
  bool any = false;
  core::read(context_, [&](db::session& session) {
    auto const beside = db::run(session, context_.sql["claim.beside"], {here.id});
    decode(beside.row(0)[0], any);
  });
  if (!any) return 0;
  std::int64_t count = 0;
  // Those of tasks in hand stay; what was asked for after them must not wait for that.
  for (std::int64_t after = 0; after >= 0;) count += attend_page(here, after);
  return count;
}

void store::attend_at_times() {
  {
    std::lock_guard const lock(guard_);
    if (base::boot_clock::now() - attended_ < std::chrono::seconds{1}) return;
  }
  attend();
}

/// `after`: the last request that was looked at; -1: there are no more.
std::int64_t store::attend_page(row const& here, std::int64_t& after) const {
  auto const from = after;
  // Once more, what was done is not asked for any more.
  return core::insist([&] {
    std::int64_t count = 0;
    core::transact(context_, {.name = "attend"}, [&](db::session& session) {
      count = 0;
      auto const waiting =
          db::run(session, context_.sql["request.waiting"], {here.id, from, at_once});
      after = -1;
      if (std::cmp_equal(waiting.size(), at_once)) {
        decode(waiting.row(waiting.size() - 1)[0], after);
      }
      std::int64_t now_us = 0;
      decode(db::run(session, context_.sql["queue.now"], {}).row(0)[0], now_us);
      for (std::size_t i = 0; i < waiting.size(); ++i) {
        if (attend_one(session, here, waiting.row(i), now_us)) ++count;
      }
      return count > 0 ? core::decision::commit : core::decision::rollback;
    });
    return count;
  });
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
