#include "benchmarks/queue/library_queue.hpp"

#include "benchmarks/queue/daemon_drain.hpp"
#include "benchmarks/queue/moments.hpp"
#include "benchmarks/queue/tasks.hpp"

#include <daybook/daybook.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <stdexcept>
#include <thread>

namespace bench {

namespace {

using clock = std::chrono::steady_clock;

enum class kind : unsigned char {
  exceptions,
  every,
  rolling,
  rolled,
  ones,
  singly,
  pool,
  batches,
  children
};

std::string name_for(kind what) {
  switch (what) {
    case kind::exceptions: return "daybook ranges";
    case kind::every: return "daybook rows";
    case kind::rolling: return "daybook rolling";
    case kind::rolled: return "daybook rolled";
    case kind::ones: return "daybook ones";
    case kind::singly: return "daybook singly";
    case kind::pool: return "daybook pool";
    case kind::batches: return "daybook batches";
    case kind::children: return "daybook children";
  }
  return {};
}

constexpr std::chrono::microseconds period = std::chrono::hours{240};

/// By a node: a process with threads, instead of a loop for each worker.
bool pools(kind what) { return what == kind::pool || what == kind::batches; }

bool rolls(kind what) { return what == kind::rolling || what == kind::rolled; }

daybook::queue_options options_for(kind what) {
  daybook::queue_options out;
  if (rolls(what)) out.period = period;
  out.record_every_outcome = what == kind::every;
  if (what == kind::ones) out.segment = 1;
  // One failed task in 32 fails for good, as those of the bare loops do.
  out.attempts = rolls(what) ? 5 : 1;
  return out;
}

class library_queue final : public contestant {
 public:
  library_queue(support::engine const& on, kind what, std::string daybook)
      : contestant(name_for(what), on), what_(what), daybook_(std::move(daybook)) {
    daybook::book book(database().url());
    book.migrate();
    if (what_ == kind::singly) {
      database().execute("create table effect(task bigint not null)" +
                         std::string(on.name == "mariadb" ? " engine = InnoDB" : ""));
    }
  }

  [[nodiscard]] bool drains(int batch, int) const override {
    if (what_ == kind::children) return batch > 1;
    return what_ != kind::singly || batch == 1;
  }
  [[nodiscard]] bool has_singles() const override { return what_ == kind::singly; }

  void prepare(long tasks) override {
    clear();
    daybook::book book(database().url());
    auto queue = book.make_queue("bench", options_for(what_));
    fill(queue, tasks);
    first_ = std::stol(database().query("select min(id) from daybook_member"));
    if (what_ == kind::rolled) roll(queue, tasks);
    seen_ = std::make_unique<tally>(tasks);
  }

  amount drain(order const& how) override {
    if (what_ == kind::children) return drain_by_daemon(daybook_, database().url(), how);
    if (pools(what_)) return drain_by_node(how);
    std::vector<std::unique_ptr<daybook::book>> books;
    for (int i = 0; i < how.workers; ++i) {
      books.push_back(std::make_unique<daybook::book>(database().url()));
      static_cast<void>(books.back()->queue("bench").value().counts());
    }
    std::atomic<long> taken = 0;
    std::atomic<bool> failed = false;
    std::latch ready(how.workers + 1);
    std::vector<std::jthread> all;
    for (auto& book : books) {
      all.emplace_back([&] {
        auto queue = book->queue("bench").value();
        ready.arrive_and_wait();
        try {
          work(queue, how, taken);
        } catch (std::exception const& e) {
          std::fprintf(stderr, "%s: %s\n", name().c_str(), e.what());
          failed = true;
        }
      });
    }
    ready.arrive_and_wait();
    auto const start = clock::now();
    all.clear();
    auto const end = clock::now();
    if (failed) throw std::runtime_error(name() + " failed");
    return {std::chrono::duration<double>(end - start).count(), taken};
  }

  void check(long done) override {
    auto const expect = [&](char const* of, std::string const& query, long wanted) {
      auto const found = std::stol("0" + database().query(query));
      if (found == wanted) return;
      throw std::runtime_error(name() + ": " + of + ": " + std::to_string(found) + ", not " +
                               std::to_string(wanted));
    };
    expect("claims that are left", "select count(*) from daybook_claim", 0);
    auto const over = what_ == kind::rolled ? "due_us > " + std::to_string(passed_us_)
                                            : std::string("state in (2, 4) or attempts > 0");
    expect("tasks that are over", "select sum(hi-lo) from daybook_segment where " + over, done);
    if (what_ == kind::every) expect("rows", "select count(*) from daybook_outcome", done);
    if (what_ == kind::singly) {
      expect("effects", "select count(*) from effect", done);
      expect("tasks with an effect", "select count(distinct task) from effect", done);
    }
  }

  std::optional<amount> enqueue_unique(long tasks) override {
    if (what_ != kind::exceptions) return std::nullopt;
    clear();
    daybook::book book(database().url());
    auto queue = book.make_queue("bench");
    queue.add(daybook::key("known"));
    auto const start = clock::now();
    // 1000 in a call, one of which is there already: each is asked for by its key.
    for (long from = 1; from <= tasks; from += 1000) {
      std::vector<daybook::entry> piece;
      piece.push_back({daybook::key("known")});
      for (long i = from; i <= std::min(tasks, from + 999); ++i) {
        piece.push_back({daybook::key(key_of(i)), payload_of(i)});
      }
      queue.import(piece);
    }
    return amount{std::chrono::duration<double>(clock::now() - start).count(), tasks};
  }

  std::optional<amount> enqueue_import(long tasks) override {
    if (what_ != kind::exceptions) return std::nullopt;
    clear();
    daybook::book book(database().url());
    auto queue = book.make_queue("bench");
    auto const start = clock::now();
    fill(queue, tasks);
    return amount{std::chrono::duration<double>(clock::now() - start).count(), tasks};
  }

  std::optional<delay> start_delay(int samples, double gap_ms) override {
    if (what_ != kind::exceptions) return std::nullopt;
    clear();
    // Two books, as two processes have them.
    daybook::book here(database().url());
    daybook::book there(database().url());
    auto to = here.make_queue("bench");
    auto from = there.queue("bench").value();
    auto const count = static_cast<std::size_t>(samples);
    std::vector<clock::time_point> given(count + 1);
    std::vector<clock::time_point> begun(count + 1);
    std::atomic<std::size_t> done = 0;
    daybook::task_fetcher out(from);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        while (auto one = out.next()) {
          begun.at(std::stoul(one->task().key.substr(1))) = clock::now();
          one->finish(daybook::result::success());
          ++done;
        }
      });
    }
    auto const add = [&](std::size_t at) {
      given.at(at) = clock::now();
      to.add(daybook::key("k" + std::to_string(at)), {.payload = payload_of(1)});
    };
    add(count);  // connects everybody
    while (done < 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    at_random_moments(samples, gap_ms, add);
    while (done <= count) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    out.stop();
    return delay_of(given, begun, count);
  }

  bool idle(std::function<void()> const& meanwhile) override {
    if (what_ != kind::exceptions) return false;
    clear();
    daybook::book book(database().url());
    auto queue = book.make_queue("bench");
    daybook::task_fetcher out(queue);
    std::jthread const waits([&] { static_cast<void>(out.next()); });
    std::this_thread::sleep_for(std::chrono::seconds(1));
    meanwhile();
    out.stop();
    return true;
  }

 private:
  void clear() const {
    for (auto const* table :
         {"segment", "claim", "done", "outcome", "request", "member", "queue"}) {
      database().execute(std::string("delete from daybook_") + table);
    }
    if (what_ == kind::singly) database().execute("delete from effect");
  }

  static void fill(daybook::queue& queue, long tasks) {
    long next = 1;
    queue.import([&]() -> std::optional<daybook::entry> {
      if (next > tasks) return std::nullopt;
      auto const id = next++;
      return daybook::entry{daybook::key(key_of(id)), payload_of(id)};
    });
  }

  /// Some periods: others fail in each, and are done before the next; upkeep at its end.
  void roll(daybook::queue& queue, long tasks) {
    constexpr int periods = 5;
    passed_us_ = std::chrono::duration_cast<std::chrono::microseconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count();
    auto const ago = " - " + std::to_string(period.count());
    for (int at = 1; at <= periods; ++at) {
      work_off(queue, tasks, [&](long id) { return fails(id + at * 5L); });
      database().execute("update daybook_segment set due_us = 1 where attempts > 0");
      work_off(queue, tasks, [](long) { return false; });
      queue.upkeep();
      database().execute("update daybook_segment set turn_us = turn_us" + ago +
                         ", due_us = due_us" + ago);
    }
  }

  template <class F>
  static void work_off(daybook::queue& queue, long tasks, F const& failing) {
    while (auto claim = queue.claim({.limit = static_cast<int>(std::min(tasks, 1000L))})) {
      for (auto const& one : claim->tasks()) {
        claim->finish(one, failing(one.id) ? daybook::result::failure(std::string(remark))
                                           : daybook::result::success());
      }
      static_cast<void>(std::move(*claim).complete());
    }
  }

  void work(daybook::queue& queue, order const& how, std::atomic<long>& taken) {
    int const batch = what_ == kind::singly ? 1000 : how.batch;
    auto claim = queue.claim({.limit = batch});
    while (true) {
      if (!claim) {
        if (taken >= how.most) return;
        claim = queue.claim({.limit = batch});
        continue;
      }
      taken += static_cast<long>(claim->tasks().size());
      for (auto const& one : claim->tasks()) finish(*claim, one);
      if (taken >= how.most) {
        if (std::move(*claim).complete() != daybook::outcome::done) lost();
        claim.reset();
        continue;
      }
      auto turn = std::move(*claim).complete_and_claim(batch);
      if (turn.ended != daybook::outcome::done) lost();
      claim = std::move(turn.next);
    }
  }

  amount drain_by_node(order const& how) {
    daybook::book book(database().url());
    static_cast<void>(book.queue("bench").value().counts());
    daybook::node node(book);
    std::atomic<long> done = 0;
    std::atomic<bool> enough = false;
    auto const result_of = [&](daybook::task const& one) {
      auto const id = one.id - first_ + 1;
      seen_->see(id, *one.payload);
      return fails(id) ? daybook::result::failure(std::string(remark)) : daybook::result::success();
    };
    auto const count = [&](long more) {
      if ((done += more) >= how.most && !enough.exchange(true)) enough.notify_one();
    };
    daybook::work_options const options{.threads = how.workers,
                                        .batch = how.batch,
                                        .claims = {.batch = how.batch},
                                        .upkeep = false};
    if (what_ == kind::pool) {
      node.work(
          "bench",
          [&](daybook::job& one) {
            count(1);
            return result_of(one.task());
          },
          options);
    } else {
      node.work_in_batches(
          "bench",
          [&](daybook::job_batch& all) {
            for (std::size_t i = 0; i < all.size(); ++i) all.finish(i, result_of(all.task(i)));
            count(static_cast<long>(all.size()));
          },
          options);
    }
    auto const start = clock::now();
    node.start();
    enough.wait(false);
    node.stop();
    auto const end = clock::now();
    auto const counts = node.counts("bench").value();
    if (counts.lost > 0) lost();
    return {std::chrono::duration<double>(end - start).count(),
            static_cast<long>(counts.succeeded + counts.failed)};
  }

  void finish(daybook::claim& of, daybook::task const& one) {
    auto const id = one.id - first_ + 1;
    seen_->see(id, *one.payload);
    if (what_ == kind::singly) {
      auto const done = of.perform(one, [&](daybook::transaction& tx) {
        tx.exec("insert into effect(task) values (:t)", std::int64_t{id});
      });
      if (done != daybook::outcome::done) lost();
    } else if (fails(id)) {
      of.finish(one, daybook::result::failure(std::string(remark)));
    } else {
      of.finish(one, daybook::result::success());
    }
  }

  [[noreturn]] void lost() const { throw std::runtime_error(name() + ": the tasks were lost"); }

  kind what_;
  std::string daybook_;  ///< the command
  long first_ = 1;
  std::int64_t passed_us_ = 0;  ///< what is due after this instant was done in this period
  std::unique_ptr<tally> seen_;
};

}  // namespace

contestants library_contestants(support::engine const& on, std::string const& daybook) {
  contestants out;
  for (auto const what : {kind::exceptions, kind::every, kind::rolling, kind::rolled, kind::ones,
                          kind::singly, kind::pool, kind::batches, kind::children}) {
    if (what == kind::children && daybook.empty()) continue;
    out.push_back(std::make_unique<library_queue>(on, what, daybook));
  }
  return out;
}

}  // namespace bench
