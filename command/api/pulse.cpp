#include "api/pulse.hpp"

#include "wire/book.hpp"
#include "wire/plans.hpp"
#include "wire/queues.hpp"
#include "wire/runs.hpp"
#include "wire/schedules.hpp"

#include <daybook/book.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace command {

namespace {

using json = nlohmann::ordered_json;

constexpr std::chrono::seconds shortest{1};
constexpr std::chrono::seconds longest{10};
constexpr int share = 20;
constexpr std::size_t most_kept = 1000;

/// Within one process it is compared with itself only.
std::string revision_of(std::string const& text) {
  return fmt::format("{:016x}", std::hash<std::string>{}(text));
}

std::string queues_text(daybook::book const& book) {
  std::string out;
  for (auto const& name : book.queues()) {
    auto const queue = book.queue(name);
    if (!queue) continue;
    out += json_of(queue->info()).dump(-1, ' ', false, json::error_handler_t::replace);
    out += json_of(queue->counts(daybook::counting::tasks)).dump();
  }
  return out;
}

std::string plans_text(daybook::book const& book) {
  std::string out;
  for (auto const& name : book.planners()) {
    auto const plan = book.planner(name);
    if (!plan) continue;
    out += json_of(plan->info()).dump(-1, ' ', false, json::error_handler_t::replace);
  }
  return out;
}

}  // namespace

json revisions_of(daybook::book const& book) {
  auto const text = [](json const& one) {
    return one.dump(-1, ' ', false, json::error_handler_t::replace);
  };
  json runs = json::array();
  for (auto const& one : book.runs({.limit = 100})) runs.push_back(json_of(one));
  json schedules = json::array();
  for (auto const& one : book.schedules()) schedules.push_back(json_of(one));
  json processes = json::array();
  for (auto const& one : book.holders()) {
    auto of = json_of(one);
    // They move with each renewal, and nobody looks at them for that.
    of.erase("renewed");
    of.erase("until");
    processes.push_back(std::move(of));
  }
  auto const changes = book.changes(daybook::changes_query{.limit = 1});
  std::string tokens;
  for (auto const& one : book.tokens()) tokens += one.id;
  auto const newest = changes.empty() ? std::string("0") : std::to_string(changes.front().id);
  auto const queues = revision_of(queues_text(book));
  auto const all_runs = revision_of(text(runs));
  auto const all_schedules = revision_of(text(schedules));
  auto const plans = revision_of(plans_text(book));
  auto const all_processes = revision_of(text(processes));
  auto const problems = revision_of(text(json_of(book.problems())));
  return {{"runs", all_runs},
          {"queues", queues},
          {"schedules", all_schedules},
          {"plans", plans},
          {"processes", all_processes},
          {"problems", problems},
          {"changes", newest},
          {"tokens", revision_of(tokens)},
          {"sessions", revision_of(tokens)},
          {"status", revision_of(all_runs + queues + all_schedules + plans + all_processes)},
          {"doctor", "0"}};
}

json kept_answers::get(std::string const& key, ask const& question) {
  std::shared_ptr<one> entry;
  std::size_t age = 0;
  {
    std::lock_guard const locked(guard_);
    if (all_.size() > most_kept) all_.clear();
    auto& found = all_[key];
    if (!found) found = std::make_shared<one>();
    entry = found;
    age = age_;
  }
  std::lock_guard const locked(entry->guard);
  auto const began = clock::now();
  if (entry->age == age && began < entry->until) return entry->answer;
  entry->answer = question();
  auto const ended = clock::now();
  auto const length = std::clamp<clock::duration>((ended - began) * share, shortest, longest);
  entry->until = ended + length;
  entry->age = age;
  return entry->answer;
}

void kept_answers::forget() {
  std::lock_guard const locked(guard_);
  ++age_;
}

}  // namespace command
