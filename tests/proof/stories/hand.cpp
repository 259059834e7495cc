// A process at work on an aggregation, until SIGTERM; now and then it arms a failpoint for itself.
//   story_hand URL WHAT ROLE SEED CHUNK TALLY
// WHAT: pay, teller, branch. ROLE: aggregate, revert, settle. TALLY: a file, one letter appended
// for each thing done (crew.hpp). Exit code 1: something that no fault of ours explains.
#include "base/failpoint.hpp"
#include "proof/stories/pay.hpp"
#include "proof/stories/pgbench.hpp"

#include <daybook/book.hpp>
#include <daybook/error.hpp>
#include <daybook/testing.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

using daybook::settling;
using daybook::testing::failpoint_action;

std::atomic<bool> asked_to_end = false;

struct settings {
  std::string url;
  std::string what;
  std::string role;
  unsigned seed = 0;
  int chunk = 0;
  std::string tally;
};

int open_for_letters(std::string const& name) {
  int const file = ::open(name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) throw std::runtime_error(name + ": cannot be opened");
  return file;
}

daybook::aggregation_options options_of(settings const& how) {
  return how.what == "pay" ? bricks::declared(how.chunk) : pgbench::per(how.what, how.chunk);
}

class hand {
 public:
  explicit hand(settings const& how)
      : role_(how.role),
        tally_(open_for_letters(how.tally)),
        dice_(how.seed),
        book_(how.url, {.connections = 2}),
        gathers_(book_.make_aggregation(how.what, options_of(how))) {}

  void work() {
    while (!asked_to_end) {
      arm();
      try {
        something();
      } catch (daybook::error const& e) {
        bool const of_ours = std::string_view(e.what()).find("failpoint ") != std::string::npos;
        if (!of_ours && !e.retryable() && !e.breaks_connection() && !e.in_doubt()) throw;
        tell('E');
      }
      if (armed_ && !daybook::base::failpoint_armed) tell('X');
      std::this_thread::sleep_for(std::chrono::milliseconds(up_to(20)));
    }
  }

 private:
  int up_to(int most) { return std::uniform_int_distribution<int>(0, most)(dice_); }
  template <class Items>
  auto const& one_of(Items const& all) {
    return all[static_cast<std::size_t>(up_to(static_cast<int>(all.size()) - 1))];
  }
  void tell(char letter) {
    if (::write(tally_, &letter, 1) != 1) std::abort();
  }

  /// One verb of three has a failpoint of its room before it; whether it comes there is chance.
  void arm() {
    daybook::testing::disarm();
    armed_ = up_to(2) == 0;
    if (!armed_) return;
    static auto const names =
        daybook::testing::failpoints(daybook::testing::failpoint_room::aggregations);
    static std::vector<failpoint_action> const actions{
        failpoint_action::cut, failpoint_action::cut, failpoint_action::fail,
        failpoint_action::kill, failpoint_action::stop};
    daybook::testing::arm(one_of(names), one_of(actions), static_cast<unsigned>(up_to(4)));
  }

  void something() {
    if (role_ == "aggregate") return aggregate();
    if (role_ == "revert") return revert();
    if (role_ == "settle") return settle();
    throw std::runtime_error("no role is named " + role_);
  }

  void aggregate() {
    std::stop_source stop;
    auto const chunk = [&](daybook::aggregate_report const&) {
      tell('A');
      if (asked_to_end) stop.request_stop();
    };
    auto const took = gathers_.aggregate({.new_parent = up_to(19) == 0,
                                          .actor = "aggregator",
                                          .stop = stop.get_token(),
                                          .on_progress = chunk});
    if (!took.refused.empty()) throw std::runtime_error("refused: " + took.refused[0].why);
  }

  std::vector<daybook::parent_info> parents(std::int64_t state) {
    return gathers_.parents({.state = daybook::state_value(state), .limit = 200});
  }

  void revert() {
    auto const some = parents(up_to(1) == 0 ? bricks::state_new : bricks::state_taken);
    if (some.empty()) return tell('r');
    told(gathers_.revert(one_of(some).key, {.actor = "reverter", .reason = "at random"}), 'R');
    std::this_thread::sleep_for(std::chrono::milliseconds(up_to(80)));
  }

  void settle() {
    std::this_thread::sleep_for(std::chrono::milliseconds(up_to(300)));
    auto open = parents(bricks::state_new);
    std::shuffle(open.begin(), open.end(), dice_);
    open.resize(open.size() / 8);
    for (auto const& one : open) told(gathers_.close(one.key, by_), 'C');
    for (auto const& one : parents(bricks::state_taken)) told(gathers_.settle(one.key, by_), 'S');
  }

  void told(settling what, char done) {
    if (what == settling::differs) throw std::runtime_error("a parent differs from its rows");
    tell(what == settling::done ? done : static_cast<char>(done - 'A' + 'a'));
  }

  std::string role_;
  int tally_;
  std::minstd_rand dice_;
  daybook::book book_;
  daybook::aggregation gathers_;
  daybook::audit_note by_{.actor = "settler", .reason = "its end"};
  bool armed_ = false;
};

}  // namespace

int main(int count, char** words) try {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGTERM, [](int) { asked_to_end = true; });
  if (count != 7) throw std::runtime_error("see the head of hand.cpp");
  hand({words[1], words[2], words[3], static_cast<unsigned>(std::stoul(words[4])),
        std::stoi(words[5]), words[6]})
      .work();
  return 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
