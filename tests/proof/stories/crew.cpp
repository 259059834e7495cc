#include "proof/stories/crew.hpp"

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

namespace story {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using torture::child;

constexpr auto patience = 60s;

/// What a letter of the tally means; the small one of a verb: there was nothing to do.
constexpr std::array<std::pair<char, char const*>, 6> meanings{
    std::pair{'A', "chunks"},
    std::pair{'C', "closed"},
    std::pair{'S', "settled"},
    std::pair{'R', "reverted"},
    std::pair{'X', "cut or failed at a failpoint"},
    std::pair{'E', "calls that gave up"}};

}  // namespace

std::vector<post> everybody(std::string const& what) {
  std::vector<post> out(8, post{what, "aggregate"});
  out.insert(out.end(), 2, post{what, "revert"});
  out.push_back({what, "settle"});
  return out;
}

crew::crew(std::vector<post> posts, crew_settings how) : how_(std::move(how)), dice_(how_.seed) {
  for (auto& one : posts) places_.push_back({std::move(one), nullptr, std::nullopt});
  for (auto& one : places_) start(one);
}

void crew::start(place& at) {
  at.wakes.reset();
  at.who = std::make_unique<child>(
      std::vector<std::string>{how_.hand, how_.url, at.is.what, at.is.role, std::to_string(dice_()),
                               std::to_string(how_.chunk), how_.tally});
}

void crew::stop(place& at) {
  at.wakes = clock::now() + milliseconds(up_to(static_cast<int>(how_.longest_stop.count())));
}

void crew::tend(place& at) {
  if (at.wakes && clock::now() >= *at.wakes) {
    at.wakes.reset();
    at.who->go_on();
  }
  auto const now = at.who->wait(0ms);
  if (now.what == child::state::stopped && !at.wakes) {
    ++kinds_["stopped at a failpoint"];
    stop(at);
  }
  if (now.what == child::state::killed && now.code == SIGKILL) {
    ++kinds_["killed at a failpoint"];
    start(at);
  } else if (now.what == child::state::killed || now.what == child::state::exited) {
    failures_.push_back(at.is.role + " " + now.text() + ": " + at.who->words());
    start(at);
  }
}

void crew::strike() {
  std::this_thread::sleep_for(milliseconds(50 + up_to(300)));
  for (auto& one : places_) tend(one);
  auto& victim = places_[static_cast<std::size_t>(up_to(static_cast<int>(places_.size()) - 1))];
  if (up_to(1) == 0) {
    ++kinds_["killed"];
    start(victim);  // the one there is killed
  } else if (!victim.wakes) {
    ++kinds_["stopped"];
    victim.who->send(SIGSTOP);
    stop(victim);
  }
}

void crew::end() {
  for (auto& one : places_) one.who->send(SIGTERM);
  for (auto& one : places_) {
    child::change last;
    do {
      for (auto& other : places_) other.who->go_on();
      last = one.who->wait(patience);
    } while (last.what == child::state::stopped);
    // Its own failpoint may have been the end of it, or it had hardly begun.
    bool const well = last.what == child::state::killed
                          ? last.code == SIGKILL || last.code == SIGTERM
                          : last.what == child::state::exited && last.code == 0;
    if (!well) failures_.push_back(one.is.role + " " + last.text() + ": " + one.who->words());
  }
  places_.clear();
}

std::map<char, long> crew::letters() const {
  std::ifstream in(how_.tally);
  std::map<char, long> out;
  for (char one = 0; in.get(one);) ++out[one];
  return out;
}

long crew::faults() const {
  long out = 0;
  for (auto const& [kind, times] : kinds_) out += times;
  auto const found = letters();
  return found.contains('X') ? out + found.at('X') : out;
}

std::string crew::text() const {
  std::string out;
  for (auto const& [kind, times] : kinds_) {
    out += (out.empty() ? "" : ", ") + kind + " " + std::to_string(times);
  }
  auto found = letters();
  for (auto const& [letter, means] : meanings) {
    out += ", " + std::string(means) + " " + std::to_string(found[letter]);
  }
  return out;
}

}  // namespace story
