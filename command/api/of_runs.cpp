// Runs: those in hand, the newest, one of them; and what people change.
#include "api/handlers.hpp"
#include "cli/format.hpp"
#include "cli/numbers.hpp"
#include "wire/runs.hpp"

#include <daybook/inspect.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace command::api {

namespace {

using json = nlohmann::ordered_json;

constexpr int most_looked_at = 1000;
constexpr std::size_t most_in_hand = 1000;

/// In hand, of whoever: holders name them.
std::vector<daybook::run_info> runs_in_hand(daybook::book const& book) {
  std::vector<daybook::run_info> out;
  for (auto const& holder : book.holders()) {
    for (auto const& work : holder.work) {
      if (work.kind != daybook::work_kind::run || out.size() >= most_in_hand) continue;
      auto found = book.find(daybook::process(work.name), daybook::key(work.key));
      if (found && found->info.holder) out.push_back(std::move(found->info));
    }
  }
  std::sort(out.begin(), out.end(),
            [](auto const& a, auto const& b) { return a.attempt_started > b.attempt_started; });
  return out;
}

std::vector<daybook::run_info> runs_that_stand(daybook::book const& book,
                                               std::string const& standing,
                                               std::string const& process) {
  if (standing == "in-hand" || standing == "abandoned" || standing == "overdue") {
    auto out = runs_in_hand(book);
    std::erase_if(out, [&](daybook::run_info const& one) {
      return (!process.empty() && one.process != process) ||
             (standing == "abandoned" && !one.abandoned) ||
             (standing == "overdue" && !one.deadline_over);
    });
    return out;
  }
  daybook::runs_query query{.process = process, .limit = most_looked_at};
  if (!standing.empty()) query.state = state_from(standing);
  return book.runs(query);
}

daybook::run_detail must_find(call const& asked) {
  auto found =
      asked.book().find(daybook::process(asked.name("process")), daybook::key(asked.name("key")));
  if (found) return std::move(*found);
  missing("There is no run of process " + asked.name("process") + " with the key " +
          asked.name("key") + ".");
}

/// The person has seen this epoch: a later one is another attempt.
daybook::run_info as_it_was_seen(call const& asked) {
  auto info = must_find(asked).info;
  auto const seen = asked.field("epoch");
  if (!seen.empty() && seen != std::to_string(info.epoch)) {
    throw refusal(412, "changed-since",
                  "Another attempt of the run has begun since you looked. Look at it again.");
  }
  return info;
}

[[noreturn]] void held(daybook::run_info const& info) {
  auto const who = info.holder ? info.holder->node + ", process " + std::to_string(info.holder->pid)
                               : std::string("somebody");
  throw refusal(409, "held-elsewhere",
                "It is held by " + who + ": nothing was changed. Release it first.");
}

}  // namespace

reply get_runs(call& asked) {
  auto const prefix = asked.text("prefix");
  auto const since = asked.since("since");
  auto const limit = static_cast<std::size_t>(asked.number("limit", 100));
  auto items = json::array();
  for (auto const& one :
       runs_that_stand(asked.book(), asked.text("standing"), asked.text("process"))) {
    if (items.size() == limit) break;
    if (!one.key.starts_with(prefix) || (since && one.attempt_started < *since)) continue;
    items.push_back(json_of(one));
  }
  return list_of(std::move(items));
}

reply get_run(call& asked) {
  auto const found = must_find(asked);
  auto out = json_of(found, asked.book().changes(daybook::process(asked.name("process")),
                                                 daybook::key(asked.name("key"))));
  if (!asked.sees_payloads()) {
    for (auto& one : out["attempts"]) one.erase("output");
    for (auto& one : out["steps"]) one.erase("value");
    for (auto& one : out["carried"]) one.erase("value");
  }
  return {.body = std::move(out)};
}

reply release_run(call& asked) {
  auto const info = as_it_was_seen(asked);
  bool const released = asked.book().release(daybook::process(info.process), daybook::key(info.key),
                                             asked.note()) == daybook::change_outcome::changed;
  return told(released ? "It is released: the next start resumes it."
                       : "Nobody holds it: nothing was changed.");
}

reply restart_run(call& asked) {
  auto const info = as_it_was_seen(asked);
  if (asked.book().restart(daybook::process(info.process), daybook::key(info.key), asked.note()) !=
      daybook::change_outcome::changed) {
    held(must_find(asked).info);
  }
  return told("The next start begins afresh.");
}

reply resolve_run(call& asked) {
  auto const info = as_it_was_seen(asked);
  if (asked.field("outcome").empty()) {
    throw refusal(400, "bad-argument", "Say the outcome: done or not-done.");
  }
  bool const done = asked.field("outcome") == "done";
  daybook::resolution const how{
      .step = asked.field("step"),
      .effect = done ? daybook::effect_state::done : daybook::effect_state::not_done,
      .epoch = info.epoch};
  if (asked.book().resolve(daybook::process(info.process), daybook::key(info.key), how,
                           asked.note()) != daybook::change_outcome::changed) {
    auto const now = must_find(asked).info;
    if (now.holder) held(now);
    not_in_that_state("No such step of the run is unknown.");
  }
  return told(done ? "It counts as done." : "It counts as not done.");
}

}  // namespace command::api
