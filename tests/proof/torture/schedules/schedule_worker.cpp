// A process of the schedules' torture.
//   torture_schedule_worker URL SCHEDULE switches
//     --lease MS             of its holder (10000)
//     --script               every verb of a schedule once, its ticks after each, the clock by hand
//     --drain                does what is due
//     --settle               moves the clock until nothing is left: nobody else is at work
//     --pruned               of a schedule of which the newest ticks are kept
//     --node NAME COUNT SEED  instead: serves COUNT schedules (SCHEDULE is not read), until SIGTERM
// Exit codes: as those of torture_worker.
#include "base/failpoint.hpp"
#include "proof/torture/job.hpp"
#include "proof/torture/schedules/schedule_job.hpp"

#include <daybook/book.hpp>
#include <daybook/error.hpp>
#include <daybook/node.hpp>
#include <daybook/testing.hpp>
#include <daybook/transaction.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/prctl.h>

namespace {

using namespace std::chrono_literals;
using daybook::tick_state;
using std::chrono::milliseconds;
using torture::ending;

struct settings {
  std::string url;
  std::string schedule;
  milliseconds lease = 10s;
  bool script = false;
  bool drain = false;
  bool settle = false;
  bool pruned = false;
  std::string node;  ///< empty: no node
  int count = 0;
  unsigned seed = 0;
};

[[noreturn]] void usage() {
  std::fputs("torture_schedule_worker: see the head of schedule_worker.cpp\n", stderr);
  std::exit(static_cast<int>(ending::usage));
}

settings parse(std::vector<std::string> const& words) {
  if (words.size() < 3) usage();
  settings out;
  out.url = words[0];
  out.schedule = words[1];
  for (std::size_t at = 2; at < words.size(); ++at) {
    auto const next = [&]() -> std::string const& {
      if (++at >= words.size()) usage();
      return words[at];
    };
    auto const& word = words[at];
    if (word == "--lease") {
      out.lease = milliseconds(std::stoi(next()));
    } else if (word == "--script") {
      out.script = true;
    } else if (word == "--drain") {
      out.drain = true;
    } else if (word == "--settle") {
      out.settle = true;
    } else if (word == "--pruned") {
      out.pruned = true;
    } else if (word == "--node") {
      out.node = next();
      out.count = std::stoi(next());
      out.seed = static_cast<unsigned>(std::stoul(next()));
    } else {
      usage();
    }
  }
  return out;
}

void write_effect(daybook::tick& of, std::string const& node,
                  std::function<void()> const& meanwhile = {}) {
  auto const us = [](daybook::timestamp at) -> std::int64_t {
    return at.time_since_epoch().count();
  };
  static_cast<void>(of.run().step("effect", [&](daybook::transaction& tx) {
    tx.exec(
        "insert into tick_effect(schedule, tick_us, window_from, window_to, node, attempt)"
        " values (:schedule, :tick, :from, :to, :node, :attempt)",
        of.schedule(), us(of.at()), us(of.window().from), us(of.window().to), node,
        std::int64_t{of.run().attempt()});
    if (meanwhile) meanwhile();
  }));
}

bool is_passing(daybook::error const& e) {
  return e.retryable() || e.breaks_connection() || e.in_doubt();
}

/// One that calls the handlers itself, while the clock stands still.
class by_hand {
 public:
  explicit by_hand(settings how)
      : how_(std::move(how)),
        book_(how_.url, {.lease = how_.lease, .renew_in_background = false, .movable_clock = true}),
        node_(book_) {
    node_.serve(how_.schedule, [this](daybook::tick& one) { handle(one); });
    node_.serve(torture::brief_name(how_.schedule), [this](daybook::tick& one) { handle(one); });
  }

  ending run() {
    if (how_.script) script();
    if (how_.pruned) {
      make_pruned();
      turn(100min);
    }
    if (how_.drain) do_what_is_due();
    return how_.settle ? settle() : ending::finished;
  }

 private:
  void handle(daybook::tick& one) {
    write_effect(one, "hand");
    bool const fails = one.at().time_since_epoch() / 1min % 3 == 0 && !one.by_hand();
    // Not for ever, where nobody counts.
    if (!how_.pruned && fails && one.facts().failures == 0 && one.run().attempt() < 10) {
      throw std::runtime_error("on purpose");
    }
  }

  /// As the background does: what failed in passing is tried again.
  void patiently(std::function<void()> const& what) {
    for (int tries = 0;; ++tries) {
      try {
        return what();
      } catch (daybook::error const& e) {
        if (tries == 5 || !is_passing(e)) throw;
      }
    }
  }
  void renew() {
    patiently([&] { static_cast<void>(daybook::testing::renew(book_)); });
  }
  void do_what_is_due() {
    patiently([&] {
      renew();
      node_.drain();
    });
  }
  void turn(std::chrono::microseconds by) {
    daybook::testing::manual_clock(book_).advance(by);
    do_what_is_due();
  }

  static daybook::schedule_options options() {
    return {.attempts = 3, .backoff = 10s, .longest_backoff = 20s, .crash_limit = 100};
  }

  void make_pruned() {
    book_.make_schedule(how_.schedule, torture::minutely,
                        {.catch_up = daybook::catch_up::all,
                         .attempts = 1000,
                         .crash_limit = 100,
                         .keep = torture::pruned_keep});
  }

  void script() {
    daybook::audit_note const why{.actor = "torture", .reason = "on purpose"};
    auto leads = book_.make_schedule(how_.schedule, torture::minutely, options());
    auto brief = options();
    brief.catch_up = daybook::catch_up::skip;
    brief.grace = 10s;
    book_.make_schedule(torture::brief_name(how_.schedule), torture::minutely, brief);
    turn(1min);
    turn(3min + 30s);  // some are launched for others; the brief one's are skipped
    turn(1min + 30s);
    auto changed = options();
    changed.attempts = 5;
    book_.make_schedule(how_.schedule, torture::minutely, changed);
    turn(1min);
    leads.trigger(why);
    turn(30s);
    leads.pause(why);
    turn(2min);
    leads.resume(why);
    turn(2min + 30s);
    turn(1min);
  }

  [[nodiscard]] bool nothing_is_left(std::string const& name) const {
    auto const there = book_.schedule(name);
    if (!there) return true;
    auto const none = [&](tick_state state) {
      return there->ticks({.state = state, .limit = 1}).empty();
    };
    auto const now = daybook::testing::manual_clock(book_).now();
    return none(tick_state::due) && none(tick_state::running) &&
           there->info().decided + 1min >= now;
  }

  ending settle() {
    for (int turns = 0; turns < 20; ++turns) {
      turn(1min);
      if (nothing_is_left(how_.schedule) && nothing_is_left(torture::brief_name(how_.schedule))) {
        return ending::finished;
      }
    }
    return ending::busy;
  }

  settings how_;
  mutable daybook::book book_;
  daybook::node node_;
};

std::atomic<bool> asked_to_end = false;

/// One of many, whose clock is the server's.
class at_work {
 public:
  explicit at_work(settings how)
      : how_(std::move(how)),
        book_(how_.url, {.lease = how_.lease, .connections = 6}),
        node_(book_, {.threads = 8, .poll = 400ms}) {
    for (int number = 0; number < how_.count; ++number) {
      auto one = torture::schedule_of(number);
      node_.serve(one.name, [this, one](daybook::tick& tick) { handle(one, tick); });
    }
  }

  void run() {
    node_.start();
    while (!asked_to_end) std::this_thread::sleep_for(20ms);
    node_.stop();
  }

 private:
  int up_to(int most) {
    thread_local std::minstd_rand dice(
        how_.seed +
        static_cast<unsigned>(std::hash<std::thread::id>()(std::this_thread::get_id())));
    return std::uniform_int_distribution<int>(0, most)(dice);
  }

  void handle(torture::scheduled const& what, daybook::tick& one) {
    bool const fails = up_to(9) < what.failures_of_ten;
    bool const early = up_to(1) == 0;
    if (fails && early) throw std::runtime_error("before its effect");
    write_effect(one, how_.node, [&] { std::this_thread::sleep_for(milliseconds(up_to(20))); });
    auto const until = std::chrono::steady_clock::now() + what.works;
    while (std::chrono::steady_clock::now() < until) {
      if (one.stopping().stop_requested() && early) return one.hand_back();
      std::this_thread::sleep_for(10ms);
    }
    if (fails) throw std::runtime_error("after its effect");
  }

  settings how_;
  daybook::book book_;
  daybook::node node_;
};

/// However often it takes, for the server may be away.
ending serve(settings const& how) {
  std::signal(SIGTERM, [](int) { asked_to_end = true; });
  while (!asked_to_end) {
    try {
      at_work(how).run();
    } catch (daybook::error const& e) {
      std::fprintf(stderr, "%s\n", e.what());
      std::this_thread::sleep_for(50ms);
    }
  }
  return ending::finished;
}

}  // namespace

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto const how = parse({argv + 1, argv + argc});
  auto const left = [&] {
    return how.node.empty() &&
           (daybook::base::failpoint_armed || std::getenv(torture::then_variable) != nullptr);
  };
  try {
    daybook::testing::arm_from_environment();
    auto const came = how.node.empty() ? by_hand(how).run() : serve(how);
    return static_cast<int>(left() ? ending::not_reached : came);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return static_cast<int>(left() ? ending::not_reached : ending::error);
  }
}
