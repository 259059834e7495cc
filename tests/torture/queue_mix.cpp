// The random mix at queues: workers killed, stopped, cut and continued at random while the clock
// jumps, and a look at everything beside them; then heal, drain, and the last check.
#include "torture/job.hpp"
#include "torture/queue_job.hpp"
#include "torture/queue_trials.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

namespace torture {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr char const* mix_lease = "2000";
constexpr std::chrono::microseconds past_mix_lease = 3s;
/// Among them a turn of the queue with a period.
constexpr std::chrono::microseconds far = 61min;

int up_to(std::minstd_rand& dice, int most) {
  return std::uniform_int_distribution<int>(0, most)(dice);
}

environment any_failpoint(std::minstd_rand& dice) {
  if (up_to(dice, 2) == 0) return {};
  auto const names =
      daybook::testing::failpoints(up_to(dice, 5) == 0 ? daybook::testing::failpoint_room::runs
                                                       : daybook::testing::failpoint_room::queues);
  std::array<char const*, 4> const actions{"kill", "stop", "cut", "fail"};
  auto const at = static_cast<std::size_t>(up_to(dice, static_cast<int>(names.size()) - 1));
  return {{"DAYBOOK_FAILPOINT", std::string(names[at]) + "=" +
                                    actions[static_cast<std::size_t>(up_to(dice, 3))] + ":" +
                                    std::to_string(up_to(dice, 6))}};
}

/// Moves the clock. Where that takes long everybody goes on, for in SQLite whoever is stopped may
/// hold the lock that the clock needs.
void jump_among(std::vector<std::unique_ptr<child>>& all, auto const& jump) {
  std::atomic<bool> done = false;
  std::thread jumper([&] {
    jump();
    done = true;
  });
  for (int tries = 0; !done; ++tries) {
    std::this_thread::sleep_for(2ms);
    if (tries < 50) continue;
    for (auto& one : all) one->go_on();
  }
  jumper.join();
}

std::string counted(std::string const& file) {
  std::ifstream in(file);
  std::string const all{std::istreambuf_iterator<char>(in), {}};
  auto const count = [&](tally what) {
    return std::to_string(std::count(all.begin(), all.end(), static_cast<char>(what)));
  };
  return "mix: batches finished " + count(tally::finished) + ", lost " + count(tally::lost) +
         ", idle " + count(tally::busy) + ", asked for " + count(tally::given_back) +
         ", calls that gave up " + count(tally::error);
}

}  // namespace

void queue_lane::mix(int workers, int keys, int faults, std::minstd_rand& dice) {
  auto const name = "mix" + std::to_string(++number_);
  std::array<trial, 2> queues;
  queues[0].queue = queues[0].name = name;
  queues[1].queue = queues[1].name = name + "p";
  auto const tally_file = folder_ + "/tally";
  std::vector<std::unique_ptr<child>> all(static_cast<std::size_t>(workers));
  auto const fill = [&](std::size_t at) {
    auto const seed = std::to_string(up_to(dice, 1'000'000));
    all[at] = std::make_unique<child>(
        words(queues[at % 2].queue,
              {"--lease", mix_lease, "--loop", seed, std::to_string(keys), tally_file}),
        any_failpoint(dice));
  };
  for (auto const& one : queues) {
    child first(words(one.queue, {"--drain", "0"}));
    static_cast<void>(first.wait(30s));
    std::vector<daybook::entry> entries;
    for (int at = 0; at < keys; ++at) entries.push_back({daybook::key(key_of(at))});
    book_.queue(one.queue).value().import(entries);
  }
  for (std::size_t at = 0; at < all.size(); ++at) fill(at);
  auto const jump = [&] {
    try {
      past_the_lease(up_to(dice, 3) == 0 ? far : past_mix_lease);
    } catch (std::exception const& e) {
      report_->failure(std::string("the clock could not be moved: ") + e.what());
    }
  };
  auto next_look = std::chrono::steady_clock::now();
  for (int fault = 0; fault < faults; ++fault) {
    std::this_thread::sleep_for(milliseconds(10 + up_to(dice, 60)));
    for (std::size_t at = 0; at < all.size(); ++at) {
      auto const now = all[at]->wait(0ms);
      if (now.what == child::state::stopped) {
        jump_among(all, jump);
        std::this_thread::sleep_for(milliseconds(20 + up_to(dice, 100)));
        all[at]->go_on();
      }
      if (now.what == child::state::killed && now.code != SIGKILL) {
        fail(queues[at % 2], "a worker " + now.text(), *all[at]);
      }
      if (now.what == child::state::exited || now.what == child::state::killed) fill(at);
    }
    auto const victim = static_cast<std::size_t>(up_to(dice, workers - 1));
    switch (up_to(dice, 3)) {
      case 0: fill(victim); break;  // the one there is killed
      case 1: jump_among(all, jump); break;
      default:
        all[victim]->send(SIGSTOP);
        jump_among(all, jump);
        std::this_thread::sleep_for(milliseconds(20 + up_to(dice, 100)));
        all[victim]->go_on();
    }
    report_->trial("mix");
    auto const now = std::chrono::steady_clock::now();
    if (now < next_look) continue;
    for (auto const& one : queues) look(one, moment::amid);
    auto const end = std::chrono::steady_clock::now();
    next_look = end + std::max<std::chrono::nanoseconds>(500ms, (end - now) * 4);
  }
  end_mix(all);
  report_->note(counted(tally_file));
  for (auto const& one : queues) {
    past_the_lease(far);
    child clean(words(one.queue, {"--drain", "60000", "--jump"}));
    auto const came = clean.wait(90s);
    if (!came.is(ending::finished)) fail(one, "a clean worker " + came.text(), clean);
    look(one, moment::at_the_end);
  }
}

void queue_lane::end_mix(std::vector<std::unique_ptr<child>>& all) {
  for (auto& one : all) one->send(SIGTERM);
  for (auto& one : all) {
    // Whoever is at a stopping failpoint is let go on.
    child::change last;
    do {
      for (auto& each : all) each->go_on();
      last = one->wait(30s);
    } while (last.what == child::state::stopped);
    if (last.what == child::state::silent) {
      report_->failure("a worker does not end: " + one->words());
    }
  }
  all.clear();
}

}  // namespace torture
