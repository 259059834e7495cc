#include "daemon/serve.hpp"

#include "daemon/aggregate_ticks.hpp"
#include "daemon/children/batch_child.hpp"
#include "daemon/children/task_child.hpp"
#include "verbs/aggregates/aggregate_verbs.hpp"
#include "verbs/plans/plan_verbs.hpp"

#include <daybook/queue.hpp>
#include <daybook/table_sync.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace command {

namespace {

using std::chrono::milliseconds;

/// Of a schedule whose ticks are our own work: it fails when the database does, and is tried again.
daybook::schedule_options options_of(declared_queue const& queue) {
  daybook::schedule_options out;
  out.zone = queue.zone;
  out.attempts = 1000;
  out.backoff = std::chrono::seconds{1};
  out.longest_backoff = std::chrono::minutes{1};
  out.keep = 100;
  return out;
}

daybook::queue found(daybook::book& book, std::string const& name) {
  auto out = book.queue(name);
  if (!out) throw std::runtime_error(fmt::format("there is no queue '{}' any more", name));
  return *std::move(out);
}

void reconcile(daybook::book& book, std::string const& name, daybook::tick& tick, journal& log) {
  auto watched = found(book, name).followed();
  if (!watched) return;
  auto const did = watched->reconcile([&](auto const&) {
    return !tick.stopping().stop_requested() && !tick.run().stop().stop_requested();
  });
  if (!did.complete) tick.hand_back();
  log.info("reconciled", {{"queue", name},
                          {"added", did.added},
                          {"removed", did.removed},
                          {"refused", did.refused},
                          {"example", did.example}});
}

/// Drops, and forgets, what is served and not named any more. One after the other: what could not
/// be dropped for a failure is known the next time.
template <class Drop>
void drop_all_but(std::set<std::string> const& now, std::set<std::string>& served,
                  Drop const& drop) {
  for (auto one = served.begin(); one != served.end();) {
    if (now.contains(*one)) {
      ++one;
      continue;
    }
    drop(*one);
    one = served.erase(one);
  }
}

std::string leaving_plan(std::string const& name) { return "plan " + name; }

}  // namespace

void served::obey(settings const& file, milliseconds poll) {
  auto now = serve(file);
  for (auto const& one : file.queues) {
    now.queues.insert(one.name);
    queues_.insert(one.name);
    work(node_, one, site_, work_options_of(one, poll));
  }
  // Last: until all that is new is in force, none of the old is dropped.
  drop_others(now);
  node_.wake();
}

void served::obey_without_work(settings const& file) {
  drop_others(serve(file));
  node_.wake();
}

served::names served::serve(settings const& file) {
  // First, for what only the database can find wrong is wrong in these: all else stays as it was.
  auto const aggregates = made(file);
  for (auto const& one : file.plans) make_queues_of(one, file.queues, book_);
  for (auto const& one : file.plans) static_cast<void>(command::make(book_, one));
  for (auto const& one : file.schedules) book_.make_schedule(one.name, one.cron, one.options);
  for (auto const& one : file.queues) make(one);
  names now;
  for (auto const& one : file.schedules) {
    auto const what = std::make_shared<declared_schedule const>(one);
    serve(
        one.name, [what, &at = site_](daybook::tick& tick) { launch(*what, tick, at); },
        now.schedules);
  }
  for (auto const& one : file.queues) serve_schedules_of(one, now.schedules);
  for (auto const& one : aggregates) serve(one, now.schedules);
  serve(file.plans, now.plans);
  return now;
}

void served::drop_others(names const& now) {
  drop_all_but(now.schedules, schedules_,
               [this](std::string const& name) { node_.serve(name, {}); });
  drop_all_but(now.plans, plans_, [this](std::string const& name) {
    leaving_.begin(leaving_plan(name), [this, name] { node_.remove_planner(name); });
  });
  drop_all_but(now.queues, queues_, [this](std::string const& name) { leave(name); });
}

void served::leave(std::string const& queue) {
  auto const before = std::make_shared<std::promise<daybook::work_counts>>();
  leaving_.begin("queue " + queue, [this, queue, told = before->get_future().share()] {
    auto const all = node_.leave(queue);
    if (all) worked_.tell(queue, *all, told.get());
    site_.log.info("left", {{"queue", queue}});
  });
  // From now on nothing more of it is begun; and it may be worked again, by the next file, before
  // all that it has in hand has ended. The node forgets it before it waits.
  while (node_.counts(queue)) std::this_thread::sleep_for(milliseconds{1});
  before->set_value(worked_.forget(queue));
}

std::vector<served::aggregate> served::made(settings const& file) {
  std::vector<aggregate> out;
  for (auto const& one : file.aggregates) {
    if (one.cron) out.push_back({one, command::make(book_, one)});
  }
  return out;
}

void served::serve(aggregate const& one, std::set<std::string>& now) {
  auto const name = one.what.schedule();
  book_.make_schedule(name, *one.what.cron, {.zone = one.what.zone});
  auto const what = std::make_shared<aggregate const>(one);
  serve(
      name,
      [what, &at = site_](daybook::tick& tick) { gather(what->what, what->of, tick, at.log); },
      now);
}

void served::serve(std::vector<declared_plan> const& plans, std::set<std::string>& now) {
  for (auto const& one : plans) {
    auto const tell = [&log = site_.log](std::string const& name, daybook::pass_report const& sum) {
      // A plan that looks each second and finds nothing has nothing to say.
      if (sum.launched == 0 && sum.refused == 0 && sum.present == 0) return;
      log.info("planned", {{"plan", name},
                           {"launched", sum.launched},
                           {"refused", sum.refused},
                           {"present", sum.present},
                           {"complete", sum.complete}});
    };
    now.insert(one.name);
    // Again would wait for the page that is under way; how it is declared, each pass asks the book.
    if (plans_.contains(one.name)) continue;
    leaving_.wait_for(leaving_plan(one.name));  // its last page
    node_.plan(one.name, {.check = {}, .after = tell});
    plans_.insert(one.name);
  }
}

void served::make(declared_queue const& queue) {
  auto made = book_.make_queue(queue.name, queue.options);
  auto const options = options_of(queue);
  if (queue.rounds) book_.make_schedule(queue.rounds_schedule(), *queue.rounds, options);
  if (!queue.watch) return;
  auto const watched = made.follow(*queue.watch);
  if (queue.reconcile) {
    book_.make_schedule(queue.reconcile_schedule(), *queue.reconcile, options);
  }
  if (watched.info().installed || !told_.insert(queue.name).second) return;
  site_.log.warning(
      "no_triggers",
      {{"queue", queue.name},
       {"table", queue.watch->table},
       {"text", fmt::format("changes of the table are found only by comparing: daybook "
                            "queues watch {} --install",
                            queue.name)}});
}

void served::serve(std::string const& name, daybook::tick_handler handler,
                   std::set<std::string>& now) {
  now.insert(name);
  schedules_.insert(name);
  node_.serve(name, std::move(handler));
}

void served::serve_schedules_of(declared_queue const& queue, std::set<std::string>& now) {
  auto const& name = queue.name;
  if (queue.rounds) {
    serve(
        queue.rounds_schedule(),
        [&book = book_, name](daybook::tick& tick) { found(book, name).open_round(tick.at()); },
        now);
  }
  if (queue.reconcile) {
    serve(
        queue.reconcile_schedule(),
        [&book = book_, &log = site_.log, name](daybook::tick& tick) {
          reconcile(book, name, tick, log);
        },
        now);
  }
}

void work(daybook::node& node, declared_queue const& queue, launch_site const& site,
          daybook::work_options const& options) {
  auto const what = std::make_shared<declared_queue const>(queue);
  if (queue.batch > 0) {
    node.work_in_batches(
        queue.name, [what, &site](daybook::job_batch& batch) { do_batch(*what, batch, site); },
        options);
  } else {
    node.work(
        queue.name, [what, &site](daybook::job& job) { return do_task(*what, job, site); },
        options);
  }
}

daybook::work_options work_options_of(declared_queue const& queue, milliseconds poll) {
  daybook::work_options out;
  out.threads = queue.workers;
  if (queue.batch > 0) out.batch = queue.batch;
  out.claims.poll = std::min(out.claims.poll, poll);
  return out;
}

}  // namespace command
