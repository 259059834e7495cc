// daybook::testing::memory_broker, and its sources.
#include <daybook/memory_broker.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace testing {

namespace {

using call = memory_broker::call;
using clock = std::chrono::steady_clock;

}  // namespace

struct memory_broker::state {
  struct log_partition {
    std::int64_t first = 0;
    std::int64_t end = 0;
    std::map<std::int64_t, sent_message> messages;
    std::int64_t reported = 0;
  };

  struct queued {
    std::int64_t number = 0;
    sent_message message;
    bool redelivered = false;
    void const* taken_by = nullptr;
  };

  struct memory_queue {
    std::deque<queued> messages;  ///< in the order in which they were sent
    std::int64_t deliveries = 0;
  };

  struct fault {
    call at{};
    error_code kind{};
    int skip = 0;
  };

  std::mutex guard;
  std::condition_variable_any changed;
  std::map<std::string, std::vector<log_partition>> logs;
  std::map<std::string, memory_queue> queues;
  std::vector<fault> faults;
  std::function<void(call)> hook;
  int lost_settlements = 0;
  std::int64_t sent = 0;

  std::vector<log_partition>& log(std::string const& topic) {
    auto& out = logs[topic];
    if (out.empty()) out.emplace_back();
    return out;
  }
  log_partition& partition(std::string const& topic, int number) {
    auto& all = log(topic);
    if (number < 0 || static_cast<std::size_t>(number) >= all.size()) {
      throw error({.kind = error_code::bad_argument}, "the log '" + topic + "' has no partition " +
                                                          std::to_string(number) +
                                                          ": make it with more, or add one");
    }
    return all[static_cast<std::size_t>(number)];
  }
  /// What comes before each call of a source.
  void begin(call at) {
    std::function<void(call)> told;
    {
      std::lock_guard const lock(guard);
      told = hook;
    }
    if (told) told(at);
    std::lock_guard const lock(guard);
    auto const found =
        std::find_if(faults.begin(), faults.end(), [&](fault const& one) { return one.at == at; });
    if (found == faults.end() || found->skip-- > 0) return;
    auto const kind = found->kind;
    faults.erase(found);
    throw error({.kind = kind, .retryable = kind == error_code::unreachable},
                "the broker in memory fails, as the test has asked for");
  }
};

namespace {

using shared_state = std::shared_ptr<memory_broker::state>;

/// Copies of what was taken, and the views of them.
class taken_page {
 public:
  void clear() {
    views_.clear();
    headers_.clear();
    messages_.clear();
    bytes_ = 0;
  }
  void add(std::string const& topic, int partition, std::int64_t position,
           sent_message const& message, bool redelivered) {
    auto const& kept = messages_.emplace_back(message);
    auto& headers = headers_.emplace_back();
    for (auto const& [name, value] : kept.headers) headers.push_back({name, value});
    views_.push_back({.topic = topic,
                      .partition = partition,
                      .position = position,
                      .id = kept.id,
                      .key = kept.key,
                      .body = kept.body,
                      .headers = headers,
                      .sent = {},
                      .redelivered = redelivered});
    bytes_ += kept.body.size();
  }
  [[nodiscard]] bool full(broker::page_request const& request) {
    return views_.size() >= request.messages || (!views_.empty() && bytes_ >= request.bytes);
  }
  [[nodiscard]] std::span<broker::message const> views() const { return views_; }

 private:
  std::deque<sent_message> messages_;
  std::deque<std::vector<broker::header>> headers_;
  std::vector<broker::message> views_;
  std::size_t bytes_ = 0;
};

/// Calls `more` until the page is full or the time is over. Precondition: `lock` is had.
template <class F>
void gather(memory_broker::state& state, std::unique_lock<std::mutex>& lock, taken_page& page,
            broker::page_request const& request, std::stop_token const& stop, F const& more) {
  auto until = clock::now() + request.wait;
  bool first = true;
  for (;;) {
    more();
    if (page.full(request) || stop.stop_requested()) return;
    if (first && !page.views().empty()) {
      first = false;
      until = clock::now() + request.gather;
    }
    if (clock::now() >= until) return;
    state.changed.wait_until(lock, stop, until, [] { return false; });
  }
}

class memory_log final : public broker::log {
 public:
  memory_log(shared_state state, std::string topic)
      : state_(std::move(state)), topic_(std::move(topic)) {}

  std::vector<broker::log_extent> extents() override {
    state_->begin(call::extents);
    std::lock_guard const lock(state_->guard);
    std::vector<broker::log_extent> out;
    for (auto const& one : state_->log(topic_)) {
      out.push_back({topic_, static_cast<std::int32_t>(out.size()), one.first, one.end});
    }
    return out;
  }

  void read_from(std::span<broker::log_place const> places) override {
    state_->begin(call::read_from);
    std::lock_guard const lock(state_->guard);
    next_.clear();
    for (auto const& one : places) {
      auto const& partition = state_->partition(topic_, one.partition);
      if (one.next < partition.first || one.next > partition.end) {
        throw error({.kind = error_code::configuration},
                    topic_ + "/" + std::to_string(one.partition) + " has no position " +
                        std::to_string(one.next));
      }
      next_[one.partition] = one.next;
    }
  }

  std::span<broker::message const> take(broker::page_request const& request,
                                        std::stop_token const& stop) override {
    state_->begin(call::take);
    page_.clear();
    std::unique_lock lock(state_->guard);
    gather(*state_, lock, page_, request, stop, [&] {
      for (auto& [number, next] : next_) {
        auto& all = state_->log(topic_);
        if (static_cast<std::size_t>(number) >= all.size()) continue;
        auto const& there = all[static_cast<std::size_t>(number)].messages;
        for (auto at = there.lower_bound(next); at != there.end() && !page_.full(request); ++at) {
          page_.add(topic_, number, at->first, at->second, false);
          next = at->first + 1;
        }
      }
    });
    return page_.views();
  }

  void report(std::span<broker::log_place const> places) noexcept override {
    try {
      state_->begin(call::report);
      std::lock_guard const lock(state_->guard);
      for (auto const& one : places) {
        state_->partition(topic_, one.partition).reported = one.next;
      }
    } catch (std::exception const&) {
      return;  // as a broker that is away: it is for displays only
    }
  }

 private:
  shared_state state_;
  std::string topic_;
  std::map<std::int32_t, std::int64_t> next_;
  taken_page page_;
};

class memory_queue_source final : public broker::queue {
 public:
  memory_queue_source(shared_state state, std::string name)
      : state_(std::move(state)), name_(std::move(name)) {}
  ~memory_queue_source() override { hand_back(); }

  std::span<broker::message const> take(broker::page_request const& request,
                                        std::stop_token const& stop) override {
    state_->begin(call::take);
    page_.clear();
    std::unique_lock lock(state_->guard);
    gather(*state_, lock, page_, request, stop, [&] {
      auto& queue = state_->queues[name_];
      for (auto& one : queue.messages) {
        if (page_.full(request)) return;
        if (one.taken_by != nullptr) continue;
        one.taken_by = this;
        ++queue.deliveries;
        page_.add(name_, 0, -1, one.message, one.redelivered);
      }
    });
    return page_.views();
  }

  void settle() override {
    state_->begin(call::settle);
    bool lost = false;
    {
      std::lock_guard const lock(state_->guard);
      lost = state_->lost_settlements > 0;
      if (lost) {
        --state_->lost_settlements;
      } else {
        std::erase_if(state_->queues[name_].messages, [&](memory_broker::state::queued const& one) {
          return one.taken_by == this;
        });
      }
    }
    if (lost) hand_back();
  }

  void give_back() noexcept override {
    try {
      state_->begin(call::give_back);
    } catch (std::exception const&) {
      return;  // the broker is away: they come again when this source is gone
    }
    hand_back();
  }

 private:
  void hand_back() noexcept {
    std::lock_guard const lock(state_->guard);
    for (auto& one : state_->queues[name_].messages) {
      if (one.taken_by != this) continue;
      one.taken_by = nullptr;
      one.redelivered = true;
    }
    state_->changed.notify_all();
  }

  shared_state state_;
  std::string name_;
  taken_page page_;
};

}  // namespace

memory_broker::memory_broker() : state_(std::make_shared<state>()) {}

void memory_broker::make_log(std::string const& topic, int partitions) {
  std::lock_guard const lock(state_->guard);
  state_->logs[topic].resize(static_cast<std::size_t>(partitions));
}

void memory_broker::add_partition(std::string const& topic) {
  std::lock_guard const lock(state_->guard);
  state_->log(topic).emplace_back();
  state_->changed.notify_all();
}

std::int64_t memory_broker::append(std::string const& topic, sent_message message, int partition) {
  std::lock_guard const lock(state_->guard);
  auto& to = state_->partition(topic, partition);
  to.messages.emplace(to.end, std::move(message));
  state_->changed.notify_all();
  return to.end++;
}

void memory_broker::drop_before(std::string const& topic, int partition, std::int64_t first) {
  std::lock_guard const lock(state_->guard);
  auto& of = state_->partition(topic, partition);
  of.first = first;
  of.messages.erase(of.messages.begin(), of.messages.lower_bound(first));
}

void memory_broker::compact(std::string const& topic, int partition, std::int64_t position) {
  std::lock_guard const lock(state_->guard);
  state_->partition(topic, partition).messages.erase(position);
}

void memory_broker::make_anew(std::string const& topic) {
  std::lock_guard const lock(state_->guard);
  for (auto& one : state_->log(topic)) one = {};
}

broker::log_factory memory_broker::log(std::string const& topic) {
  return [state = state_, topic]() -> std::unique_ptr<broker::log> {
    state->begin(call::open);
    return std::make_unique<memory_log>(state, topic);
  };
}

std::int64_t memory_broker::reported(std::string const& topic, int partition) const {
  std::lock_guard const lock(state_->guard);
  return state_->partition(topic, partition).reported;
}

void memory_broker::send(std::string const& queue, sent_message message) {
  std::lock_guard const lock(state_->guard);
  state_->queues[queue].messages.push_back({++state_->sent, std::move(message)});
  state_->changed.notify_all();
}

broker::queue_factory memory_broker::queue(std::string const& name) {
  return [state = state_, name]() -> std::unique_ptr<broker::queue> {
    state->begin(call::open);
    return std::make_unique<memory_queue_source>(state, name);
  };
}

std::size_t memory_broker::left(std::string const& queue) const {
  std::lock_guard const lock(state_->guard);
  return state_->queues[queue].messages.size();
}

std::int64_t memory_broker::deliveries(std::string const& queue) const {
  std::lock_guard const lock(state_->guard);
  return state_->queues[queue].deliveries;
}

void memory_broker::fail(call at, error_code kind, int skip) {
  std::lock_guard const lock(state_->guard);
  state_->faults.push_back({at, kind, skip});
}

void memory_broker::lose_settlements(int count) {
  std::lock_guard const lock(state_->guard);
  state_->lost_settlements = count;
}

void memory_broker::on_call(std::function<void(call)> hook) {
  std::lock_guard const lock(state_->guard);
  state_->hook = std::move(hook);
}

}  // namespace testing
}  // namespace v1
}  // namespace daybook
