// The story that aggregations come from: bricks that a thousand workers move are written down all
// the time; eight processes gather them into pay, two undo that, one closes and settles. All of
// them are killed, stopped, and cut off at COMMIT. Each second a snapshot is compared: every parent
// must say what its rows are. In the end each worker is paid exactly the bricks that were carried.
//   story_bricks --engine postgresql [--moves 30000] [--seconds 15] [--seed 1] [--chunk 500]
#include "proof/stories/bricks.hpp"
#include "proof/stories/crew.hpp"
#include "proof/torture/driver.hpp"
#include "support/engines.hpp"

#include <daybook/book.hpp>
#include <daybook/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <unistd.h>

namespace story {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr int workers = 1000;

struct settings : torture::driver_settings {
  int moves = 30'000;
  int seconds = 15;
  int chunk = 500;
};

/// Moves that come in, in two streams, so that they are not seen in the order of their ids.
class moves {
 public:
  moves(std::string const& url, settings const& how) : how_(&how) {
    for (std::size_t stream = 0; stream < streams; ++stream) {
      threads_.emplace_back([this, url, stream] { come(url, stream); });
    }
  }

  [[nodiscard]] bool over() const { return left_ == 0; }
  /// What each worker has carried: to be asked at the end.
  [[nodiscard]] bricks::carried by_worker() {
    threads_.clear();
    bricks::carried out;
    for (auto const& one : carried_) {
      for (auto const& [worker, number] : one) out[worker] += number;
    }
    for (auto const& one : failures_) {
      if (!one.empty()) throw std::runtime_error("moves: " + one);
    }
    return out;
  }

 private:
  static constexpr std::size_t streams = 2;

  /// Whoever writes where others write is a deadlock's victim now and then, and does it again.
  static void begin_with(support::raw_connection& on, std::string const& text) {
    for (;;) {
      try {
        on.execute("begin");
        on.execute(text);
        return;
      } catch (std::runtime_error const& e) {
        if (std::string_view(e.what()).find("eadlock") == std::string_view::npos) throw;
        on.execute("rollback");
      }
    }
  }

  void come(std::string const& url, std::size_t stream) try {
    bool const lite = url.starts_with("sqlite");
    support::raw_connection on(url);
    if (lite) on.execute("pragma busy_timeout = 60000");
    std::minstd_rand dice(how_->seed + static_cast<unsigned>(stream));
    auto const start = clock::now();
    int const all = how_->moves / static_cast<int>(streams);
    for (int done = 0; done < all;) {
      int const some = std::min(all - done, 1 + static_cast<int>(dice() % 400));
      std::string text = "insert into t_move_brick (move_no, worker_id, move_num, status) values ";
      for (int at = 0; at < some; ++at) {
        auto const worker = 1 + static_cast<int>(dice() % workers);
        auto const number = 1 + static_cast<int>(dice() % 100);
        text += (at == 0 ? "('M" : ", ('M") + std::to_string(stream) + "-" +
                std::to_string(done + at) + "', " + std::to_string(worker) + ", " +
                std::to_string(number) + ", 1)";
        carried_[stream][worker] += number;
      }
      begin_with(on, text);
      if (!lite) std::this_thread::sleep_for(std::chrono::milliseconds(dice() % 30));
      on.execute("commit");
      done += some;
      std::this_thread::sleep_until(start +
                                    std::chrono::milliseconds(how_->seconds * 1000LL) * done / all);
    }
    --left_;
  } catch (std::exception const& e) {
    failures_[stream] = e.what();
    --left_;
  }

  settings const* how_;
  std::array<bricks::carried, streams> carried_;
  std::atomic<int> left_ = streams;
  std::array<std::string, streams> failures_;
  std::vector<std::jthread> threads_;
};

/// Looks each second, until it ends.
class watcher {
 public:
  watcher(bricks::checker& with, bricks::findings& to)
      : thread_([this, &with, &to](std::stop_token const& stop) {
          try {
            for (auto next = clock::now(); !stop.stop_requested(); next += 1s) {
              to += with.look();
              ++looks_;
              while (clock::now() < next + 1s && !stop.stop_requested()) {
                std::this_thread::sleep_for(20ms);
              }
            }
          } catch (std::exception const& e) {
            to.add(bricks::flaw::state, e.what());
          }
        }) {}
  [[nodiscard]] int looks() const { return looks_; }
  void end() { thread_ = {}; }

 private:
  std::atomic<int> looks_ = 0;
  std::jthread thread_;
};

/// Healed: what is free is gathered, what is open closed, what is closed settled.
void settle_all(daybook::book& book, int chunk) {
  auto pay = book.make_aggregation("pay", bricks::declared(chunk));
  daybook::audit_note const by{.actor = "story", .reason = "its end"};
  while (pay.aggregate({.actor = by.actor}).rows > 0) {
  }
  pay.close_all(by);
  daybook::state_value const closed(bricks::state_taken);
  for (auto some = pay.parents({.state = closed}); !some.empty();
       some = pay.parents({.state = closed})) {
    for (auto const& one : some) {
      auto const how = pay.settle(one.key, by);
      if (how != daybook::settling::done) {
        throw std::runtime_error(one.key + " is not settled: " + std::string(word_of(how)));
      }
    }
  }
  auto const verified = pay.verify();
  for (auto const& one : verified.differences) {
    throw std::runtime_error("verify: " + one.parent + " " + std::string(word_of(one.what)) + " " +
                             one.column + ", expected " + one.expected + ", found " + one.found);
  }
}

int tell(settings const& how) {
  auto const on = torture::find_engine(how.engine);
  support::fresh_database const database(on);
  daybook::book book(database.url());
  book.migrate();
  bricks::make_tables(database, book.dialect());
  // Checked once here: what is wrong with the declaration is told by this process.
  static_cast<void>(book.make_aggregation("pay", bricks::declared(how.chunk)));
  auto const tally = fs::temp_directory_path() / ("story_bricks_" + std::to_string(::getpid()));
  bricks::checker with(database.url(), book.dialect());
  bricks::findings found;
  moves coming(database.url(), how);
  watcher watching(with, found);
  crew hands(everybody("pay"), {.hand = torture::worker_path(how.worker),
                                .url = database.url(),
                                .tally = tally.string(),
                                .chunk = how.chunk,
                                .seed = how.seed,
                                // In SQLite whoever is stopped may stop everybody.
                                .longest_stop = on.name == "sqlite" ? 200ms : 600ms});
  while (!coming.over()) hands.strike();
  hands.end();
  watching.end();
  auto const carried = coming.by_worker();
  settle_all(book, how.chunk);
  found += with.look_at_the_end(carried);
  std::printf("%-11s seed %u: %d moves, %zu workers; %s\n", on.name.c_str(), how.seed, how.moves,
              carried.size(), hands.text().c_str());
  std::printf(
      "%-11s %d snapshots, %lld parents and %lld rows compared, %ld faults: %lld differences %s\n",
      on.name.c_str(), watching.looks() + 1, static_cast<long long>(found.parents),
      static_cast<long long>(found.rows), hands.faults(), static_cast<long long>(found.all()),
      found.text().c_str());
  std::printf("violations %lld / %d snapshots\n", static_cast<long long>(found.all()),
              watching.looks() + 1);
  for (auto const& one : hands.failures()) std::printf("FAILURE %s\n", one.c_str());
  fs::remove(tally);
  if (found.all() > 0) return 1;
  return hands.failures().empty() && watching.looks() > 2 && hands.faults() > 10 ? 0 : 2;
}

}  // namespace
}  // namespace story

int main(int count, char** arguments) try {
  story::settings how;
  how.worker = "story_hand";
  how.seed = 1;
  torture::switches words(how, bricks::flaw_names);
  words.add("--moves", &how.moves);
  words.add("--seconds", &how.seconds);
  words.add("--chunk", &how.chunk);
  if (!words.read({arguments + 1, arguments + count})) {
    std::fputs("story_bricks: see the head of bricks_story.cpp\n", stderr);
    return 3;
  }
  return story::tell(how);
} catch (std::exception const& e) {
  std::fprintf(stderr, "story_bricks: %s\n", e.what());
  return 1;
}
