// Queues and their tasks, and what people ask for.
#include "api/handlers.hpp"
#include "cli/format.hpp"
#include "cli/numbers.hpp"
#include "cli/queue_words.hpp"
#include "wire/queues.hpp"

#include <daybook/queue.hpp>
#include <daybook/table_sync.hpp>

#include <string>
#include <utility>

namespace command::api {

namespace {

using json = nlohmann::ordered_json;
using daybook::task_request;
using daybook::task_state;

constexpr int most_tasks_looked_at = 10'000;

daybook::queue queue_in(call const& asked) {
  auto found = asked.book().queue(asked.name("queue"));
  if (found) return std::move(*found);
  missing("The book has no queue " + asked.name("queue") + ".");
}

/// Members are rows of their own, and to count them is to read them: the tasks are counted instead,
/// which are as many.
json counts_of(daybook::queue const& queue) {
  auto counts = queue.counts(daybook::counting::tasks);
  counts.members = counts.waiting + counts.running + counts.succeeded + counts.failed +
                   counts.dead + counts.unknown + counts.quarantined + counts.discarded;
  return command::json_of(counts);
}

json json_for(call const& asked, daybook::task_info const& task) {
  auto out = command::json_of(task);
  if (!asked.sees_payloads()) out.erase("payload");
  return out;
}

reply waits_for_worker(std::string const& text) {
  return {.body = {{"text", text}, {"waits_for", "a worker"}}, .status = 202};
}

bool waits_for_person(daybook::task_info const& task) {
  return task.state == task_state::dead || task.state == task_state::unknown ||
         task.state == task_state::discarded;
}

reply ask(call& asked, task_request what, std::string const& text) {
  auto queue = queue_in(asked);
  daybook::key const key(asked.name("key"));
  auto const found = queue.find(key);
  if (!found) missing("The queue has no task " + key.str() + ".");
  bool const resolves = what == task_request::was_done || what == task_request::was_not_done;
  auto const state = std::string(daybook::word_of(found->state));
  if (resolves && found->state != task_state::unknown) {
    not_in_that_state("Its outcome is not unknown: it is " + state + ".");
  }
  if (what == task_request::run_now && waits_for_person(*found) && !found->due) {
    not_in_that_state("It is " + state + " and waits for a person: retry it.");
  }
  if (!queue.ask(key, what, asked.note())) missing("The queue has no task " + key.str() + ".");
  return waits_for_worker(text);
}

std::int64_t count_of(daybook::queue_counts const& of, task_state state) {
  switch (state) {
    case task_state::waiting: return of.waiting;
    case task_state::running: return of.running;
    case task_state::succeeded: return of.succeeded;
    case task_state::failed: return of.failed;
    case task_state::dead: return of.dead;
    case task_state::unknown: return of.unknown;
    case task_state::quarantined: return of.quarantined;
    case task_state::discarded: break;
  }
  return of.discarded;
}

}  // namespace

reply get_queues(call& asked) {
  auto items = json::array();
  for (auto const& name : asked.book().queues()) {
    auto const queue = asked.book().queue(name);
    if (!queue) continue;
    auto one = command::json_of(queue->info());
    one["counts"] = counts_of(*queue);
    items.push_back(std::move(one));
  }
  return list_of(std::move(items));
}

reply get_queue(call& asked) {
  auto const queue = queue_in(asked);
  auto out = command::json_of(queue.info());
  out["counts"] = counts_of(queue);
  auto const watch = queue.followed();
  out["follows"] = watch ? command::json_of(watch->info()) : json(nullptr);
  out["changes"] = command::json_of(queue.changes());
  return {.body = std::move(out)};
}

reply get_tasks(call& asked) {
  daybook::tasks_query query;
  auto const state = asked.text("state");
  if (!state.empty()) query.state = *value_in(task_state_words, state);
  if (auto const after = asked.after(); !after.empty())
    query.after = whole_number(after).value_or(0);
  auto const prefix = asked.text("prefix");
  auto const limit = asked.number("limit", 100);
  query.limit = prefix.empty() ? limit : most_tasks_looked_at;
  auto const found = queue_in(asked).tasks(query);
  auto items = json::array();
  std::int64_t last = 0;
  for (auto const& one : found) {
    if (std::cmp_equal(items.size(), limit)) break;
    last = one.id;
    if (one.key.starts_with(prefix)) items.push_back(json_for(asked, one));
  }
  bool const more =
      std::cmp_equal(found.size(), query.limit) || (!found.empty() && last != found.back().id);
  return list_of(std::move(items), next_after(more, std::to_string(last)));
}

reply get_task(call& asked) {
  auto const queue = queue_in(asked);
  daybook::key const key(asked.name("key"));
  auto const found = queue.find(key);
  if (!found) missing("The queue has no task " + key.str() + ".");
  auto out = json_for(asked, *found);
  out["outcomes"] = command::json_of(queue.outcomes(key, 100));
  out["changes"] = command::json_of(queue.changes(key));
  return {.body = std::move(out)};
}

reply pause_queue(call& asked) {
  return told(queue_in(asked).pause(asked.note()) ? "It is paused." : "It was paused before.");
}

reply resume_queue(call& asked) {
  return told(queue_in(asked).resume(asked.note()) ? "It is resumed." : "It was not paused.");
}

reply add_task(call& asked) {
  auto queue = queue_in(asked);
  daybook::task_options options;
  if (asked.body.contains("payload")) options.payload = asked.field("payload");
  if (auto const priority = asked.field("priority"); !priority.empty()) {
    options.priority = std::stoi(priority);
  }
  auto const key = asked.field("key");
  if (key.empty()) throw refusal(400, "bad-argument", "Say the key of the task.");
  bool const added = queue.add(daybook::key(key), options);
  return {.body = {{"added", added}}, .status = added ? 201 : 200};
}

reply act_on_tasks(call& asked) {
  auto queue = queue_in(asked);
  auto const state = value_in(task_state_words, asked.field("state"));
  auto const most = whole_number(asked.field("most"));
  auto const act = asked.field("act");
  if (!state || !most || act.empty()) {
    throw refusal(400, "bad-argument", "Say the act, the state and how many at most.");
  }
  auto const count = count_of(queue.counts(daybook::counting::tasks), *state);
  if (count > *most) {
    throw refusal(412, "changed-since",
                  "There are " + std::to_string(count) + " by now, more than the " +
                      std::to_string(*most) + " that you were shown. Look again.");
  }
  auto const number =
      queue.ask(*state, act == "retry" ? task_request::retry : task_request::discard, asked.note());
  return waits_for_worker("Asked of " + std::to_string(number) + " tasks.");
}

reply run_task_now(call& asked) {
  return ask(asked, task_request::run_now, "The task is due now.");
}

reply retry_task(call& asked) { return ask(asked, task_request::retry, "The task is due now."); }

reply discard_task(call& asked) {
  return ask(asked, task_request::discard, "The task is given up.");
}

reply resolve_task(call& asked) {
  auto const outcome = asked.field("outcome");
  if (outcome.empty()) throw refusal(400, "bad-argument", "Say the outcome: done or not-done.");
  return outcome == "done" ? ask(asked, task_request::was_done, "It counts as done.")
                           : ask(asked, task_request::was_not_done, "It is tried again.");
}

}  // namespace command::api
