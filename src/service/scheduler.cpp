#include "service/scheduler.hpp"

#include "base/limits.hpp"
#include "base/platform.hpp"
#include "core/run/run.hpp"
#include "schedule/decide.hpp"
#include "schedule/store.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

namespace {

using std::chrono::milliseconds;

node_options checked(node_options options) {
  base::limits const limits("node_options");
  limits.between("the number of threads", options.threads, 1, 1000);
  limits.between("the poll", options.poll, milliseconds{10}, std::chrono::hours{1});
  limits.between("the jitter", options.jitter, milliseconds{0}, std::chrono::minutes{1});
  return options;
}

core::context ready_for(engine& book) {
  if (book.borrowed()) {
    base::refuse_argument(
        "a node has threads, and a borrowed book belongs to one: open the book by its URL, or lend "
        "it connections");
  }
  return book.ready();
}

}  // namespace

scheduler::scheduler(engine& book, node_options options)
    : context_(ready_for(book)),
      lease_(&book.lease()),
      options_(checked(options)),
      launch_(context_, book.lease(), book.runs()) {}

scheduler::~scheduler() { stop(); }

void scheduler::set_due_locked(schedule_ref const& schedule, instant at) {
  by_time_.erase({schedule->at, schedule});
  schedule->at = at;
  if (at == instant::max()) return;
  bool const first = by_time_.empty() || at < by_time_.begin()->first;
  by_time_.insert({at, schedule});
  if (first) changed_.notify_one();
}

void scheduler::release(schedule_ref const& schedule, instant next) {
  std::lock_guard const lock(guard_);
  schedule->busy = false;
  next = std::min(next, std::exchange(schedule->look_again_at, instant::max()));
  auto const known = schedules_.find(schedule->name);
  if (known != schedules_.end() && known->second == schedule) set_due_locked(schedule, next);
}

void scheduler::move_earlier(schedule_ref const& schedule, instant at) {
  std::lock_guard const lock(guard_);
  auto const known = schedules_.find(schedule->name);
  if (known == schedules_.end() || known->second != schedule) return;
  if (schedule->busy) {
    schedule->look_again_at = std::min(schedule->look_again_at, at);
  } else if (at < schedule->at) {
    set_due_locked(schedule, at);
  }
}

void scheduler::serve(std::string_view schedule, tick_handler handler) {
  check_name("schedule name", schedule);
  zones_.forget();
  std::lock_guard const lock(guard_);
  auto const known = schedules_.find(schedule);
  if (known != schedules_.end()) {
    set_due_locked(known->second, instant::max());
    schedules_.erase(known);
  }
  if (!handler) return;
  auto fresh = std::make_shared<served>();
  fresh->name = schedule;
  fresh->handler = std::move(handler);
  schedules_.emplace(fresh->name, fresh);
  poll_at_ = {};
  changed_.notify_one();
}

void scheduler::start() {
  std::lock_guard const lock(guard_);
  if (std::exchange(started_, true)) base::refuse_argument("this node was started before");
  if (stopping_.stop_requested()) base::refuse_argument("this node was stopped: make another");
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { work(); });
}

void scheduler::wake() noexcept {
  std::lock_guard const lock(guard_);
  poll_at_ = {};
  changed_.notify_one();
}

void scheduler::stop() noexcept {
  if (context_.forked()) {
    // The threads are the parent's, and one of them may have had the guard.
    static_cast<void>(new std::vector<std::jthread>(std::move(threads_)));
    return;
  }
  std::lock_guard const one_stop(ending_);
  std::vector<std::jthread> ending;  // joined when the guard has been given back
  std::lock_guard const lock(guard_);
  stopping_.request_stop();
  ending.swap(threads_);
  changed_.notify_all();
}

node_counts scheduler::counts() const {
  std::lock_guard const lock(guard_);
  return counts_;
}

/// A schedule whose time zone is missing here is left to other nodes: a tick that this node took
/// and dropped again and again would hardly reach them. look_at_all() notices when the zone is
/// there.
bool scheduler::can_run_here(schedule_ref const& schedule,
                             schedules::definition const& definition) {
  bool const ours = definition.can_be_told();
  auto const missing = ours ? std::string() : definition.options.zone;
  {
    std::lock_guard const lock(guard_);
    if (std::exchange(schedule->missing, missing) == missing) return ours;
  }
  if (!ours)
    report("schedule '" + definition.name + "' is left to other nodes: " + definition.why_not_in);
  return ours;
}

void scheduler::report(std::string_view message) const { context_.watch.retried("node", message); }

void scheduler::work() {
  while (auto const schedule = next()) *schedule ? process(*schedule) : look_at_all();
}

std::optional<scheduler::schedule_ref> scheduler::next() {
  std::unique_lock lock(guard_);
  for (;;) {
    if (stopping_.stop_requested()) return std::nullopt;
    auto const now = local_clock::now();
    if (!polling_ && poll_at_ <= now) {
      polling_ = true;
      return schedule_ref();
    }
    if (!by_time_.empty() && by_time_.begin()->first <= now) {
      auto const first = by_time_.begin()->second;
      set_due_locked(first, instant::max());
      first->busy = true;
      // Others may have something to do meanwhile, which nobody waits for but this thread.
      changed_.notify_one();
      return first;
    }
    auto until = polling_ ? now + options_.poll : poll_at_;
    if (!by_time_.empty()) until = std::min(until, by_time_.begin()->first);
    changed_.wait_until(lock, until);
  }
}

scheduler::instant scheduler::next_look(schedules::definition const& definition,
                                        instant known_at) const {
  // Longer than a clock of this machine can tell is as good as a day.
  constexpr timestamp::duration longest = std::chrono::hours{24};
  auto const at = schedules::due(definition);
  if (!at) return instant::max();
  auto const wait = *at <= definition.now            ? timestamp::duration{0}
                    : *at > definition.now + longest ? longest
                                                     : *at - definition.now;
  return known_at + wait + base::jitter(options_.jitter);
}

void scheduler::look_at_all() {
  try {
    // So that people see this node also while it has nothing to do.
    static_cast<void>(lease_->current());
    auto const known_at = local_clock::now();
    for (auto const& one : schedules::all(context_, zones_)) {
      schedule_ref mine;
      {
        std::lock_guard const lock(guard_);
        auto const found = schedules_.find(one.name);
        if (found == schedules_.end()) continue;
        mine = found->second;
      }
      if (can_run_here(mine, one)) move_earlier(mine, next_look(one, known_at));
    }
  } catch (std::exception const& e) {
    report(e.what());
  }
  std::lock_guard const lock(guard_);
  polling_ = false;
  auto const quarter = options_.poll / 4;
  poll_at_ = local_clock::now() + options_.poll - quarter / 2 + base::jitter(quarter);
  changed_.notify_one();
}

void scheduler::process(schedule_ref const& schedule) {
  constexpr milliseconds shortest_pause{50};
  std::optional<instant> next;
  try {
    next = look_at(schedule);
  } catch (std::exception const& e) {
    report(e.what());
    schedule->pause = std::clamp(schedule->pause * 2, shortest_pause, options_.poll);
    next = local_clock::now() + schedule->pause + base::jitter(schedule->pause);
  }
  if (next) release(schedule, *next);
}

std::optional<scheduler::instant> scheduler::look_at(schedule_ref const& schedule) {
  auto const known_at = local_clock::now();
  auto const found = schedules::look(context_, schedule->name, zones_);
  if (!found || !can_run_here(schedule, *found)) return instant::max();
  auto got = launch_.attend(*found);
  schedule->pause = {};
  if (!got.tick) {
    if (got.decided) launch_.prune(*found, stopping_.get_token());
    if (got.look_again) return local_clock::now();
    // Nothing was to be done, or could be: nothing will be, before something changes.
    auto const at = schedules::due(*found);
    return at && *at <= found->now ? known_at + options_.poll : next_look(*found, known_at);
  }
  // It must be looked at while the handler works: ticks that come meanwhile are skipped.
  auto after = *found;
  after.decided = std::max(got.tick->facts.at, found->decided);
  after.running = got.tick->facts.at;
  after.its = schedules::standing::alive;
  release(schedule, next_look(after, known_at));
  bool const back = !call(schedule->handler, std::move(*got.tick));
  move_earlier(schedule, local_clock::now() + (back ? options_.poll : milliseconds{0}));
  // When the tick is done: it is schedule people wait for.
  if (got.decided) launch_.prune(*found, stopping_.get_token());
  return std::nullopt;
}

bool scheduler::call(tick_handler const& handler, schedules::launched acquired) {
  {
    std::lock_guard const lock(guard_);
    ++counts_.running;
    if (acquired.taken_over) ++counts_.taken_over;
  }
  tick mine(std::move(acquired.facts), std::move(acquired.held), stopping_.get_token());
  std::optional<std::string> failure;
  try {
    handler(mine);
  } catch (std::exception const& e) {
    failure = e.what();
  } catch (...) {
    failure = "the handler threw something that is no std::exception";
  }
  bool back = false;
  try {
    back = finish(mine, failure);
  } catch (std::exception const& e) {
    report(e.what());
  }
  std::lock_guard const lock(guard_);
  --counts_.running;
  return !back;
}

bool scheduler::finish(tick& done, std::optional<std::string> const& failure) {
  bool const back = done.handed_back() && !failure;
  auto& run = done.run();
  if (!run || !run.internals().is_open()) {  // by the handler itself
    std::lock_guard const lock(guard_);
    ++counts_.done;
    return false;
  }
  auto const how = back      ? std::move(run).release("handed back")
                   : failure ? std::move(run).fail(*failure)
                             : std::move(run).finish();
  std::lock_guard const lock(guard_);
  if (how.what() == outcome::lost) {
    ++counts_.lost;
  } else if (back) {
    ++counts_.handed_back;
  } else if (failure || how.what() == outcome::unknown) {
    ++counts_.failed;
  } else {
    ++counts_.done;
  }
  return back;
}

std::int64_t scheduler::drain(std::set<std::string>& refused) {
  std::int64_t out = 0;
  auto const handler_of = [&](std::string const& name) {
    std::lock_guard const lock(guard_);
    auto const known = schedules_.find(name);
    return known == schedules_.end() ? tick_handler() : known->second->handler;
  };
  for (bool again = true; again && !stopping_.stop_requested();) {
    again = false;
    for (auto const& one : schedules::all(context_, zones_)) {
      auto const handler = handler_of(one.name);
      if (!handler || refused.contains(one.name)) continue;
      auto found = std::optional(one);
      while (found && !stopping_.stop_requested()) {
        auto got = launch_.attend(*found);
        if (!got.tick && !got.look_again) break;
        again = true;
        if (got.tick) {
          ++out;
          if (!call(handler, std::move(*got.tick))) refused.insert(one.name);
        }
        if (got.decided) launch_.prune(*found, stopping_.get_token());
        if (refused.contains(one.name)) break;
        found = schedules::look(context_, one.name, zones_);
      }
    }
  }
  return out;
}

}  // namespace work

}  // namespace v1
}  // namespace daybook
