// A lane that consumes a broker's queue: the ids of messages are written in the transaction of
// their effect, and they are settled after its COMMIT.
#include "base/failpoint.hpp"
#include "base/mutant.hpp"
#include "base/rows.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"
#include "intake/lane.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace intakes {

namespace {

constexpr std::chrono::minutes between_forgetting{1};
constexpr std::int64_t most_forgotten = 10'000;

}  // namespace

void queue_lane::work() {
  try {
    take_all();
  } catch (...) {
    source_->give_back();
    throw;
  }
  source_->give_back();
}

void queue_lane::take_all() {
  while (active() && !stopping()) {
    auto const messages = source_->take(next_page(), options().stop);
    static_cast<void>(base::hit_failpoint("intake.taken"));
    if (stopping() || !active()) return;
    if (messages.empty()) {
      if (waits_for_more()) continue;
      return;
    }
    auto page = mapped_page(messages);
    if (base::left_out("intake_settle_first")) source_->settle();
    if (take(page) != progress::done) return;
    source_->settle();
    static_cast<void>(base::hit_failpoint("intake.settled"));
    forget_old_ids();
  }
}

lane::progress queue_lane::commit(std::span<mapped> part) {
  // Where it is not known whether it was committed, or others were faster with an id, the ids say
  // next time what is new.
  while (!try_commit(part)) {
  }
  return progress::done;
}

bool queue_lane::try_commit(std::span<mapped> part) {
  std::map<std::string_view, mapped const*> names;  // sorted: two lanes must not deadlock
  for (auto const& one : part) names.emplace(one.name, &one);
  std::vector<mapped const*> most;
  for (auto const& one : part) most.push_back(&one);
  auto const first = effects().reserve(most);
  sorted_part fresh;
  base::rows unseen;
  auto const remember = [&](db::session& session) {
    auto const count = static_cast<std::int64_t>(fresh.good.size() + fresh.refused.size());
    return count == 0 ||
           db::run(session, context().sql["intake.remember"], {declared().id, unseen.text()})
                   .affected == count;
  };
  auto const end = write([&](db::session& session) {
    auto const seen = seen_in(session, names);
    fresh = {};
    unseen = {};
    for (auto const& [name, one] : names) {
      if (!seen.contains(name)) unseen.begin().add(name);
    }
    // In the order in which they came.
    for (auto const& one : part) {
      if (names[one.name] == &one && !seen.contains(one.name)) fresh.add(one);
    }
    if (!base::left_out("intake_ids_apart") && !remember(session)) return false;
    effects().write(session, fresh.good, first);
    effects().put_aside(session, fresh.refused);
    if (base::hit_failpoint("intake.effect_done")) session.cut();
    return true;
  });
  if (base::left_out("intake_ids_apart")) write(remember);
  if (end != outcome::done) return false;
  auto const good = static_cast<std::int64_t>(fresh.good.size());
  auto const refused = static_cast<std::int64_t>(fresh.refused.size());
  count(good, refused);
  report().duplicates += static_cast<std::int64_t>(part.size()) - good - refused;
  return true;
}

std::set<std::string, std::less<>> queue_lane::seen_in(
    db::session& session, std::map<std::string_view, mapped const*> const& names) const {
  base::rows all;
  for (auto const& [name, one] : names) all.begin().add(name);
  auto const found = db::run(session, context().sql["intake.seen"], {declared().id, all.text()});
  std::set<std::string, std::less<>> out;
  for (std::size_t i = 0; i < found.size(); ++i) out.insert(db::get<std::string>(found.row(i)[0]));
  return out;
}

void queue_lane::forget_old_ids() {
  auto const now = base::boot_clock::now();
  if (now - forgot_ < between_forgetting) return;
  forgot_ = now;
  core::insist([&] {
    core::write(context(), {.name = "intake"}, context().sql["intake.forget_seen"],
                {declared().id,
                 std::int64_t{std::chrono::microseconds(declared().options.remember).count()},
                 most_forgotten});
  });
}

}  // namespace intakes
}  // namespace v1
}  // namespace daybook
