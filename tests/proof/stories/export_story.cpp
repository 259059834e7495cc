// The story that schedules come from: leads come in all the time, every second an export of what is
// new is made, and two servers made it twice or not at all. Here three daemons make it; they are
// killed, stopped past their lease, cut from the database, and two have clocks that are wrong by
// minutes and by hours. The windows must tile to the microsecond.
//   story_export --engine postgresql [--seconds 20] [--seed 1]
#include "proof/torture/child.hpp"
#include "proxy/proxy.hpp"
#include "support/engines.hpp"
#include "support/server.hpp"

#include <daybook/daybook.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace story {
namespace {

namespace fs = std::filesystem;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using clock = std::chrono::steady_clock;

constexpr auto lease = 1000ms;

struct settings {
  std::string engine = "sqlite";
  int seconds = 20;
  unsigned seed = 1;
};

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string fake_clock() {
  for (auto const& one : fs::directory_iterator("/usr/lib")) {
    auto const file = one.path() / "faketime/libfaketimeMT.so.1";
    if (fs::exists(file)) return file;
  }
  throw std::runtime_error("libfaketime is not there: install the package libfaketime");
}

/// One machine: a daemon, its way to the database, its clock.
class machine {
 public:
  machine(support::engine const& on, support::fresh_database const& database, fs::path folder,
          std::string const& shift)
      : folder_(std::move(folder)), url_(database.url()) {
    fs::create_directories(folder_);
    std::ofstream file(folder_ / "daybook.toml");
    if (on.name != "sqlite") {
      way_.emplace(on.name == "mariadb" ? proxy::protocol::mysql : proxy::protocol::postgres,
                   support::port_of(url_));
      url_ = way_->url_of(url_);
    }
    file << "database = \"" << url_ << "\"\n[[schedule]]\nname = \"leads\"\n"
         << "cron = \"* * * * * *\"\nattempts = 1000\nbackoff = \"100ms\"\n"
         << "longest_backoff = \"500ms\"\ncrash_limit = 100\nkeep = 100000\n"
         // So long that what happens happens to the one that has it in hand.
         << "command = [\"sh\", \"-c\", \"sleep 0.4 && exec $0 \\\"$@\\\"\", \"" << EXPORT_PROGRAM
         << "\", \"" << url_ << "\", \"record\"]\n";
    // On SQLite the machine's clock is the database's.
    if (shift.empty() || on.name == "sqlite") return;
    more_ = {{"LD_PRELOAD", fake_clock()},
             {"FAKETIME", shift},
             {"FAKETIME_DONT_FAKE_MONOTONIC", "1"},
             {"DONT_FAKE_MONOTONIC", "1"}};
  }

  void start() {
    daemon_ = std::make_unique<torture::child>(words({}), more_);
    started_ = std::chrono::steady_clock::now();
  }
  void kill() {
    daemon_->send(SIGKILL);
    static_cast<void>(daemon_->wait(10s));
    start();
  }
  void stop_for(std::chrono::milliseconds length) {
    daemon_->send(SIGSTOP);
    std::this_thread::sleep_for(length);
    daemon_->send(SIGCONT);
  }
  void cut_for(std::chrono::milliseconds length) {
    way_->mute(true);
    std::this_thread::sleep_for(length);
    way_->mute(false);
  }
  [[nodiscard]] pid_t id() const { return daemon_->id(); }
  [[nodiscard]] bool can_be_cut() const { return way_.has_value(); }
  /// It ended by itself, which it must not.
  [[nodiscard]] std::optional<std::string> gone() {
    auto const change = daemon_->wait(0ms);
    if (change.what != torture::child::state::exited) return std::nullopt;
    return change.text() + ":\n" + daemon_->words();
  }
  void end() {
    using torture::child;
    // One that was started a moment ago does not catch signals yet.
    bool const young = std::chrono::steady_clock::now() - started_ < 5s;
    daemon_->send(SIGTERM);
    auto const change = daemon_->wait(30s);
    bool const well = change.what == child::state::exited && change.code == 0;
    bool const early = young && change.what == child::state::killed && change.code == SIGTERM;
    if (!well && !early) {
      throw std::runtime_error("after TERM a daemon " + change.text() + ":\n" + daemon_->words());
    }
  }
  void drain() {
    torture::child last(words({"--drain"}), more_);
    auto const change = last.wait(60s);
    // 1: a tick has failed for the last time, which the story finds by itself.
    if (change.what != torture::child::state::exited || change.code > 1) {
      throw std::runtime_error("daemon --drain " + change.text() + ":\n" + last.words());
    }
  }

 private:
  [[nodiscard]] std::vector<std::string> words(std::vector<std::string> const& more) const {
    std::vector<std::string> out{DAYBOOK_PROGRAM, "daemon",
                                 "--config",      (folder_ / "daybook.toml").string(),
                                 "--lease",       std::to_string(lease.count()) + "ms",
                                 "--poll",        "250ms"};
    out.insert(out.end(), more.begin(), more.end());
    return torture::dying_with_us(out);
  }

  fs::path folder_;
  std::string url_;
  std::optional<proxy::proxy> way_;
  torture::environment more_;
  std::unique_ptr<torture::child> daemon_;
  std::chrono::steady_clock::time_point started_{};
};

/// Leads that come in until it ends.
class people {
 public:
  explicit people(std::string const& url)
      : thread_([this, url](std::stop_token const& stop) {
          support::raw_connection on(url);
          if (url.starts_with("sqlite")) on.execute("pragma busy_timeout = 60000");
          while (!stop.stop_requested()) {
            on.execute("insert into lead (at_us, name) values (" + std::to_string(now_us()) +
                       ", 'x')");
            ++count_;
            std::this_thread::sleep_for(5ms);
          }
        }) {}
  [[nodiscard]] long count() const { return count_; }

 private:
  std::atomic<long> count_ = 0;
  std::jthread thread_;
};

struct seen {
  long exports = 0;
  long holes = 0;
  long overlaps = 0;
  long leads_exported = 0;
  long leads_there = 0;
  long taken_over = 0;
  long skipped = 0;
  long open = 0;
};

using number = std::int64_t;

seen look(daybook::book& book) {
  seen out;
  book.transact([&](daybook::transaction& tx) {
    out = {};
    auto const begin = tx.rows<number>("select created_us from daybook_schedule").at(0);
    auto const end = tx.rows<number>("select window_us from daybook_schedule").at(0);
    auto at = begin;
    for (auto const& [from, to] : tx.rows<std::tuple<number, number>>(
             "select from_us, to_us from export order by to_us, from_us")) {
      ++out.exports;
      if (from > at) ++out.holes;
      if (from < at) ++out.overlaps;
      at = to;
      out.leads_exported +=
          tx.rows<number>("select count(*) from lead where at_us >= :from and at_us < :to", from,
                          to)
              .at(0);
    }
    if (at != end) ++out.holes;
    out.leads_there =
        tx.rows<number>("select count(*) from lead where at_us >= :begin and at_us < :end", begin,
                        end)
            .at(0);
    out.taken_over = tx.rows<number>("select count(*) from daybook_tick where crashes > 0").at(0);
    out.skipped = tx.rows<number>("select count(*) from daybook_tick where state = 4").at(0);
    out.open = tx.rows<number>("select count(*) from daybook_tick where state in (0, 1, 3)").at(0);
  });
  return out;
}

class troubles {
 public:
  troubles(std::vector<std::unique_ptr<machine>>& of, std::string const& url, unsigned seed)
      : of_(&of), on_(url), dice_(seed) {}

  void one() {
    auto& victim = dice_() % 4 == 0 ? *(*of_)[dice_() % of_->size()] : holder();
    auto const length = lease + std::chrono::milliseconds(dice_() % 1500);
    switch (dice_() % (victim.can_be_cut() ? 3 : 2)) {
      case 0:
        ++kinds_["killed"];
        victim.kill();
        break;
      case 1:
        ++kinds_["stopped past the lease"];
        victim.stop_for(length);
        break;
      default:
        ++kinds_["cut from the database"];
        victim.cut_for(length);
        break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(dice_() % 1500));
  }
  void print() const {
    for (auto const& [kind, times] : kinds_) std::printf(" %s %d,", kind.c_str(), times);
  }

 private:
  /// The machine that has the tick in hand.
  machine& holder() {
    auto const until = clock::now() + 3s;
    while (clock::now() < until) {
      auto const found = on_.execute(
          "select max(h.pid) from daybook_schedule s join daybook_run r on r.process = s.name and "
          "r.run_key = s.running_key join daybook_holder h on h.uuid = r.holder "
          "where r.state in (9, 8)");
      for (auto const& one : *of_) {
        if (found == std::to_string(one->id())) return *one;
      }
      std::this_thread::sleep_for(10ms);
    }
    return *of_->front();
  }

  std::vector<std::unique_ptr<machine>>* of_;
  support::raw_connection on_;
  std::minstd_rand dice_;
  std::map<std::string, int> kinds_;
};

void make_tables(std::string const& url) {
  daybook::book book(url);
  book.migrate();
  support::raw_connection on(url);
  on.execute("create table lead (at_us bigint not null, name varchar(40) not null)");
  // No unique key: what is there twice shall be seen.
  on.execute("create table export (from_us bigint not null, to_us bigint not null)");
}

int tell(support::engine const& on, settings const& how) {
  support::fresh_database const database(on);
  make_tables(database.url());
  auto const folder = fs::temp_directory_path() / ("daybook_story_" + std::to_string(::getpid()));
  std::vector<std::unique_ptr<machine>> machines;
  for (auto const* shift : {"", "+7m", "-5h"}) {
    auto const name = folder / std::to_string(machines.size());
    machines.push_back(std::make_unique<machine>(on, database, name, shift));
  }
  troubles with(machines, database.url(), how.seed);
  {
    people const coming(database.url());
    for (auto const& one : machines) one->start();
    std::this_thread::sleep_for(3s);
    for (auto const until = clock::now() + std::chrono::seconds(how.seconds);
         clock::now() < until;) {
      with.one();
      for (auto const& one : machines) {
        if (auto const why = one->gone()) throw std::runtime_error("a daemon " + *why);
      }
    }
    for (auto const& one : machines) one->end();
  }
  std::this_thread::sleep_for(lease + 500ms);  // of those that were killed last
  machines.front()->drain();
  fs::remove_all(folder);

  daybook::book book(database.url());
  auto const found = look(book);
  std::printf("%-11s seed %u:", on.name.c_str(), how.seed);
  with.print();
  std::printf(
      " %ld ticks taken over, %ld rows of skipped ones; %ld exports: %ld holes, %ld overlaps, %ld "
      "unfinished; %ld leads, %ld exported\n",
      found.taken_over, found.skipped, found.exports, found.holes, found.overlaps, found.open,
      found.leads_there, found.leads_exported);
  // What is not finished is a failure, and may be the machine's; its window is no hole.
  auto const lost = std::abs(found.leads_there - found.leads_exported) + found.holes;
  auto const violations = found.overlaps + (found.open == 0 ? lost : 0);
  std::printf("violations %ld / %ld exports\n", violations, found.exports);
  return violations == 0 && found.open == 0 && found.exports > 2 ? 0 : 1;
}

settings read_arguments(std::vector<std::string> const& words) {
  settings out;
  for (std::size_t at = 0; at + 1 < words.size(); at += 2) {
    auto const& value = words[at + 1];
    if (words[at] == "--engine") out.engine = value;
    if (words[at] == "--seconds") out.seconds = std::stoi(value);
    if (words[at] == "--seed") out.seed = static_cast<unsigned>(std::stoul(value));
  }
  return out;
}

}  // namespace
}  // namespace story

int main(int count, char** words) try {
  auto const how = story::read_arguments({words + 1, words + count});
  for (auto const& on : support::engines()) {
    if (on.name == how.engine) return story::tell(on, how);
  }
  throw std::runtime_error("no engine is named " + how.engine);
} catch (std::exception const& e) {
  std::fprintf(stderr, "story_export: %s\n", e.what());
  return 1;
}
