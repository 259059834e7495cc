// A worker at aggregations, one process of the torture.
//   torture_aggregate_worker URL [switches]
//     --lease MS     of its holder (10000)
//     --script       every verb of an aggregation, several times
//     --drain        gathers what is free, closes what is open, settles what is closed
//     --gather       gathers what is free
//     --declare NAME only that, as another aggregation
//     --beside       others are at work, too: what was done before is no surprise
//     --plain        without the column that follows from the sum; some rows are refused
// Exit codes: as those of torture_worker.
#include "base/failpoint.hpp"
#include "proof/stories/pay.hpp"
#include "proof/torture/job.hpp"

#include <daybook/book.hpp>
#include <daybook/error.hpp>
#include <daybook/testing.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/prctl.h>

namespace {

using daybook::settling;
using torture::ending;

constexpr int chunk = 20;

struct settings {
  std::string url;
  std::chrono::milliseconds lease{10'000};
  bool script = false;
  bool drain = false;
  bool gather = false;
  std::string name = "pay";
  bool beside = false;
  bool plain = false;
};

settings parse(std::vector<std::string> const& words) {
  settings out;
  out.url = words.at(0);
  for (std::size_t at = 1; at < words.size(); ++at) {
    auto const& word = words[at];
    if (word == "--lease") out.lease = std::chrono::milliseconds(std::stoi(words.at(++at)));
    if (word == "--script") out.script = true;
    if (word == "--drain") out.drain = true;
    if (word == "--gather") out.gather = true;
    if (word == "--declare") out.name = words.at(++at);
    if (word == "--beside") out.beside = true;
    if (word == "--plain") out.plain = true;
  }
  return out;
}

daybook::aggregation_options options_of(settings const& how) {
  auto out = bricks::declared(chunk);
  if (how.plain) out.parent.following.clear();
  return out;
}

class worker {
 public:
  explicit worker(settings const& how)
      : alone_(!how.beside && !how.plain),
        book_(how.url, {.lease = how.lease, .renew_in_background = false, .movable_clock = true}),
        pay_(book_.make_aggregation(how.name, options_of(how))) {}

  void script() {
    gather(false);
    for (auto const& one : some(bricks::state_new, 2)) {
      auto const rows = pay_.rows(one, {}, 2);
      for (auto const& row : rows) expect(pay_.remove(row.key, by_), "remove");
    }
    gather(false);
    for (auto const& one : some(bricks::state_new, 4)) expect(pay_.close(one, by_), "close");
    for (auto const& one : some(bricks::state_taken, 2)) expect(pay_.revert(one, by_), "revert");
    for (auto const& one : some(bricks::state_new, 2)) expect(pay_.revert(one, by_), "revert");
    settle(3);
    gather(true);
    drain();
  }

  void drain() {
    gather(false);
    pay_.close_all(by_);
    settle(1000);
  }

  /// Alone, what it says to have taken is what was there.
  void gather(bool fresh) {
    std::int64_t there = 0;
    for (auto const& one : pay_.preview()) there += one.refused.empty() ? one.rows : 0;
    auto took = pay_.aggregate({.new_parent = fresh, .actor = by_.actor}).rows;
    if (alone_ && took != there) {
      throw std::logic_error("took " + std::to_string(took) + " rows of " + std::to_string(there));
    }
  }

 private:
  std::vector<std::string> some(std::int64_t state, int how_many) {
    std::vector<std::string> out;
    for (auto const& one :
         pay_.parents({.state = daybook::state_value(state), .limit = how_many})) {
      out.push_back(one.key);
    }
    return out;
  }

  void settle(int how_many) {
    for (auto const& one : some(bricks::state_taken, how_many)) {
      expect(pay_.settle(one, by_), "settle");
    }
  }

  /// A lost reply is not the caller's business: alone, what is done was done by this call.
  void expect(settling how, char const* verb) {
    if (how == settling::done) return;
    if (alone_ || how == settling::differs) {
      throw std::logic_error(std::string(verb) + ": " + std::string(word_of(how)));
    }
  }

  bool alone_;
  daybook::book book_;
  daybook::aggregation pay_;
  daybook::audit_note by_{.actor = "torture", .reason = "a script"};
};

ending work(settings const& how) {
  daybook::testing::arm_from_environment();
  worker one(how);
  if (how.script) one.script();
  if (how.gather) one.gather(false);
  if (how.drain) one.drain();
  return daybook::base::failpoint_armed ? ending::not_reached : ending::finished;
}

}  // namespace

int main(int count, char** arguments) try {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (count < 2) {
    std::fputs("torture_aggregate_worker: see the head of aggregate_worker.cpp\n", stderr);
    return static_cast<int>(ending::usage);
  }
  return static_cast<int>(work(parse({arguments + 1, arguments + count})));
} catch (std::exception const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return static_cast<int>(daybook::base::failpoint_armed ? ending::not_reached : ending::error);
}
