#include "core/holder.hpp"

#include "base/uuid.hpp"
#include "core/transact.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

/// A server that has not heard of a client for so long has ended its transaction.
constexpr auto longest_doubt = std::chrono::minutes{15};

}  // namespace

void incarnation::add(std::shared_ptr<in_hand> const& what) {
  std::unique_lock lock(guard_);
  if (!dead_) {
    held_.insert(what);
    return;
  }
  lock.unlock();
  what->lost.request_stop();
}

void incarnation::remove(std::shared_ptr<in_hand> const& what) {
  std::lock_guard const lock(guard_);
  held_.erase(what);
}

void incarnation::set_step(in_hand& of, std::string_view step) {
  std::lock_guard const lock(guard_);
  of.step = step;
}

std::string incarnation::lines() const {
  constexpr std::size_t most = 4000;  // people read it; a thousand runs in hand are not listed
  std::lock_guard const lock(guard_);
  std::string out;
  for (auto const& one : held_) {
    if (one->step.empty()) continue;
    auto line = one->process + "\t" + one->key + "\t" + one->step + "\n";
    if (out.size() + line.size() > most) break;
    out += line;
  }
  return out;
}

std::string step_in_hand(std::string_view lines, std::string_view process, std::string_view key) {
  // Names hold no control characters, so that tabs and line ends part them.
  auto const wanted = std::string(process) + "\t" + std::string(key) + "\t";
  while (!lines.empty()) {
    auto const end = lines.find('\n');
    auto const line = lines.substr(0, end);
    if (line.starts_with(wanted)) return std::string(line.substr(wanted.size()));
    lines = end == std::string_view::npos ? std::string_view{} : lines.substr(end + 1);
  }
  return {};
}

void incarnation::die() {
  std::set<std::shared_ptr<in_hand>> lost;
  {
    std::lock_guard const lock(guard_);
    dead_ = true;
    lost.swap(held_);
  }
  for (auto const& one : lost) one->lost.request_stop();
}

void incarnation::suspect() {
  std::set<std::shared_ptr<in_hand>> held;
  {
    std::lock_guard const lock(guard_);
    held = held_;
  }
  for (auto const& one : held) one->lost.request_stop();
}

bool incarnation::dead() const {
  std::lock_guard const lock(guard_);
  return dead_;
}

void incarnation::renewed(base::boot_clock::time_point sent) {
  std::lock_guard const lock(guard_);
  sent_ = std::max(sent_, sent);
}

base::boot_clock::duration incarnation::since_renewal() const {
  std::lock_guard const lock(guard_);
  return base::boot_clock::now() - sent_;
}

std::shared_ptr<incarnation> holder::peek() const {
  std::lock_guard const lock(guard_);
  return now_;
}

std::shared_ptr<incarnation> holder::current() {
  // One registers; the others wait for it rather than each becoming a holder of its own.
  std::lock_guard const one(registering_);
  if (auto present = peek(); present && !present->dead()) return present;
  auto fresh = std::make_shared<incarnation>(base::new_uuid());
  auto const ttl = std::chrono::microseconds(with_.lease).count();
  auto const node = base::host_name();
  // The insert does nothing when it is there already: a lost reply is answered by trying again.
  for (int tries = 0;; ++tries) {
    auto const sent = base::boot_clock::now();
    try {
      transact(with_, {.name = "register"}, [&](db::session& on) {
        db::run(on, with_.sql["holder.register"], {fresh->uuid(), ttl, node, base::process_id()});
        return decision::commit;
      });
    } catch (lost_reply const&) {
      if (tries == 5) throw;
      continue;
    }
    fresh->renewed(sent);
    break;
  }
  std::lock_guard const lock(guard_);
  now_ = fresh;
  return fresh;
}

renewal holder::renew(db::session& on) {
  auto const who = peek();
  if (!who) return renewal::renewed;
  if (who->dead()) return renewal::dead;
  auto const sent = base::boot_clock::now();
  auto const lines = who->lines();
  bool found = false;
  transact_once(with_, on, "renew", isolation::read_committed, [&](db::session& session) {
    found = db::run(session, with_.sql["holder.renew"], {who->uuid(), lines}).affected == 1;
    return decision::commit;
  });
  if (!found) {
    who->die();
    return renewal::dead;
  }
  who->renewed(sent);
  return renewal::renewed;
}

bool holder::renew_within(db::session& on, incarnation const& who) {
  auto const lines = who.lines();
  return db::run(on, with_.sql["holder.renew"], {who.uuid(), lines}).affected == 1;
}

void holder::add_orphan(orphan what) {
  std::lock_guard const lock(guard_);
  orphans_.push_back(std::move(what));
}

bool holder::has_orphan(std::string_view process, std::string_view key) const {
  std::lock_guard const lock(guard_);
  return std::any_of(orphans_.begin(), orphans_.end(),
                     [&](orphan const& one) { return one.process == process && one.key == key; });
}

void holder::disown_orphans(db::session& on) noexcept {
  std::vector<orphan> all;
  {
    std::lock_guard const lock(guard_);
    all = orphans_;
  }
  for (auto const& one : all) {
    bool over = base::boot_clock::now() - one.since > longest_doubt;
    try {
      auto const let_go = [&](db::session& session) {
        auto const& statement = with_.sql["run.disown"];
        auto const changed =
            db::run(session, statement, {one.process, one.key, one.acquisition}).affected;
        over = over || changed > 0;
        return decision::commit;
      };
      transact_once(with_, on, "disown", isolation::read_committed, let_go);
    } catch (std::exception const&) {
      return;  // the next renewal tries again
    }
    if (!over) continue;
    std::lock_guard const lock(guard_);
    std::erase_if(orphans_, [&](orphan const& it) { return it.acquisition == one.acquisition; });
  }
}

void holder::stop() noexcept {
  auto const who = peek();
  if (!who || who->dead()) return;
  // A run whose release failed still names this holder: ended, it is anyone's at once. What may
  // still be on its way to the database meets the fence.
  try {
    transact(with_, {.name = "stop", .patience = std::chrono::seconds{2}}, [&](db::session& on) {
      db::run(on, with_.sql["holder.end"], {who->uuid()});
      return decision::commit;
    });
  } catch (std::exception const&) {
    return;  // its lease will be over soon
  }
  who->die();
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
