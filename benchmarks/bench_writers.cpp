// Eight processes that write one SQLite file: how many turns each gets, and how long it waits.
//   bench_writers [--writers 8] [--seconds 2] [--rounds 3] [--only NAME,...]
//   bench_writers --check    the library's; one more holds the file until all the others wait: they
//                            must be served in the order in which they stand there
// By hand: one row changed and one inserted, with SQLite's time-out, with random pauses, with a
// lock on another file. The library: a run of one step, and a task claimed and completed.
#include "support/engines.hpp"

#include <daybook/daybook.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

struct settings {
  int writers = 8;
  double seconds = 2;
  int rounds = 3;
  bool check = false;
  std::set<std::string> only;
};

/// What the processes share: memory of the parent's, made before they are.
struct board {
  static constexpr std::size_t most_waits = 1U << 16U;
  struct writer {
    std::atomic<long> turns;
    std::atomic<bool> failed;
    std::atomic<long> passed;             ///< the most that others did while one waited
    std::array<float, most_waits> waits;  ///< ms
    std::atomic<long> stood;              ///< so often it waited when the file was given back
    std::array<long, most_waits> went;    ///< what others did from then on
  };

  std::atomic<int> ready;
  std::atomic<bool> go;
  std::atomic<bool> over;
  std::atomic<int> inside;                              ///< who are in a transaction
  std::atomic<unsigned> given_back;                     ///< so often, by one who held the file
  std::array<std::atomic<long>, 1U << 16U> turns_then;  ///< when it was given back
  std::atomic<long> turns;
  std::array<writer, 64> each;
};

/// What a writer does again and again.
class work {
 public:
  virtual ~work() = default;
  /// Its transactions, one after the other; `timed` calls one and notes how long it took.
  using timed = std::function<void(std::function<void()> const&)>;
  virtual void turn(timed const& one) = 0;
};

enum class waits : unsigned char { timeout, pauses, lock };

int pause(void*, int tries) {
  thread_local std::minstd_rand generator{std::random_device{}()};
  std::uniform_int_distribution<int> pick(200, tries < 20 ? 1200 : 5200);
  std::this_thread::sleep_for(std::chrono::microseconds(pick(generator)));
  return 1;
}

class by_hand final : public work {
 public:
  by_hand(std::string const& file, waits how) : on_(nullptr, &sqlite3_close) {
    sqlite3* raw = nullptr;
    sqlite3_open(file.c_str(), &raw);
    on_.reset(raw);
    if (how == waits::timeout) {
      sqlite3_busy_timeout(raw, 60'000);
    } else {
      sqlite3_busy_handler(raw, &pause, nullptr);
    }
    if (how == waits::lock) {
      side_ = ::open((file + "-by-hand").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    }
    execute("pragma synchronous = full");
  }
  ~by_hand() override {
    if (side_ >= 0) ::close(side_);
  }

  void turn(timed const& one) override {
    one([&] {
      if (side_ >= 0) ::flock(side_, LOCK_EX);
      execute("begin immediate");
      execute("update counted set n = n + 1 where id = abs(random()) % 1000");
      execute("insert into noted(what) values ('a row of some thirty bytes')");
      execute("commit");
      if (side_ >= 0) ::flock(side_, LOCK_UN);
    });
  }

 private:
  void execute(char const* text) {
    if (sqlite3_exec(on_.get(), text, nullptr, nullptr, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(on_.get()));
    }
  }

  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> on_;
  int side_ = -1;
};

class by_library final : public work {
 public:
  by_library(std::string const& url, int number)
      : book_(url), queue_(book_.queue("writers").value()), number_(number) {}

  void turn(timed const& one) override {
    daybook::key const key(std::to_string(number_) + "/" + std::to_string(++count_));
    std::optional<daybook::run> run;
    one([&] { run = book_.start(daybook::process{"writers"}, key).take(); });
    one([&] { must(static_cast<bool>(run->record("one"))); });
    one([&] { must(static_cast<bool>(std::move(*run).finish())); });
    std::optional<daybook::claim> claim;
    one([&] { claim = queue_.claim({.limit = 1}); });
    must(claim.has_value());
    claim->finish(claim->tasks().front(), daybook::result::success());
    one([&] { must(std::move(*claim).complete() == daybook::outcome::done); });
  }

 private:
  static void must(bool what) {
    if (!what) throw std::runtime_error("something was lost");
  }

  daybook::book book_;
  daybook::queue queue_;
  int number_;
  long count_ = 0;
};

void fill(support::fresh_database const& where) {
  daybook::book book(where.url());
  book.migrate();
  auto queue = book.make_queue("writers");
  long next = 0;
  queue.import([&]() -> std::optional<daybook::entry> {
    if (++next > 50'000) return std::nullopt;
    return daybook::entry{daybook::key(std::to_string(next))};
  });
  where.execute(
      "create table counted(id integer primary key, n integer not null);"
      "create table noted(id integer primary key, what text not null);"
      "with recursive s(i) as (values (0) union all select i + 1 from s where i < 999) "
      "insert into counted select i, 0 from s");
}

struct form {
  std::string name;
  std::function<std::unique_ptr<work>(std::string const& url, int number)> make;
};

std::vector<form> forms() {
  auto const hand = [](std::string name, waits how) {
    return form{std::move(name), [how](std::string const& url, int) {
                  return std::make_unique<by_hand>(url.substr(url.find(':') + 1), how);
                }};
  };
  return {hand("bare busy_timeout", waits::timeout),
          hand("bare random pauses", waits::pauses),
          hand("bare flock", waits::lock),
          {"daybook", [](std::string const& url, int number) {
             return std::make_unique<by_library>(url, number);
           }}};
}

/// The life of a writer; never returns.
[[noreturn]] void live(board& with, form const& how, std::string const& url, int number) {
  auto& mine = with.each.at(static_cast<std::size_t>(number));
  try {
    auto const job = how.make(url, number);
    ++with.ready;
    while (!with.go) std::this_thread::yield();
    while (!with.over) {
      job->turn([&](std::function<void()> const& transaction) {
        auto const start = clock::now();
        long const before = with.turns;
        unsigned const given_back = with.given_back;
        ++with.inside;
        transaction();
        --with.inside;
        std::chrono::duration<float, std::milli> const took = clock::now() - start;
        auto const at = static_cast<std::size_t>(mine.turns++);
        mine.waits.at(std::min(at, board::most_waits - 1)) = took.count();
        long const now = with.turns++;
        mine.passed = std::max<long>(mine.passed, now - before);
        if (given_back == with.given_back) return;
        auto const place = static_cast<std::size_t>(mine.stood++);
        mine.went.at(std::min(place, board::most_waits - 1)) =
            now - with.turns_then.at(given_back % with.turns_then.size());
      });
    }
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s: %s\n", how.name.c_str(), e.what());
    mine.failed = true;
    ++with.ready;
  }
  std::fflush(nullptr);
  ::_exit(mine.failed ? 1 : 0);
}

/// Has the file again and again, each time until all the others have asked for it.
[[noreturn]] void hold(board& with, std::string const& url, int others) {
  constexpr std::chrono::milliseconds to_get_there(20);  // from asking to standing in the line
  int code = 0;
  try {
    daybook::book book(url);
    ++with.ready;
    while (!with.go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    while (!with.over) {
      book.transact([&](daybook::transaction& tx) {
        tx.exec("update counted set n = n + 1 where id = 0");
        while (with.inside < others && !with.over) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        std::this_thread::sleep_for(to_get_there);
        with.turns_then.at(with.given_back % with.turns_then.size()) = with.turns.load();
        ++with.given_back;
      });
    }
  } catch (std::exception const& e) {
    std::fprintf(stderr, "who holds the file: %s\n", e.what());
    with.each.front().failed = true;
    code = 1;
  }
  std::fflush(nullptr);
  ::_exit(code);
}

struct found {
  double rate = 0;
  long least = 0;
  long most = 0;
  long passed = 0;  ///< see board
  long stood = 0;
  long went = 0;  ///< nine of ten who stood in the line were passed no more often
  double p50 = 0;
  double p99 = 0;
  double worst = 0;
  double log = 0;  ///< MB, at the end
};

found summary(board const& from, int writers, double seconds) {
  found out{.rate = static_cast<double>(from.turns) / seconds};
  std::vector<float> waits;
  std::vector<long> went;
  out.least = from.each.front().turns;
  for (int i = 0; i < writers; ++i) {
    auto const& one = from.each.at(static_cast<std::size_t>(i));
    if (one.failed) throw std::runtime_error("a writer failed");
    out.least = std::min<long>(out.least, one.turns);
    out.most = std::max<long>(out.most, one.turns);
    out.passed = std::max<long>(out.passed, one.passed);
    auto const known = std::min(static_cast<std::size_t>(one.turns), board::most_waits);
    waits.insert(waits.end(), one.waits.begin(), one.waits.begin() + static_cast<long>(known));
    auto const stood = std::min(static_cast<std::size_t>(one.stood), board::most_waits);
    went.insert(went.end(), one.went.begin(), one.went.begin() + static_cast<long>(stood));
  }
  if (waits.empty()) throw std::runtime_error("nobody had a turn");
  std::sort(waits.begin(), waits.end());
  std::sort(went.begin(), went.end());
  out.stood = static_cast<long>(went.size());
  if (!went.empty()) out.went = went[went.size() * 9 / 10];
  out.p50 = waits[waits.size() / 2];
  out.p99 = waits[waits.size() * 99 / 100];
  out.worst = waits.back();
  return out;
}

/// Until `enough` says so, which is asked every now and then.
found measure(form const& how, int writers, bool held,
              std::function<bool(board const&)> const& enough) {
  support::fresh_database const where({"sqlite", {}});
  fill(where);
  void* const room =
      ::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::runtime_error("no memory");
  std::unique_ptr<board, void (*)(board*)> const with(
      new (room) board{}, [](board* what) { ::munmap(what, sizeof(board)); });
  std::fflush(nullptr);
  std::vector<::pid_t> all;
  for (int number = 0; number < writers; ++number) {
    auto const child = ::fork();
    if (child == 0) live(*with, how, where.url(), number);
    if (child > 0) all.push_back(child);
  }
  if (held) {
    auto const child = ::fork();
    if (child == 0) hold(*with, where.url(), writers);
    if (child > 0) all.push_back(child);
  }
  while (with->ready < static_cast<int>(all.size()))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  auto const start = clock::now();
  with->go = true;
  while (!enough(*with)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  with->over = true;
  std::chrono::duration<double> const took = clock::now() - start;
  for (auto const one : all) ::waitpid(one, nullptr, 0);
  auto out = summary(*with, writers, took.count());
  std::error_code none;
  auto const log = std::filesystem::file_size(where.url().substr(7) + "-wal", none);
  out.log = none ? 0 : static_cast<double>(log) / 1e6;
  return out;
}

void print(std::string const& name, found const& of) {
  std::printf("%-20s %8.0f %6ld %6ld %6.2f %7ld %8.2f %8.2f %8.1f %7.1f\n", name.c_str(), of.rate,
              of.least, of.most, static_cast<double>(of.least) / static_cast<double>(of.most),
              of.passed, of.p50, of.p99, of.worst, of.log);
  std::fflush(stdout);
}

void print_head() {
  std::printf("%-20s %8s %6s %6s %6s %7s %8s %8s %8s %7s\n", "", "tx/s", "least", "most", "ratio",
              "passed", "p50 ms", "p99 ms", "worst ms", "log MB");
}

/// Who waits while the file is held stands in the line when it is given back: then each of the
/// others goes before him once, and again where a verb is two transactions. On a busy machine some
/// stand there late, and who runs asks again before he who was called does: what counts is the best
/// of several times. Without the line it is more than a hundred, and the worst several.
int check(settings const& with) {
  constexpr int times = 10;
  long const bound = 3L * with.writers;
  auto const enough = [&](board const& now) {
    auto const failed = [](auto const& one) { return one.failed.load(); };
    auto const has_stood = [](auto const& one) { return one.stood >= 12; };
    return std::all_of(now.each.begin(), now.each.begin() + with.writers, has_stood) ||
           std::any_of(now.each.begin(), now.each.end(), failed);
  };
  print_head();
  for (int time = 0; time < times; ++time) {
    auto const found = measure(forms().back(), with.writers, true, enough);
    print("daybook", found);
    std::printf("of %ld times in the line, nine of ten were passed %ld times at most\n",
                found.stood, found.went);
    std::fflush(stdout);
    if (found.went <= bound && found.passed <= 25L * with.writers) return 0;
  }
  std::fprintf(stderr, "who stood in the line waited while more than %ld others went by\n", bound);
  return 1;
}

int compare(settings const& with) {
  print_head();
  for (int round = 0; round < with.rounds; ++round) {
    for (auto const& one : forms()) {
      if (!with.only.empty() && !with.only.contains(one.name)) continue;
      clock::time_point started{};
      print(one.name, measure(one, with.writers, false, [&](board const&) {
              if (started == clock::time_point{}) started = clock::now();
              return clock::now() - started >= std::chrono::duration<double>(with.seconds);
            }));
    }
  }
  return 0;
}

settings read(std::span<char*> words) {
  settings out;
  for (std::size_t at = 1; at < words.size(); ++at) {
    std::string const word = words[at];
    auto const value = [&] {
      if (++at >= words.size()) throw std::invalid_argument(word + " wants a value");
      return std::string(words[at]);
    };
    if (word == "--check") {
      out.check = true;
    } else if (word == "--writers") {
      out.writers = std::clamp(std::stoi(value()), 1, 64);
    } else if (word == "--seconds") {
      out.seconds = std::stod(value());
    } else if (word == "--rounds") {
      out.rounds = std::stoi(value());
    } else if (word == "--only") {
      std::istringstream in(value());
      for (std::string one; std::getline(in, one, ',');) out.only.insert(one);
    } else {
      throw std::invalid_argument("unknown: " + word);
    }
  }
  return out;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    auto const with = bench::read({argv, static_cast<std::size_t>(argc)});
    return with.check ? bench::check(with) : bench::compare(with);
  } catch (std::exception const& e) {
    std::cerr << "bench_writers: " << e.what() << '\n';
    return 2;
  }
}
