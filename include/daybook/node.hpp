// A process that serves schedules, works queues, makes the passes of planners and takes messages
// in: it launches ticks when they come, and goes on with those of nodes that died; and it hands due
// tasks to threads. Any number of nodes may serve the same ones.
// Thread safety: any thread may call. Lifetime: the book must outlive it.
//
//   daybook::node node(book);
//   node.serve("daily-leads", [](daybook::tick& tick) { export_leads(tick.window()); });
//   node.work("stock", [](daybook::job& job) { return ask_the_stock_system(job.task().key); });
//   node.start();
//   ...
//   node.stop();
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/intake.hpp>
#include <daybook/job.hpp>
#include <daybook/planner.hpp>
#include <daybook/tick.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {

class book;
namespace work {
class worker_pools;
class planner_service;
class intake_service;
class scheduler;
}  // namespace work

struct node_options {
  /// How many handlers run at once, 1 to 1000. A tick that finds none free waits, and other nodes
  /// may take it.
  int threads = 4;
  /// How often to look for ticks of dead nodes, changed schedules and requests of people. One
  /// statement each time. 10 ms to an hour.
  std::chrono::milliseconds poll = std::chrono::seconds{5};
  /// Nodes wait a random time up to this before they reach for a tick, so that one is first. At
  /// most a minute.
  std::chrono::milliseconds jitter{20};
};

struct node_counts {
  std::int64_t running = 0;
  std::int64_t done = 0;
  std::int64_t failed = 0;  ///< attempts of handlers
  std::int64_t handed_back = 0;
  std::int64_t lost = 0;  ///< taken over by another node meanwhile
  std::int64_t taken_over = 0;
};

/// How a node makes the passes of a planner.
struct plan_serving {
  launch_check check = {};
  /// Called after each pass that this node has made, by the planner's thread; also where a stop
  /// ended it before its end (pass_report::complete is false then): what it launched stays.
  std::function<void(std::string const& planner, pass_report const&)> after = {};
};

/// Faults of the database are told to the observer (observer::retried, "node") and tried again
/// after a pause.
class DAYBOOK_EXPORT node {
 public:
  /// On failure: daybook::error, error_code::bad_argument for options out of their range, or a
  /// borrowed book, which belongs to one thread.
  explicit node(daybook::book& book, node_options options = {});
  node(node const&) = delete;
  node& operator=(node const&) = delete;
  /// As stop().
  ~node();

  /// Serves a schedule, made already or later. A handler is called by several threads, for several
  /// schedules at a time, for one tick of a schedule at a time. What it throws makes the attempt
  /// fail. Serving it again changes the handler; without one it is served no more.
  void serve(std::string_view schedule, tick_handler handler);

  /// Works an existing queue with threads of its own. Called again, it changes the handler and the
  /// options for tasks that begin from then on. On failure: daybook::error,
  /// error_code::bad_argument if there is no such queue, or for options out of their range.
  void work(std::string_view queue, job_handler handler, work_options const& options = {});
  /// The same with a handler that takes many tasks at once.
  void work_in_batches(std::string_view queue, batch_handler handler,
                       work_options const& options = {});
  /// Stops working the queue: finishes tasks in hand, hands back the rest, and waits for that.
  /// Returns the counts of all its work; empty: it was not worked here. Not to be called by a
  /// handler.
  std::optional<work_counts> leave(std::string_view queue);

  /// Makes the passes of an existing planner in a thread of its own: one every
  /// planner_options::every, by whichever node is first. Called again, it changes the options. On
  /// failure: daybook::error, error_code::bad_argument where there is no such planner, or after
  /// stop(); error_code::configuration where its SQL is not this program's (book::planner). A pass
  /// that fails is told to the observer (observer::retried, "plan NAME").
  void plan(std::string_view planner, plan_serving mode = {});
  /// Makes no more passes; waits for the page that is under way. Not to be called by a check.
  void remove_planner(std::string_view planner);

  /// Takes the messages of an existing intake, with a thread for each of its lanes; for each lane
  /// one node at a time. `source` is called by those threads, and again after a fault. Called
  /// again, it changes source and body. On failure: daybook::error, error_code::bad_argument where
  /// there is no such intake, or after stop(). A fault of the broker or the database is told to the
  /// observer (observer::retried, "intake NAME") and tried again after a pause.
  void take_in(std::string_view intake, broker::log_factory source, intake_body body = {});
  void take_in(std::string_view intake, broker::queue_factory source, intake_body body = {});
  /// Takes no more of its messages; waits for the page that is under way. Not to be called by a
  /// body.
  void remove_intake(std::string_view intake);

  /// Starts the threads. Call it once.
  void start();
  /// Looks again at once, after schedules were changed for example.
  void wake() noexcept;
  /// Launches nothing more, asks the handlers to stop (tick::stopping, job::stopping), waits for
  /// them, and hands back the other tasks. Never throws. Not to be called by a handler.
  void stop() noexcept;

  /// Instead of start(): calls the handlers in this thread, one after the other, makes the passes
  /// that are due, and takes the messages that are there, until nothing is; quarantined tasks last.
  /// What a handler hands back is not begun again. Returns how many attempts there were, of ticks
  /// and tasks, keys launched, and messages taken. On failure: throws daybook::error.
  std::int64_t drain();

  [[nodiscard]] node_counts counts() const;
  /// Empty: this node does not work the queue.
  [[nodiscard]] std::optional<work_counts> counts(std::string_view queue) const;

 private:
  std::shared_ptr<work::scheduler> schedules_;
  std::shared_ptr<work::worker_pools> queues_;
  std::shared_ptr<work::planner_service> planners_;
  std::shared_ptr<work::intake_service> intakes_;
};

}  // namespace v1
}  // namespace daybook
