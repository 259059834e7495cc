// Runs by hand and runs by the library, in turns, in one process; and what each costs at the
// database. The servers are those of tests/servers/servers (DAYBOOK_TEST_POSTGRESQL and the like).
//   bench_runs [--engine sqlite|postgresql|mariadb] [--threads 1,8] [--rounds 7] [--seconds 1]
//   bench_runs --check       the costs only; exit 1 where they are not what is promised
#include "benchmarks/counts.hpp"
#include "benchmarks/forms.hpp"
#include "benchmarks/library.hpp"
#include "support/engines.hpp"

#include <daybook/node.hpp>
#include <daybook/book.hpp>
#include <daybook/task_fetcher.hpp>
#include <daybook/testing.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

namespace bench {
namespace {

constexpr int steps = 5;

struct settings {
  std::vector<std::string> engines{"sqlite", "postgresql", "mariadb"};
  std::vector<unsigned> threads{1, 8};
  int rounds = 7;
  double seconds = 1;
  bool check = false;
};

std::string key_of(unsigned thread) { return "key" + std::to_string(thread); }

/// A database with the library's tables, the same tables for the hand-written runs, and `control`.
class scene {
 public:
  scene(support::engine on, unsigned keys) : database(on), count(on, database) {
    auto const by_hand = database.open(library_options("bare_"));
    auto const dialect = by_hand.dialect();
    auto const by_library = database.open(library_options("daybook_"));
    auto const innodb = dialect == "mysql" ? " engine = InnoDB" : "";
    database.execute(std::string("create table effect(number bigint)") + innodb);
    control = &form_of(dialect, keeps::control);
    ledger = &form_of(dialect, keeps::ledger);
    for (unsigned at = 0; at < keys; ++at) {
      for (auto const& text : set_up(dialect, key_of(at))) database.execute(text);
    }
  }

  static daybook::book_options library_options(std::string prefix, unsigned connections = 1) {
    return {.prefix = std::move(prefix), .connections = connections, .renew_in_background = false};
  }

  support::fresh_database database;
  counter count;
  form const* control;
  form const* ledger;
};

using work = std::function<void()>;

/// What this process has used of the processor, in microseconds.
double used_us() {
  ::rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  auto const us = [](::timeval const& of) {
    return static_cast<double>(of.tv_sec) * 1e6 + static_cast<double>(of.tv_usec);
  };
  return us(used.ru_utime) + us(used.ru_stime);
}

/// What one side of a comparison did in a round.
struct pace {
  double runs_per_second = 0;
  double client_us = 0;  ///< of processor time of this process, for each run
};

/// As many threads as there are pieces of work.
pace rate_of(std::vector<work> const& pieces, double seconds) {
  using clock = std::chrono::steady_clock;
  std::atomic<long> runs = 0;
  std::atomic<bool> failed = false;
  auto const used = used_us();
  auto const start = clock::now();
  auto const end =
      start + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
  {
    std::vector<std::jthread> all;
    for (auto const& piece : pieces) {
      all.emplace_back([&] {
        try {
          do {
            piece();
            ++runs;
          } while (clock::now() < end);
        } catch (std::exception const& e) {
          std::cerr << "bench_runs: " << e.what() << '\n';
          failed = true;
        }
      });
    }
  }
  if (failed) throw std::runtime_error("a thread failed: there is no rate");
  auto const count = static_cast<double>(runs);
  return {count / std::chrono::duration<double>(clock::now() - start).count(),
          (used_us() - used) / count};
}

double median(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  auto const half = of.size() / 2;
  return of.size() % 2 == 1 ? of[half] : (of[half - 1] + of[half]) / 2;
}

/// "0.95 [0.93..0.97]"
std::string ratios(std::vector<double> const& above, std::vector<double> const& below) {
  std::vector<double> each;
  for (std::size_t at = 0; at < above.size(); ++at) each.push_back(above[at] / below[at]);
  auto const [low, high] = std::minmax_element(each.begin(), each.end());
  char text[64];
  std::snprintf(text, sizeof text, "%.2f [%.2f..%.2f]", median(each), *low, *high);
  return text;
}

std::vector<work> by_hand(scene const& on, form const& of, unsigned threads) {
  std::vector<work> out;
  for (unsigned at = 0; at < threads; ++at) {
    auto const one = std::make_shared<hand_written>(on.database.url(), of, key_of(at));
    out.emplace_back([one] { one->run(steps); });
  }
  return out;
}

void compare(support::engine const& on, unsigned threads, settings const& with) {
  scene here(on, threads);
  auto options = scene::library_options("daybook_", threads);
  options.renew_in_background = true;
  auto book = here.database.open(options);
  std::vector<work> library;
  for (unsigned at = 0; at < threads; ++at) {
    library.emplace_back(
        [&book, piece = daybook::key(key_of(at))] { run_by_library(book, piece, steps); });
  }
  std::vector<std::vector<work>> const sides{by_hand(here, *here.control, threads), library,
                                             by_hand(here, *here.ledger, threads)};
  std::vector<std::vector<double>> rates(sides.size());
  std::vector<std::vector<double>> client(sides.size());
  for (auto const& side : sides) rate_of(side, with.seconds / 4);  // statements are prepared
  for (int round = 0; round < with.rounds; ++round) {
    for (std::size_t turn = 0; turn < sides.size(); ++turn) {
      // Every other round in the opposite order.
      auto const at = round % 2 == 0 ? turn : sides.size() - 1 - turn;
      auto const found = rate_of(sides[at], with.seconds);
      rates[at].push_back(found.runs_per_second);
      client[at].push_back(found.client_us);
    }
  }
  std::printf("%-11s %3u  %8.0f %8.0f %8.0f   %-20s %-20s %6.0f %6.0f %6.0f\n", on.name.c_str(),
              threads, median(rates[0]), median(rates[2]), median(rates[1]),
              ratios(rates[1], rates[0]).c_str(), ratios(rates[1], rates[2]).c_str(),
              median(client[0]), median(client[2]), median(client[1]));
  std::fflush(stdout);
}

/// A hand-written run, or one of the library, `times` times over connections that end with it.
std::function<void(int)> hand(scene const& on, form const& of, int with_steps) {
  return [&on, &of, with_steps](int times) {
    hand_written one(on.database.url(), of, key_of(0));
    for (int at = 0; at < times; ++at) one.run(with_steps);
  };
}
std::function<void(int)> library(scene const& on, int with_steps, step_kind kind) {
  return [&on, with_steps, kind](int times) {
    daybook::book book(on.database.url(), scene::library_options("daybook_"));
    for (int at = 0; at < times; ++at) {
      run_by_library(book, daybook::key(key_of(0)), with_steps, kind);
    }
  };
}
/// SQLite's clock ticks in milliseconds, and a renewal in the tick of the last one writes nothing.
void next_tick() {
  using std::chrono::milliseconds;
  auto const now = [] {
    return std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
  };
  for (auto const start = now(); now() < start + milliseconds(2);) std::this_thread::yield();
}
std::function<void(int)> renewals(scene const& on) {
  return [&on](int times) {
    daybook::book book(on.database.url(), scene::library_options("daybook_"));
    auto run = book.start(daybook::process("bench"), daybook::key(key_of(0))).take();
    for (int at = 0; at < times; ++at) {
      next_tick();
      if (daybook::testing::renew(book) == daybook::lease_state::lost)
        throw std::runtime_error("declared dead");
    }
    if (!std::move(run).finish()) throw std::runtime_error("the run was lost");
  };
}

/// Ticks of as many years, of a schedule that begins so long ago.
std::function<void(int)> ticks(scene const& on) {
  return [&on](int times) {
    static int made = 0;
    auto const name = "ticks " + std::to_string(++made);
    daybook::book book(on.database.url(), scene::library_options("daybook_"));
    auto const now =
        std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
    book.make_schedule(
        name, daybook::cron("@yearly"),
        {.catch_up = daybook::catch_up::all, .since = now - times * std::chrono::hours(24 * 366)});
    daybook::node node(book);
    node.serve(name, [](daybook::tick&) {});
    if (node.drain() < times) throw std::runtime_error("too few ticks");
    book.schedule(name)->remove({.actor = "bench", .reason = "it is over"});
  };
}

/// What is promised, in whole numbers. A count of statements of 0 promises nothing.
struct promise {
  double commits;
  double statements = 0;
};

/// Prints a line; true where the promise was kept.
bool line(support::engine const& on, char const* what, counts const& found, promise const& made) {
  bool const asked = made.statements > 0 && on.name != "sqlite";
  bool const kept = std::abs(found.commits - made.commits) < 1e-9 &&
                    (!asked || std::abs(found.statements - made.statements) < 1e-9);
  std::printf("%-11s %-44s %10.2f %8.2f %11.0f%s\n", on.name.c_str(), what, found.statements,
              found.commits, found.log_bytes, kept ? "" : "   NOT AS PROMISED");
  std::fflush(stdout);
  return kept;
}

/// Start 1 commit, a step the user's own, finish 1, a renewal 1 and then a look at what the book
/// says is this holder's; a write alone in its transaction is one round trip.
bool costs(support::engine const& on) {
  scene here(on, 1);
  constexpr int times = 10;
  auto const cost = [&](std::function<void(int)> const& of) {
    return cost_of(here.count, times, of);
  };
  // The rows are there, the tables' first pages are written.
  library(here, steps, step_kind::with_effect)(2);
  hand(here, *here.control, steps)(2);
  hand(here, *here.ledger, steps)(2);
  bool kept = true;
  auto const show = [&](char const* what, std::function<void(int)> const& of, promise const& made) {
    kept = line(on, what, cost(of), made) && kept;
  };
  show("by hand, control row: start, 5 steps, finish", hand(here, *here.control, steps), {7, 7});
  show("by hand, ledger: start, 5 steps, finish", hand(here, *here.ledger, steps), {7, 7});
  show("library: start, 5 records, finish", library(here, steps, step_kind::recorded), {7, 8});
  show("library: start, finish", library(here, 0, step_kind::recorded), {2, 3});
  show("library: start, 5 steps of 1 insert, finish", library(here, steps, step_kind::with_effect),
       {7, 23});
  show("library: a renewal", renewals(here), {1, 2});
  show("library: a tick, launched and done", ticks(here), {2});
  return kept;
}

/// A process that waits for work asks once a poll, and commits nothing.
bool asks_once_a_poll(support::engine const& on) {
  if (on.name == "sqlite") return true;  // nobody counts statements there
  scene here(on, 1);
  daybook::book book(here.database.url(), scene::library_options("daybook_"));
  auto queue = book.make_queue("idle");
  constexpr std::chrono::milliseconds poll{50};
  daybook::task_fetcher out(queue, {.poll = poll});
  std::jthread const waits([&] { static_cast<void>(out.next()); });
  std::this_thread::sleep_for(20 * poll);  // claimed in vain, connected, asleep
  auto const start = std::chrono::steady_clock::now();
  auto const before = here.count.statements();
  std::this_thread::sleep_for(40 * poll);
  auto const seen = here.count.statements() - before;
  auto const took = std::chrono::steady_clock::now() - start;
  out.stop();
  auto const polls = took / (poll * 3 / 4) + 1;  // at most: they have a jitter of a quarter
  bool const kept = seen > 0 && seen <= static_cast<double>(polls);
  std::printf("%-11s %-44s %10.2f %8s of %ld polls at most%s\n", on.name.c_str(),
              "queue: waiting for work", seen, "", static_cast<long>(polls),
              kept ? "" : "   NOT AS PROMISED");
  std::fflush(stdout);
  return kept;
}

/// Statements while a process holds a run and does nothing, and how many of them were renewals.
void idle(support::engine const& on) {
  struct counting final : daybook::observer {
    std::atomic<int> renewals = 0;
    std::atomic<int> others = 0;
    void timed(std::string_view name, std::chrono::microseconds) noexcept override {
      ++(name == "renew" ? renewals : others);
    }
  } watch;
  if (on.name == "sqlite") return;  // nobody counts statements there
  scene here(on, 1);
  auto options = scene::library_options("daybook_");
  options.lease = std::chrono::seconds(1);
  options.renew_in_background = true;
  options.observer = &watch;
  daybook::book book(here.database.url(), options);
  auto run = book.start(daybook::process("bench"), daybook::key(key_of(0))).take();
  while (watch.renewals < 2) std::this_thread::yield();  // connected
  auto const before = here.count.statements();
  int const renewed = watch.renewals;
  int const other = watch.others;
  std::this_thread::sleep_for(std::chrono::seconds(3));
  auto const seen = here.count.statements() - before;
  std::printf(
      "%-11s idle for 3 s with a lease of 1 s: %.0f statements; renewals %d, other "
      "transactions %d\n",
      on.name.c_str(), seen, watch.renewals - renewed, watch.others - other);
  std::fflush(stdout);
  static_cast<void>(std::move(run).finish());
}

std::vector<std::string> parts(std::string const& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');) out.push_back(one);
  return out;
}

settings read_arguments(std::vector<std::string> const& words) {
  settings out;
  for (std::size_t at = 0; at < words.size(); ++at) {
    auto const& word = words[at];
    if (word == "--check") {
      out.check = true;
      continue;
    }
    if (at + 1 == words.size()) throw std::invalid_argument(word + " wants a value, or is unknown");
    auto const& value = words[++at];
    if (word == "--engine") {
      out.engines = parts(value);
    } else if (word == "--threads") {
      out.threads.clear();
      for (auto const& one : parts(value)) {
        out.threads.push_back(static_cast<unsigned>(std::stoul(one)));
      }
    } else if (word == "--rounds") {
      out.rounds = std::stoi(value);
    } else if (word == "--seconds") {
      out.seconds = std::stod(value);
    } else {
      throw std::invalid_argument("unknown: " + word);
    }
  }
  return out;
}

support::engine engine_of(std::string const& name) {
  for (auto const& one : support::engines()) {
    if (one.name == name) return one;
  }
  throw std::invalid_argument("no engine is named " + name);
}

int run(settings const& with) {
  bool kept = true;
  if (!with.check) {
    std::printf(
        "A run with %d recorded steps; runs per second, medians of %d rounds of %.2f s.\n"
        "Ratio: library / by hand, the median of the rounds [least..most].\n\n"
        "%-11s %3s  %8s %8s %8s   %-20s %-20s %s\n",
        steps, with.rounds, with.seconds, "engine", "W", "control", "ledger", "library",
        "to control row", "to ledger", "client's processor, us/run");
    for (auto const& name : with.engines) {
      for (auto const threads : with.threads) compare(engine_of(name), threads, with);
    }
    std::printf("\n");
  }
  std::printf("What one costs at the database.\n\n%-11s %-44s %10s %8s %11s\n", "engine", "",
              "statements", "commits", "log bytes");
  for (auto const& name : with.engines) {
    kept = costs(engine_of(name)) && kept;
    kept = asks_once_a_poll(engine_of(name)) && kept;
  }
  if (!with.check && with.seconds >= 0.5) {
    std::printf("\n");
    for (auto const& name : with.engines) idle(engine_of(name));
  }
  return kept ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::run(bench::read_arguments({argv + 1, argv + argc}));
  } catch (std::exception const& e) {
    std::cerr << "bench_runs: " << e.what() << '\n';
    return 64;
  }
}
