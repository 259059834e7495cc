#include "daemon/children/batch_child.hpp"

#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/input_file.hpp"
#include "daemon/children/answers.hpp"
#include "daemon/children/queue_child.hpp"
#include "output/output_log.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace command {

namespace {

using json = nlohmann::ordered_json;

/// So often in a row may the rest, too, leave its command without an answer: then it is given up.
constexpr int most_in_vain = 3;

std::string lines_of(daybook::job_batch const& of, std::span<std::size_t const> given) {
  std::string out;
  for (auto const at : given) {
    auto const& task = of.task(at);
    json const line{{"key", task.key},
                    {"payload", task.payload ? json(*task.payload) : json()},
                    {"attempt", task.attempt},
                    {"turn", instant(task.turn)},
                    {"idempotency_key", of.idempotency_key(at)}};
    out += line.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
  }
  return out;
}

/// How a command has ended, and the tasks that it has left without an answer.
struct ended_batch {
  attended how;
  std::string remark;
  std::vector<std::size_t> open;
};

class batch_at_work {
 public:
  batch_at_work(declared_queue const& what, daybook::job_batch& of, launch_site const& at)
      : what_(what), of_(of), at_(at) {}

  /// A command that dies on one task leaves those behind it undone, which are not to suffer for it:
  /// the first without an answer, which it has most likely died on, gets a command of its own, and
  /// those behind it another.
  void work(std::vector<std::size_t> const& all) {
    auto left = run(all);
    for (int in_vain = 0; divides(left) && in_vain < most_in_vain;) {
      auto const first = left.open.front();
      judge(run({&first, 1}));
      left.open.erase(left.open.begin());
      if (of_.stopping().stop_requested()) break;
      auto const wanted = left.open.size();
      left = run(left.open);
      in_vain = left.open.size() < wanted ? 0 : in_vain + 1;
    }
    judge(left);
  }

 private:
  [[nodiscard]] bool may_repeat() const noexcept {
    return what_.options.mode != daybook::step_mode::at_most_once;
  }
  [[nodiscard]] bool divides(ended_batch const& left) const {
    bool const itself = left.how.why == ended_by::itself;
    bool const died = left.how.why == ended_by::timeout ||
                      (itself && left.how.status.code() != 0 && !asks_for_later(left.how));
    return died && may_repeat() && left.open.size() > 1;
  }
  ended_batch run(std::span<std::size_t const> given);
  /// Of the tasks that are without an answer.
  void judge(ended_batch const& left);

  declared_queue const& what_;
  daybook::job_batch& of_;
  launch_site const& at_;
};

ended_batch batch_at_work::run(std::span<std::size_t const> given) {
  // Each command has a measure of its own: what one prints is not to silence the next.
  output_log told(at_.log, {{"queue", what_.name}}, at_.output_limit);
  answers got(what_, of_, given, at_.log, told);
  std::array<std::string, batch_places.size()> const known{what_.name};
  auto how = program_for(what_, known, at_.where);
  input_file const input(lines_of(of_, given));
  how.input = input.file();
  auto const end = run_command(
      what_, of_, std::move(how), at_, told, [&](printed_line const& one) { got.take(one); },
      answers::longest_line);
  return {end.how, "no answer: " + end.remark, got.open()};
}

void batch_at_work::judge(ended_batch const& left) {
  if (left.how.why == ended_by::loss) tell_lost(what_, left.open.size(), at_.log);
  // Those that were to have another command, which is not begun any more, are to have it later.
  bool const not_begun = may_repeat() && of_.stopping().stop_requested();
  auto const how = not_begun ? std::nullopt : judged(what_, left.how, left.remark);
  for (auto const at : left.open) {
    if (!how) {
      of_.hand_back(at);
      continue;
    }
    tell(what_, of_.task(at), *how, at_.log);
    of_.finish(at, *how);
  }
}

}  // namespace

void do_batch(declared_queue const& what, daybook::job_batch& of, launch_site const& at) {
  if (of.stopping().stop_requested()) return of.hand_back_rest();
  std::vector<std::size_t> all(of.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  try {
    batch_at_work(what, of, at).work(all);
  } catch (complaint const& e) {
    // It was not started: nothing was done.
    for (auto const one : all) {
      if (of.finished(one)) continue;
      auto const how = daybook::result::failure(e.what());
      tell(what, of.task(one), how, at.log);
      of.finish(one, how);
    }
  }
}

}  // namespace command
