#include "work/ticker.hpp"

#include "base/platform.hpp"
#include "core/run.hpp"
#include "schedule/store.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <exception>

namespace daybook {
inline namespace v1 {
namespace work {

namespace {

using std::chrono::milliseconds;

[[noreturn]] void bad(std::string const& what) { throw error({.kind = fault::bad_argument}, what); }

node_options checked(node_options options) {
  if (options.threads < 1 || options.threads > 1000) bad("a node has 1 to 1000 threads");
  if (options.poll < milliseconds{10} || options.poll > std::chrono::hours{1}) {
    bad("a node's poll is 10 ms to an hour");
  }
  if (options.jitter < milliseconds{0} || options.jitter > std::chrono::minutes{1}) {
    bad("a node's jitter is at most a minute");
  }
  return options;
}

core::context ready_for(engine& of) {
  if (of.borrowed()) {
    bad("a node has threads, and a borrowed book belongs to one: open the book by its URL, or lend "
        "it connections");
  }
  return of.ready();
}

}  // namespace

ticker::ticker(engine& of, node_options options)
    : of_(&of), options_(checked(options)), launch_(ready_for(of), of.lease(), of.runs()) {}

ticker::~ticker() { stop(); }

void ticker::set_locked(place const& what, instant at) {
  order_.erase({what->at, what});
  what->at = at;
  if (at == instant::max()) return;
  bool const first = order_.empty() || at < order_.begin()->first;
  order_.insert({at, what});
  if (first) stirred_.notify_one();
}

void ticker::set(place const& what, instant at) {
  std::lock_guard const lock(guard_);
  auto const known = all_.find(what->name);
  if (known != all_.end() && known->second == what) set_locked(what, at);
}

void ticker::serve(std::string_view schedule, tick_handler handler) {
  check_name("schedule name", schedule);
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
  if (!threads_.empty()) bad("this node was started before");
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { work(); });
}

void ticker::wake() noexcept {
  std::lock_guard const lock(guard_);
  poll_at_ = {};
  stirred_.notify_one();
}

void ticker::stop() noexcept {
  std::vector<std::jthread> ending;
  {
    std::lock_guard const lock(guard_);
    stopping_.request_stop();
    ending.swap(threads_);
    stirred_.notify_all();
  }
  if (of_->forked()) {
    // The threads are the parent's.
    for (auto& one : ending) static_cast<void>(new std::jthread(std::move(one)));
  }
}

node_counts ticker::counts() const {
  std::lock_guard const lock(guard_);
  return counts_;
}

void ticker::told(std::string_view why) const { of_->ready().watch.retried("node", why); }

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
  using schedules::standing;
  auto const after = [&](timestamp at) {
    auto const wait = std::max(at - of.now, timestamp::duration{0});
    return known_at + wait + base::jitter(options_.jitter);
  };
  if (of.its == standing::free || of.its == standing::orphan) return after(of.now);
  auto out = instant::max();
  if (of.state == schedule_state::active) {
    auto const tick = of.next(of.decided);
    // One that is late although another runs waits for the end of that.
    bool const waits =
        of.running && tick && *tick <= of.now && schedules::decide(of, of.now).nothing();
    if (tick && !waits) out = after(*tick);
  }
  if (of.open_due && !of.running) out = std::min(out, after(*of.open_due));
  return out;
}

void ticker::look_at_all() {
  try {
    auto const known_at = local_clock::now();
    auto const there = schedules::all(of_->ready(), zones_);
    std::lock_guard const lock(guard_);
    for (auto const& one : there) {
      auto const mine = all_.find(one.name);
      if (mine == all_.end()) continue;
      auto const at = when(one, known_at);
      if (at < mine->second->at) set_locked(mine->second, at);
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
  try {
    auto const known_at = local_clock::now();
    auto const of = schedules::look(of_->ready(), what->name, zones_);
    if (!of) return;
    auto got = launch_.attend(*of);
    what->pause = {};
    if (!got.tick) return set(what, got.look_again ? local_clock::now() : when(*of, known_at));
    // It must be looked at while the handler works: ticks that come meanwhile are skipped.
    auto next = of->next(std::max(got.tick->facts.at, of->decided));
    auto const next_at =
        next ? known_at + (*next - of->now) + base::jitter(options_.jitter) : instant::max();
    set(what, next_at);
    call(what->handler, std::move(*got.tick));
    bool const late = next && known_at + (*next - of->now) <= local_clock::now();
    if (late) set(what, local_clock::now());
  } catch (std::exception const& e) {
    told(e.what());
    what->pause = std::clamp(what->pause * 2, shortest_pause, options_.poll);
    set(what, local_clock::now() + what->pause + base::jitter(what->pause));
  }
}

void ticker::call(tick_handler const& handler, schedules::launched one) {
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
  try {
    finish(mine, failure);
  } catch (std::exception const& e) {
    told(e.what());
  }
  std::lock_guard const lock(guard_);
  --counts_.running;
}

void ticker::finish(tick& done, std::optional<std::string> const& failure) {
  bool const back = done.handed_back();
  auto& run = done.run();
  if (!run || !run.internals().is_open()) {  // by the handler itself
    std::lock_guard const lock(guard_);
    ++counts_.done;
    return;
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
}

std::int64_t ticker::drain() {
  std::int64_t out = 0;
  auto const handler_of = [&](std::string const& name) {
    std::lock_guard const lock(guard_);
    auto const known = all_.find(name);
    return known == all_.end() ? tick_handler() : known->second->handler;
  };
  for (bool again = true; again && !stopping_.stop_requested();) {
    again = false;
    for (auto const& one : schedules::all(of_->ready(), zones_)) {
      auto const handler = handler_of(one.name);
      if (!handler) continue;
      auto of = std::optional(one);
      while (of && !stopping_.stop_requested()) {
        auto got = launch_.attend(*of);
        if (!got.tick && !got.look_again) break;
        again = true;
        if (got.tick) {
          ++out;
          call(handler, std::move(*got.tick));
        }
        of = schedules::look(of_->ready(), one.name, zones_);
      }
    }
  }
  return out;
}

}  // namespace work

node::node(daybook::book& of, node_options options)
    : inside_(std::make_shared<work::ticker>(of.internals(), options)) {}
node::~node() { inside_->stop(); }
void node::serve(std::string_view schedule, tick_handler handler) {
  inside_->serve(schedule, std::move(handler));
}
void node::start() { inside_->start(); }
void node::wake() noexcept { inside_->wake(); }
void node::stop() noexcept { inside_->stop(); }
std::int64_t node::drain() { return inside_->drain(); }
node_counts node::counts() const { return inside_->counts(); }

}  // namespace v1
}  // namespace daybook
