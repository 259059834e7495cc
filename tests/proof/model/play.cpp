// The plot: setting up, members, what people ask for, the clock, and comparing.
#include "play.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ostream>

namespace model {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr us second = 1'000'000;
constexpr us hour = 3600 * second;
constexpr std::uint32_t keys = 60;

std::string key_of(std::uint32_t from) { return "k" + std::to_string(from % keys); }

}  // namespace

std::ostream& operator<<(std::ostream& to, op const& what) {
  static char const* const words[verbs] = {"add",        "import",  "remove", "claim", "suspect",
                                           "finish",     "perform", "join",   "flush", "complete",
                                           "claim_next", "drop",    "crash",  "ask",   "pause",
                                           "round",      "forward", "change", "upkeep"};
  to << words[static_cast<std::size_t>(what.what)] << '(' << what.a << ", " << what.b << ')';
  return what.cut < first_cut ? to : to << " cut " << what.cut;
}

stage::stage(support::engine const& on)
    : database(on),
      books{database.open(), database.open()},
      application(database.url()),
      clock(books[0]),
      seen(database),
      now(clock.now().time_since_epoch().count()) {
  clock.stop_at(daybook::timestamp(microseconds(now)));
}

void stage::forward(us by) {
  clock.advance(microseconds(by));
  now += by;
}

play::options play::options_of(std::uint32_t from) {
  static constexpr us periods[] = {0, 60 * second, hour, 24 * hour};
  static constexpr us grains[] = {0, second, 7 * second, 60 * second};
  static constexpr int segments[] = {1000, 1000, 1000, 1000, 10, 10, 3, 1};
  options out;
  auto const pick = [&](std::uint32_t of) {
    auto const chosen = from % of;
    from /= of;
    return chosen;
  };
  out.period = microseconds(periods[pick(4)]);
  out.grain = microseconds(grains[pick(4)]);
  out.period_anchor =
      pick(3) == 0 ? daybook::period_anchor::from_finish : daybook::period_anchor::from_turn;
  out.mode = pick(5) == 0 ? daybook::step_mode::at_most_once : daybook::step_mode::at_least_once;
  out.attempts = static_cast<int>(pick(4)) + 1;
  out.crash_limit = static_cast<int>(pick(3)) + 1;
  out.backoff = milliseconds(pick(3) * 20'000);
  out.longest_backoff = milliseconds(50'000);
  out.segment = segments[pick(8)];
  out.record_every_outcome = pick(4) == 0;
  out.rounds = pick(8) == 0;
  static constexpr int limits[] = {0, 0, 0, 0, 3, 12};
  out.running_limit = limits[pick(6)];
  static constexpr std::array<daybook::rate, 3> rates{{{10, std::chrono::seconds{1}},
                                                       {100, std::chrono::seconds{1}},
                                                       {2, std::chrono::minutes{1}}}};
  if (auto const chosen = pick(9); chosen < rates.size()) out.rate = rates.at(chosen);
  return out;
}

play::play(stage& on, std::uint32_t chosen, int check_every)
    : on_(on),
      name_("q" + std::to_string(++on.plays)),
      newest_(options_of(chosen)),
      is_cut_(chosen >> 29U != 0),
      check_every_(check_every) {
  // A play that failed may have left a dead worker behind.
  for (auto& book : on_.books) static_cast<void>(daybook::testing::renew(book));
  for (auto& book : on_.books) {
    handles_.push_back(std::make_shared<handle>(handle{book.make_queue(name_, newest_), newest_}));
  }
  queue_ = on_.seen.id_of(name_);
}

void play::must(bool holds, std::string const& what) {
  if (!holds) throw disagreement(what);
}

void play::arm(op const& what) {
  static constexpr std::array<char const*, 3> places{".begun", ".before_commit", ".committed"};
  auto const transaction = [&]() -> std::string {
    switch (what.what) {
      case verb::claim:
      case verb::suspect: return what.b / 8 % 4 == 0 ? "attend" : "claim";
      case verb::flush: return "flush";
      case verb::perform: return "perform";
      case verb::complete:
      case verb::complete_and_claim:
      case verb::drop: return "complete";
      case verb::crash: return what.b / 8 % 2 == 0 ? "reclaim" : "mark_dead";
      default: return {};
    }
  }();
  if (transaction.empty()) return;
  daybook::testing::arm(transaction + places.at(what.cut % places.size()),
                        daybook::testing::failpoint_action::cut, what.b / 16 % 2);
}

void play::act(op const& what) {
  struct disarms {
    ~disarms() { daybook::testing::disarm(); }
  } const at_the_end;
  cut_ = is_cut_ && what.cut >= first_cut;
  if (cut_) arm(what);
  switch (what.what) {
    case verb::add: add(what); break;
    case verb::import: import(what); break;
    case verb::remove: remove(what); break;
    case verb::claim: claim(what, false); break;
    case verb::suspect: claim(what, true); break;
    case verb::finish: finish_some(what); break;
    case verb::perform: perform(what); break;
    case verb::join: join(what); break;
    case verb::flush: flush(what); break;
    case verb::complete: complete(what, false); break;
    case verb::complete_and_claim: complete(what, true); break;
    case verb::drop: drop(what); break;
    case verb::crash: crash(what); break;
    case verb::ask: ask(what); break;
    case verb::pause: pause(what); break;
    case verb::round: open_round(what); break;
    case verb::forward: forward(what); break;
    case verb::change: change(what); break;
    case verb::upkeep: upkeep(what); break;
  }
  if (++acts_ % check_every_ == 0) compare(what.a);
}

void play::finish() {
  while (!hands_.empty()) complete({verb::complete}, false);
  compare(0);
  must(on_.seen.forgotten_ledgers() == 0, "a ledger is left of a claim that is over");
  must(on_.seen.claims_of_the_dead() == 0, "one that was declared dead has a claim");
}

void play::add(op const& what) {
  auto const name = key_of(what.a);
  daybook::task_options how;
  how.priority = what.b % 4 == 0 ? static_cast<int>(what.b / 4 % 10) : 5;
  std::optional<us> at;
  if (what.b % 3 == 0) {
    at = on_.now + static_cast<us>(what.b / 40 % 7200) * second / 2 - 600 * second;
    how.at = daybook::timestamp(microseconds(*at));
  }
  bool const fresh = model_.find(name) == nullptr;
  auto& by = *handles_[what.b / 7 % 2];
  must(by.queue.add(daybook::key(name), how) == fresh, "add " + name + " says otherwise");
  if (!fresh) return;
  auto const there = on_.seen.members(queue_);
  must(there.contains(name), name + " was added and is no member");
  model_.add(newest_, there.at(name), name, how.priority, at, on_.now);
}

void play::import(op const& what) {
  auto& by = *handles_[what.b / 7 % 2];
  daybook::task_options how;
  how.priority = what.b % 5 == 0 ? static_cast<int>(what.b / 5 % 10) : 5;
  std::vector<daybook::entry> entries;
  std::set<std::string> fresh;
  for (std::uint32_t i = 0; i < what.b / 50 % 40 + 1; ++i) {
    auto const name = key_of(what.a + i * (what.b % 3));  // now and then the same again
    entries.push_back({daybook::key(name)});
    if (model_.find(name) == nullptr) fresh.insert(name);
  }
  auto const done = by.queue.import(entries, how);
  must(std::cmp_equal(done.added, fresh.size()),
       "import adds " + std::to_string(done.added) + " instead of " + std::to_string(fresh.size()));
  must(std::cmp_equal(done.added + done.present, entries.size()), "import miscounts");
  auto const there = on_.seen.members(queue_);
  for (auto const& name : fresh) {
    must(there.contains(name), name + " was imported and is no member");
    model_.add(newest_, there.at(name), name, how.priority, {}, on_.now);
  }
}

void play::remove(op const& what) {
  auto const name = key_of(what.a);
  auto* const there = model_.find(name);
  must(handles_[what.b % 2]->queue.remove(daybook::key(name)) == (there != nullptr),
       "remove " + name + " says otherwise");
  if (there != nullptr) model_.rows.erase(there->id);
}

void play::ask(op const& what) {
  if (model_.requests.size() > 90) return;  // a claim attends to the oldest hundred
  auto const name = key_of(what.a);
  auto const* const there = model_.find(name);
  auto const of = daybook::key(name);
  auto& queue = handles_[what.b / 5 % 2]->queue;
  auto const kind = static_cast<asked>(what.b % 5);
  bool said = false;
  switch (kind) {
    case asked::run_now: said = queue.run_now(of); break;
    case asked::retry: said = queue.retry(of); break;
    case asked::discard: said = queue.discard(of); break;
    case asked::was_done: said = queue.resolve(of, daybook::effect_state::done); break;
    case asked::was_not_done: said = queue.resolve(of, daybook::effect_state::not_done); break;
  }
  must(said == (there != nullptr), "a request for " + name + " says otherwise");
  if (there != nullptr) model_.requests.push_back({there->id, kind, on_.now});
}

void play::pause(op const& what) {
  auto& queue = handles_[what.b % 2]->queue;
  // More often on than off.
  model_.paused = what.a % 4 == 0;
  if (model_.paused) {
    queue.pause();
  } else {
    queue.resume();
  }
}

void play::open_round(op const& what) {
  if (!newest_.rounds) return;
  auto& by = *handles_[what.b % 2];
  if (!by.by.rounds) return;  // it has not heard of it
  us const at = on_.now - static_cast<us>(what.a % 100) * second;
  bool const later = !model_.round || *model_.round < at;
  must(by.queue.open_round(daybook::timestamp(microseconds(at))) == later,
       "opening a round says otherwise");
  if (later) model_.round = at;
}

void play::forward(op const& what) {
  static constexpr us widths[] = {100 * second, hour, 30 * hour, second};
  us const width = widths[what.a % 4];
  on_.forward(static_cast<us>(what.b) * 7919 % width + 1);
  for (std::size_t i = 0; i < on_.books.size(); ++i) must(renew(i), "a lease is lost");
}

/// Who has nothing in hand need not be anybody.
bool play::renew(std::size_t book) {
  bool const renewed = daybook::testing::renew(on_.books[book]) == daybook::lease_state::held;
  return renewed || std::none_of(hands_.begin(), hands_.end(),
                                 [&](hand const& one) { return one.book == book; });
}

void play::change(op const& what) {
  if (is_cut_ || newest_.running_limit > 0 || newest_.rate) return;
  auto const book = what.b % 2;
  auto fresh = options_of(what.a);
  fresh.rounds = newest_.rounds;
  fresh.running_limit = 0;
  fresh.rate.reset();
  newest_ = fresh;
  handles_[book] =
      std::make_shared<handle>(handle{on_.books[book].make_queue(name_, newest_), newest_});
}

void play::upkeep(op const& what) {
  auto& by = *handles_[what.b % 2];
  static_cast<void>(by.queue.upkeep());
  by.by = newest_;
  model_.upkeep(newest_, on_.now);
}

void play::compare(std::uint32_t sample) {
  auto const said = difference(model_, on_.seen.look(queue_));
  must(said.empty(), said);
  compare_one(sample);
}

/// One key as daybook::queue::find() tells it, which looks elsewhere than we do.
void play::compare_one(std::uint32_t sample) {
  auto const name = key_of(sample);
  auto const* const one = model_.find(name);
  auto const there = handles_[sample % 2]->queue.find(daybook::key(name));
  must(there.has_value() == (one != nullptr), "find " + name + " says otherwise");
  if (one == nullptr) return;
  auto state = one->claim == 0 ? one->state : daybook::task_state::running;
  if (one->how && one->how->written) {
    switch (one->how->what) {
      case daybook::result::kind::success: state = daybook::task_state::succeeded; break;
      case daybook::result::kind::failure: state = daybook::task_state::failed; break;
      case daybook::result::kind::snooze: state = daybook::task_state::waiting; break;
      case daybook::result::kind::cancel: state = daybook::task_state::discarded; break;
      case daybook::result::kind::unknown: state = daybook::task_state::unknown; break;
    }
  }
  auto const due = there->due ? there->due->time_since_epoch().count() : never;
  auto const since = one->due < 0 ? one->due + (us{1} << 58) : one->due;
  bool const equal = there->id == one->id && there->state == state && due == since &&
                     there->priority == one->priority && there->attempts == one->attempts &&
                     there->crashes == one->crashes &&
                     there->turn.time_since_epoch().count() == one->turn;
  must(equal, "find " + name +
                  " tells of another task: " + std::string(daybook::word_of(there->state)) +
                  " instead of " + std::string(daybook::word_of(state)) + ", or of other numbers");
}

}  // namespace model
