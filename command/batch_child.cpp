#include "batch_child.hpp"

#include "answers.hpp"
#include "exit.hpp"
#include "format.hpp"
#include "input_file.hpp"
#include "queue_child.hpp"

#include <array>
#include <string>

namespace command {

namespace {

using json = nlohmann::ordered_json;

std::string lines_of(daybook::job_batch const& of) {
  std::string out;
  for (std::size_t i = 0; i < of.size(); ++i) {
    auto const& task = of.task(i);
    json const line{{"key", task.key},
                    {"payload", task.payload ? json(*task.payload) : json()},
                    {"attempt", task.attempt},
                    {"turn", instant(task.turn)},
                    {"idempotency_key", of.idempotency_key(i)}};
    out += line.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
  }
  return out;
}

attended run_child(declared_queue const& what, daybook::job_batch& of, launch_site const& at,
                   capture& output) {
  std::array<std::string, batch_places.size()> const known{what.name};
  auto how = program_for(what, known, at.where);
  input_file const input(lines_of(of));
  how.input = input.file();
  how.output = output.out();
  how.errors = output.err();
  asked const by(of);
  child one(how);
  output.started();
  return attend(one, output, by.within(what, at));
}

/// Of the tasks that the command has left without an answer.
void judge(declared_queue const& what, daybook::job_batch& of, answers& got, attended const& end,
           tail const& errors, launch_site const& at) {
  bool const may_repeat = what.options.mode != daybook::step_mode::at_most_once;
  if (end.why == ended_by::loss) tell_lost(what, got.open(), at.log);
  if (end.why == ended_by::loss || (end.why == ended_by::stop && may_repeat)) {
    of.hand_back_rest();
    return;
  }
  auto const remark = "no answer: " + remark_of(what, end, errors);
  bool const undone = asks_for_later(end) && end.why == ended_by::itself;
  got.finish_rest(undone ? later(what, remark) : not_done(what, remark));
}

}  // namespace

void do_batch(declared_queue const& what, daybook::job_batch& of, launch_site const& at) {
  if (of.stopping().stop_requested()) return of.hand_back_rest();
  output_log told(at.log, {{"queue", what.name}});
  answers got(what, of, at.log, told);
  tail errors;
  capture output(
      [&](printed_line const& one) {
        if (one.stream == "stdout") return got.take(one);
        told.take(one);
        errors.add(one.text.data(), one.text.size());
        errors.add("\n", 1);
      },
      answers::longest_line);
  try {
    auto const end = run_child(what, of, at, output);
    told.finish();
    judge(what, of, got, end, errors, at);
  } catch (complaint const& e) {
    got.finish_rest(daybook::result::failure(e.what()));  // it was not started: nothing was done
  }
}

}  // namespace command
