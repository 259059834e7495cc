#include "daemon/children/task_child.hpp"

#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/input_file.hpp"
#include "daemon/children/queue_child.hpp"
#include "output/output_log.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <optional>
#include <string>
#include <utility>

namespace command {

namespace {

/// Linux gives a variable 128 KiB, and all of them together not much more.
constexpr std::size_t longest_variable = 65536;

program program_of(declared_queue const& declared, daybook::job const& job, database const& where) {
  auto const& task = job.task();
  auto const payload = task.payload.value_or("");
  std::array<std::string, task_places.size()> const known{
      declared.name, task.key, payload, std::to_string(task.attempt), instant(task.turn)};
  auto out = program_for(declared, known, where);
  auto& to = out.environment;
  to.insert(to.end(), {{"DAYBOOK_KEY", task.key},
                       {"DAYBOOK_PAYLOAD", payload.size() > longest_variable ? "" : payload},
                       {"DAYBOOK_ATTEMPT", std::to_string(task.attempt)},
                       {"DAYBOOK_TURN", instant(task.turn)},
                       {"DAYBOOK_IDEMPOTENCY_KEY", job.idempotency_key()}});
  return out;
}

/// Empty: it is handed back.
std::optional<daybook::result> run_child(declared_queue const& declared, daybook::job& job,
                                         launch_site const& site) {
  auto how = program_of(declared, job, site.where);
  std::optional<input_file> input;
  if (job.task().payload) how.input = input.emplace(*job.task().payload).file();
  output_log told(site.log, {{"queue", declared.name}, {"key", job.task().key}}, site.output_limit);
  std::string said;  // the last line of its stdout that says something
  output_tail printed;
  auto const end =
      run_command(declared, job, std::move(how), site, told, [&](printed_line const& one) {
        told.take(one);
        printed.add(one.text.data(), one.text.size());
        printed.add("\n", 1);
        if (one.text.find_first_not_of(" \t\r") != std::string_view::npos) said = one.text;
      });
  if (end.how.why == ended_by::loss) tell_lost(declared, 1, site.log);
  if (end.how.status.success()) return daybook::result::success(said);
  return judged(declared, end.how, with_stdout(end.remark, printed));
}

}  // namespace

daybook::result do_task(declared_queue const& declared, daybook::job& job,
                        launch_site const& site) {
  std::optional<daybook::result> out;
  if (!job.stopping().stop_requested()) {
    try {
      out = run_child(declared, job, site);
    } catch (complaint const& e) {
      out = daybook::result::failure(e.what());  // it was not started: nothing was done
    }
  }
  if (!out) {
    job.hand_back();
    return daybook::result::success();  // it is not looked at
  }
  tell(declared, job.task(), *out, site.log);
  return *std::move(out);
}

}  // namespace command
