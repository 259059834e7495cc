// Schedules: how long ten thousand of them take to plan, what an idle node asks of the database,
// and how late ticks are where a hundred come each second to four nodes.
//   bench_ticks [--engine postgresql,mariadb,sqlite] [--seconds 20] [--idle 30]
//     [--schedules 10000]
#include "counts.hpp"
#include "support/engines.hpp"

#include <daybook/daybook.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

struct settings {
  std::set<std::string> engines{"sqlite", "postgresql", "mariadb"};
  int seconds = 20;
  int idle = 30;
  int schedules = 10'000;
};

double milliseconds(clock::duration length) {
  return std::chrono::duration<double, std::milli>(length).count();
}

/// How long `what` takes, the least of five: what others do at the same time only adds.
template <class F>
double least_of_five(F const& what) {
  double out = 1e12;
  for (int i = 0; i < 5; ++i) {
    auto const start = clock::now();
    what();
    out = std::min(out, milliseconds(clock::now() - start));
  }
  return out;
}

/// Read from the database, and the next tick of each found.
void plan(support::engine const& on, settings const& how) {
  support::fresh_database const database(on);
  daybook::book book(database.url());
  book.migrate();
  constexpr std::array<daybook::cron, 5> kinds{
      daybook::cron("*/5 * * * *"), daybook::cron("30 2 * * MON-FRI"), daybook::cron("0 0 29 2 *"),
      daybook::cron("0 12 L * *"), daybook::cron("15 6 * * FRI#2")};
  constexpr std::array<char const*, 4> zones{"UTC", "Europe/Prague", "America/New_York",
                                             "Asia/Shanghai"};
  for (std::size_t i = 0; i < static_cast<std::size_t>(how.schedules); ++i) {
    book.make_schedule("schedule " + std::to_string(i), kinds.at(i % kinds.size()),
                       {.zone = zones.at(i % zones.size())});
  }
  std::size_t found = 0;
  auto const took = least_of_five([&] { found = book.schedules().size(); });
  std::printf("%-11s %zu schedules read and planned anew: %.0f ms\n", on.name.c_str(), found, took);
}

void idle(support::engine const& on, settings const& how) {
  if (on.name == "sqlite") return;  // nobody counts statements there
  support::fresh_database const database(on);
  counter count(on, database);
  daybook::book book(database.url());
  book.migrate();
  for (int i = 0; i < 10; ++i) {
    book.make_schedule("year " + std::to_string(i), daybook::cron("@yearly"));
  }
  daybook::node node(book);
  for (int i = 0; i < 10; ++i) node.serve("year " + std::to_string(i), [](daybook::tick&) {});
  node.start();
  std::this_thread::sleep_for(std::chrono::seconds(2));  // connected, and has looked
  auto const before = count.statements();
  std::this_thread::sleep_for(std::chrono::seconds(how.idle));
  auto const seen = count.statements() - before;
  node.stop();
  std::printf("%-11s a node that waits, 10 schedules: %.0f statements a minute\n", on.name.c_str(),
              seen * 60 / how.idle);
}

struct lateness {
  std::mutex guard;
  std::vector<double> ms;
};

void late(support::engine const& on, settings const& how) {
  constexpr int nodes = 4;
  constexpr int schedules = 100;
  support::fresh_database const database(on);
  std::optional<counter> count;
  if (on.name != "sqlite") count.emplace(on, database);
  daybook::book first(database.url());
  first.migrate();
  for (int i = 0; i < schedules; ++i) {
    first.make_schedule("each second " + std::to_string(i), daybook::cron("* * * * * *"));
  }
  std::vector<std::unique_ptr<daybook::book>> books;
  std::vector<std::unique_ptr<daybook::node>> all;
  lateness seen;
  for (int n = 0; n < nodes; ++n) {
    books.push_back(std::make_unique<daybook::book>(database.url()));
    all.push_back(std::make_unique<daybook::node>(*books.back()));
    for (int i = 0; i < schedules; ++i) {
      all.back()->serve("each second " + std::to_string(i), [&seen](daybook::tick& tick) {
        auto const now = std::chrono::system_clock::now();
        std::lock_guard const lock(seen.guard);
        seen.ms.push_back(std::chrono::duration<double, std::milli>(now - tick.at()).count());
      });
    }
  }
  auto const before = count ? count->statements() : 0;
  for (auto const& one : all) one->start();
  std::this_thread::sleep_for(std::chrono::seconds(how.seconds));
  for (auto const& one : all) one->stop();
  auto const statements = count ? count->statements() - before : 0;
  auto& ms = seen.ms;
  if (ms.empty()) throw std::runtime_error("no tick came");
  std::sort(ms.begin(), ms.end());
  auto const at = [&](double part) {
    return ms[static_cast<std::size_t>(part * static_cast<double>(ms.size() - 1))];
  };
  std::printf(
      "%-11s %d ticks each second, %d nodes: %zu in %d s, p50 %.1f ms, p99 %.1f ms late; %.1f "
      "statements a tick, all nodes\n",
      on.name.c_str(), schedules, nodes, ms.size(), how.seconds, at(0.5), at(0.99),
      statements / static_cast<double>(ms.size()));
}

settings read_arguments(std::vector<std::string> const& words) {
  settings out;
  for (std::size_t at = 0; at < words.size(); at += 2) {
    if (at + 1 == words.size()) throw std::invalid_argument(words[at] + " wants a value");
    auto const& value = words[at + 1];
    if (words[at] == "--engine") {
      out.engines.clear();
      std::istringstream in(value);
      for (std::string one; std::getline(in, one, ',');) out.engines.insert(one);
    } else if (words[at] == "--seconds") {
      out.seconds = std::stoi(value);
    } else if (words[at] == "--idle") {
      out.idle = std::stoi(value);
    } else if (words[at] == "--schedules") {
      out.schedules = std::stoi(value);
    } else {
      throw std::invalid_argument("unknown: " + words[at]);
    }
  }
  return out;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) try {
  auto const how = bench::read_arguments({words + 1, words + count});
  for (auto const& on : support::engines()) {
    if (!how.engines.contains(on.name)) continue;
    bench::plan(on, how);
    bench::idle(on, how);
    bench::late(on, how);
    std::fflush(stdout);
  }
  return 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "bench_ticks: %s\n", e.what());
  return 1;
}
