// Kills, stops and cuts workers at every failpoint of aggregations, and compares each parent with
// its rows; then the crew of the story of the bricks, at random.
//
//   torture_aggregate --engine NAME [--faults N] [--rounds N] [--lanes N] [--seed S]
//                     [--only TEXT] [--skip N]
//   ... --worker NAME --hand NAME --expect FLAW     as for torture; the two programs at work
//
// --rounds: so often each failpoint with each action; --faults: of the random mix; --only: the
// failpoints whose name has TEXT in it, and no mix; --skip: so many hits of a failpoint pass.
// Exit code: 0 good, 1 violations, 2 only something else that went wrong.
#include "proof/stories/crew.hpp"
#include "proof/torture/aggregations/aggregate_trials.hpp"
#include "proof/torture/driver.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include <unistd.h>

namespace {

using namespace std::chrono_literals;

struct settings : torture::driver_settings {
  int rounds = 1;
  int skip = -1;  ///< below 0: as it comes
  std::string hand = "../stories/story_hand";
};

struct job {
  torture::aggregate_trial what;
  bool overflow = false;
};

std::unique_ptr<torture::aggregate_lane> lane(settings const& how, support::engine const& on,
                                              torture::aggregate_report& to) {
  return std::make_unique<torture::aggregate_lane>(on, torture::worker_path(how.worker), to);
}

/// Each failpoint with each action, in a random order, `how.rounds` times.
std::vector<torture::aggregate_trial> plan(settings const& how, std::string const& dialect,
                                           std::string const& only, std::minstd_rand& dice) {
  std::vector<torture::aggregate_trial> out;
  for (int round = 0; round < how.rounds; ++round) {
    for (auto const& failpoint : torture::aggregate_failpoints(dialect)) {
      if (failpoint.find(only) == std::string::npos) continue;
      for (auto const& action : torture::fault_actions)
        out.push_back({failpoint, action, how.skip});
    }
  }
  std::shuffle(out.begin(), out.end(), dice);
  return out;
}

void directed(settings const& how, support::engine const& on, torture::aggregate_report& to) {
  std::minstd_rand dice(how.seed);
  auto const dialect = lane(how, on, to)->dialect();
  auto const jobs = plan(how, dialect, how.only, dice);
  torture::in_lanes(
      how, jobs.size(), dice, to, [&] { return lane(how, on, to); },
      [&](torture::aggregate_lane& in, std::size_t at, std::minstd_rand& own) {
        in.one(jobs[at], own);
      });
  for (auto const& one : jobs) to.require_hit(one.failpoint, one.action);
  if (!how.only.empty()) return;
  auto const full = lane(how, on, to);
  for (auto const& one : plan(how, dialect, "aggregate.", dice)) full->overflow(one, dice);
}

/// Bricks that come in bursts of a few workers: everybody is at the same parents.
class bursts {
 public:
  bursts(std::string url, unsigned seed)
      : thread_([this, url = std::move(url), seed](std::stop_token const& stop) {
          try {
            support::raw_connection on(url);
            if (url.starts_with("sqlite")) on.execute("pragma busy_timeout = 60000");
            std::minstd_rand dice(seed);
            for (int burst = 0; !stop.stop_requested(); ++burst) {
              on.execute(one(burst, dice));
              std::this_thread::sleep_for(50ms);
            }
          } catch (std::exception const& e) {
            failure_ = e.what();
          }
        }) {}

  [[nodiscard]] bricks::carried end() {
    thread_ = {};
    if (!failure_.empty()) throw std::runtime_error("bricks: " + failure_);
    return carried_;
  }

 private:
  std::string one(int burst, std::minstd_rand& dice) {
    constexpr int workers = 10;
    constexpr int in_a_burst = 300;
    std::string text = "insert into t_move_brick (move_no, worker_id, move_num, status) values ";
    for (int at = 0; at < in_a_burst; ++at) {
      auto const worker = 1 + static_cast<int>(dice() % workers);
      auto const number = 1 + static_cast<int>(dice() % 100);
      text += (at == 0 ? "('M" : ", ('M") + std::to_string(burst) + "-" + std::to_string(at) +
              "', " + std::to_string(worker) + ", " + std::to_string(number) + ", 1)";
      carried_[worker] += number;
    }
    return text;
  }

  bricks::carried carried_;
  std::string failure_;
  std::jthread thread_;
};

/// What is left is gathered, closed and settled; false: it cannot be.
bool settle_all(daybook::aggregation& pay) {
  daybook::audit_note const by{.actor = "torture", .reason = "the end"};
  while (pay.aggregate().rows > 0) {
  }
  pay.close_all(by);
  daybook::state_value const closed(bricks::state_taken);
  bool all = true;
  for (auto const& one : pay.parents({.state = closed, .limit = 10'000})) {
    all = pay.settle(one.key, by) == daybook::settling::done && all;
  }
  return all;
}

void random_mix(settings const& how, support::engine const& on, torture::aggregate_report& to) {
  constexpr int chunk = 50;
  support::fresh_database const database(on);
  daybook::book book(database.url());
  book.migrate();
  bricks::make_tables(database, book.dialect());
  auto pay = book.make_aggregation("pay", bricks::declared(chunk));
  bricks::checker with(database.url(), book.dialect());
  auto const tally =
      std::filesystem::temp_directory_path() / ("torture_aggregate_" + std::to_string(::getpid()));
  bursts coming(database.url(), how.seed + 1);
  story::crew hands(story::everybody("pay"), {.hand = torture::worker_path(how.hand),
                                              .url = database.url(),
                                              .tally = tally.string(),
                                              .chunk = chunk,
                                              .seed = how.seed,
                                              .longest_stop = 300ms});
  for (int fault = 0; fault < how.faults; ++fault) {
    hands.strike();
    to.trial("mix");
    if (fault % 5 == 4) to.add(with.look(), "mix");
  }
  hands.end();
  auto const carried = coming.end();
  for (auto const& one : hands.failures()) to.failure("mix: " + one);
  to.note("mix: " + hands.text());
  std::filesystem::remove(tally);
  if (!settle_all(pay)) to.failure("mix: a parent could not be settled");
  to.add(with.look_at_the_end(carried), "mix, at the end");
}

void all(settings const& how, support::engine const& on, torture::aggregate_report& to) {
  if (how.rounds > 0) directed(how, on, to);
  if (how.faults > 0 && how.only.empty()) random_mix(how, on, to);
}

}  // namespace

int main(int count, char** arguments) {
  settings how;
  how.worker = "torture_aggregate_worker";
  torture::switches words(how, bricks::flaw_names);
  words.add("--rounds", &how.rounds);
  words.add("--skip", &how.skip);
  words.add("--hand", &how.hand);
  if (!words.read({arguments + 1, arguments + count})) {
    std::fputs("torture_aggregate: see the head of torture_aggregate.cpp\n", stderr);
    return 3;
  }
  return torture::drive<torture::aggregate_report>(
      how, [&](support::engine const& on, torture::aggregate_report& to) { all(how, on, to); });
}
