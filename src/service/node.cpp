// daybook::node: its parts, for schedules, queues, planners and intakes.
#include "service/intakes/intake_service.hpp"
#include "service/planner_service.hpp"
#include "service/scheduler.hpp"
#include "service/worker_pools.hpp"

#include <daybook/book.hpp>
#include <daybook/node.hpp>

#include <set>
#include <string>
#include <utility>

namespace daybook {
inline namespace v1 {

node::node(daybook::book& book, node_options options)
    : schedules_(std::make_shared<work::scheduler>(book.internals(), options)),
      queues_(std::make_shared<work::worker_pools>(book.internals())),
      planners_(std::make_shared<work::planner_service>(book.internals(), options.poll)),
      intakes_(std::make_shared<work::intake_service>(book.internals(), options.poll)) {}

node::~node() {
  if (queues_->forked()) {
    static_cast<void>(new auto(std::move(schedules_)));
    static_cast<void>(new auto(std::move(queues_)));
    static_cast<void>(new auto(std::move(planners_)));
    static_cast<void>(new auto(std::move(intakes_)));
    return;
  }
  stop();
}

void node::serve(std::string_view schedule, tick_handler handler) {
  schedules_->serve(schedule, std::move(handler));
}

void node::work(std::string_view queue, job_handler handler, work_options const& options) {
  queues_->work(queue, {.single = std::move(handler), .options = options});
}

void node::work_in_batches(std::string_view queue, batch_handler handler,
                           work_options const& options) {
  queues_->work(queue, {.batch = std::move(handler), .options = options});
}

std::optional<work_counts> node::leave(std::string_view queue) { return queues_->leave(queue); }

void node::plan(std::string_view planner, plan_serving mode) {
  planners_->plan(planner, std::move(mode));
}

void node::remove_planner(std::string_view planner) { planners_->remove_planner(planner); }

void node::take_in(std::string_view intake, broker::log_factory source, intake_body body) {
  intakes_->take_in(intake, std::move(source), std::move(body));
}

void node::take_in(std::string_view intake, broker::queue_factory source, intake_body body) {
  intakes_->take_in(intake, std::move(source), std::move(body));
}

void node::remove_intake(std::string_view intake) { intakes_->remove_intake(intake); }

void node::start() {
  schedules_->start();
  queues_->start();
  planners_->start();
  intakes_->start();
}

void node::wake() noexcept {
  schedules_->wake();
  queues_->wake();
  planners_->wake();
  intakes_->wake();
}

void node::stop() noexcept {
  if (queues_->forked()) return schedules_->stop();
  queues_->ask_to_stop();
  planners_->ask_to_stop();
  intakes_->ask_to_stop();
  schedules_->stop();
  planners_->stop();
  intakes_->stop();
  queues_->stop();
}

std::int64_t node::drain() {
  std::int64_t sum = 0;
  std::set<std::string> refused;
  work::worker_pools::drain tasks(*queues_);
  for (std::int64_t more = 1; more > 0; sum += more) {
    more = schedules_->drain(refused) + planners_->drain() + intakes_->drain() + tasks.due();
  }
  return sum + tasks.suspects();
}

node_counts node::counts() const { return schedules_->counts(); }

std::optional<work_counts> node::counts(std::string_view queue) const {
  return queues_->counts(queue);
}

}  // namespace v1
}  // namespace daybook
