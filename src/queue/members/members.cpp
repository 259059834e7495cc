// Members: keys that come and go, and what people ask for. Ids are given out in blocks, each block
// to one process, so that the keys that one process adds are neighbours.
#include "base/limits.hpp"
#include "base/rows.hpp"
#include "db/cells.hpp"
#include "queue/members/import.hpp"
#include "queue/members/series.hpp"
#include "queue/members/store.hpp"

#include "core/run/run.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

constexpr std::int64_t block_size = 1000;
constexpr std::chrono::milliseconds short_patience{200};
constexpr std::size_t piece_size = 10'000;
/// SQL and its way there are cheap beside so many bytes.
constexpr std::size_t piece_bytes = 4 << 20;

/// What comes after these years is for people a mistake, and for microseconds soon before them.
constexpr timestamp latest = std::chrono::sys_days{std::chrono::year{10'000} / 1 / 1};

void check_options(std::string_view queue, task_options const& options, policy const& policy) {
  if (options.at && *options.at >= latest) {
    throw error({.kind = error_code::bad_argument},
                "queue '" + std::string(queue) +
                    "': a task that is due after the year 9999 (at): name an earlier time");
  }
  base::limits("queue", queue).between("the priority", options.priority, 0, priorities - 1);
  if (policy.in_order && options.priority != task_options{}.priority) {
    throw error({.kind = error_code::bad_argument},
                "queue '" + std::string(queue) +
                    "': a priority, where tasks are done in the order in which they were added "
                    "(in_order)");
  }
}

/// Wakes the hand-outs of this process at the end of what gives them work.
struct rings_at_the_end {
  store const& of;
  ~rings_at_the_end() { of.ring(); }
};

std::optional<std::int64_t> at_of(task_options const& options) {
  if (!options.at) return std::nullopt;
  auto const us = db::us_of(*options.at);
  // Below zero is what people asked for (front_us).
  return std::max<std::int64_t>(0, (us + 999'999) / 1'000'000 * 1'000'000);
}

}  // namespace

std::int64_t store::block(std::int64_t count, std::chrono::milliseconds wait) const {
  // After a lost reply others: those ids may be nobody's, and need not be anybody's.
  return core::insist([&] {
    std::int64_t next = 0;
    core::transact(context_, {.name = "block", .patience = wait}, [&](db::session& session) {
      decode(db::run(session, context_.sql["member.block"], {count}).row(0)[0], next);
      return core::decision::commit;
    });
    return next - count;
  });
}

/// Waits for a connection only a little: each of those that wait may hold one of them.
void store::stock_ids() {
  if (context_.dialect.one_writer || context_.borrowed) return;
  std::lock_guard const turn(stocking_);
  check_block();
  {
    std::lock_guard const lock(guard_);
    if (!block_.empty()) return;
  }
  auto const setbacks = lease_->setbacks();
  auto const now = base::boot_clock::now();
  std::int64_t first = 0;
  try {
    first = block(block_size, short_patience);
  } catch (error const& e) {
    if (e.kind() == error_code::conflict) return;  // next_id() takes one where it is
    throw;
  }
  std::lock_guard const lock(guard_);
  block_ = {first, first + block_size, setbacks, now};
}

/// As often as a lease is renewed: who only adds has none that would tell.
void store::check_block() {
  auto const now = base::boot_clock::now();
  std::int64_t end = 0;
  {
    std::lock_guard const lock(guard_);
    if (block_.setbacks != lease_->setbacks()) block_ = {};
    if (block_.empty() || now - block_.known_at < context_.lease / 6) return;
    end = block_.end;
  }
  std::int64_t next = 0;
  core::read(context_, [&](db::session& session) {
    next = db::get<std::int64_t>(db::run(session, context_.sql["member.next"], {}).row(0)[0]);
  });
  std::lock_guard const lock(guard_);
  if (next < end) block_ = {};
  block_.known_at = now;
}

/// The next free id. A block is taken on a connection of its own, so that a user's long transaction
/// holds nobody up; where there is only this one, an id is taken here, and should the transaction
/// roll back, is free again.
std::int64_t store::next_id(db::session& session) {
  stock_ids();
  {
    std::lock_guard const lock(guard_);
    if (!block_.empty() && block_.setbacks == lease_->setbacks()) return block_.next++;
  }
  return own_ids_in(session, 0, 1);
}

void store::arm(db::session& session, std::int64_t lo, std::int64_t hi,
                task_options const& options) const {
  auto const at = at_of(options);
  auto const here = present();
  std::int64_t const lane = options.priority;
  auto const armed =
      db::run(session, context_.sql["member.arm"], {here.id, lo, hi, lane, to_value(at)});
  if (armed.affected == 0) {
    db::run(session, context_.sql["member.arm_unseen"],
            {here.id, lo, hi, lane, to_value(at), here.by.period_us, here.by.grain_us,
             std::int64_t{here.options.rounds ? 1 : 0},
             static_cast<std::int64_t>(here.options.new_member_policy)});
  }
  if (here.by.in_order) begin_series(context_, session, lo, hi);
  ring_after(session);
}

bool store::add_in(db::session& session, key const& key, task_options const& options) {
  check_options(name_, options, present().by);
  check_payload(name_, key, options.payload);
  auto const queue = present().id;
  auto id = next_id(session);
  for (;;) {
    auto const added = db::run(session, context_.sql["member.add"],
                               {id, queue, key.str(), to_value(options.payload)});
    if (added.affected > 0) break;
    if (db::run(session, context_.sql["member.find"], {queue, key.str()}).size() > 0) return false;
    // The id is another's: it was given out twice.
    {
      std::lock_guard const lock(guard_);
      block_ = {};
    }
    id = own_ids_in(session, 0, 1);
  }
  arm(session, id, id + 1, options);
  return true;
}

bool store::add(key const& key, task_options const& options) {
  context_.check_process();
  stock_ids();
  bool in_doubt = false;
  for (;;) {
    try {
      auto const decided = core::transact(context_, {.name = "add"}, [&](db::session& session) {
        return add_in(session, key, options) ? core::decision::commit : core::decision::rollback;
      });
      // After a lost reply the key that is there now may be the one that we have added.
      return decided == core::decision::commit || in_doubt;
    } catch (core::lost_reply const&) {
      in_doubt = true;
    }
  }
}

/// `first` as reserve() gave it.
std::int64_t store::own_ids_in(db::session& session, std::int64_t first, std::int64_t count) const {
  if (first != 0) return first;
  decode(db::run(session, context_.sql["member.block"], {count}).row(0)[0], first);
  return first - count;
}

void store::arm_all(db::session& session, std::int64_t lo, std::int64_t count,
                    task_options const& options) const {
  auto const by = present().by;
  auto const widest = by.in_order ? count : by.segment;
  for (auto at = lo; at < lo + count; at += widest) {
    arm(session, at, std::min(at + widest, lo + count), options);
  }
}

/// As add_all_in(), as fast as the engine takes rows, where no key is there already.
std::int64_t store::load_all_in(db::session& session, std::span<entry const> piece,
                                std::int64_t first, task_options const& options) const {
  auto const count = static_cast<std::int64_t>(piece.size());
  auto const ids = own_ids_in(session, first, count);
  auto lo = ids;
  std::int64_t now_us = 0;
  decode(db::run(session, context_.sql["queue.now"], {}).row(0)[0], now_us);
  auto const queue = present().id;
  std::vector<value> cells;
  cells.reserve(piece.size() * 5);
  for (auto const& one : piece) {
    cells.emplace_back(lo++);
    cells.emplace_back(queue);
    cells.emplace_back(std::string_view(one.key.str()));
    cells.push_back(to_value(one.payload));
    cells.emplace_back(now_us);
  }
  session.load({.table = context_.sql.fill("{member}"),
                .columns = {"id", "queue", "member_key", "payload", "created_us"}},
               cells);
  arm_all(session, ids, count, options);
  return count;
}

void check_payload(std::string_view queue, key const& key,
                   std::optional<std::string> const& payload) {
  if (payload) {
    core::check_text("queue '" + std::string(queue) + "': the payload of '" + key.str() + "'",
                     *payload);
  }
}

std::int64_t store::reserve(std::int64_t count) const {
  return context_.dialect.one_writer || context_.borrowed ? 0 : block(count, core::usual_patience);
}

std::int64_t store::add_all_in(db::session& session, std::span<entry const> all, std::int64_t first,
                               task_options const& options) const {
  check_options(name_, options, present().by);
  if (all.empty()) return 0;
  auto const count = static_cast<std::int64_t>(all.size());
  first = own_ids_in(session, first, count);
  base::rows members;
  auto id = first;
  for (auto const& one : all) {
    check_payload(name_, one.key, one.payload);
    members.begin().add(id++).add(std::string_view(one.key.str())).add(one.payload);
  }
  auto const added =
      db::run(session, context_.sql["member.add_all"], {present().id, members.text()}).affected;
  if (added > 0) arm_all(session, first, count, options);
  return added;
}

bool store::retry_in(db::session& session, key const& key) const {
  bool const there =
      db::run(session, context_.sql["request.put"],
              {present().id, key.str(), static_cast<std::int64_t>(asked::retry), std::int64_t{1}})
          .affected > 0;
  if (there) ring_after(session);
  return there;
}

import_report store::import_piece(std::span<entry const> piece, task_options const& options) {
  auto const count = static_cast<std::int64_t>(piece.size());
  auto const first = reserve(count);
  import_report out;
  bool known_keys = false;  // some are there: row by row then
  auto const write = [&](db::session& session) {
    out.added = known_keys ? add_all_in(session, piece, first, options)
                           : load_all_in(session, piece, first, options);
    out.present = count - out.added;
    return out.added > 0 ? core::decision::commit : core::decision::rollback;
  };
  for (;;) {
    try {
      core::transact(context_, {.name = "import"}, write);
      return out;
    } catch (error const& e) {
      if (e.kind() != error_code::constraint || std::exchange(known_keys, true)) throw;
    }
  }
}

import_report store::import(std::function<std::optional<entry>()> const& next,
                            task_options const& options,
                            std::function<bool(import_report const&)> const& on_progress) {
  context_.check_process();
  check_options(name_, options, present().by);
  import_report sum;
  std::vector<entry> piece;
  for (bool more = true; more;) {
    piece.clear();
    std::size_t bytes = 0;
    while (piece.size() < piece_size && bytes < piece_bytes) {
      auto one = next();
      if (!one) {
        more = false;
        break;
      }
      check_payload(name_, one->key, one->payload);
      bytes += one->key.str().size() + (one->payload ? one->payload->size() : 0);
      piece.push_back(std::move(*one));
    }
    if (piece.empty()) break;
    // Twice with other ids: keys that are there by now are not added again.
    auto const part = core::insist([&] { return import_piece(piece, options); });
    sum.added += part.added;
    sum.present += part.present;
    if (on_progress && !on_progress(sum)) break;
  }
  return sum;
}

bool store::remove_in(db::session& session, key const& key) {
  return db::run(session, context_.sql["member.remove"], {present().id, key.str()}).affected > 0;
}

bool store::remove(key const& key) {
  context_.check_process();
  bool in_doubt = false;
  for (;;) {
    try {
      auto const decided = core::transact(context_, {.name = "remove"}, [&](db::session& session) {
        return remove_in(session, key) ? core::decision::commit : core::decision::rollback;
      });
      return decided == core::decision::commit || in_doubt;
    } catch (core::lost_reply const&) {
      in_doubt = true;
    }
  }
}

bool store::set_payload(key const& key, std::optional<std::string> const& payload) {
  context_.check_process();
  check_payload(name_, key, payload);
  for (bool again = true;;) {
    try {
      return core::write(context_, {.name = "payload"}, context_.sql["member.set_payload"],
                         {present().id, key.str(), to_value(payload)})
                 .affected > 0;
    } catch (core::lost_reply const&) {
      if (!std::exchange(again, false)) throw;
    }
  }
}

bool store::ask(key const& key, asked request) {
  context_.check_process();
  rings_at_the_end const rings{*this};
  return do_once("ask", [&](db::session& session) {
    return db::run(session, context_.sql["request.put"],
                   {present().id, key.str(), static_cast<std::int64_t>(request), std::int64_t{0}})
               .affected > 0;
  });
}

/// Its mark is a tombstone of a claim with a fresh id, which the database accepts once. The next
/// such transaction removes it; upkeep() does so after a day.
bool store::do_once(std::string_view name, std::function<bool(db::session&)> const& body) const {
  auto const mark = new_id();
  std::vector<std::string> settled;
  {
    std::lock_guard const lock(guard_);
    settled.swap(marks_);
  }
  bool const there = core::insist([&] {
    return core::transact(context_, {.name = name}, [&](db::session& session) {
             auto const put = db::run(session, context_.sql["claim.settle"],
                                      {mark, present().id, std::string_view()});
             if (put.affected == 0) {
               session.confirm_seen();
               return core::decision::commit;
             }
             for (auto const& one : settled) db::run(session, context_.sql["claim.unmark"], {one});
             return body(session) ? core::decision::commit : core::decision::rollback;
           }) == core::decision::commit;
  });
  std::lock_guard const lock(guard_);
  if (there) settled = {mark};
  marks_.insert(marks_.end(), settled.begin(), settled.end());
  return there;
}

void store::pause(bool paused) {
  context_.check_process();
  rings_at_the_end const rings{*this};
  for (bool again = true;;) {
    try {
      core::write(context_, {.name = "pause"}, context_.sql["queue.pause"],
                  {present().id, std::int64_t{paused ? 1 : 0}});
      return;
    } catch (core::lost_reply const&) {
      if (!std::exchange(again, false)) throw;
    }
  }
}

bool store::open_round(timestamp at) {
  context_.check_process();
  if (!present().options.rounds) {
    throw error({.kind = error_code::bad_argument},
                "queue '" + name_ + "' does not work in rounds: make it with .rounds = true");
  }
  rings_at_the_end const rings{*this};
  auto const us = db::us_of(at);
  bool in_doubt = false;
  for (;;) {
    try {
      return core::write(context_, {.name = "round"}, context_.sql["queue.open_round"],
                         {present().id, us})
                     .affected > 0 ||
             (in_doubt && look(context_, name_).value_or(row{}).round_us == us);
    } catch (core::lost_reply const&) {
      in_doubt = true;
    }
  }
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
