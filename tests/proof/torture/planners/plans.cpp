#include "proof/torture/planners/plans.hpp"

namespace torture {

using namespace std::chrono_literals;

void make_plan_tables(support::fresh_database const& in, std::string_view dialect) {
  std::string const id = dialect == "sqlite"  ? "id integer primary key autoincrement, "
                         : dialect == "mysql" ? "id bigint primary key auto_increment, "
                                              : "id bigserial primary key, ";
  std::string const text = " varchar(100) not null";
  in.execute("create table orders(" + id + "trial" + text + ", state" + text + ")");
  in.execute("create index orders_state on orders(trial, state)");
  in.execute("create table sale(" + id + "trial" + text + ", kind" + text + ")");
  in.execute("create table customer(id bigint not null primary key)");
  in.execute("create table gone(id bigint primary key)");
  in.execute("create table effect(queue" + text + ", task" + text + ", item" + text + ")");
  in.execute("create index effect_queue on effect(queue)");
}

void empty_customers(support::fresh_database const& in) {
  in.execute("delete from customer");
  in.execute("delete from gone");
}

void make_plans(daybook::book& in, std::string const& trial, plan_sizes const& of,
                daybook::timestamp since) {
  // No fault of others makes a task or an event dead.
  daybook::queue_options const patient{
      .attempts = 1000, .backoff = 0ms, .longest_backoff = 0ms, .crash_limit = 100};
  auto once = patient;
  once.attempts = 1;
  auto twice = patient;
  twice.attempts = 2;
  in.make_queue(events_of(trial), twice);
  for (auto const which : all_plans) {
    in.make_queue(queue_of(which, trial), which == plan::minutes ? once : patient);
  }
  auto const make = [&](plan which, daybook::planner_options how) {
    how.queue = queue_of(which, trial);
    how.page = of.page;
    in.make_planner(name_of(which, trial), how);
  };
  make(plan::orders, {.strategy = daybook::query_strategy{"select id from orders where trial = '" +
                                                          trial + "' and state = 'paid'"}});
  make(plan::sales, {.strategy = daybook::inbox_strategy{events_of(trial)}});
  daybook::window_strategy minutes;
  minutes.each = daybook::window_strategy::unit::minute;
  minutes.since = since;
  minutes.retry_after = 0s;
  make(plan::minutes, {.strategy = minutes});
  daybook::sweep_strategy sweep;
  sweep.table = "customer";
  sweep.page = of.page;
  sweep.repeat_after = of.again;
  sweep.comparisons = of.comparisons;
  make(plan::customers, {.strategy = sweep});
}

}  // namespace torture
