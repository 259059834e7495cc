#include "service/signals.hpp"

#include "base/limits.hpp"
#include "core/admin/holders.hpp"
#include "core/admin/operate.hpp"
#include "db/cells.hpp"
#include "planner/definition.hpp"
#include "queue/admin/standing.hpp"
#include "queue/members/people.hpp"
#include "queue/members/store.hpp"
#include "schedule/decide.hpp"
#include "schedule/store.hpp"

#include <daybook/detail/shell_word.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace daybook {
inline namespace v1 {

std::string_view word_of(problem_kind kind) noexcept {
  switch (kind) {
    case problem_kind::holder_dead: return "holder_dead";
    case problem_kind::run_overdue: return "run_overdue";
    case problem_kind::run_unknown: return "run_unknown";
    case problem_kind::schedule_late: return "schedule_late";
    case problem_kind::schedule_paused: return "schedule_paused";
    case problem_kind::queue_not_worked: return "queue_not_worked";
    case problem_kind::queue_paused: return "queue_paused";
    case problem_kind::tasks_dead: return "tasks_dead";
    case problem_kind::tasks_unknown: return "tasks_unknown";
    case problem_kind::plan_late: return "plan_late";
    case problem_kind::plan_failing: return "plan_failing";
  }
  return "?";
}

std::string_view word_of(urgency level) noexcept {
  switch (level) {
    case urgency::act_now: return "act now";
    case urgency::look_today: return "look today";
  }
  return "?";
}

namespace work {

namespace {

using std::chrono::microseconds;

std::string run_words(std::string_view process, std::string_view key) {
  return shell_word(process) + (key == "-" ? "" : " --key " + shell_word(key));
}

std::string text_of(std::string_view process, std::string_view key) {
  return "run " + std::string(process) + (key == "-" ? "" : " " + std::string(key));
}

std::string counted(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string process_text(holder_info const& holder) {
  return "process " + std::to_string(holder.pid) +
         (holder.node.empty() ? "" : " on " + holder.node);
}

std::string text_of(held_work const& one) {
  if (one.kind == work_kind::run) return text_of(one.name, one.key);
  return counted(one.tasks, "task") + " of queue " + one.name;
}

/// "a, b, and 3 more"
std::string text_of(std::vector<held_work> const& all) {
  constexpr std::size_t most = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i) {
    out += (i == 0 ? "" : ", ") + text_of(all[i]);
  }
  if (all.size() > most) out += ", and " + std::to_string(all.size() - most) + " more";
  return out;
}

class evaluation {
 public:
  evaluation(engine& engine, problem_options const& options)
      : engine_(&engine), book_(engine.ready()), patience_(options.patience) {}

  std::vector<problem> all() {
    work_ = core::look_at_work(book_, core::ended_holders::left_out);
    zones here;
    auto const schedules = schedules::all(book_, here);
    for (auto const& one : schedules) served_.insert(one.name);
    for (auto const& one : work_.holders) {
      alive_ += one.state == holder_state::alive || one.state == holder_state::late ? 1 : 0;
    }
    for (auto const& one : work_.holders) look_at(one);
    for (auto const& one : work_.runs) look_at(one);
    for (auto const& one : schedules) look_at(one);
    for (auto const& one : queues::standings(book_)) look_at(one);
    for (auto const& one : queues::stuck_tasks(book_)) look_at(one);
    for (auto const& name : planners::names(book_)) look_at_plan(name);
    std::stable_sort(found_.begin(), found_.end(), [](problem const& a, problem const& b) {
      return std::tie(a.urgency, a.since) < std::tie(b.urgency, b.since);
    });
    return std::move(found_);
  }

 private:
  using zones = schedules::zones;

  void add(problem_kind kind, urgency level, std::string subject, std::optional<timestamp> since,
           std::string why, std::string remedy) {
    found_.push_back({kind, level, std::move(subject), since, std::move(why), std::move(remedy)});
  }

  [[nodiscard]] bool waits(std::optional<timestamp> since, timestamp now,
                           microseconds more = {}) const {
    return since && now - *since > patience_ + more;
  }

  /// Who could do it.
  [[nodiscard]] std::string living() const {
    if (alive_ == 0) return "no process is alive in this book";
    if (alive_ == 1) return "the one process that is alive does not take it";
    return "none of " + std::to_string(alive_) + " processes that are alive takes it";
  }

  /// Whether daemons go on with it, and not who starts it by its name.
  [[nodiscard]] bool is_served(held_work const& one) const {
    return one.kind == work_kind::tasks || served_.contains(one.name) ||
           one.name.starts_with("plan ") || one.name == "upkeep" || one.name == "alerts";
  }

  void look_at(holder_info const& one) {
    if (one.work.empty()) return;
    if (one.state != holder_state::dead && one.state != holder_state::ended) return;
    auto const since = one.ended ? std::min(*one.ended, one.until) : one.until;
    auto const by_name = std::find_if_not(one.work.begin(), one.work.end(),
                                          [&](held_work const& work) { return is_served(work); });
    add(problem_kind::holder_dead, urgency::act_now, process_text(one), std::min(since, work_.now),
        std::string(one.state == holder_state::dead ? "is dead" : "ended") +
            ", and has in hand: " + text_of(one.work),
        by_name == one.work.end()
            ? "daybook daemon, with the file that declares it, goes on with that"
            : "daybook run " + run_words(by_name->name, by_name->key) +
                  " -- COMMAND, or the program whose run it is, goes on with it");
  }

  void look_at(core::open_run const& one) {
    auto const name = text_of(one.process, one.key);
    auto const words = run_words(one.process, one.key);
    if (!one.held()) {
      add(problem_kind::run_unknown, urgency::act_now, name, one.ended,
          "the outcome of an at-most-once step is unknown",
          "daybook runs resolve " + words + " --done (or --not-done)");
      return;
    }
    if (!one.deadline || *one.deadline > work_.now || is_dead(one.holder)) return;
    add(problem_kind::run_overdue, urgency::act_now, name, one.deadline,
        "is past its deadline, and in hand still",
        served_.contains(one.process)
            ? "daybook runs release " + words + ": a daemon begins it again"
            : "daybook run " + words + " -- COMMAND takes it over");
  }

  [[nodiscard]] bool is_dead(std::string_view holder) const {
    auto const found = std::find_if(work_.holders.begin(), work_.holders.end(),
                                    [&](holder_info const& one) { return one.holder == holder; });
    return found == work_.holders.end() || found->state == holder_state::dead ||
           found->state == holder_state::ended;
  }

  void look_at(schedules::definition const& one) {
    auto const name = "schedule " + one.name;
    if (auto const since = schedules::overdue(one); waits(since, one.now)) {
      std::string const text =
          one.left ? "nobody goes on with a tick that was begun: " : "a tick waits: ";
      add(problem_kind::schedule_late, urgency::act_now, name, since, text + living(),
          "daybook daemon, with the file that declares it, or the program that serves it");
    }
    if (one.state != schedule_state::paused || !one.in) return;
    if (!waits(one.next(one.decided), one.now)) return;
    add(problem_kind::schedule_paused, urgency::look_today, name,
        last_pause(core::list_changes(book_, one.name, "-")), "is paused, and ticks go by",
        "daybook schedules resume " + shell_word(one.name));
  }

  void look_at(queues::standing const& one) {
    if (!waits(one.due, one.now, one.grain)) return;
    auto const name = "queue " + one.name;
    if (one.paused) {
      auto const inside = queues::open(book_, engine_->lease(), one.name);
      add(problem_kind::queue_paused, urgency::look_today, name,
          inside ? last_pause(queues::changes(*inside, {})) : std::nullopt,
          "is paused, and tasks are due", "daybook queues resume " + shell_word(one.name));
    } else if (one.claims == 0) {
      add(problem_kind::queue_not_worked, urgency::act_now, name, one.due,
          "tasks are due: " + living(),
          "daybook daemon, with the file that declares it, or the program that works it");
    }
  }

  void look_at(queues::stuck const& one) {
    auto const inside = queues::open(book_, engine_->lease(), one.queue);
    if (!inside) return;
    std::optional<timestamp> since;
    for (auto const& task : inside->tasks({.state = one.state, .after = 0, .limit = 1})) {
      if (auto const found = inside->find(key(task.key))) since = found->finished;
    }
    bool const dead = one.state == task_state::dead;
    auto const word = std::string(word_of(one.state));
    add(dead ? problem_kind::tasks_dead : problem_kind::tasks_unknown, urgency::look_today,
        "queue " + one.queue, since, counted(one.tasks, word + " task") + ": a person decides",
        "daybook tasks list " + shell_word(one.queue) + " --state " + word + ", then tasks " +
            (dead ? "retry or discard" : "resolve"));
  }

  void look_at_plan(std::string const& name) {
    auto const found = planners::look(book_, name);
    if (!found) return;
    auto const ended = db::time_of(found->ended_us);
    auto const now = db::time_of(found->now_us);
    if (!found->error.empty()) {
      add(problem_kind::plan_failing, urgency::act_now, "plan " + name, ended,
          "its last pass failed: " + found->error, "daybook plans show " + shell_word(name));
    }
    auto const next = std::max(db::time_of(found->next_us), ended.value_or(timestamp{}));
    if (found->paused || !waits(next, now)) return;
    auto const process = planners::process_of(name);
    bool const under_way =
        std::any_of(work_.runs.begin(), work_.runs.end(), [&](core::open_run const& one) {
          return one.held() && one.process == process && !is_dead(one.holder);
        });
    if (under_way) return;
    add(problem_kind::plan_late, urgency::act_now, "plan " + name, next,
        "a pass waits: " + living(), "daybook daemon, with the file that declares it");
  }

  static std::optional<timestamp> last_pause(std::vector<change_info> const& changes) {
    auto const found = std::find_if(changes.rbegin(), changes.rend(),
                                    [](change_info const& one) { return one.action == "pause"; });
    return found == changes.rend() ? std::nullopt : std::optional(found->at);
  }

  engine* engine_;
  core::context book_;
  microseconds patience_;
  core::work_in_hand work_;
  std::int64_t alive_ = 0;
  std::set<std::string, std::less<>> served_;  ///< names of schedules
  std::vector<problem> found_;
};

}  // namespace

std::vector<problem> find_problems(engine& engine, problem_options const& options) {
  base::limits("problem_options")
      .between("the patience", options.patience, std::chrono::milliseconds{0},
               std::chrono::hours{24 * 366});
  return evaluation(engine, options).all();
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
