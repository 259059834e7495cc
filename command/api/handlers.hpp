// The functions of the table of routes, one for each row and by its name.
// Thread safety: any thread.
#pragma once

#include "api/call.hpp"

namespace command::api {

// sessions.cpp
reply get_session(call& asked);
reply log_in(call& asked);
reply log_out(call& asked);
reply get_tokens(call& asked);
reply get_sessions(call& asked);
reply revoke_token(call& asked);
// of_book.cpp
reply get_pulse(call& asked);
reply get_status(call& asked);
reply get_problems(call& asked);
reply get_processes(call& asked);
reply get_doctor(call& asked);
reply get_changes(call& asked);
// openapi.cpp
reply get_openapi(call& asked);
// of_runs.cpp
reply get_runs(call& asked);
reply get_run(call& asked);
reply release_run(call& asked);
reply restart_run(call& asked);
reply resolve_run(call& asked);
// of_schedules.cpp
reply get_schedules(call& asked);
reply get_schedule(call& asked);
reply get_ticks(call& asked);
reply get_next(call& asked);
reply get_density(call& asked);
reply trigger_schedule(call& asked);
reply pause_schedule(call& asked);
reply resume_schedule(call& asked);
reply retry_tick(call& asked);
// of_queues.cpp
reply get_queues(call& asked);
reply get_queue(call& asked);
reply get_tasks(call& asked);
reply get_task(call& asked);
reply pause_queue(call& asked);
reply resume_queue(call& asked);
reply add_task(call& asked);
reply act_on_tasks(call& asked);
reply run_task_now(call& asked);
reply retry_task(call& asked);
reply discard_task(call& asked);
reply resolve_task(call& asked);
// of_plans.cpp
reply get_plans(call& asked);
reply get_plan(call& asked);
reply get_refused(call& asked);
reply get_grid(call& asked);
reply get_sweeps(call& asked);
reply get_planned_key(call& asked);
reply run_plan(call& asked);
reply pause_plan(call& asked);
reply resume_plan(call& asked);
reply sweep_plan(call& asked);
reply reopen_period(call& asked);
// of_aggregations.cpp
reply get_aggregations(call& asked);
reply get_aggregation(call& asked);
reply get_parents(call& asked);
reply get_rows(call& asked);
reply get_history(call& asked);
reply verify_aggregation(call& asked);
reply close_parent(call& asked);
reply settle_parent(call& asked);
reply revert_parent(call& asked);

}  // namespace command::api
