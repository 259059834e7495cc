// Tasks that kill whoever does them: one aborts, one loops for ever, one eats all memory. In a
// worker of the library each must be dead after exactly its crash limit, and must have harmed its
// mates twice at most. Under `daybook daemon`, whose children they kill, each must have failed by
// its attempts, and the daemon must not even notice.
//   torture_poison --engine NAME [--tasks 200]              in workers, and with a child for each
//   torture_poison --engine NAME [--tasks 200] --batch N    with a child for so many
// Exit code: 0 good, 1 not.
#include "proof/torture/child.hpp"
#include "proof/torture/driver.hpp"
#include "support/engines.hpp"

#include <daybook/book.hpp>
#include <daybook/queue.hpp>
#include <daybook/testing.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using torture::child;

constexpr int limit = 3;  // of crashes, and of attempts
constexpr std::array poisons{"abort", "loop", "memory"};
constexpr auto patience = 120s;

struct table {
  support::fresh_database database;
  daybook::book book;
  fs::path folder;
  int tasks;
  int wrong = 0;
  clock::time_point since = clock::now();

  table(support::engine const& on, int how_many)
      : database(on),
        book(database.open()),
        folder(fs::temp_directory_path() / ("daybook_poison_" + std::to_string(::getpid()))),
        tasks(how_many) {
    fs::create_directories(folder);
  }
  table(table const&) = delete;
  table& operator=(table const&) = delete;
  ~table() { fs::remove_all(folder); }

  void expect(bool well, std::string const& what) {
    if (well) return;
    if (++wrong <= 20) std::printf("wrong: %s\n", what.c_str());
  }
  /// Since it was last asked.
  double seconds() {
    auto const before = std::exchange(since, clock::now());
    return std::chrono::duration<double>(since - before).count();
  }
};

/// Poison at a quarter, a half and three quarters of the way.
std::vector<daybook::entry> entries(int count) {
  std::vector<daybook::entry> out;
  for (int at = 0; at < count; ++at) {
    auto const part = at * 4 / count;
    bool const first = part > 0 && (at - 1) * 4 / count < part;
    out.push_back({daybook::key(first ? poisons.at(static_cast<std::size_t>(part - 1))
                                      : "task" + std::to_string(at))});
  }
  return out;
}

std::map<std::string, int> begins(std::string const& log) {
  std::map<std::string, int> out;
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);) ++out[line];
  return out;
}

bool is_poison(std::string const& key) {
  return std::find(poisons.begin(), poisons.end(), key) != poisons.end();
}

bool is_over(daybook::queue const& of) {
  auto const now = of.counts();
  return now.waiting + now.running + now.quarantined == 0;
}

/// How often the mates were begun again, and the worst of them: no more than `most` times.
void look_at_mates(table& at, daybook::queue const& queue, std::map<std::string, int> const& begun,
                   int most, char const* where) {
  int again = 0;
  int worst = 0;
  for (auto const& one : entries(at.tasks)) {
    std::string const key(one.key.str());
    if (is_poison(key)) continue;
    auto const stands = queue.find(one.key).value();
    at.expect(stands.state == daybook::task_state::succeeded,
              key + " is " + std::string(word_of(stands.state)));
    auto const found = begun.find(key);
    int const times = found == begun.end() ? 0 : found->second;
    at.expect(times >= 1, key + " was never begun");
    // With one culprit, as a suspect beside another, and alone.
    at.expect(times <= most, key + " was begun " + std::to_string(times) + " times");
    again += std::max(0, times - 1);
    worst = std::max(worst, times);
  }
  std::printf("%s: %d of %d mates were begun again, none more than %d times; %.1f s\n", where,
              again, at.tasks - static_cast<int>(poisons.size()), worst, at.seconds());
}

void in_workers(table& at) {
  auto queue =
      at.book.make_queue("poison", {.backoff = 1s, .longest_backoff = 1s, .crash_limit = limit});
  queue.import(entries(at.tasks));
  auto const log = (at.folder / "library.log").string();
  int deaths = 0;
  auto const until = clock::now() + patience;
  while (!is_over(queue) && clock::now() < until) {
    child worker({torture::worker_path("poison_worker"), at.database.url(), log});
    child::change how;
    while (how.what == child::state::silent && !is_over(queue) && clock::now() < until) {
      how = worker.wait(50ms);
    }
    if (how.what == child::state::killed) {
      ++deaths;
    } else {
      worker.send(SIGTERM);
      how = worker.wait(30s);
      at.expect(how.what == child::state::exited && how.code == 0,
                "a worker " + how.text() + ": " + worker.words());
    }
    daybook::testing::manual_clock(at.book).advance(31s);  // its lease is over
    static_cast<void>(daybook::testing::renew(at.book));
  }
  auto const begun = begins(log);
  std::printf("library: %d workers died\n", deaths);
  // More than one may be in hand when a worker dies.
  at.expect(deaths >= limit && deaths <= limit * static_cast<int>(poisons.size()),
            std::to_string(deaths) + " workers died");
  for (auto const* const key : poisons) {
    auto const stands = queue.find(daybook::key(key)).value();
    at.expect(stands.state == daybook::task_state::dead && stands.crashes == limit,
              std::string(key) + " is " + std::string(word_of(stands.state)) + " after " +
                  std::to_string(stands.crashes) + " crashes");
  }
  look_at_mates(at, queue, begun, 3, "library");
}

/// `batch`: so many tasks share a child; 0: each has its own. What a shared child has died on gets
/// one of its own before it has failed, and so is begun twice for an attempt.
void under_a_daemon(table& at, int batch) {
  std::string const name = batch > 0 ? "batches" : "singly";
  auto const log = (at.folder / (name + ".log")).string();
  auto const file = at.folder / (name + ".toml");
  auto const program = torture::worker_path("poison_worker");
  {
    std::ofstream out(file);
    out << "database = \"" << at.database.url() << "\"\n[[queue]]\nname = \"" << name << "\"\n"
        << "attempts = " << limit << "\nbackoff = \"0s\"\ntimeout = \"20s\"\nworkers = 2\n";
    if (batch > 0) {
      out << "batch = " << batch << "\ncommand = [\"" << program << "\", \"--batch\", \"" << log
          << "\"]\n";
    } else {
      out << "command = [\"" << program << "\", \"--task\", \"" << log << "\", \"{key}\"]\n";
    }
  }
  auto queue = at.book.make_queue(name, {.attempts = limit});
  queue.import(entries(at.tasks));
  child daemon({DAYBOOK_PROGRAM, "daemon", "--config", file.string(), "--poll", "100ms"});
  for (auto const until = clock::now() + patience; !is_over(queue) && clock::now() < until;) {
    if (daemon.wait(100ms).what != child::state::silent) break;
  }
  daemon.send(SIGTERM);
  auto const how = daemon.wait(30s);
  at.expect(how.what == child::state::exited && how.code == 0,
            "the daemon " + how.text() + ": " + daemon.words());
  auto const begun = begins(log);
  for (auto const* const key : poisons) {
    auto const stands = queue.find(daybook::key(key)).value();
    auto const found = begun.find(key);
    int const times = found == begun.end() ? 0 : found->second;
    bool const well = stands.state == daybook::task_state::dead && stands.attempts == limit &&
                      stands.crashes == 0 && times >= limit &&
                      times <= (batch > 0 ? 2 * limit : limit);
    at.expect(well, name + ": " + key + " is " + std::string(word_of(stands.state)) + " after " +
                        std::to_string(stands.attempts) + " attempts, begun " +
                        std::to_string(times) + " times");
  }
  look_at_mates(at, queue, begun, 2, name.c_str());
}

}  // namespace

int main(int count, char** words) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::map<std::string, std::string> said{
      {"--engine", "sqlite"}, {"--tasks", "200"}, {"--batch", "0"}};
  for (int at = 1; at + 1 < count; at += 2) said[words[at]] = words[at + 1];
  table at(torture::find_engine(said["--engine"]), std::stoi(said["--tasks"]));
  auto const batch = std::stoi(said["--batch"]);
  if (batch == 0) in_workers(at);
  under_a_daemon(at, batch);
  std::printf("%s: %d wrong\n", said["--engine"].c_str(), at.wrong);
  return at.wrong == 0 ? 0 : 1;
} catch (std::exception const& e) {
  std::fprintf(stderr, "torture_poison: %s\n", e.what());
  return 1;
}
