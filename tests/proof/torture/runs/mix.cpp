// The random mix: workers at a few keys, killed, stopped, cut and continued at random while the
// clock jumps; a checker beside them; then heal, drain, and the last check.
#include "proof/torture/mixing.hpp"
#include "proof/torture/runs/trials.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include <unistd.h>

namespace torture {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr int keys_in_a_mix = 3;
constexpr milliseconds mix_lease = 2s;

/// One process after the other in one place.
class seat {
 public:
  seat(std::vector<std::string> words, std::string tally_file)
      : words_(std::move(words)), tally_file_(std::move(tally_file)) {}

  void fill(std::minstd_rand& dice) {
    auto all = words_;
    all.insert(all.end(), {"--loop", std::to_string(up_to(dice, 1'000'000)),
                           std::to_string(keys_in_a_mix), tally_file_});
    environment armed;
    if (up_to(dice, 2) > 0) {
      auto const names = run_failpoints();
      std::array<char const*, 3> const actions{"kill", "stop", "cut"};
      auto const at = static_cast<std::size_t>(up_to(dice, static_cast<int>(names.size()) - 1));
      armed = {{"DAYBOOK_FAILPOINT", std::string(names[at]) + "=" +
                                         actions[static_cast<std::size_t>(up_to(dice, 2))] + ":" +
                                         std::to_string(up_to(dice, 6))}};
    }
    who_ = std::make_unique<child>(all, armed);
  }

  [[nodiscard]] child& who() { return *who_; }

 private:
  std::vector<std::string> words_;
  std::string tally_file_;
  std::unique_ptr<child> who_;
};

}  // namespace

void lane::jump_past_the_lease(bool patient) {
  for (int tries = 0;; ++tries) {
    try {
      return daybook::testing::manual_clock(book_).advance(mix_lease + 1s);
    } catch (std::exception const& e) {
      if (!patient || tries == 100) {
        return report_->failure(std::string("the clock could not be moved: ") + e.what());
      }
      // A pooler refuses everybody for a second when it has missed its server.
      std::this_thread::sleep_for(50ms);
    }
  }
}

void lane::mix(int workers, int faults, std::minstd_rand& dice, server_faults* to) {
  auto const tally_file =
      (std::filesystem::temp_directory_path() / ("torture_" + std::to_string(::getpid()))).string();
  std::filesystem::remove(tally_file);
  auto const group = "mix" + std::to_string(++number_) + ".";
  trial of;
  of.key = of.name = group;
  std::vector<seat> seats;
  for (int at = 0; at < workers; ++at) {
    seats.emplace_back(words(of, {"--lease", std::to_string(mix_lease.count())}), tally_file);
    seats.back().fill(dice);
  }
  auto const jump = [&] {
    jump_past_the_lease(to != nullptr);
    act_as_a_person(group, keys_in_a_mix);
  };
  auto const each = [&](auto const& body) {
    for (auto& one : seats) body(one.who());
  };
  auto next_check = std::chrono::steady_clock::now();
  for (int at = 0; at < faults; ++at) {
    std::this_thread::sleep_for(milliseconds(10 + up_to(dice, 60)));
    for (auto& one : seats) {
      // Stopped by its own failpoint, or ended.
      auto const now = one.who().wait(0ms);
      if (now.what == child::state::stopped) stop_past_the_lease(one.who(), dice, each, jump);
      if (now.what != child::state::exited && now.what != child::state::killed) continue;
      if (now.what == child::state::killed && now.code != SIGKILL) {
        fail(of, "a worker " + now.text(), one.who());
      }
      one.fill(dice);
    }
    if (to != nullptr && at % 2 == 0) {
      report_->trial(to->one(dice, jump));
      continue;
    }
    auto& victim = seats[static_cast<std::size_t>(up_to(dice, workers - 1))];
    switch (up_to(dice, 3)) {
      case 0: victim.fill(dice); break;  // the one there is killed
      case 1: jump_among(each, jump); break;
      default: stop_past_the_lease(victim.who(), dice, each, jump); break;
    }
    report_->trial("mix");
    if (auto const now = std::chrono::steady_clock::now(); now >= next_check) {
      of.name = group + " fault " + std::to_string(at);
      look_at_all(of, group + "%", moment::amid, {});
      // At most a fifth of the time, however much there is to check.
      auto const end = std::chrono::steady_clock::now();
      next_check = end + std::max<std::chrono::nanoseconds>(500ms, (end - now) * 4);
    }
  }
  end_all(each, [&](child& one) { fail(of, "a worker does not end", one); });
  seats.clear();
  count_tally(tally_file);
  drain(group, keys_in_a_mix, to == nullptr ? "mix" : "server");
}

/// The one person among them: of two, the slower could settle what was begun since it looked.
/// Settles what is unknown, and now and then takes a run from whoever has it.
void lane::act_as_a_person(std::string const& group, int how_many) {
  daybook::process const process{process_name};
  auto const piece = [&](int number) { return daybook::key(group + std::to_string(number)); };
  try {
    for (int at = 0; at < how_many; ++at) static_cast<void>(decide(book_, piece(at), world_));
    if (++acts_ % 4 != 0) return;
    auto const took = book_.release(process, piece(acts_ / 4 % how_many),
                                    {.actor = "torture", .reason = "at random"});
    if (took == daybook::change_outcome::changed) report_->trial("release");
  } catch (daybook::error const&) {
    return;  // the server is away; the next time will do
  }
}

void lane::drain(std::string const& group, int how_many, std::string const& fault) {
  for (int at = 0; at < how_many; ++at) {
    trial of;
    of.key = group + std::to_string(at);
    of.name = of.key;
    settle(of, {"--again"});
  }
  trial all;
  all.name = group;
  look_at_all(all, group + "%", moment::at_the_end, fault);
}

void lane::count_tally(std::string const& file) {
  std::ifstream in(file);
  std::string const all{std::istreambuf_iterator<char>(in), {}};
  auto const count = [&](tally what) {
    return std::count(all.begin(), all.end(), static_cast<char>(what));
  };
  report_->zombies(count(tally::lost));
  report_->note("mix: runs finished " + std::to_string(count(tally::finished)) + ", busy " +
                std::to_string(count(tally::busy)) + ", lost " +
                std::to_string(count(tally::lost)) + ", given back " +
                std::to_string(count(tally::given_back)) + ", unknown " +
                std::to_string(count(tally::unknown)) + ", asked outside " +
                std::to_string(world_.questions()) + ", calls that gave up " +
                std::to_string(count(tally::error)));
  std::filesystem::remove(file);
}

}  // namespace torture
