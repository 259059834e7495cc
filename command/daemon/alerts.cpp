#include "daemon/alerts.hpp"

#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "config/read_hook.hpp"
#include "daemon/children/task_child.hpp"
#include "verbs/hooks/message.hpp"
#include "verbs/hooks/sender.hpp"

#include <daybook/queue.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace command {

namespace {

using json = nlohmann::ordered_json;
using std::chrono::milliseconds;

/// How often a daemon asks whether it can take over the run of a dead one.
constexpr milliseconds between_tries = std::chrono::seconds{10};

/// Five attempts over an hour.
daybook::queue_options options_of_hooks() {
  daybook::queue_options out;
  out.attempts = 5;
  out.backoff = std::chrono::minutes{4};
  out.longest_backoff = std::chrono::hours{1};
  out.done_retention = std::chrono::hours{24};
  return out;
}

declared_queue command_of(declared_alerts const& told) {
  declared_queue out;
  out.name = hooks_queue;
  out.timeout = std::chrono::minutes{1};
  out.command = told.on_problem;
  out.command_place = told.on_problem_place;
  return out;
}

/// "ops/k3j2.../2026-11-21T09:18:25Z": the hook, the problem, the time.
daybook::key key_of(std::string_view name, daybook::alert const& one) {
  return daybook::key(fmt::format("{}/{}/{}", name, one.print.substr(0, 16), instant(one.at)));
}

void write_down(daybook::transaction& tx, daybook::queue& queue, declared_alerts const& told,
                daybook::alert const& one, std::string_view book) {
  auto const payload = json_of(one, book).dump(-1, ' ', false, json::error_handler_t::replace);
  for (auto const& hook : told.hooks) {
    if (one.problem.urgency > hook.least) continue;
    queue.add(tx, key_of(hook.name, one), {.payload = payload});
  }
  if (!told.on_problem.empty()) queue.add(tx, key_of("on_problem", one), {.payload = payload});
}

}  // namespace

void alerts::settle(settings const& file) {
  auto const told = std::make_shared<declared_alerts const>(file.alerts);
  for (auto const& hook : told->hooks) {
    static_cast<void>(url_of(hook));
    if (can_post()) continue;
    throw complaint(exit_code::configuration,
                    fmt::format("{}: hook {}: this daybook was built without DAYBOOK_BUILD_HOOKS, "
                                "and sends nothing; on_problem starts a command instead",
                                hook.place, printable(hook.name)));
  }
  if (told->is_empty()) {
    static_cast<void>(node_.leave(hooks_queue));
  } else {
    book_.make_queue(hooks_queue, options_of_hooks());
    daybook::work_options options;
    options.threads = 2;
    node_.work(
        hooks_queue, [this, told](daybook::job& job) { return deliver(*told, job); }, options);
  }
  {
    std::lock_guard const alone(guard_);
    told_ = told;
  }
  wake_.notify_all();
  if (thread_.joinable() || told->is_empty()) return;
  thread_ = std::jthread([this](std::stop_token const& stop) { work(stop); });
}

void alerts::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void alerts::rest(std::stop_token const& stop, milliseconds length) {
  std::unique_lock alone(guard_);
  auto const before = told_;
  wake_.wait_for(alone, stop, length, [&] { return told_ != before; });
}

void alerts::work(std::stop_token const& stop) {
  while (!stop.stop_requested()) {
    shared told;
    {
      std::lock_guard const alone(guard_);
      told = told_;
    }
    auto length = std::min(told->every, between_tries);
    try {
      length = look(*told);
    } catch (std::exception const& e) {
      // Scheduler and workers log a lost database already.
      site_.log.warning("alerts", {{"text", without_passwords(e.what())}});
    }
    rest(stop, length);
  }
  try {
    if (run_) static_cast<void>(std::move(*run_).finish());
  } catch (std::exception const& e) {
    site_.log.warning("alerts", {{"text", without_passwords(e.what())}});
  }
  run_.reset();
}

milliseconds alerts::look(declared_alerts const& told) {
  if (run_ && (told.is_empty() || run_->stop().stop_requested())) {
    // A lost run belongs to another process by now: ending it here would change nothing.
    auto leaving = std::exchange(run_, std::nullopt);
    if (!leaving->stop().stop_requested()) static_cast<void>(std::move(*leaving).finish());
  }
  if (told.is_empty()) return between_tries;
  if (!run_) {
    auto started = book_.start(daybook::process(alerts_process));
    if (!started) return std::min(told.every, between_tries);
    run_ = std::move(started).take();
  }
  auto queue = book_.queue(hooks_queue);
  if (!queue) return between_tries;  // made by settle(); somebody has dropped the tables
  auto const all =
      book_.look_for_alerts(told.options, [&](daybook::transaction& tx, daybook::alert const& one) {
        write_down(tx, *queue, told, one, book_.url());
      });
  for (auto const& one : all) {
    site_.log.info(one.state == daybook::alert_state::ended ? "problem_ended" : "problem",
                   {{"subject", one.problem.subject},
                    {"text", one.problem.why},
                    {"remedy", one.problem.remedy}});
  }
  if (!all.empty()) node_.wake();
  return told.every;
}

daybook::result alerts::deliver(declared_alerts const& told, daybook::job& job) {
  auto const& task = job.task();
  auto const name = std::string_view(task.key).substr(0, task.key.find('/'));
  if (name == "on_problem" && !told.on_problem.empty()) {
    return do_task(command_of(told), job, site_);
  }
  auto const hook = std::find_if(told.hooks.begin(), told.hooks.end(),
                                 [&](declared_hook const& one) { return one.name == name; });
  if (hook == told.hooks.end()) {
    return daybook::result::failure(
        fmt::format("the file of the daemon that had this task has no hook {}", printable(name)));
  }
  try {
    auto const problem = json::parse(task.payload.value_or("{}"));
    post(request_of(*hook, problem, job.idempotency_key()), job.stopping());
  } catch (std::exception const& e) {
    if (job.stopping().stop_requested()) {
      job.hand_back();
      return daybook::result::success();  // it is not looked at
    }
    site_.log.warning(
        "not_told",
        {{"hook", hook->name}, {"attempt", task.attempt}, {"text", printable(e.what())}});
    return daybook::result::failure(e.what());
  }
  site_.log.info("told", {{"hook", hook->name}, {"key", task.key}});
  return daybook::result::success();
}

}  // namespace command
