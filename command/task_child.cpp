#include "task_child.hpp"

#include "exit.hpp"
#include "format.hpp"
#include "input_file.hpp"
#include "output_log.hpp"
#include "queue_child.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>

namespace command {

namespace {

using json = nlohmann::ordered_json;

/// Linux gives a variable 128 KiB, and all of them together not much more.
constexpr std::size_t longest_variable = 65536;

program program_of(declared_queue const& what, daybook::job const& job, database const& where) {
  auto const& task = job.task();
  auto const payload = task.payload.value_or("");
  std::array<std::string, task_places.size()> const known{
      what.name, task.key, payload, std::to_string(task.attempt), instant(task.turn)};
  auto out = program_for(what, known, where);
  auto& to = out.environment;
  to.insert(to.end(), {{"DAYBOOK_KEY", task.key},
                       {"DAYBOOK_PAYLOAD", payload.size() > longest_variable ? "" : payload},
                       {"DAYBOOK_ATTEMPT", std::to_string(task.attempt)},
                       {"DAYBOOK_TURN", instant(task.turn)},
                       {"DAYBOOK_IDEMPOTENCY_KEY", job.idempotency_key()}});
  return out;
}

/// What a command left behind.
struct traces {
  attended end;
  std::string said;    ///< the last line of its stdout that says something
  std::string remark;  ///< of an end that is no success
};

traces run_child(declared_queue const& what, daybook::job& job, launch_site const& at) {
  traces out;
  tail errors;
  output_log told(at.log, {{"queue", what.name}, {"key", job.task().key}});
  capture output([&](printed_line const& one) {
    told.take(one);
    if (one.stream == "stderr") {
      errors.add(one.text.data(), one.text.size());
      errors.add("\n", 1);
    } else if (one.text.find_first_not_of(" \t\r") != std::string_view::npos) {
      out.said = one.text;
    }
  });
  auto how = program_of(what, job, at.where);
  std::optional<input_file> input;
  if (job.task().payload) how.input = input.emplace(*job.task().payload).file();
  how.output = output.out();
  how.errors = output.err();
  asked const by(job);
  child one(how);
  output.started();
  out.end = attend(one, output, by.within(what, at));
  told.finish();
  out.remark = remark_of(what, out.end, errors);
  return out;
}

/// Empty: it is handed back.
std::optional<daybook::result> result_of(declared_queue const& what, traces const& of) {
  if (of.end.status.success()) return daybook::result::success(of.said);
  return judged(what, of.end, of.remark);
}

}  // namespace

daybook::result do_task(declared_queue const& what, daybook::job& job, launch_site const& at) {
  std::optional<daybook::result> out;
  if (!job.stopping().stop_requested()) {
    try {
      auto const got = run_child(what, job, at);
      if (got.end.why == ended_by::loss) tell_lost(what, 1, at.log);
      out = result_of(what, got);
    } catch (complaint const& e) {
      out = daybook::result::failure(e.what());  // it was not started: nothing was done
    }
  }
  if (!out) {
    job.hand_back();
    return daybook::result::success();  // it is not looked at
  }
  tell(what, job.task(), *out, at.log);
  return *std::move(out);
}

}  // namespace command
