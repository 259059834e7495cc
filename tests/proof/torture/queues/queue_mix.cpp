// The random mix at queues: workers killed, stopped, cut and continued at random while the clock
// jumps, and a look at everything beside them; then heal, drain, and the last check.
#include "proof/torture/job.hpp"
#include "proof/torture/mixing.hpp"
#include "proof/torture/queues/queue_job.hpp"
#include "proof/torture/queues/queue_trials.hpp"

#include <algorithm>
#include <array>
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

/// A pooler refuses everybody for a second when it has missed its server.
void queue_lane::jump_in_a_mix(std::minstd_rand& dice, bool patient) {
  auto const by = up_to(dice, 3) == 0 ? far : past_mix_lease;
  for (int tries = 0;; ++tries) {
    try {
      return past_the_lease(by);
    } catch (std::exception const& e) {
      if (!patient || tries == 100) {
        return report_->failure(std::string("the clock could not be moved: ") + e.what());
      }
      std::this_thread::sleep_for(50ms);
    }
  }
}

void queue_lane::fill(std::string const& queue, int keys) {
  child first(words(queue, {"--drain", "0"}));
  static_cast<void>(first.wait(30s));
  std::vector<daybook::entry> entries;
  for (int at = 0; at < keys; ++at) entries.push_back({daybook::key(key_of(at, queue))});
  book_.queue(queue).value().import(entries);
}

void queue_lane::mix(int workers, int keys, int faults, std::minstd_rand& dice, server_faults* to) {
  auto const name = "mix" + std::to_string(++number_);
  std::array<trial, 3> queues;
  queues[0].queue = queues[0].name = name;
  queues[1].queue = queues[1].name = name + "p";
  queues[2].queue = queues[2].name = name + "o";
  auto const tally_file = folder_ + "/tally";
  std::vector<std::unique_ptr<child>> all(static_cast<std::size_t>(workers));
  auto const start = [&](std::size_t at) {
    auto const seed = std::to_string(up_to(dice, 1'000'000));
    all[at] = std::make_unique<child>(
        words(queues[at % queues.size()].queue,
              {"--lease", mix_lease, "--loop", seed, std::to_string(keys), tally_file}),
        any_failpoint(dice));
  };
  for (auto const& one : queues) fill(one.queue, keys);
  for (std::size_t at = 0; at < all.size(); ++at) start(at);
  auto const each = [&](auto const& body) {
    for (auto& one : all) body(*one);
  };
  auto const jump = [&] { jump_in_a_mix(dice, to != nullptr); };
  auto next_look = std::chrono::steady_clock::now();
  for (int fault = 0; fault < faults; ++fault) {
    std::this_thread::sleep_for(milliseconds(10 + up_to(dice, 60)));
    for (std::size_t at = 0; at < all.size(); ++at) {
      // Stopped by its own failpoint, or ended.
      auto const now = all[at]->wait(0ms);
      if (now.what == child::state::stopped) stop_past_the_lease(*all[at], dice, each, jump);
      if (now.what == child::state::killed && now.code != SIGKILL) {
        fail(queues[at % queues.size()], "a worker " + now.text(), *all[at]);
      }
      if (now.what == child::state::exited || now.what == child::state::killed) start(at);
    }
    if (to != nullptr && fault % 2 == 0) {
      report_->trial(to->one(dice, jump));
      continue;
    }
    auto const victim = static_cast<std::size_t>(up_to(dice, workers - 1));
    switch (up_to(dice, 3)) {
      case 0: start(victim); break;  // the one there is killed
      case 1: jump_among(each, jump); break;
      default: stop_past_the_lease(*all[victim], dice, each, jump); break;
    }
    report_->trial("mix");
    auto const now = std::chrono::steady_clock::now();
    if (now < next_look) continue;
    for (auto const& one : queues) look(one, moment::amid);
    auto const end = std::chrono::steady_clock::now();
    next_look = end + std::max<std::chrono::nanoseconds>(500ms, (end - now) * 4);
  }
  end_all(each, [&](child& one) { report_->failure("a worker does not end: " + one.words()); });
  all.clear();
  report_->note(counted(tally_file));
  for (auto const& one : queues) drain(one);
}

/// Healed: nothing is left, and everything must be right.
void queue_lane::drain(trial const& of) {
  past_the_lease(far);
  auto const how = words(of.queue, {"--drain", "60000", "--jump"});
  auto const clean = run_unharmed([&] { return std::make_unique<child>(how); }, 90s);
  if (!clean.came.is(ending::finished)) {
    fail(of, "a clean worker " + clean.came.text(), *clean.who);
  }
  look(of, moment::at_the_end);
}

}  // namespace torture
