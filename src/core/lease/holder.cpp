#include "core/lease/holder.hpp"

#include "base/rows.hpp"
#include "base/uuid.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

/// A server that has not heard of a client for so long has ended its transaction.
constexpr auto longest_doubt = std::chrono::minutes{15};

/// Of a renewal in `recalls`; people count in ones.
constexpr std::int64_t beat = 1 << 20;

/// More than end at the same time.
constexpr std::size_t most_ended = 256;

}  // namespace

void incarnation::add(std::shared_ptr<in_hand> const& running) {
  std::unique_lock lock(guard_);
  if (!dead_) {
    held_.insert(running);
    return;
  }
  lock.unlock();
  running->lost.request_stop();
}

void incarnation::remove(std::shared_ptr<in_hand> const& running) {
  std::lock_guard const lock(guard_);
  held_.erase(running);
}

void incarnation::set_step(in_hand& running, std::string_view step) {
  std::lock_guard const lock(guard_);
  running.step = step;
  running.step_began = base::boot_clock::now();
}

void incarnation::set_held(in_hand& running, acquisition const& held) {
  std::lock_guard const lock(guard_);
  running.held = held;
}

void incarnation::set_progress(in_hand& running, progress how_far) {
  std::lock_guard const lock(guard_);
  running.how_far = std::move(how_far);
}

std::optional<progress> incarnation::progress_of(in_hand const& running) const {
  std::lock_guard const lock(guard_);
  return running.how_far;
}

std::string incarnation::lines() const {
  constexpr std::size_t most = 4000;  // people read it; a thousand runs in hand are not listed
  std::lock_guard const lock(guard_);
  std::string out;
  for (auto const& one : held_) {
    auto const line = write_line(*one);
    if (out.size() + line.size() > most) break;
    out += line;
  }
  return out;
}

std::vector<std::shared_ptr<in_hand>> incarnation::held() const {
  std::lock_guard const lock(guard_);
  return {held_.begin(), held_.end()};
}

acquisition incarnation::held_of(in_hand const& running) const {
  std::lock_guard const lock(guard_);
  return running.held;
}

std::int64_t incarnation::recalls() const {
  std::lock_guard const lock(guard_);
  return recalls_;
}

void incarnation::recalled(std::int64_t count) {
  std::lock_guard const lock(guard_);
  recalls_ = std::max(recalls_, count);
}

void incarnation::ended(ended_run run) {
  std::lock_guard const lock(guard_);
  ended_.push_back(std::move(run));
  if (ended_.size() > most_ended) ended_.pop_front();
}

std::vector<ended_run> incarnation::take_ended() {
  std::lock_guard const lock(guard_);
  std::vector<ended_run> out(ended_.begin(), ended_.end());
  ended_.clear();
  return out;
}

std::vector<overdue> incarnation::past_deadline(base::boot_clock::duration grace) {
  auto const now = base::boot_clock::now();
  std::vector<std::shared_ptr<in_hand>> late;
  std::vector<overdue> out;
  {
    std::lock_guard const lock(guard_);
    for (auto const& one : held_) {
      if (!one->deadline || now < *one->deadline) continue;
      late.push_back(one);
      if (now - *one->deadline < grace) continue;
      out.push_back({one->process, one->key, one->held, one->step});
    }
  }
  for (auto const& one : late) one->lost.request_stop();  // callbacks may ask us for something
  return out;
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
  auto const ttl = std::chrono::microseconds(context_.lease).count();
  auto const node = base::host_name();
  // The insert does nothing when it is there already: a lost reply is answered by trying again, and
  // the lease is as old as the first of them.
  auto const sent = base::boot_clock::now();
  for (int tries = 0;; ++tries) {
    try {
      write(context_, {.name = "register"}, context_.sql["holder.register"],
            {fresh->uuid(), ttl, node, base::process_id()});
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

/// A person has taken a run from us, or we were declared dead: what is not ours any more stops.
std::optional<std::int64_t> holder::find_recalled(db::session& session, incarnation& holder) {
  auto const rows = db::run(session, context_.sql["holder.recalled"], {holder.uuid()});
  if (rows.size() == 0) return std::nullopt;
  std::int64_t recalls = 0;
  decode(rows.row(0)[0], recalls);
  for (auto const& one : holder.held()) {
    auto const held = holder.held_of(*one);
    auto const ours = db::run(session, context_.sql["run.held"],
                              {one->process, one->key, held.epoch, held.uuid, held.seen});
    if (ours.size() == 0) one->lost.request_stop();
  }
  return recalls;
}

bool holder::drop_if_dead() const {
  auto const who = peek();
  if (!who || who->dead()) return false;
  bool alive = true;
  read(context_, [&](db::session& session) {
    alive = db::get<std::int64_t>(
                db::run(session, context_.sql["holder.alive"], {who->uuid()}).row(0)[0]) == 1;
  });
  if (!alive) who->die();
  return !alive;
}

renewal holder::renew(db::session& session) {
  auto const who = peek();
  if (!who) return renewal::renewed;
  for (;;) {
    if (who->dead()) return renewal::dead;
    auto const sent = base::boot_clock::now();
    auto const lines = who->lines();
    auto const before = who->recalls();
    auto const found = write_once(context_, session, "renew", context_.sql["holder.renew"],
                                  {who->uuid(), lines, before, beat});
    if (found.affected == 1) {
      who->recalled(before + beat);
      who->renewed(sent);
      if (has_what_it_had(session, *who)) return renewal::renewed;
      set_back(session, *who);
      return renewal::dead;
    }
    auto const recalls = find_recalled(session, *who);
    if (!recalls) {
      who->die();
      return renewal::dead;
    }
    if (*recalls < before) {
      set_back(session, *who);
      return renewal::dead;
    }
    who->recalled(*recalls);
  }
}

bool holder::has_what_it_had(db::session& session, incarnation& self) {
  std::lock_guard const one(looking_);
  {
    std::lock_guard const lock(guard_);
    looks_ = true;
    left_.clear();
  }
  struct at_the_end {
    holder& of;
    ~at_the_end() {
      std::lock_guard const lock(of.guard_);
      of.looks_ = false;
    }
  } const afterwards{*this};
  auto const ended = self.take_ended();
  base::rows ends;
  for (auto const& run : ended) {
    ends.begin().add(std::string_view(run.process)).add(std::string_view(run.key));
    ends.add(std::string_view(run.acquisition));
  }
  db::table found;
  try {
    found = db::run(session, context_.sql["holder.has"], {self.uuid(), ends.text()});
  } catch (...) {
    for (auto const& run : ended) self.ended(run);
    throw;
  }
  std::lock_guard const lock(guard_);
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::string id;
    decode(found.row(i)[0], id);
    if (!claims_.contains(id) && !left_.contains(id)) return false;
  }
  return true;
}

void holder::set_back(db::session& session, incarnation& holder) {
  ++setbacks_;
  holder.die();
  context_.watch.set_back();
  write_once(context_, session, "set_back", context_.sql["holder.end"],
             {holder.uuid(), "set back"});
}

void holder::has_claim(std::string const& id) {
  std::lock_guard const lock(guard_);
  claims_.insert(id);
}

void holder::leaves_claim(std::string const& id) noexcept {
  if (context_.forked()) return;  // a thread that the child has not may hold the lock
  std::lock_guard const lock(guard_);
  auto const found = claims_.find(id);
  if (found == claims_.end()) return;
  auto node = claims_.extract(found);
  if (looks_) left_.insert(std::move(node));
}

bool holder::renew_within(db::session& session, incarnation const& holder) {
  auto const lines = holder.lines();
  return db::run(session, context_.sql["holder.renew"],
                 {holder.uuid(), lines, holder.recalls(), std::int64_t{0}})
             .affected == 1;
}

void holder::add_orphan(orphan orphan) {
  std::lock_guard const lock(guard_);
  orphans_.push_back(std::move(orphan));
}

bool holder::keeps_alive(db::session& session) noexcept {
  auto const who = peek();
  if (!who || who->since_renewal() < context_.lease / 6) return true;
  try {
    return renew(session) == renewal::renewed;
  } catch (std::exception const&) {
    return false;
  }
}

void holder::pass_deadlines(db::session& session) noexcept {
  auto const who = peek();
  if (!who) return;
  for (auto const& one : who->past_deadline(context_.lease / 3)) {
    if (!keeps_alive(session)) return;
    try {
      write_once(context_, session, "deadline", context_.sql["run.pass_deadline"],
                 {one.process, one.key, one.held.epoch, one.held.uuid, one.step, nullptr, nullptr});
    } catch (std::exception const&) {
      // The next renewal tries again, and start() by anybody does the same. Another's row may be
      // free where this one's is locked.
      if (!session.usable()) return;
    }
  }
}

bool holder::has_orphan(std::string_view process, std::string_view key) const {
  std::lock_guard const lock(guard_);
  return std::any_of(orphans_.begin(), orphans_.end(),
                     [&](orphan const& one) { return one.process == process && one.key == key; });
}

void holder::disown_orphans(db::session& session) noexcept {
  std::vector<orphan> all;
  {
    std::lock_guard const lock(guard_);
    all = orphans_;
  }
  for (auto const& one : all) {
    if (!keeps_alive(session)) return;
    bool over = !one.on_its_way || base::boot_clock::now() - one.since > longest_doubt;
    try {
      auto const changed =
          write_once(context_, session, "disown", context_.sql["run.disown"],
                     {one.process, one.key, one.acquisition, one.seen,
                      one.seen != 0 ? "its record is older than what its holder knows"
                                    : "let go after a lost reply"});
      over = over || changed.affected > 0;
      if (auto const who = peek(); one.seen != 0 && changed.affected > 0 && !who->dead()) {
        set_back(session, *who);
      }
    } catch (std::exception const&) {
      // The next renewal tries again. Another's row may be free where this one's is locked.
      if (!session.usable()) return;
      continue;
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
    write(context_, {.name = "stop", .patience = std::chrono::seconds{2}},
          context_.sql["holder.end"], {who->uuid(), "stopped"});
  } catch (std::exception const&) {
    return;  // its lease will be over soon
  }
  who->die();
}

void mark_dead(context const& context, std::string_view holder_uuid) {
  write(context, {.name = "mark_dead"}, context.sql["holder.mark_dead"],
        {holder_uuid, std::int64_t{max_skew.count()}});
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
