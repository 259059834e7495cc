// daybook::task_fetcher and daybook::handed: what the threads that work call. Memory only, but for
// perform() and finish_in().
#include "queue/fetch/hand_out.hpp"

#include "base/limits.hpp"

#include <daybook/error.hpp>
#include <daybook/queue.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

task_fetcher_options checked(task_fetcher_options options, std::string_view queue) {
  using std::chrono::milliseconds;
  base::limits const limits("the hand-out of queue", queue);
  limits.between("the batch", options.batch, 1, 10'000);
  limits.between("the number of claims ahead", options.ahead, 0, 100);
  limits.between("flush_every", options.flush_every, milliseconds{1}, std::chrono::minutes{1});
  limits.between("the poll", options.poll, milliseconds{1}, std::chrono::hours{1});
  return options;
}

dispenser::dispenser(std::shared_ptr<store> store, task_fetcher_options options)
    : store_(std::move(store)),
      options_(checked(options, store_->name())),
      to_do_(store_),
      suspects_every_(between_suspects),
      pause_(std::chrono::milliseconds{50}) {
  if (!store_->with().borrowed) return;
  throw error({.kind = error_code::bad_argument},
              "the hand-out of queue '" + store_->name() +
                  "': a borrowed connection belongs to one thread, and a hand-out has one of its "
                  "own: use a pool (book::lent) or a URL");
}

void dispenser::start() {
  thread_ = std::thread([self = shared_from_this()] { self->serve(); });
}

void dispenser::close() noexcept {
  std::lock_guard const lock(guard_);
  closed_ = true;
  resume_at_ = {};
  for (auto const& one : hands_) {
    one->next = one->size();  // they stay held until the claim has ended
  }
  ready_ = 0;
  stirred_ = true;
  given_.notify_all();
  to_do_.notify_one();
}

void dispenser::stop() noexcept {
  if (store_->with().forked()) {
    // The thread is the parent's.
    if (thread_.joinable()) thread_.detach();
    return;
  }
  close();
  std::unique_lock lock(guard_);
  stopped_.wait(lock, [this] { return ended_; });
  if (thread_.joinable()) std::exchange(thread_, {}).join();
}

void dispenser::wake() noexcept {
  std::lock_guard const lock(guard_);
  poll_at_ = look_at_ = instant{};
  rung_ = stirred_ = true;
  to_do_.notify_one();
}

void dispenser::change(task_fetcher_options options) {
  options = checked(options, store_->name());
  std::lock_guard const lock(guard_);
  options_ = options;
  poll_at_ = look_at_ = instant{};
  stirred_ = true;
  to_do_.notify_one();
}

namespace {

/// So long a thread that has some tasks of a batch waits for others that are in hand.
constexpr std::chrono::seconds longest_for_a_record{1};

/// How many tasks a thread waits for.
class asking {
 public:
  asking(std::size_t& counter, std::size_t count) : counter_(counter), count_(count) {
    counter_ += count_;
  }
  asking(asking const&) = delete;
  asking& operator=(asking const&) = delete;
  ~asking() { counter_ -= count_; }
  void has_one() noexcept {
    --counter_;
    --count_;
  }

 private:
  std::size_t& counter_;
  std::size_t count_;
};

}  // namespace

std::optional<claimed_task> dispenser::next(std::stop_token const& stop) {
  store_->with().check_process();
  std::unique_lock lock(guard_);
  asking const one(waiting_, 1);
  saw_threads();
  return give(lock, instant::max(), stop, company::none);
}

std::vector<claimed_task> dispenser::next_batch(std::size_t most, std::chrono::milliseconds gather,
                                                std::stop_token const& stop) {
  store_->with().check_process();
  std::vector<claimed_task> out;
  out.reserve(most);
  std::unique_lock lock(guard_);
  asking wanted(waiting_, most);
  saw_threads();
  for (auto until = instant::max(); out.size() < most;) {
    auto one = give(lock, until, stop, out.empty() ? company::none : company::others);
    if (!one) break;
    if (out.empty()) until = local_clock::now() + gather;
    wanted.has_one();
    out.push_back(std::move(*one));
    if (out.back().claim_->alone) break;
  }
  return out;
}

std::shared_ptr<hand> dispenser::first_to_give(company beside) const {
  if (auto const one = suspect()) {
    bool const now = !one->in_quiet || open_ == 0;
    if (now && one->to_give() > 0 && beside == company::none) return one;
    // In quiet: nothing begins until it is over. The begun go before it.
    if (one->in_quiet && one->begun > 0) return nullptr;
  }
  return first_of_others();
}

/// The claim whose begun tasks go to the threads next, suspects apart; null: none is begun.
std::shared_ptr<hand> dispenser::first_of_others() const {
  auto const first = std::find_if(hands_.begin(), hands_.end(), [](auto const& one) {
    return one->to_give() > 0 && !one->alone;
  });
  return first == hands_.end() ? nullptr : *first;
}

bool dispenser::gives_soon() const {
  if (auto const one = suspect(); one && one->in_quiet) return false;
  auto const now = local_clock::now();
  return std::any_of(hands_.begin(), hands_.end(), [&](auto const& one) {
    return !one->alone && one->next < one->size() && one->slot_of(one->next) <= now;
  });
}

bool dispenser::runs_short(hand const& claim) const {
  if (claim.to_give() == 0) return true;
  bool const all_begun = std::all_of(hands_.begin(), hands_.end(),
                                     [](auto const& one) { return one->begun == one->size(); });
  return !all_begun && claim.to_give() * 2 < window();
}

std::optional<claimed_task> dispenser::give(std::unique_lock<std::mutex>& lock, instant until,
                                            std::stop_token const& stop, company beside) {
  bool extended = false;
  while (!closed_ && !stop.stop_requested()) {
    auto const now = local_clock::now();
    auto const from = first_to_give(beside);
    if (!from) {
      // A batch is not cut in two by the record of where its tasks begin.
      if (until <= now && !std::exchange(extended, true) && gives_soon()) {
        until = now + longest_for_a_record;
      }
      if (until <= now) return std::nullopt;
      stirred_ = true;
      to_do_.notify_one();
      given_.wait_until(lock, stop, until, [&] { return closed_ || first_to_give(beside); });
      continue;
    }
    bool const lost = !is_ours(*from);
    if (lost) {
      look_at_ = {};
      stirred_ = true;
      to_do_.notify_one();
    }
    if (lost || !lease_lasts(*store_)) {
      if (until <= now) return std::nullopt;
      given_.wait_until(lock, stop, std::min<instant>(until, now + between_glances),
                        [this] { return closed_; });
      continue;
    }
    if (auto const slot = from->slot_of(from->next); slot > now && slot > from->made) {
      if (until <= now) return std::nullopt;
      auto const at = from->next;
      given_.wait_until(lock, stop, std::min<instant>(until, slot),
                        [&] { return closed_ || from->next != at; });
      continue;
    }
    claimed_task out(from, from->next);
    ++from->next;
    ++from->open;
    ++open_;
    --ready_;
    // The claimer sleeps until something is wanted of it.
    if (runs_short(*from)) {
      stirred_ = true;
      to_do_.notify_one();
    }
    return out;
  }
  return std::nullopt;
}

void dispenser::saw_threads() noexcept { threads_ = std::max(threads_, waiting_ + open_); }

void dispenser::measure(local_clock::duration took) noexcept {
  constexpr double weight = 1.0 / 16;
  auto const now = std::max(std::chrono::duration<double>(took).count(), 1e-9);
  seconds_ = seconds_ > 0 ? seconds_ + (now - seconds_) * weight : now;
}

task_fetcher_counts dispenser::counts() const {
  std::lock_guard const lock(guard_);
  task_fetcher_counts out{.claims = hands_.size(), .waiting = ready_, .working = open_};
  for (auto const& one : hands_) out.unwritten += one->unwritten();
  return out;
}

bool dispenser::gone(hand const& claim) const {
  std::lock_guard const lock(guard_);
  return claim.gone;
}

bool dispenser::note(hand& claim, std::size_t index, result result, local_clock::duration took) {
  std::lock_guard const lock(guard_);
  if (!claim.gone) {
    if (claim.unwritten() == 0) stirred_ = true;  // it must know when to flush
    if (claim.noted.empty()) claim.oldest = local_clock::now();
    claim.noted.emplace_back(index, std::move(result));
  }
  --claim.open;
  --open_;
  measure(took);
  if (claim.over() || claim.gone || hungry() || suspect()) stirred_ = true;
  if (stirred_) to_do_.notify_one();
  if (claim.alone) given_.notify_all();
  return !claim.gone;
}

void dispenser::leave(std::shared_ptr<hand> const& claim, bool lost,
                      local_clock::duration took) noexcept {
  bool tell = false;
  {
    std::lock_guard const lock(guard_);
    --claim->open;
    --open_;
    if (!claim->gone) {
      --claim->held;
      --held_;
      tell = lost;
      if (lost) lose(claim);
    }
    measure(took);
    stirred_ = true;
    to_do_.notify_one();
    if (claim->alone) given_.notify_all();
  }
  if (tell) claim->lost.request_stop();
}

void dispenser::remove(std::shared_ptr<hand> const& claim) noexcept {
  auto const found = std::find(hands_.begin(), hands_.end(), claim);
  if (found == hands_.end()) return;
  held_ -= claim->held;
  ready_ -= closed_ ? 0 : claim->size() - claim->next;
  claim->held = claim->in_batch = 0;
  claim->next = claim->size();
  hands_.erase(found);
}

void dispenser::lose(std::shared_ptr<hand> const& claim) noexcept {
  claim->gone = true;
  remove(claim);
  claim->noted.clear();
  stirred_ = true;
  to_do_.notify_one();
  given_.notify_all();
}

}  // namespace queues

// --- What users see ---

claimed_task::claimed_task(std::shared_ptr<queues::hand> claim, std::size_t index) noexcept
    : claim_(std::move(claim)), index_(index), since_(queues::local_clock::now()) {}

claimed_task::claimed_task(claimed_task&& other) noexcept
    : claim_(std::move(other.claim_)),
      index_(other.index_),
      since_(other.since_),
      open_(std::exchange(other.open_, false)),
      in_theirs_(other.in_theirs_) {}

claimed_task& claimed_task::operator=(claimed_task&& other) noexcept {
  if (this == &other) return *this;
  drop();
  claim_ = std::move(other.claim_);
  index_ = other.index_;
  since_ = other.since_;
  open_ = std::exchange(other.open_, false);
  in_theirs_ = other.in_theirs_;
  return *this;
}

claimed_task::~claimed_task() { drop(); }

void claimed_task::drop() noexcept {
  if (!open_ || claim_->of->of().with().forked()) return;
  if (in_theirs_) return leave(false);
  try {
    auto const mode = claim_->of->of().present().by.mode;
    finish(mode == step_mode::at_most_once ? result::unknown("dropped without a result")
                                           : result::failure("dropped without a result"));
  } catch (...) {
    if (open_) leave(false);  // no memory: handed back
  }
}

task const& claimed_task::task() const noexcept { return claim_->of->tasks()[index_]; }
std::string claimed_task::idempotency_key() const { return claim_->of->idempotency_key(task()); }
std::stop_token claimed_task::lost() const noexcept { return claim_->lost.get_token(); }

void claimed_task::check_open() const {
  if (!finished()) return;
  throw error({.kind = error_code::bad_argument}, "a task that was handed out is finished already");
}

outcome claimed_task::begin() {
  check_open();
  auto const became = claim_->of->begin(index_, 1);
  if (became == outcome::lost) leave(true);
  return became;
}

outcome claimed_task::finish(result result) {
  check_open();
  auto const took = queues::local_clock::now() - since_;
  bool const ours = claim_->from->note(*claim_, index_, std::move(result), took);
  open_ = false;
  return ours ? outcome::done : outcome::lost;
}

void claimed_task::hand_back() {
  check_open();
  leave(false);
}

void claimed_task::leave(bool lost) noexcept {
  open_ = false;
  claim_->from->leave(claim_, lost, queues::local_clock::now() - since_);
}

task_fetcher::task_fetcher(queue const& queue, task_fetcher_options options)
    : inside_(std::make_shared<queues::dispenser>(queue.internals().shared_from_this(), options)) {
  inside_->start();
}

task_fetcher::~task_fetcher() { stop(); }
std::optional<claimed_task> task_fetcher::next(std::stop_token stop) { return inside_->next(stop); }
std::vector<claimed_task> task_fetcher::next_batch(std::size_t most,
                                                   std::chrono::milliseconds gather,
                                                   std::stop_token stop) {
  base::limits const limits("hand_out::next_batch");
  limits.between("the number of tasks (most)", most, 1, 10'000);
  limits.between("the time to gather them", gather, std::chrono::milliseconds{0},
                 std::chrono::hours{1});
  return inside_->next_batch(most, gather, stop);
}
void task_fetcher::change(task_fetcher_options options) { inside_->change(options); }
void task_fetcher::wake() noexcept { inside_->wake(); }
void task_fetcher::close() noexcept { inside_->close(); }
void task_fetcher::stop() noexcept { inside_->stop(); }
task_fetcher_counts task_fetcher::counts() const { return inside_->counts(); }

}  // namespace v1
}  // namespace daybook
