#include "service/crew.hpp"

#include "base/limits.hpp"
#include "queue/fetch/hand_out.hpp"

#include <daybook/error.hpp>
#include <daybook/queue.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

namespace {

using std::chrono::milliseconds;

/// What was handed back is there again at once, and fails as before.
constexpr milliseconds pause_after_a_fault{100};

std::string text_of(milliseconds length) {
  auto const count = length.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + "s" : std::to_string(count) + "ms";
}

/// How many tasks its handler takes at once.
std::size_t most_for(order const& how) {
  return how.many ? static_cast<std::size_t>(how.options.batch) : 1;
}

/// What a handler throws, as text.
template <class F>
std::optional<std::string> thrown_by(F const& handler) {
  try {
    handler();
    return std::nullopt;
  } catch (std::exception const& e) {
    return e.what();
  } catch (...) {
    return "the handler threw something that is no std::exception";
  }
}

}  // namespace

order checked(order of, std::string_view queue) {
  auto const& options = of.options;
  base::limits const in("working queue", queue);
  if (!of.one && !of.many) in.refuse("there is no handler");
  in.between("the number of threads", options.threads, 1, 1000);
  in.between("the timeout (0: none)", options.timeout, milliseconds{0},
             std::chrono::hours{24 * 366});
  in.between("the batch", options.batch, 1, 10'000);
  in.between("the time to gather a batch", options.gather, milliseconds{0}, std::chrono::hours{1});
  queues::checked(options.claims, queue);
  // A batch is of few claims, so that it ends with few of them.
  if (of.many) of.options.claims.batch = std::max(options.claims.batch, options.batch);
  return of;
}

/// What a handler has in hand while it is called, and who may ask it to stop.
class crew::attempt {
 public:
  attempt(crew& by, order const& how, std::span<handed const> tasks)
      : size_(static_cast<std::int64_t>(tasks.size())),
        inside_(std::make_shared<in_hand>(by.counts_)),
        closes_(by.closing_.get_token(), ask{inside_.get(), halt::closing}) {
    if (how.options.timeout > milliseconds{0}) {
      time_.emplace(*by.clock_, how.options.timeout, inside_);
    }
    std::stop_token last;
    for (auto const& one : tasks) {  // those of one claim are neighbours
      if (auto of = one.lost(); of != last) {
        losses_.emplace_back(of, ask{inside_.get(), halt::lost});
        last = std::move(of);
      }
    }
    by.counts_.begins(size_);
  }
  attempt(attempt const&) = delete;
  attempt& operator=(attempt const&) = delete;
  ~attempt() { inside_->counts().begins(-size_); }

  [[nodiscard]] in_hand& inside() const noexcept { return *inside_; }

 private:
  struct ask {
    in_hand* who;
    halt why;
    void operator()() const noexcept { who->ask_to_stop(why); }
  };
  std::int64_t size_;
  std::shared_ptr<in_hand> inside_;
  std::optional<alarm::set> time_;
  std::stop_callback<ask> closes_;
  std::deque<std::stop_callback<ask>> losses_;
};

crew::crew(std::shared_ptr<queues::store> of, alarm& clock, order how)
    : of_(std::move(of)), clock_(&clock), now_(std::make_shared<present>(std::move(how))) {}

crew::~crew() { stop(); }

void crew::start() {
  std::lock_guard const lock(guard_);
  if (closed_ || out_) return;
  out_ = std::make_unique<hand_out>(daybook::queue(of_), now_->how.options.claims);
  try {
    man(now_->how.options.threads);
  } catch (...) {
    out_.reset();
    throw;
  }
}

void crew::man(int threads) {
  auto const wanted = static_cast<std::size_t>(threads);
  if (posts_.size() < wanted) posts_.resize(wanted);
  for (std::size_t i = 0; i < wanted; ++i) {
    auto& one = posts_[i];
    if (one.manned) continue;
    if (one.thread.joinable()) one.thread.join();  // it has said that it goes, and waits for nobody
    one.thread = std::thread([this, i] { serve(i); });
    one.manned = true;
  }
}

void crew::change(order how) {
  auto next = std::make_shared<present>(std::move(how));
  std::shared_ptr<present const> before;
  {
    std::lock_guard const lock(guard_);
    if (closed_) return;
    if (out_) {
      man(next->how.options.threads);
      out_->change(next->how.options.claims);
    }
    before = std::exchange(now_, std::move(next));
  }
  std::stop_source over = before->over;
  over.request_stop();
}

void crew::wake() noexcept {
  std::lock_guard const lock(guard_);
  if (out_) out_->wake();
}

void crew::close() noexcept {
  std::lock_guard const lock(guard_);
  closed_ = true;
  if (out_) out_->close();
}

void crew::stop() noexcept {
  close();
  std::lock_guard const one_of_them(ending_);
  for (auto& one : posts_) {
    if (one.thread.joinable()) one.thread.join();
  }
  if (out_) out_->stop();
}

work_options crew::options() const { return now()->how.options; }

std::shared_ptr<crew::present const> crew::now() const {
  std::lock_guard const lock(guard_);
  return now_;
}

std::shared_ptr<crew::present const> crew::order_for(std::size_t place) {
  std::lock_guard const lock(guard_);
  if (!closed_ && out_ && std::cmp_less(place, now_->how.options.threads)) return now_;
  posts_[place].manned = false;
  return nullptr;
}

void crew::serve(std::size_t place) noexcept {
  while (auto const by = order_for(place)) {
    try {
      take(*by);
    } catch (std::exception const& e) {
      of_->with().watch.retried("work", e.what());
      std::this_thread::sleep_for(pause_after_a_fault);
    }
  }
}

void crew::take(present const& by) {
  auto const& options = by.how.options;
  auto tasks = out_->next_batch(most_for(by.how), options.gather, by.over.get_token());
  work(by.how, tasks);
}

std::int64_t crew::drain(queues::drainer& from) {
  std::int64_t out = 0;
  while (!closing_.stop_requested()) {
    auto const by = now();
    auto tasks = from.next(most_for(by->how));
    if (tasks.empty()) break;
    out += static_cast<std::int64_t>(tasks.size());
    work(by->how, tasks);
  }
  return out;
}

std::int64_t crew::drain_suspects(queues::drainer& from) {
  std::int64_t out = 0;
  for (; !closing_.stop_requested(); ++out) {
    auto tasks = from.next_suspect();
    if (tasks.empty()) break;
    work(now()->how, tasks);
  }
  return out;
}

void crew::work(order const& by, std::span<handed> tasks) {
  if (tasks.empty()) return;
  if (closing_.stop_requested()) {
    for (auto& one : tasks) one.hand_back();
  } else if (by.many) {
    work_all(by, tasks);
  } else {
    for (auto& one : tasks) work_one(by, one);
  }
}

void crew::take_in_hand(std::optional<attempt>& now, order const& by, std::span<handed> tasks) {
  try {
    now.emplace(*this, by, tasks);
  } catch (...) {
    for (auto& one : tasks) one.hand_back();
    throw;
  }
}

void crew::work_one(order const& by, handed& what) {
  std::optional<attempt> now;
  take_in_hand(now, by, std::span(&what, 1));
  job mine(what, now->inside());
  std::optional<result> how;
  auto why = thrown_by([&] { how = by.one(mine); });
  if (what.finished()) return;
  finish(what, why ? failed(by, now->inside(), std::move(*why)) : std::move(*how));
}

void crew::work_all(order const& by, std::span<handed> what) {
  std::optional<attempt> now;
  take_in_hand(now, by, what);
  job_batch mine(what, now->inside());
  auto why = thrown_by([&] { by.many(mine); });
  auto const how =
      failed(by, now->inside(), std::move(why).value_or("the handler gave it no result"));
  for (auto& one : what) {
    if (!one.finished()) finish(one, how);
  }
}

result crew::failed(order const& by, in_hand const& inside, std::string why) const {
  if (inside.why() == halt::timeout) {
    why = "timed out after " + text_of(by.options.timeout) + ": " + why;
  }
  bool const once = of_->present().by.mode == step_mode::at_most_once;
  return once ? result::unknown(std::move(why)) : result::failure(std::move(why));
}

void crew::finish(handed& what, result how) {
  auto const kind = how.what();
  if (what.finish(std::move(how)) == outcome::lost) {
    counts_.lost();
  } else {
    counts_.ended(kind);
  }
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
