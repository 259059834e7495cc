// Waking those who wait for work: of this process here, of others by the database (sql/*/wake.sql).
#include "core/tx/doorbells.hpp"
#include "queue/members/store.hpp"

namespace daybook {
inline namespace v1 {
namespace queues {

outlook store::look_out() const {
  outlook out;
  core::read(context_, [&](db::session& session) {
    auto const found = db::run(session, context_.sql["wake.look"],
                               {present().id, std::int64_t{core::max_skew.count()}});
    out = {};
    if (found.size() == 0) return;
    std::optional<std::int64_t> us;
    decode(found.row(0)[0], us);
    decode(found.row(0)[1], out.something);
    if (us) out.due_in = std::chrono::microseconds(*us);
  });
  std::lock_guard const lock(guard_);
  out.something = out.something || !orphans_.empty();
  return out;
}

bool store::has_suspects() const {
  bool any = false;
  core::read(context_, [&](db::session& session) {
    decode(db::run(session, context_.sql["wake.suspects"], {present().id}).row(0)[0], any);
  });
  return any;
}

void store::ring() const noexcept { context_.doorbells->ring(present().id); }

void store::ring_after(db::session& session) const {
  auto const ring_for = [](void const* bells, std::int64_t queue) noexcept {
    static_cast<core::doorbells const*>(bells)->ring(queue);
  };
  session.after_commit({ring_for, context_.doorbells, present().id});
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
