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

std::string lines_of(daybook::job_batch const& batch, std::span<std::size_t const> given) {
  std::string out;
  for (auto const at : given) {
    auto const& task = batch.task(at);
    json const line{{"key", task.key},
                    {"payload", task.payload ? json(*task.payload) : json()},
                    {"attempt", task.attempt},
                    {"turn", instant(task.turn)},
                    {"idempotency_key", batch.idempotency_key(at)}};
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
  batch_at_work(declared_queue const& declared, daybook::job_batch& batch, launch_site const& site)
      : declared_(declared), batch_(batch), site_(site) {}

  /// A command that dies on one task leaves those behind it undone, which are not to suffer for it:
  /// the first without an answer, which it has most likely died on, gets a command of its own, and
  /// those behind it another.
  void work(std::vector<std::size_t> const& all) {
    auto left = run(all);
    for (int in_vain = 0; divides(left) && in_vain < most_in_vain;) {
      auto const first = left.open.front();
      judge(run({&first, 1}));
      left.open.erase(left.open.begin());
      if (batch_.stopping().stop_requested()) break;
      auto const wanted = left.open.size();
      left = run(left.open);
      in_vain = left.open.size() < wanted ? 0 : in_vain + 1;
    }
    judge(left);
  }

 private:
  [[nodiscard]] bool may_repeat() const noexcept {
    return declared_.options.mode != daybook::step_mode::at_most_once;
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

  declared_queue const& declared_;
  daybook::job_batch& batch_;
  launch_site const& site_;
};

ended_batch batch_at_work::run(std::span<std::size_t const> given) {
  // Each command has a measure of its own: what one prints is not to silence the next.
  output_log told(site_.log, {{"queue", declared_.name}}, site_.output_limit);
  answers got(declared_, batch_, given, site_.log, told);
  std::array<std::string, batch_places.size()> const known{declared_.name};
  auto how = program_for(declared_, known, site_.where);
  input_file const input(lines_of(batch_, given));
  how.input = input.file();
  auto const end = run_command(
      declared_, batch_, std::move(how), site_, told,
      [&](printed_line const& one) { got.take(one); }, answers::longest_line);
  return {end.how, "no answer: " + end.remark, got.open()};
}

void batch_at_work::judge(ended_batch const& left) {
  if (left.how.why == ended_by::loss) tell_lost(declared_, left.open.size(), site_.log);
  // Those that were to have another command, which is not begun any more, are to have it later.
  bool const not_begun = may_repeat() && batch_.stopping().stop_requested();
  auto const how = not_begun ? std::nullopt : judged(declared_, left.how, left.remark);
  for (auto const at : left.open) {
    if (!how) {
      batch_.hand_back(at);
      continue;
    }
    tell(declared_, batch_.task(at), *how, site_.log);
    batch_.finish(at, *how);
  }
}

}  // namespace

void do_batch(declared_queue const& declared, daybook::job_batch& batch, launch_site const& site) {
  if (batch.stopping().stop_requested()) return batch.hand_back_rest();
  std::vector<std::size_t> all(batch.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  try {
    batch_at_work(declared, batch, site).work(all);
  } catch (complaint const& e) {
    // It was not started: nothing was done.
    for (auto const one : all) {
      if (batch.finished(one)) continue;
      auto const how = daybook::result::failure(e.what());
      tell(declared, batch.task(one), how, site.log);
      batch.finish(one, how);
    }
  }
}

}  // namespace command
