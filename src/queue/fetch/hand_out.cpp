// The claimer's thread, and what it decides.
#include "queue/fetch/hand_out.hpp"

#include "base/platform.hpp"
#include "core/tx/doorbells.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

using std::chrono::milliseconds;

/// So much work for each thread is in hand at most, where a task takes a while.
constexpr double work_in_hand = 10;
/// A claim is no larger than so many times the one before: one quick task says little.
constexpr int growth = 8;
/// Claims with the end of another do not look for dead holders.
constexpr std::chrono::seconds between_reclaims{5};
constexpr std::chrono::minutes longest_between_suspects{10};
/// For so long nothing else begins where a suspect is to be alone: other tasks may take hours.
constexpr std::chrono::seconds longest_quiet{20};
/// A queue with a rate gives the starts of a second at once: more, before those are over.
constexpr milliseconds while_slots_run{250};
constexpr milliseconds shortest_pause{50};
constexpr milliseconds longest_pause{5000};

instant soon(instant now, milliseconds length) {
  return now + std::chrono::microseconds(length) * 3 / 4 + base::jitter(length / 2);
}

}  // namespace

void dispenser::serve() noexcept {
  auto& bells = *store_->with().doorbells;
  auto const place = bells.add(store_->present().id, [this] { rung(); });
  std::unique_lock lock(guard_);
  for (;;) {
    auto const next = choose(local_clock::now());
    if (next.what == act::end && !next.of) break;
    if (next.what == act::wait) {
      wait(lock, next.until);
      continue;
    }
    lock.unlock();
    bool const done = attempt(next);
    lock.lock();
    if (done) {
      pause_ = shortest_pause;
    } else if (!closed_ || next.what != act::end) {
      resume_at_ = local_clock::now() + pause_ / 2 + base::jitter(pause_ / 2);
      pause_ = std::min(pause_ * 2, longest_pause);
    }
  }
  lock.unlock();
  bells.remove(place);
  to_do_.close();
  lock.lock();
  ended_ = true;
  stopped_.notify_all();
}

void dispenser::wait(std::unique_lock<std::mutex>& lock, instant until) {
  if (to_do_.wait(lock, until, stirred_)) poll_at_ = {};
  stirred_ = false;
}

/// One who is awake finds it without.
void dispenser::rung() noexcept {
  std::lock_guard const lock(guard_);
  if (!asleep_) return;
  poll_at_ = {};
  rung_ = stirred_ = true;
  to_do_.notify_one();
}

/// The first that is due of: flushing, looking around, ending what is finished, claiming.
dispenser::plan dispenser::choose(instant now) {
  if (closed_ && hands_.empty() && open_ == 0) return {act::end};
  if (now < resume_at_) return {.until = resume_at_};
  plan later;
  for (auto const& one : hands_) {
    if (one->unwritten() == 0 || one->over()) continue;
    // A quarter is left for the writing.
    auto const due = one->since() + options_.flush_every * 3 / 4;
    if (due <= now || (hungry() && wanted(0) == 0)) return {act::flush, one};
    later.until = std::min(later.until, due);
  }
  if (!closed_ && !hands_.empty()) {
    if (look_at_ <= now) return {act::look};
    later.until = std::min(later.until, look_at_);
  }
  // Last of what may not wait: in a process of quick tasks there is always one.
  for (auto const& one : hands_) {
    if (!one->over()) continue;
    // Its end makes room for others, whatever was found before.
    bool const looks = poll_at_ <= now || makes_room();
    return {act::end, one, looks ? wanted(one->held) : 0};
  }
  if (closed_) return later;
  if (!lease_lasts(*store_)) {
    later.until = std::min<instant>(later.until, now + between_glances);
    return later;
  }
  if (auto const next = choose_to_begin(now, later.until); next.of) return next;
  if (suspects_ && threads_ > 0 && !suspect()) return {act::claim_suspect};
  if (auto const limit = wanted(0); limit > 0) {
    if (poll_at_ <= now) return {asleep_ ? act::peek : act::claim, nullptr, limit};
    later.until = std::min(later.until, poll_at_);
  }
  return later;
}

/// The suspect: begun when a thread waits for it, and, where it is to be alone, when nothing else
/// is in the threads' hands or begun for them. Where that takes too long it goes back, and is
/// tried again later.
dispenser::plan dispenser::choose_suspect(instant now, instant& later) {
  auto const one = suspect();
  if (!one) return {};
  auto const until = one->made + longest_quiet;
  if (one->in_quiet && now < until) later = std::min<instant>(later, until);
  bool const waits = one->next < one->size();
  bool const quiet = open_ == 0 && !first_of_others();
  if (one->begun == 0 && waiting_ > 0 && (!one->in_quiet || quiet)) {
    return {act::begin, one, 1};
  }
  if (!one->in_quiet || now < until) return {};
  one->in_quiet = false;
  given_.notify_all();
  if (!waits) return {};
  one->next = one->size();
  --ready_;
  suspects_ = false;
  suspects_every_ = std::min<local_clock::duration>(suspects_every_ * 2, longest_between_suspects);
  suspects_at_ = now + suspects_every_;
  return {act::end, one};
}

/// What threads wait for, or soon will.
dispenser::plan dispenser::choose_to_begin(instant now, instant& later) {
  if (auto const next = choose_suspect(now, later); next.of) return next;
  if (auto const one = suspect(); one && one->in_quiet) return {};
  std::size_t ahead = 0;
  for (auto const& one : hands_) {
    ahead += one->to_give();
    if (one->alone || one->begun == one->size()) continue;
    auto const reach = one->one_by_one ? 0 : window();
    auto count = waiting_ > ahead ? waiting_ - ahead : 0;
    if (2 * ahead < reach) count = std::max(count, reach);
    count = std::min(count, one->size() - one->begun);
    if (one->one_by_one) {
      for (; count > 0 && one->slot_of(one->begun + count - 1) > now; --count) {
        later = std::min(later, one->slot_of(one->begun + count - 1));
      }
    }
    if (count > 0) return {act::begin, one, static_cast<int>(count)};
    return {};
  }
  return {};
}

/// Who is in hand keeps others of the queue from being claimed.
bool dispenser::makes_room() const {
  auto const here = store_->present();
  return here.options.running_limit > 0 || here.options.in_order;
}

/// Threads wait, and there is nothing for them.
bool dispenser::hungry() const noexcept { return waiting_ > 0 && ready_ == 0; }

std::shared_ptr<hand> dispenser::suspect() const {
  auto const found = std::find_if(hands_.begin(), hands_.end(),
                                  [](auto const& one) { return one->alone && !one->over(); });
  return found == hands_.end() ? nullptr : *found;
}

/// Half of the time within which what is finished is written.
std::size_t dispenser::window() const {
  if (seconds_ <= 0) return 0;
  auto const reach = std::chrono::duration<double>(options_.flush_every).count() / 2;
  auto const most = static_cast<double>(options_.batch) * (options_.ahead + 1);
  return static_cast<std::size_t>(std::min(static_cast<double>(threads_) * reach / seconds_, most));
}

/// How many tasks to claim, when so many that are in hand will be gone; 0: no claim.
int dispenser::wanted(std::size_t leaving) const {
  if (closed_ || threads_ == 0 || !lease_lasts(*store_)) return 0;
  auto const ahead = static_cast<std::size_t>(options_.ahead);
  auto size = static_cast<double>(2 * threads_);
  if (seconds_ > 0) {
    auto const each = std::max(1.0, work_in_hand / seconds_);
    size = std::ceil(static_cast<double>(threads_) * each / static_cast<double>(ahead + 1));
    size = std::min(size, static_cast<double>(growth) * std::max(last_size_, 1));
  }
  auto const most =
      static_cast<std::size_t>(std::clamp(size, 1.0, static_cast<double>(options_.batch)));
  if (ready_ > most * ahead) return 0;
  auto const in_hand = held_ - leaving;
  auto const bound = static_cast<std::size_t>(options_.batch) * (ahead + 1);
  auto const room = bound > in_hand ? bound - in_hand : 0;
  // Not for the few that a slow neighbour leaves room for, unless somebody waits.
  if (room < most && room * 2 < most && ready_ > 0) return 0;
  return static_cast<int>(std::min(most, room));
}

bool dispenser::attempt(plan const& plan) noexcept {
  try {
    act_on(plan);
    return true;
  } catch (std::exception const& e) {
    store_->with().watch.retried("hand_out", e.what());
  } catch (...) {
    store_->with().watch.retried("hand_out", "what was thrown is no std::exception");
  }
  failed(plan);
  return false;
}

void dispenser::act_on(plan const& plan) {
  switch (plan.what) {
    case act::end: return end(plan.of, plan.limit);
    case act::flush: return flush(plan.of);
    case act::begin: return begin(plan.of, static_cast<std::size_t>(plan.limit));
    case act::claim: return claim(plan.limit);
    case act::peek: return peek(plan.limit);
    case act::claim_suspect: return claim_suspect();
    case act::look: return look();
    case act::wait: return;
  }
}

/// Once closed there is no second try: it is an orphan, which the next claim of this process, or
/// its heir, takes back.
void dispenser::failed(plan const& plan) noexcept {
  std::lock_guard const lock(guard_);
  if (!closed_ || plan.what != act::end) return;
  leave_behind(*plan.of);
  remove(plan.of);
}

/// One that there was little room for does not make the next ones small. Where all that is in hand
/// begins soon, the claim itself says so; not beside a suspect, which may end this process.
claim_options dispenser::asked_for(int limit) {
  bool const once = store_->present().by.mode == step_mode::at_most_once;
  std::lock_guard const lock(guard_);
  last_size_ = std::max(last_size_ / 2, limit);
  bool const soon = ready_ + static_cast<std::size_t>(limit) <= std::max(window(), waiting_);
  bool const by_us = options_.beginning == beginning::with_claim;
  bool const all = soon && !once && by_us && !suspect();
  return {.limit = limit, .beginning = all ? beginning::with_claim : beginning::announced};
}

void dispenser::begin(std::shared_ptr<hand> const& claim, std::size_t count) {
  auto const became = claim->of->begin(claim->begun, count);
  {
    std::lock_guard const lock(guard_);
    if (claim->gone) return;
    if (became == outcome::done) {
      claim->begun += count;
      given_.notify_all();
      return;
    }
    lose(claim);
  }
  claim->lost.request_stop();
}

void dispenser::give_noted(hand& claim) {
  std::vector<std::pair<std::size_t, result>> taken;
  {
    std::lock_guard const lock(guard_);
    if (claim.noted.empty()) return;
    if (claim.in_batch == 0) claim.in_batch_since = claim.oldest;
    taken.swap(claim.noted);
    claim.in_batch += taken.size();
  }
  for (auto& [at, how] : taken) claim.of->finish(claim.of->tasks()[at], std::move(how));
}

void dispenser::end(std::shared_ptr<hand> const& claim, int limit) {
  give_noted(*claim);
  std::unique_ptr<batch> next;
  auto const became =
      limit > 0 ? claim->of->complete_and_claim(asked_for(limit), next) : claim->of->complete();
  {
    std::lock_guard const lock(guard_);
    if (became == outcome::done) {
      remove(claim);
    } else {
      lose(claim);
    }
    // What it has put back may be due before the next poll.
    if (!next) poll_at_ = {};
  }
  if (became != outcome::done) claim->lost.request_stop();
  if (!next) return;
  auto const tasks = next->tasks().size();
  add(std::move(next), false);
  found(tasks, limit);
}

void dispenser::flush(std::shared_ptr<hand> const& claim) {
  give_noted(*claim);
  bool const held = claim->of->flush();
  {
    std::lock_guard const lock(guard_);
    if (claim->gone) return;
    if (held) {
      claim->held -= claim->in_batch;
      held_ -= claim->in_batch;
      claim->in_batch = 0;
      return;
    }
    lose(claim);
  }
  claim->lost.request_stop();
}

/// Before the database is asked.
void dispenser::begin_to_look() {
  std::lock_guard const lock(guard_);
  rung_ = false;
}

/// Not where it was rung for while it looked: the answer may be older.
void dispenser::look_again_at(instant when) { poll_at_ = rung_ ? instant{} : when; }

void dispenser::claim(int limit) {
  begin_to_look();
  auto next = store_->claim(asked_for(limit));
  auto const now = local_clock::now();
  bool free = false;
  {
    std::lock_guard const lock(guard_);
    reclaim_at_ = now + between_reclaims;
    if (!next) {
      bool const rated = !hands_.empty() && store_->present().options.rate.has_value();
      look_again_at(soon(now, rated ? std::min(options_.poll, while_slots_run) : options_.poll));
      if (!std::exchange(asleep_, true)) poll_at_ = {};  // what came meanwhile it did not hear
      bool const put_off = suspects_every_ > between_suspects && now < suspects_at_;
      free = !suspect() && !closed_ && !put_off;
    }
  }
  if (!next) {
    if (free) claim_suspect();
    return;
  }
  auto const tasks = next->tasks().size();
  add(std::move(next), false);
  found(tasks, limit);
}

/// One at a time, beside the others.
void dispenser::claim_suspect() {
  auto next = store_->claim({.limit = 1, .quarantined = true, .beginning = beginning::announced});
  {
    std::lock_guard const lock(guard_);
    suspects_ = next != nullptr;
    if (next) suspects_every_ = between_suspects;
    suspects_at_ = local_clock::now() + suspects_every_;
  }
  if (next) add(std::move(next), true);
}

/// Asleep: one statement instead of the several of a claim that finds nothing, and no writing.
void dispenser::peek(int limit) {
  begin_to_look();
  auto const again_at = to_do_.listen();
  auto const seen = store_->look_out();
  if (seen.now()) return claim(limit);
  auto const now = local_clock::now();
  std::lock_guard const lock(guard_);
  more_ = false;
  auto when = soon(now, options_.poll);
  if (again_at) when = std::min(when, *again_at);
  if (seen.due_in && *seen.due_in < options_.poll) when = std::min(when, now + *seen.due_in);
  look_again_at(when);
}

/// A single task does not wake the claimer from its sleep: it would only lie down again. Where
/// there is more, those who add are spared the words.
void dispenser::found(std::size_t tasks, int limit) {
  {
    std::lock_guard const lock(guard_);
    bool const busy = std::exchange(more_, true) || std::cmp_greater_equal(tasks, limit);
    if (!asleep_ || !busy) return;
    asleep_ = more_ = false;
  }
  to_do_.stop_listening();
}

/// Their tasks are another's: nobody is to begin one.
void dispenser::drop_dead() {
  hands lost;
  {
    std::lock_guard const lock(guard_);
    std::copy_if(hands_.begin(), hands_.end(), std::back_inserter(lost),
                 [&](auto const& one) { return !is_ours(*one); });
    for (auto const& one : lost) lose(one);
  }
  for (auto const& one : lost) one->lost.request_stop();
}

/// What claim() does besides, for a process that is too busy to call it.
void dispenser::look() {
  drop_dead();
  auto const now = local_clock::now();
  bool reclaim = false;
  bool suspects = false;
  {
    std::lock_guard const lock(guard_);
    look_at_ = now + options_.poll;
    reclaim = reclaim_at_ <= now;
    if (reclaim) reclaim_at_ = now + between_reclaims;
    suspects = suspects_at_ <= now && !suspects_;
    if (suspects) suspects_at_ = now + suspects_every_;
  }
  store_->attend();
  if (reclaim && store_->reclaim() > 0) suspects = true;
  if (suspects && store_->has_suspects()) {
    std::lock_guard const lock(guard_);
    suspects_ = true;
  }
  store_
      ->settle_orphans();  // last: one may fail for long, where a transaction of yours has its task
}

void dispenser::add(std::unique_ptr<batch> batch, bool suspect) {
  // Until it is in the list, its own destructor hands it back.
  auto const made = std::make_shared<hand>(shared_from_this(), std::move(batch), suspect);
  // Another crash would be its end, or was not its first: it is to be the only one to blame.
  if (suspect && made->size() > 0) {
    auto const crashes = made->of->tasks().front().crashes;
    made->in_quiet = crashes > 1 || crashes + 1 >= store_->present().by.crash_limit;
  }
  std::lock_guard const lock(guard_);
  if (options_.beginning == beginning::announced) made->begun = made->size();  // others say it
  try {
    hands_.push_back(made);
  } catch (...) {
    store_->add_orphan(made->of->id(), made->of->holder());
    throw;
  }
  made->held = made->size();
  held_ += made->size();
  if (closed_) {
    made->next = made->size();
  } else {
    ready_ += made->size();
  }
  threads_ = std::max<std::size_t>(waiting_ + open_, 1);
  given_.notify_all();
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
