// Waking those who wait for work: of this process here, of others by the database (sql/*/wake.sql).
#include "core/tx/doorbells.hpp"
#include "queue/members/store.hpp"

namespace daybook {
inline namespace v1 {
namespace queues {

outlook store::look_out() const {
  outlook out;
  core::read(with_, [&](db::session& on) {
    auto const found =
        db::run(on, with_.sql["wake.look"], {present().id, std::int64_t{core::max_skew.count()}});
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
  core::read(with_, [&](db::session& on) {
    decode(db::run(on, with_.sql["wake.suspects"], {present().id}).row(0)[0], any);
  });
  return any;
}

void store::ring() const noexcept { with_.doorbells->ring(present().id); }

void store::ring_after(db::session& on) const {
  auto const ring_for = [](void const* bells, std::int64_t queue) noexcept {
    static_cast<core::doorbells const*>(bells)->ring(queue);
  };
  on.after_commit({ring_for, with_.doorbells, present().id});
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
