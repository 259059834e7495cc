#include "service/ticker.hpp"

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
  base::limits const in("node_options");
  in.between("the number of threads", options.threads, 1, 1000);
  in.between("the poll", options.poll, milliseconds{10}, std::chrono::hours{1});
  in.between("the jitter", options.jitter, milliseconds{0}, std::chrono::minutes{1});
  return options;
}

core::context ready_for(engine& of) {
  if (of.borrowed()) {
    base::refuse_argument(
        "a node has threads, and a borrowed book belongs to one: open the book by its URL, or lend "
        "it connections");
  }
  return of.ready();
}

}  // namespace

ticker::ticker(engine& of, node_options options)
    : with_(ready_for(of)),
      lease_(&of.lease()),
      options_(checked(options)),
      launch_(with_, of.lease(), of.runs()) {}

ticker::~ticker() { stop(); }

void ticker::set_locked(place const& what, instant at) {
  order_.erase({what->at, what});
  what->at = at;
  if (at == instant::max()) return;
  bool const first = order_.empty() || at < order_.begin()->first;
  order_.insert({at, what});
  if (first) stirred_.notify_one();
}

void ticker::done_attending(place const& what, instant next) {
  std::lock_guard const lock(guard_);
  what->attended = false;
  next = std::min(next, std::exchange(what->again, instant::max()));
  auto const known = all_.find(what->name);
  if (known != all_.end() && known->second == what) set_locked(what, next);
}

void ticker::hurry(place const& what, instant at) {
  std::lock_guard const lock(guard_);
  auto const known = all_.find(what->name);
  if (known == all_.end() || known->second != what) return;
  if (what->attended) {
    what->again = std::min(what->again, at);
  } else if (at < what->at) {
    set_locked(what, at);
  }
}

void ticker::serve(std::string_view schedule, tick_handler handler) {
  check_name("schedule name", schedule);
  zones_.forget();
  std::lock_guard const lock(guard_);
  auto const known = all_.find(schedule);
  if (known != all_.end()) {
    set_locked(known->second, instant::max());
    all_.erase(known);
  }
  if (!handler) return;
  auto fresh = std::make_shared<served>();
  fresh->name = schedule;
  fresh->handler = std::move(handler);
  all_.emplace(fresh->name, fresh);
  poll_at_ = {};
  stirred_.notify_one();
}

void ticker::start() {
  std::lock_guard const lock(guard_);
  if (std::exchange(started_, true)) base::refuse_argument("this node was started before");
  if (stopping_.stop_requested()) base::refuse_argument("this node was stopped: make another");
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { work(); });
}

void ticker::wake() noexcept {
  std::lock_guard const lock(guard_);
  poll_at_ = {};
  stirred_.notify_one();
}

void ticker::stop() noexcept {
  if (with_.forked()) {
    // The threads are the parent's, and one of them may have had the guard.
    static_cast<void>(new std::vector<std::jthread>(std::move(threads_)));
    return;
  }
  std::lock_guard const one_of_them(ending_);
  std::vector<std::jthread> ending;  // joined when the guard has been given back
  std::lock_guard const lock(guard_);
  stopping_.request_stop();
  ending.swap(threads_);
  stirred_.notify_all();
}

node_counts ticker::counts() const {
  std::lock_guard const lock(guard_);
  return counts_;
}

/// Where its zone is missing it is others' until that is there, which look_at_all() sees: they
/// would hardly come to a tick that is taken here again and again, to be dropped.
bool ticker::is_for_us(place const& what, schedules::definition const& of) {
  bool const ours = of.can_be_told();
  auto const missing = ours ? std::string() : of.options.zone;
  {
    std::lock_guard const lock(guard_);
    if (std::exchange(what->missing, missing) == missing) return ours;
  }
  if (!ours) told("schedule '" + of.name + "' is left to other nodes: " + of.why_not_in);
  return ours;
}

void ticker::told(std::string_view why) const { with_.watch.retried("node", why); }

void ticker::work() {
  while (auto const what = next()) *what ? attend(*what) : look_at_all();
}

std::optional<ticker::place> ticker::next() {
  std::unique_lock lock(guard_);
  for (;;) {
    if (stopping_.stop_requested()) return std::nullopt;
    auto const now = local_clock::now();
    if (!polling_ && poll_at_ <= now) {
      polling_ = true;
      return place();
    }
    if (!order_.empty() && order_.begin()->first <= now) {
      auto const first = order_.begin()->second;
      set_locked(first, instant::max());
      first->attended = true;
      // Others may have something to do meanwhile, which nobody waits for but this thread.
      stirred_.notify_one();
      return first;
    }
    auto until = polling_ ? now + options_.poll : poll_at_;
    if (!order_.empty()) until = std::min(until, order_.begin()->first);
    stirred_.wait_until(lock, until);
  }
}

ticker::instant ticker::when(schedules::definition const& of, instant known_at) const {
  // Longer than a clock of this machine can tell is as good as a day.
  constexpr timestamp::duration longest = std::chrono::hours{24};
  auto const at = schedules::due(of);
  if (!at) return instant::max();
  auto const wait = *at <= of.now            ? timestamp::duration{0}
                    : *at > of.now + longest ? longest
                                             : *at - of.now;
  return known_at + wait + base::jitter(options_.jitter);
}

void ticker::look_at_all() {
  try {
    // So that people see this node also while it has nothing to do.
    static_cast<void>(lease_->current());
    auto const known_at = local_clock::now();
    for (auto const& one : schedules::all(with_, zones_)) {
      place mine;
      {
        std::lock_guard const lock(guard_);
        auto const found = all_.find(one.name);
        if (found == all_.end()) continue;
        mine = found->second;
      }
      if (is_for_us(mine, one)) hurry(mine, when(one, known_at));
    }
  } catch (std::exception const& e) {
    told(e.what());
  }
  std::lock_guard const lock(guard_);
  polling_ = false;
  auto const quarter = options_.poll / 4;
  poll_at_ = local_clock::now() + options_.poll - quarter / 2 + base::jitter(quarter);
  stirred_.notify_one();
}

void ticker::attend(place const& what) {
  constexpr milliseconds shortest_pause{50};
  std::optional<instant> next;
  try {
    next = look_at(what);
  } catch (std::exception const& e) {
    told(e.what());
    what->pause = std::clamp(what->pause * 2, shortest_pause, options_.poll);
    next = local_clock::now() + what->pause + base::jitter(what->pause);
  }
  if (next) done_attending(what, *next);
}

std::optional<ticker::instant> ticker::look_at(place const& what) {
  auto const known_at = local_clock::now();
  auto const of = schedules::look(with_, what->name, zones_);
  if (!of || !is_for_us(what, *of)) return instant::max();
  auto got = launch_.attend(*of);
  what->pause = {};
  if (!got.tick) {
    if (got.decided) launch_.prune(*of, stopping_.get_token());
    if (got.look_again) return local_clock::now();
    // Nothing was to be done, or could be: nothing will be, before something changes.
    auto const at = schedules::due(*of);
    return at && *at <= of->now ? known_at + options_.poll : when(*of, known_at);
  }
  // It must be looked at while the handler works: ticks that come meanwhile are skipped.
  auto after = *of;
  after.decided = std::max(got.tick->facts.at, of->decided);
  after.running = got.tick->facts.at;
  after.its = schedules::standing::alive;
  done_attending(what, when(after, known_at));
  bool const back = !call(what->handler, std::move(*got.tick));
  hurry(what, local_clock::now() + (back ? options_.poll : milliseconds{0}));
  // When the tick is done: it is what people wait for.
  if (got.decided) launch_.prune(*of, stopping_.get_token());
  return std::nullopt;
}

bool ticker::call(tick_handler const& handler, schedules::launched one) {
  {
    std::lock_guard const lock(guard_);
    ++counts_.running;
    if (one.taken_over) ++counts_.taken_over;
  }
  tick mine(std::move(one.facts), std::move(one.held), stopping_.get_token());
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
    told(e.what());
  }
  std::lock_guard const lock(guard_);
  --counts_.running;
  return !back;
}

bool ticker::finish(tick& done, std::optional<std::string> const& failure) {
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

std::int64_t ticker::drain(std::set<std::string>& refused) {
  std::int64_t out = 0;
  auto const handler_of = [&](std::string const& name) {
    std::lock_guard const lock(guard_);
    auto const known = all_.find(name);
    return known == all_.end() ? tick_handler() : known->second->handler;
  };
  for (bool again = true; again && !stopping_.stop_requested();) {
    again = false;
    for (auto const& one : schedules::all(with_, zones_)) {
      auto const handler = handler_of(one.name);
      if (!handler || refused.contains(one.name)) continue;
      auto of = std::optional(one);
      while (of && !stopping_.stop_requested()) {
        auto got = launch_.attend(*of);
        if (!got.tick && !got.look_again) break;
        again = true;
        if (got.tick) {
          ++out;
          if (!call(handler, std::move(*got.tick))) refused.insert(one.name);
        }
        if (got.decided) launch_.prune(*of, stopping_.get_token());
        if (refused.contains(one.name)) break;
        of = schedules::look(with_, one.name, zones_);
      }
    }
  }
  return out;
}

}  // namespace work

}  // namespace v1
}  // namespace daybook
