#include "daemon/declarations.hpp"

#include <nlohmann/json.hpp>

#include <exception>
#include <utility>

namespace command {

declarations::declarations(daybook::book& book, journal& log, std::chrono::milliseconds between)
    : book_(book), log_(log), between_(between) {}

void declarations::settle(settings const& file) {
  state names;
  for (auto const& one : file.queues) names.queues.try_emplace(one.name);
  for (auto const& one : file.schedules) names.schedules.try_emplace(one.name);
  auto found = read(names);
  std::lock_guard const alone(guard_);
  declared_ = std::move(found);
  if (thread_.joinable()) return;
  thread_ = std::jthread([this](std::stop_token const& stop) { work(stop); });
}

declarations::state declarations::read(state const& names) const {
  state out;
  for (auto const& [name, unused] : names.queues) {
    if (auto const found = book_.queue(name)) out.queues.emplace(name, found->options());
  }
  if (names.schedules.empty()) return out;
  for (auto const& one : book_.schedules()) {
    if (names.schedules.contains(one.name)) {
      out.schedules.emplace(one.name, schedule{one.cron, one.options});
    }
  }
  return out;
}

void declarations::work(std::stop_token const& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock alone(guard_);
      wake_.wait_for(alone, stop, between_, [] { return false; });
    }
    if (stop.stop_requested()) return;
    try {
      look();
    } catch (std::exception const&) {
      continue;  // a database that is away is told by those that work with it
    }
  }
}

void declarations::look() {
  state before;
  {
    std::lock_guard const alone(guard_);
    before = declared_;
  }
  auto const now = read(before);
  std::lock_guard const alone(guard_);
  for (auto const& [name, options] : now.queues) {
    // The file may have been read again meanwhile.
    auto const declared = declared_.queues.find(name);
    bool const same = declared == declared_.queues.end() || declared->second == options ||
                      before.queues.at(name) != declared->second;
    if (!same) tell("queue", name);
  }
  for (auto const& [name, one] : now.schedules) {
    auto const declared = declared_.schedules.find(name);
    bool const same = declared == declared_.schedules.end() || declared->second == one ||
                      before.schedules.at(name) != declared->second;
    if (!same) tell("schedule", name);
  }
}

void declarations::tell(std::string const& kind, std::string const& name) {
  constexpr int looks = 10;
  auto const now = clock::now();
  auto const [last, first] = told_.try_emplace(kind + " " + name, now);
  if (!first && now - last->second < between_ * looks) return;
  last->second = now;
  log_.warning("declared_otherwise",
               {{kind, name},
                {"text",
                 "the book has it otherwise than this file: another daemon's file, a program or a "
                 "person declared it last, and that holds: give all the same declaration"}});
}

}  // namespace command
