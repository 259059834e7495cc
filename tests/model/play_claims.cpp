// The plot: claims, how they end, and how their workers die.
#include "play.hpp"

#include <algorithm>
#include <chrono>
#include <random>

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
  auto batch = from->queue.claim({.limit = limit, .suspects = suspects});
  from->hear();
  if (!batch) return nothing_claimed(suspects);
  claimed(book, from, std::move(*batch), limit, suspects);
}

void play::nothing_claimed(bool suspects) {
  auto const there = model_.eligible(newest_.rounds, suspects, on_.now);
  must(there.empty(), "nothing is claimed, but " +
                          (there.empty() ? std::string() : there.front()->key) + " is due");
}

void play::claimed(std::size_t book, std::shared_ptr<handle> const& from, daybook::claim batch,
                   int limit, bool suspects) {
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
  if (!and_claim) {
    must(std::move(ended.claim).complete() == outcome::done, "a claim in hand is lost at its end");
    return model_.end(by, ended.number, false, on_.now);
  }
  int const limit = static_cast<int>(what.b % 20) + 1;
  auto next = std::move(ended.claim).complete_and_claim(limit);
  ended.from->hear();
  must(next.ended == outcome::done, "a claim in hand is lost at its end");
  model_.end(by, ended.number, false, on_.now);
  if (!next.next) return nothing_claimed(false);
  if (next.next->tasks().empty()) return;  // ids without a member: they go with it
  claimed(ended.book, ended.from, std::move(*next.next), limit, false);
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
  auto const held = std::count_if(hands_.begin(), hands_.end(),
                                  [&](hand const& one) { return one.book == victim; });
  must(taken == held,
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
    if (open != tasks.end() && what.b % 2 == 0) {
      must(lost.claim.perform(*open, [](daybook::transaction&) {}) == outcome::lost,
           "a dead worker performs a task");
    }
    must(std::move(lost.claim).complete() == outcome::lost, "a dead worker's claim ends well");
  }
  must(!daybook::testing::renew(on_.books[victim]), "a dead worker's lease is renewed");
}

}  // namespace model
