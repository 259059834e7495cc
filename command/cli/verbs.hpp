// The sub-commands. Each takes what stands after its words, and returns the exit code; what goes
// wrong is thrown: `complaint`, daybook::error, or `help_shown` after --help.
// Thread safety: the main thread.
#pragma once

#include <string>
#include <vector>

namespace command {

using arguments = std::vector<std::string>;

int run(arguments const& given);
int step(arguments const& given);
int progress(arguments const& given);
int carry(arguments const& given);
int migrate_up(arguments const& given);
int migrate_status(arguments const& given);
int migrate_sql(arguments const& given);
int runs_list(arguments const& given);
int runs_show(arguments const& given);
int runs_release(arguments const& given);
int runs_restart(arguments const& given);
int runs_resolve(arguments const& given);
int runs_prune(arguments const& given);
int schedules_list(arguments const& given);
int schedules_show(arguments const& given);
int schedules_next(arguments const& given);
int schedules_ticks(arguments const& given);
int schedules_trigger(arguments const& given);
int schedules_retry(arguments const& given);
int schedules_pause(arguments const& given);
int schedules_resume(arguments const& given);
int schedules_remove(arguments const& given);
int queues_list(arguments const& given);
int queues_show(arguments const& given);
int queues_stats(arguments const& given);
int queues_make(arguments const& given);
int queues_add(arguments const& given);
int queues_import(arguments const& given);
int queues_remove(arguments const& given);
int queues_pause(arguments const& given);
int queues_resume(arguments const& given);
int queues_watch(arguments const& given);
int queues_unwatch(arguments const& given);
int queues_reconcile(arguments const& given);
int tasks_list(arguments const& given);
int tasks_show(arguments const& given);
int tasks_run_now(arguments const& given);
int tasks_priority(arguments const& given);
int tasks_retry(arguments const& given);
int tasks_discard(arguments const& given);
int tasks_resolve(arguments const& given);
int metrics(arguments const& given);
int tokens_list(arguments const& given);
int tokens_add(arguments const& given);
int tokens_link(arguments const& given);
int tokens_revoke(arguments const& given);
int serve_console(arguments const& given);
int hooks_list(arguments const& given);
int hooks_test(arguments const& given);
int aggregates_list(arguments const& given);
int aggregates_show(arguments const& given);
int aggregates_run(arguments const& given);
int aggregates_close(arguments const& given);
int aggregates_settle(arguments const& given);
int aggregates_revert(arguments const& given);
int aggregates_remove(arguments const& given);
int aggregates_parents(arguments const& given);
int aggregates_rows(arguments const& given);
int aggregates_parent(arguments const& given);
int aggregates_verify(arguments const& given);
int aggregates_history(arguments const& given);
int plans_list(arguments const& given);
int plans_show(arguments const& given);
int plans_run(arguments const& given);
int plans_preview(arguments const& given);
int plans_refused(arguments const& given);
int plans_find(arguments const& given);
int plans_forget(arguments const& given);
int plans_grid(arguments const& given);
int plans_reopen(arguments const& given);
int plans_sweeps(arguments const& given);
int plans_sweep(arguments const& given);
int plans_page(arguments const& given);
int plans_pause(arguments const& given);
int plans_resume(arguments const& given);
int intakes_list(arguments const& given);
int intakes_show(arguments const& given);
int intakes_refused(arguments const& given);
int intakes_retry(arguments const& given);
int intakes_discard(arguments const& given);
int intakes_move(arguments const& given);
int intakes_pause(arguments const& given);
int intakes_resume(arguments const& given);
int daemon(arguments const& given);
int status(arguments const& given);
int holders(arguments const& given);
int doctor(arguments const& given);
int version(arguments const& given);

}  // namespace command
