// The table. README.md of console/ says what the page asks for; docs/reference/http.md is for
// people.
#include "api/handlers.hpp"
#include "api/route.hpp"

#include <utility>

namespace command {

namespace {

using kind = parameter::kind;

constexpr std::string_view task_states =
    "waiting|running|succeeded|failed|dead|unknown|suspect|discarded";
constexpr std::string_view standings =
    "in-hand|abandoned|overdue|ready|running|succeeded|failed|interrupted|deadline-passed|unknown|"
    "discarded";

parameter const limit{.name = "limit", .is = kind::number, .least = 1, .most = 1000};
parameter const after{.name = "after", .most = 600};
parameter const since{.name = "since", .is = kind::since, .most = 40};
parameter const outcome{.name = "outcome", .is = kind::word, .words = "done|not-done"};
parameter const epoch{
    .name = "epoch", .is = kind::number, .least = 0, .most = 999'999'999'999'999'999};
parameter const parent{.name = "parent", .least = 1};

parameter text(std::string_view name) { return {.name = name}; }

using enum permission;
constexpr std::string_view get = "GET";
constexpr std::string_view post = "POST";
constexpr auto asked = reasons::asked;
constexpr auto needed = reasons::needed;

std::vector<route> book_routes() {
  return {
      {get, "session", any, api::get_session},
      {post, "session", open, api::log_in, {}, {text("code"), text("token")}},
      {"DELETE", "session", any, api::log_out},
      {get, "pulse", read, api::get_pulse},
      {get, "status", read, api::get_status},
      {get, "openapi.json", any, api::get_openapi},
      {get, "problems", read, api::get_problems},
      {get, "processes", read, api::get_processes},
      {get, "doctor", read, api::get_doctor},
      {get,
       "changes",
       read,
       api::get_changes,
       {text("actor"), {.name = "subject", .most = 600}, text("action"), since, limit, after}},
      {get, "tokens", admin, api::get_tokens},
      {"DELETE", "tokens/{id}", admin, api::revoke_token, {}, {}, asked},
      {get, "sessions", admin, api::get_sessions},
      {"DELETE", "sessions/{id}", admin, api::revoke_token, {}, {}, asked},
  };
}

std::vector<route> run_routes() {
  return {
      {get,
       "runs",
       read,
       api::get_runs,
       {text("process"),
        {.name = "standing", .is = kind::word, .words = standings},
        text("prefix"),
        since,
        limit}},
      {get, "runs/{process}/{key}", read, api::get_run},
      {post, "runs/{process}/{key}/release", operate, api::release_run, {}, {epoch}, needed},
      {post, "runs/{process}/{key}/restart", operate, api::restart_run, {}, {epoch}, asked},
      {post,
       "runs/{process}/{key}/resolve",
       operate,
       api::resolve_run,
       {},
       {text("step"), outcome, epoch},
       needed},
  };
}

std::vector<route> schedule_routes() {
  return {
      {get, "schedules", read, api::get_schedules},
      {get,
       "schedules/density",
       read,
       api::get_density,
       {{.name = "days", .is = kind::number, .least = 1, .most = 14}}},
      {get, "schedules/{schedule}", read, api::get_schedule},
      {get,
       "schedules/{schedule}/ticks",
       read,
       api::get_ticks,
       {{.name = "state", .is = kind::word, .words = "due|running|done|failed|skipped"},
        limit,
        after}},
      {get,
       "schedules/{schedule}/next",
       read,
       api::get_next,
       {{.name = "count", .is = kind::number, .least = 1, .most = 1000}}},
      {post, "schedules/{schedule}/trigger", operate, api::trigger_schedule, {}, {}, asked},
      {post, "schedules/{schedule}/pause", operate, api::pause_schedule, {}, {}, asked},
      {post, "schedules/{schedule}/resume", operate, api::resume_schedule, {}, {}, asked},
      {post, "schedules/{schedule}/ticks/{tick}/retry", operate, api::retry_tick, {}, {}, asked},
  };
}

std::vector<route> queue_routes() {
  return {
      {get, "queues", read, api::get_queues},
      {get, "queues/{queue}", read, api::get_queue},
      {get,
       "queues/{queue}/tasks",
       read,
       api::get_tasks,
       {{.name = "state", .is = kind::word, .words = task_states}, text("prefix"), limit, after}},
      {get, "queues/{queue}/tasks/{key}", read, api::get_task},
      {post,
       "queues/{queue}/tasks",
       work,
       api::add_task,
       {},
       {{.name = "key", .least = 1},
        {.name = "payload", .most = 1'000'000},
        {.name = "priority", .is = kind::number, .least = 0, .most = 9}}},
      {post, "queues/{queue}/pause", operate, api::pause_queue, {}, {}, asked},
      {post, "queues/{queue}/resume", operate, api::resume_queue, {}, {}, asked},
      {post,
       "queues/{queue}/acts",
       operate,
       api::act_on_tasks,
       {},
       {{.name = "act", .is = kind::word, .words = "retry|discard"},
        {.name = "state", .is = kind::word, .words = "failed|dead|unknown|suspect|waiting"},
        {.name = "most", .is = kind::number, .least = 1, .most = 1'000'000'000'000}},
       needed},
      {post, "queues/{queue}/tasks/{key}/run-now", operate, api::run_task_now, {}, {}, asked},
      {post, "queues/{queue}/tasks/{key}/retry", operate, api::retry_task, {}, {}, asked},
      {post, "queues/{queue}/tasks/{key}/discard", operate, api::discard_task, {}, {}, needed},
      {post,
       "queues/{queue}/tasks/{key}/resolve",
       operate,
       api::resolve_task,
       {},
       {outcome},
       needed},
  };
}

std::vector<route> plan_routes() {
  return {
      {get, "plans", read, api::get_plans},
      {get, "plans/{plan}", read, api::get_plan},
      {get, "plans/{plan}/refused", read, api::get_refused, {limit, after}},
      {get, "plans/{plan}/grid", read, api::get_grid, {limit}},
      {get, "plans/{plan}/sweeps", read, api::get_sweeps, {limit}},
      {get, "plans/{plan}/keys/{key}", read, api::get_planned_key},
      {post, "plans/{plan}/run", operate, api::run_plan},
      {post, "plans/{plan}/pause", operate, api::pause_plan, {}, {}, asked},
      {post, "plans/{plan}/resume", operate, api::resume_plan, {}, {}, asked},
      {post, "plans/{plan}/sweep", operate, api::sweep_plan, {}, {}, asked},
      {post,
       "plans/{plan}/reopen",
       operate,
       api::reopen_period,
       {},
       {{.name = "period", .least = 1}},
       asked},
  };
}

std::vector<route> aggregation_routes() {
  return {
      {get, "aggregations", read, api::get_aggregations},
      {get, "aggregations/{aggregation}", read, api::get_aggregation},
      {get,
       "aggregations/{aggregation}/parents",
       read,
       api::get_parents,
       {{.name = "state", .is = kind::word, .words = "open|closed|settled|void"}, limit, after}},
      {get,
       "aggregations/{aggregation}/parents/{parent}/rows",
       read,
       api::get_rows,
       {limit, after}},
      {get,
       "aggregations/{aggregation}/history",
       read,
       api::get_history,
       {text("parent"), limit, after}},
      {post, "aggregations/{aggregation}/verify", operate, api::verify_aggregation},
      {post, "aggregations/{aggregation}/close", operate, api::close_parent, {}, {parent}, asked},
      {post, "aggregations/{aggregation}/settle", admin, api::settle_parent, {}, {parent}, asked},
      {post, "aggregations/{aggregation}/revert", admin, api::revert_parent, {}, {parent}, needed},

  };
}

std::vector<route> make_routes() {
  std::vector<route> out;
  for (auto const rows :
       {book_routes, run_routes, schedule_routes, queue_routes, plan_routes, aggregation_routes}) {
    for (auto& one : rows()) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

std::vector<route> const& routes() {
  static auto const all = make_routes();
  return all;
}

}  // namespace command
