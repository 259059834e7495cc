#include "benchmarks/queue/bare/bare_loop.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace bench {

namespace {

std::string name_for(keeps what) {
  switch (what) {
    case keeps::ranges: return "bare ranges";
    case keeps::rolling: return "bare rolling";
    case keeps::rows: return "bare rows";
    case keeps::ones: return "bare ones";
    case keeps::singly: return "bare singly";
  }
  return {};
}

/// The first exception of several threads.
class first_failure {
 public:
  void keep() {
    std::scoped_lock const lock(guard_);
    if (!what_) what_ = std::current_exception();
    any_ = true;
  }
  [[nodiscard]] bool any() const { return any_; }
  void rethrow() const {
    if (what_) std::rethrow_exception(what_);
  }

 private:
  std::mutex guard_;
  std::atomic<bool> any_ = false;
  std::exception_ptr what_;
};

}  // namespace

std::vector<range> successes(std::vector<long> const& ids) {
  std::vector<range> out;
  for (auto const id : ids) {
    if (fails(id)) continue;
    if (!out.empty() && out.back().hi == id) {
      ++out.back().hi;
    } else {
      out.push_back({id, id + 1});
    }
  }
  return out;
}

bare_queue::bare_queue(support::engine const& on, keeps what)
    : contestant(name_for(what), on), what_(what) {}

bool bare_queue::drains(int batch, int) const {
  // The claim of the loop that works singly is of a thousand, whatever is asked.
  return what_ != keeps::singly || batch == 1;
}

long bare_queue::number(std::string const& query) const {
  return std::stol("0" + database().query(query));
}

void bare_queue::create_once() {
  if (!created_) create_tables();
  created_ = true;
}

void bare_queue::prepare(long tasks) {
  create_once();
  if (members_ < tasks) fill_members(members_ + 1, tasks);
  members_ = std::max(members_, tasks);
  arm(tasks, what_ == keeps::ones ? 1 : segment_length);
  seen_ = std::make_unique<tally>(tasks);
}

amount bare_queue::drain(order const& how) {
  using clock = std::chrono::steady_clock;
  int const batch = what_ == keeps::singly ? static_cast<int>(segment_length) : how.batch;
  first_failure failure;
  std::atomic<long> taken = 0;
  std::latch ready(how.workers + 1);
  std::vector<std::jthread> all;
  for (int at = 1; at <= how.workers; ++at) {
    all.emplace_back([&, at] {
      std::unique_ptr<bare_worker> mine;
      try {
        mine = worker(at, batch);
      } catch (...) {
        failure.keep();
      }
      ready.arrive_and_wait();
      try {
        while (!failure.any()) {
          auto const got = mine->turn(taken < how.most ? batch : 0);
          taken += got;
          if (what_ == keeps::singly) {
            for (auto const id : mine->held()) mine->single(id);
          }
          if (got == 0 && taken >= how.most) return;
          if (got == 0) std::this_thread::yield();
        }
      } catch (...) {
        failure.keep();
      }
    });
  }
  ready.arrive_and_wait();
  auto const start = clock::now();
  all.clear();
  auto const end = clock::now();
  failure.rethrow();
  return {std::chrono::duration<double>(end - start).count(), taken};
}

void bare_queue::check(long done) {
  auto const expect = [&](char const* of, long found, long wanted) {
    if (found == wanted) return;
    throw std::runtime_error(name() + ": " + of + ": " + std::to_string(found) + ", not " +
                             std::to_string(wanted));
  };
  expect("claims that are left", number("select count(*) from claim"), 0);
  if (what_ == keeps::rows || what_ == keeps::ones) {
    expect("result rows", number("select count(*) from outcome"), done);
    return;
  }
  expect("tasks in done ranges", number("select sum(hi-lo) from done_range"), done);
  if (what_ == keeps::singly) {
    expect("effects", number("select count(*) from effect"), done);
    expect("tasks with an effect", number("select count(distinct task) from effect"), done);
    expect("ledger rows that are left", number("select count(*) from done"), 0);
    return;
  }
  auto const failed = number("select count(*) from outcome where status=3");
  auto const ranges = number("select sum((hi-1)/32-(lo-1)/32) from done_range");
  expect("failed tasks", failed, ranges);
  if (what_ == keeps::rolling) {
    expect("tasks armed again", number("select sum(hi-lo) from segment where turn=1"), done);
  }
}

}  // namespace bench
