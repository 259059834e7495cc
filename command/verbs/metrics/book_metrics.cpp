#include "verbs/metrics/book_metrics.hpp"

#include "config/declared_hook.hpp"

#include <daybook/version.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace command {

namespace {

double seconds_of(daybook::timestamp when) {
  return std::chrono::duration<double>(when.time_since_epoch()).count();
}

template <class Number>
double number(Number count) {
  return static_cast<double>(count);
}

class gatherer {
 public:
  gatherer(daybook::book const& book, metric_limits const& limits) : book_(book), limits_(limits) {}

  std::vector<metric> all() {
    add("daybook_info", "Version of this program and engine of the book; always 1.",
        {{"version", DAYBOOK_VERSION}, {"engine", std::string(book_.dialect())}}, 1);
    auto const status = book_.status();
    now_ = status.now;
    add_runs(status);
    add_processes();
    add_problems();
    add_schedules();
    for (auto const& name : limited(book_.queues(), limits_.queues)) add_queue(name);
    for (auto const& name : limited(book_.planners(), limits_.plans)) add_plan(name);
    add("daybook_metrics_names_left_out", "Names that have no series, for there are too many.", {},
        number(left_out_));
    return std::move(out_);
  }

 private:
  using labels = std::vector<std::pair<std::string, std::string>>;

  /// Samples of one name stand together, in the order in which names came first.
  void add(std::string_view name, std::string_view help, labels names, double value,
           metric_type type = metric_type::gauge) {
    auto const [at, is_new] = places_.try_emplace(std::string(name), out_.size());
    if (is_new) out_.push_back({std::string(name), type, std::string(help), {}});
    out_[at->second].samples.push_back({std::move(names), value});
  }

  std::vector<std::string> limited(std::vector<std::string> names, std::size_t most) {
    if (names.size() <= most) return names;
    left_out_ += names.size() - most;
    names.resize(most);
    return names;
  }

  void add_runs(daybook::book_status const& status) {
    constexpr auto help =
        "Runs by their standing; failed, interrupted and succeeded ones among the newest.";
    auto const put = [&](char const* standing, std::int64_t count) {
      add("daybook_runs", help, {{"standing", standing}}, number(count));
    };
    put("running", status.runs_in_hand);
    put("abandoned", status.runs_abandoned);
    put("overdue", status.runs_overdue);
    put("failed", status.runs_failed);
    put("interrupted", status.runs_interrupted);
    put("unknown", status.runs_unknown);
  }

  void add_processes() {
    std::map<std::pair<std::string, std::string>, int> counts;
    for (auto const& one : book_.holders()) {
      if (one.state == daybook::holder_state::ended) continue;
      bool const alive =
          one.state == daybook::holder_state::alive || one.state == daybook::holder_state::late;
      ++counts[{one.node, alive ? "alive" : "expired"}];
    }
    for (auto const& [key, count] : counts) {
      add("daybook_processes", "Processes that work in the book.",
          {{"node", key.first}, {"state", key.second}}, count);
    }
  }

  void add_problems() {
    std::map<std::pair<std::string, std::string>, int> counts;
    for (auto const& one : book_.problems()) {
      ++counts[{std::string(daybook::word_of(one.kind)),
                std::string(word_in(severity_words, one.urgency))}];
    }
    constexpr auto help = "Problems as daybook status lists them.";
    // Always there, so that a rule can tell none from a scrape that failed.
    for (auto const& severity : names_in(severity_words)) {
      if (std::none_of(counts.begin(), counts.end(),
                       [&](auto const& one) { return one.first.second == severity; })) {
        add("daybook_problems", help, {{"kind", ""}, {"severity", severity}}, 0);
      }
    }
    for (auto const& [key, count] : counts) {
      add("daybook_problems", help, {{"kind", key.first}, {"severity", key.second}}, count);
    }
  }

  void add_schedules() {
    auto all = book_.schedules();
    if (all.size() > limits_.schedules) {
      left_out_ += all.size() - limits_.schedules;
      all.resize(limits_.schedules);
    }
    for (auto const& one : all) {
      labels const names{{"schedule", one.name}};
      if (one.next) {
        add("daybook_schedule_next_tick_timestamp_seconds", "When the next tick comes.", names,
            seconds_of(*one.next));
      }
      add("daybook_schedule_late_seconds", "How long a tick has waited for a node.", names,
          one.overdue ? std::max(0.0, seconds_of(now_) - seconds_of(*one.overdue)) : 0);
      add("daybook_schedule_paused", "1 while it is paused.", names,
          one.state == daybook::schedule_state::paused ? 1 : 0);
      auto const schedule = book_.schedule(one.name);
      if (!schedule) continue;
      auto const done = schedule->ticks({.state = daybook::tick_state::done, .limit = 1});
      if (done.empty() || !done.front().ended) continue;
      add("daybook_schedule_last_success_timestamp_seconds", "When a tick succeeded last.", names,
          seconds_of(*done.front().ended));
    }
  }

  void add_queue(std::string const& name) {
    auto const queue = book_.queue(name);
    if (!queue) return;
    auto const counts = queue->counts(daybook::counting::tasks);
    auto const put = [&](char const* state, std::int64_t count) {
      add("daybook_queue_tasks", "Tasks by their state.", {{"queue", name}, {"state", state}},
          number(count));
    };
    put("waiting", counts.waiting);
    put("running", counts.running);
    put("succeeded", counts.succeeded);
    put("failed", counts.failed);
    put("dead", counts.dead);
    put("unknown", counts.unknown);
    put("suspect", counts.quarantined);
    put("discarded", counts.discarded);
    labels const names{{"queue", name}};
    add("daybook_queue_due_tasks", "Tasks that are due.", names, number(counts.due));
    if (counts.oldest_due) {
      add("daybook_queue_oldest_due_timestamp_seconds", "Since when the oldest due task waits.",
          names, seconds_of(*counts.oldest_due));
    }
    add("daybook_queue_paused", "1 while it is paused.", names, queue->info().paused ? 1 : 0);
    add("daybook_queue_segments", "Rows that stand for all tasks.", names, number(counts.segments));
    add("daybook_queue_abandoned_tasks", "Tasks in the hands of processes that died.", names,
        number(counts.abandoned));
  }

  void add_plan(std::string const& name) {
    auto const planner = book_.planner(name);
    if (!planner) return;
    auto const info = planner->info();
    labels const names{{"plan", name}};
    if (info.last_pass) {
      add("daybook_plan_last_pass_timestamp_seconds", "When the last pass ended.", names,
          seconds_of(*info.last_pass));
    }
    add("daybook_plan_failing", "1 where the last pass failed.", names, info.error.empty() ? 0 : 1);
    add("daybook_plan_refused", "Keys that are refused now.", names, number(info.refused));
    add("daybook_plan_launched_total", "Keys launched by all passes.", names, number(info.launched),
        metric_type::counter);
  }

  daybook::book const& book_;
  metric_limits limits_;
  daybook::timestamp now_{};
  std::size_t left_out_ = 0;
  std::map<std::string, std::size_t> places_;
  std::vector<metric> out_;
};

}  // namespace

std::vector<metric> metrics_of(daybook::book const& book, metric_limits const& limits) {
  return gatherer(book, limits).all();
}

}  // namespace command
