#include "service/worker_pool.hpp"

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

/// A task that was handed back comes again at once, and would fail as before.
constexpr milliseconds pause_after_a_fault{100};

std::string text_of(milliseconds length) {
  auto const count = length.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + "s" : std::to_string(count) + "ms";
}

/// The number of tasks in one call of the handler.
std::size_t max_tasks(work_spec const& spec) {
  return spec.batch ? static_cast<std::size_t>(spec.options.batch) : 1;
}

/// The text of the exception that the handler throws; empty if it throws none.
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

work_spec checked(work_spec spec, std::string_view queue) {
  auto const& options = spec.options;
  base::limits const limits("working queue", queue);
  if (!spec.single && !spec.batch) limits.refuse("there is no handler");
  limits.between("the number of threads", options.threads, 1, 1000);
  limits.between("the timeout (0: none)", options.timeout, milliseconds{0},
                 std::chrono::hours{24 * 366});
  limits.between("the batch", options.batch, 1, 10'000);
  limits.between("the time to gather a batch", options.gather, milliseconds{0},
                 std::chrono::hours{1});
  queues::checked(options.claims, queue);
  // Large claims: a batch then ends with few of them.
  if (spec.batch) spec.options.claims.batch = std::max(options.claims.batch, options.batch);
  return spec;
}

/// One call of a handler: its tasks, and the events that ask it to stop.
class worker_pool::attempt {
 public:
  attempt(worker_pool& pool, work_spec const& spec, std::span<claimed_task const> tasks)
      : size_(static_cast<std::int64_t>(tasks.size())),
        handler_(std::make_shared<running_handler>(pool.counts_)),
        closes_(pool.closing_.get_token(), ask{handler_.get(), stop_reason::closing}) {
    if (spec.options.timeout > milliseconds{0}) {
      timeout_.emplace(*pool.clock_, spec.options.timeout, handler_);
    }
    std::stop_token last;
    for (auto const& task : tasks) {  // those of one claim are neighbours
      if (auto token = task.lost(); token != last) {
        losses_.emplace_back(token, ask{handler_.get(), stop_reason::lost});
        last = std::move(token);
      }
    }
    pool.counts_.begins(size_);
  }
  attempt(attempt const&) = delete;
  attempt& operator=(attempt const&) = delete;
  ~attempt() { handler_->counts().begins(-size_); }

  [[nodiscard]] running_handler& handler() const noexcept { return *handler_; }

 private:
  struct ask {
    running_handler* handler;
    stop_reason reason;
    void operator()() const noexcept { handler->ask_to_stop(reason); }
  };
  std::int64_t size_;
  std::shared_ptr<running_handler> handler_;
  std::optional<timeout_watcher::entry> timeout_;
  std::stop_callback<ask> closes_;
  std::deque<std::stop_callback<ask>> losses_;
};

worker_pool::worker_pool(std::shared_ptr<queues::store> queue, timeout_watcher& clock,
                         work_spec spec)
    : queue_(std::move(queue)),
      clock_(&clock),
      spec_(std::make_shared<versioned_spec>(std::move(spec))) {}

worker_pool::~worker_pool() { stop(); }

void worker_pool::start() {
  std::lock_guard const lock(guard_);
  if (closed_ || fetcher_) return;
  fetcher_ = std::make_unique<task_fetcher>(daybook::queue(queue_), spec_->spec.options.claims);
  try {
    spawn(spec_->spec.options.threads);
  } catch (...) {
    fetcher_.reset();
    throw;
  }
}

void worker_pool::spawn(int threads) {
  auto const wanted = static_cast<std::size_t>(threads);
  if (slots_.size() < wanted) slots_.resize(wanted);
  for (std::size_t i = 0; i < wanted; ++i) {
    auto& slot = slots_[i];
    if (slot.running) continue;
    if (slot.thread.joinable()) slot.thread.join();  // it ends, and waits for nothing
    slot.thread = std::thread([this, i] { serve(i); });
    slot.running = true;
  }
}

void worker_pool::change(work_spec spec) {
  auto next = std::make_shared<versioned_spec>(std::move(spec));
  std::shared_ptr<versioned_spec const> before;
  {
    std::lock_guard const lock(guard_);
    if (closed_) return;
    if (fetcher_) {
      spawn(next->spec.options.threads);
      fetcher_->change(next->spec.options.claims);
    }
    before = std::exchange(spec_, std::move(next));
  }
  std::stop_source replaced = before->replaced;
  replaced.request_stop();
}

void worker_pool::wake() noexcept {
  std::lock_guard const lock(guard_);
  if (fetcher_) fetcher_->wake();
}

void worker_pool::close() noexcept {
  std::lock_guard const lock(guard_);
  closed_ = true;
  if (fetcher_) fetcher_->close();
}

void worker_pool::stop() noexcept {
  close();
  std::lock_guard const one_of_them(ending_);
  for (auto& slot : slots_) {
    if (slot.thread.joinable()) slot.thread.join();
  }
  if (fetcher_) fetcher_->stop();
}

work_options worker_pool::options() const { return now()->spec.options; }

std::shared_ptr<worker_pool::versioned_spec const> worker_pool::now() const {
  std::lock_guard const lock(guard_);
  return spec_;
}

std::shared_ptr<worker_pool::versioned_spec const> worker_pool::spec_for(std::size_t index) {
  std::lock_guard const lock(guard_);
  if (!closed_ && fetcher_ && std::cmp_less(index, spec_->spec.options.threads)) return spec_;
  slots_[index].running = false;
  return nullptr;
}

void worker_pool::serve(std::size_t index) noexcept {
  while (auto const version = spec_for(index)) {
    try {
      take(*version);
    } catch (std::exception const& e) {
      queue_->with().watch.retried("work", e.what());
      std::this_thread::sleep_for(pause_after_a_fault);
    }
  }
}

void worker_pool::take(versioned_spec const& version) {
  auto const& options = version.spec.options;
  auto tasks =
      fetcher_->next_batch(max_tasks(version.spec), options.gather, version.replaced.get_token());
  work(version.spec, tasks);
}

std::int64_t worker_pool::drain(queues::drainer& source) {
  std::int64_t out = 0;
  while (!closing_.stop_requested()) {
    auto const version = now();
    auto tasks = source.next(max_tasks(version->spec));
    if (tasks.empty()) break;
    out += static_cast<std::int64_t>(tasks.size());
    work(version->spec, tasks);
  }
  return out;
}

std::int64_t worker_pool::drain_suspects(queues::drainer& source) {
  std::int64_t out = 0;
  for (; !closing_.stop_requested(); ++out) {
    auto tasks = source.next_suspect();
    if (tasks.empty()) break;
    work(now()->spec, tasks);
  }
  return out;
}

void worker_pool::work(work_spec const& spec, std::span<claimed_task> tasks) {
  if (tasks.empty()) return;
  if (closing_.stop_requested()) {
    for (auto& task : tasks) task.hand_back();
  } else if (spec.batch) {
    work_all(spec, tasks);
  } else {
    for (auto& task : tasks) work_one(spec, task);
  }
}

void worker_pool::begin_attempt(std::optional<attempt>& current, work_spec const& spec,
                                std::span<claimed_task> tasks) {
  try {
    current.emplace(*this, spec, tasks);
  } catch (...) {
    for (auto& task : tasks) task.hand_back();
    throw;
  }
}

void worker_pool::work_one(work_spec const& spec, claimed_task& task) {
  std::optional<attempt> current;
  begin_attempt(current, spec, std::span(&task, 1));
  job mine(task, current->handler());
  std::optional<result> returned;
  auto why = thrown_by([&] { returned = spec.single(mine); });
  if (task.finished()) return;
  finish(task, why ? failed(spec, current->handler(), std::move(*why)) : std::move(*returned));
}

void worker_pool::work_all(work_spec const& spec, std::span<claimed_task> tasks) {
  std::optional<attempt> current;
  begin_attempt(current, spec, tasks);
  job_batch mine(tasks, current->handler());
  auto why = thrown_by([&] { spec.batch(mine); });
  auto const fallback =
      failed(spec, current->handler(), std::move(why).value_or("the handler gave it no result"));
  for (auto& task : tasks) {
    if (!task.finished()) finish(task, fallback);
  }
}

result worker_pool::failed(work_spec const& spec, running_handler const& handler,
                           std::string why) const {
  if (handler.why() == stop_reason::timeout) {
    why = "timed out after " + text_of(spec.options.timeout) + ": " + why;
  }
  bool const once = queue_->present().by.mode == step_mode::at_most_once;
  return once ? result::unknown(std::move(why)) : result::failure(std::move(why));
}

void worker_pool::finish(claimed_task& task, result handler_result) {
  auto const kind = handler_result.what();
  if (task.finish(std::move(handler_result)) == outcome::lost) {
    counts_.lost();
  } else {
    counts_.ended(kind);
  }
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
