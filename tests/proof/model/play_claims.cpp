// The plot: claims, how they end, and how their workers die.
#include "play.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>
#include <variant>

#include <daybook/adopt.hpp>

namespace model {

namespace {

using daybook::outcome;
using daybook::result;

constexpr us second = 1'000'000;
constexpr us past_every_lease = 45 * second;
constexpr std::size_t most_hands = 5;

std::vector<std::int64_t> ids_of(daybook::claim const& batch) {
  std::vector<std::int64_t> out;
  for (auto const& one : batch.tasks()) out.push_back(one.id);
  return out;
}

}  // namespace

play::hand* play::a_hand(std::uint32_t from) {
  return hands_.empty() ? nullptr : &hands_[from % hands_.size()];
}

play::hand play::let_go(hand const* of) {
  auto const at = hands_.begin() + (of - hands_.data());
  auto out = std::move(*at);
  hands_.erase(at);
  return out;
}

void play::claim(op const& what, bool suspects) {
  if (hands_.size() >= most_hands) return;
  static constexpr int limits[] = {1, 2, 7, 30, 1000};
  int const limit = suspects ? 1 : limits[what.a % 5];
  auto const book = static_cast<std::size_t>(what.b % 2);
  auto const from = handles_[book];
  model_.attend(from->by, on_.now);
  auto const known = from->by;
  auto batch = from->queue.claim({.limit = limit, .quarantined = suspects});
  from->hear();
  if (!batch) return nothing_claimed(known, from->by, suspects);
  claimed(book, from, known, std::move(*batch), limit, suspects);
}

/// Holes, too, are running and have their starts until they are found to be none; finding them may
/// tell of changed options.
void play::nothing_claimed(options const& before, options const& after, bool suspects) {
  auto const there = model_.eligible(newest_.rounds, suspects, on_.now);
  if (there.empty()) return;
  for (auto const* known : {&before, &after}) {
    if (known->running_limit > 0 && on_.seen.running_ids(queue_) >= known->running_limit) return;
    if (known->rate && on_.seen.next_slot(queue_) > on_.now + second) return;
  }
  throw disagreement("nothing is claimed, but " + there.front()->key + " is due; " +
                     std::to_string(on_.seen.running_ids(queue_)) + " are running of " +
                     std::to_string(after.running_limit) + ", the next may start in " +
                     std::to_string(on_.seen.next_slot(queue_) - on_.now) + " us");
}

bool play::same_limits(options const& a, options const& b) {
  if (a.running_limit != b.running_limit || a.rate.has_value() != b.rate.has_value()) return false;
  return !a.rate || (a.rate->count == b.rate->count && a.rate->per == b.rate->per);
}

/// After a claim no more are in hand than may be, and each task starts at its own time.
void play::keeps_limits(options const& known, daybook::claim const& batch) {
  auto const running = std::count_if(model_.rows.begin(), model_.rows.end(),
                                     [](auto const& one) { return one.second.claim != 0; });
  must(known.running_limit == 0 || running <= known.running_limit,
       std::to_string(running) + " are running");
  if (!known.rate) return;
  for (auto const& one : batch.tasks()) {
    must(one.start_delay.count() <= second, one.key + " is claimed too far ahead of its start");
    us const start = on_.now + one.start_delay.count();
    must(start >= next_start_, one.key + " starts before the rate permits it");
    next_start_ = start + known.rate->per.count() / known.rate->count;
  }
}

void play::claimed(std::size_t book, std::shared_ptr<handle> const& from, options const& known,
                   daybook::claim batch, int limit, bool suspects) {
  auto const ids = ids_of(batch);
  must(std::cmp_less_equal(ids.size(), limit), "a batch is larger than asked for");
  auto const wrong = model_.illegal(model_.eligible(newest_.rounds, suspects, on_.now), ids);
  must(wrong.empty(), wrong);
  for (auto const& one : batch.tasks()) {
    auto const& row = model_.rows.at(one.id);
    bool const equal = one.key == row.key && one.attempt == row.attempts + 1 &&
                       one.crashes == row.crashes && one.priority == row.priority &&
                       one.turn.time_since_epoch().count() == row.turn;
    must(equal, "the batch has another " + row.key);
  }
  model_.take(ids, ++numbers_);
  if (same_limits(known, from->by)) keeps_limits(known, batch);
  must(from->by.period == newest_.period && from->by.attempts == newest_.attempts,
       "a claim does not tell its process of changed options");
  hands_.push_back({numbers_, book, from, std::move(batch)});
}

void play::note(hand& in, daybook::task const& one, verdict const& how) {
  in.finished.insert(one.id);
  if (!how.written) in.unwritten = true;
  auto const found = model_.rows.find(one.id);
  if (found != model_.rows.end()) found->second.how = how;
}

/// How one task ends: all of a batch mostly alike, or each as it comes.
std::optional<verdict> play::chosen_end(std::uint32_t mode, std::uint64_t dice) {
  us const nap = static_cast<us>(dice >> 40U) % 10'000 * 1000 + 1000;
  switch (mode % 4 == 3 ? dice % 8 : dice % 8 < 5 ? mode % 4 : dice % 5) {
    case 0: return verdict{result::kind::success};
    case 1: return verdict{result::kind::failure};
    case 2: return verdict{result::kind::snooze, nap};
    case 3: return verdict{result::kind::cancel};
    case 4: return verdict{result::kind::unknown};
    case 5: return std::nullopt;
    default: return verdict{result::kind::success};
  }
}

void play::finish_some(op const& what) {
  auto* const in = a_hand(what.a);
  if (in == nullptr) return;
  std::mt19937_64 dice(what.b);
  for (auto const& one : in->claim.tasks()) {
    auto const how = chosen_end(what.b, dice());
    if (!how || in->finished.contains(one.id)) continue;
    switch (how->what) {
      case result::kind::success: in->claim.finish(one, result::success()); break;
      case result::kind::failure: in->claim.finish(one, result::failure("no")); break;
      case result::kind::snooze:
        in->claim.finish(one, result::snooze(std::chrono::milliseconds(how->delay / 1000)));
        break;
      case result::kind::cancel: in->claim.finish(one, result::cancel()); break;
      case result::kind::unknown: in->claim.finish(one, result::unknown("who knows")); break;
    }
    note(*in, one, *how);
  }
}

void play::perform(op const& what) {
  auto* const in = a_hand(what.a);
  if (in == nullptr || in->claim.tasks().empty()) return;
  auto const& one = in->claim.tasks()[what.b % in->claim.tasks().size()];
  if (in->finished.contains(one.id)) return;
  must(in->claim.perform(one, [](daybook::transaction&) {}) == outcome::done,
       "a claim in hand is lost at perform()");
  note(*in, one, {result::kind::success, 0, true});
}

/// In a transaction of the application's. False: the claim is lost.
bool play::finish_in(hand& in, std::vector<daybook::task const*> const& tasks, bool commits) {
  auto& app = on_.application;
  app.execute("begin");
  bool held = true;
  std::visit(
      [&](auto* connection) {
        auto yours = on_.books[in.book].join(*connection);
        for (auto const* one : tasks) held = in.claim.finish_in(yours, *one) && held;
      },
      app.native());
  app.execute(commits ? "commit" : "rollback");
  return held;
}

void play::join(op const& what) {
  auto* const in = a_hand(what.a);
  if (in == nullptr) return;
  bool const commits = what.b % 2 == 0;
  auto const most = what.b / 2 % 3 + 1;
  std::vector<daybook::task const*> chosen;
  for (auto const& one : in->claim.tasks()) {
    if (chosen.size() < most && !in->finished.contains(one.id)) chosen.push_back(&one);
  }
  if (chosen.empty()) return;
  must(finish_in(*in, chosen, commits), "a claim in hand is lost at finish_in()");
  for (auto const* one : chosen) {
    if (commits) {
      note(*in, *one, {result::kind::success, 0, true});
    } else {
      in->finished.insert(one->id);  // it takes no other result, and is handed back
    }
  }
}

void play::flush(op const& what) {
  auto* const in = a_hand(what.a);
  if (in == nullptr) return;
  must(in->claim.flush(), "a claim in hand is lost at flush()");
  in->unwritten = false;
  for (auto& [id, one] : model_.rows) {
    if (one.claim == in->number && one.how) one.how->written = true;
  }
}

void play::complete(op const& what, bool and_claim) {
  auto* const which = a_hand(what.a);
  if (which == nullptr) return;
  auto ended = let_go(which);
  auto const by = ended.from->by;
  // It may attend to what people asked for before it hears of changed options, or after.
  bool const either_way =
      !model_.requests.empty() && (by.period != newest_.period || by.grain != newest_.grain ||
                                   by.period_anchor != newest_.period_anchor);
  if (!and_claim || either_way) {
    must(std::move(ended.claim).complete() == outcome::done, "a claim in hand is lost at its end");
    return model_.end(by, ended.number, false, on_.now);
  }
  int const limit = static_cast<int>(what.b % 20) + 1;
  auto const asked = model_.requests.size();
  auto next = std::move(ended.claim).complete_and_claim(limit);
  ended.from->hear();
  must(next.ended == outcome::done, "a claim in hand is lost at its end");
  // It attends to what people asked for where that was not done for a second of the host's.
  auto const left = on_.seen.requests(queue_);
  if (asked > 0 && std::cmp_less(left, asked)) model_.attend(by, on_.now);
  model_.end(by, ended.number, false, on_.now);
  // And once more after the end, where that has left it nothing but holes.
  if (std::cmp_less(left, model_.requests.size())) model_.attend(by, on_.now);
  if (!next.next) return nothing_claimed(by, ended.from->by, false);
  if (next.next->tasks().empty()) return;  // ids without a member: they go with it
  claimed(ended.book, ended.from, by, std::move(*next.next), limit, false);
}

void play::drop(op const& what) {
  auto* const which = a_hand(what.a);
  if (which == nullptr) return;
  auto const dropped = let_go(which);
  model_.end(dropped.from->by, dropped.number, false, on_.now);
}

void play::crash(op const& what) {
  auto* const which = a_hand(what.a);
  if (which == nullptr) return;
  auto const victim = which->book;
  auto const heir = 1 - victim;
  on_.forward(past_every_lease);
  must(renew(heir), "the heir's lease is lost");
  auto const taken = handles_[heir]->queue.reclaim();
  // After a lost reply it may have taken back what it does not count, or have to be asked again.
  if (cut_) static_cast<void>(handles_[heir]->queue.reclaim());
  auto const held = std::count_if(hands_.begin(), hands_.end(),
                                  [&](hand const& one) { return one.book == victim; });
  must(taken == held || cut_,
       std::to_string(taken) + " claims are taken back instead of " + std::to_string(held));
  for (std::size_t i = hands_.size(); i-- > 0;) {
    if (hands_[i].book != victim) continue;
    auto lost = let_go(&hands_[i]);
    model_.end(handles_[heir]->by, lost.number, true, on_.now);
    auto const tasks = lost.claim.tasks();
    if (lost.unwritten) must(!lost.claim.flush(), "a dead worker writes to its ledger");
    auto const open = std::find_if(tasks.begin(), tasks.end(), [&](daybook::task const& one) {
      return !lost.finished.contains(one.id);
    });
    if (open != tasks.end() && what.b / 2 % 2 == 0) {
      must(!finish_in(lost, {&*open}, false), "a dead worker finishes a task in a transaction");
    }
    if (open != tasks.end() && what.b % 2 == 0) {
      must(lost.claim.perform(*open, [](daybook::transaction&) {}) == outcome::lost,
           "a dead worker performs a task");
    }
    must(std::move(lost.claim).complete() == outcome::lost, "a dead worker's claim ends well");
  }
  must(daybook::testing::renew(on_.books[victim]) == daybook::lease_state::lost,
       "a dead worker's lease is renewed");
}

}  // namespace model
