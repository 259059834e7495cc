// Few new rows among many that were launched long ago.
#include "benchmarks/figures.hpp"
#include "benchmarks/plan/parts.hpp"
#include "benchmarks/plan/plain.hpp"
#include "benchmarks/plan/table.hpp"
#include "benchmarks/queue/meter.hpp"

#include <daybook/daybook.hpp>

#include <chrono>
#include <cstdio>
#include <stdexcept>

namespace bench {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

struct line {
  std::vector<double> ms, processor_ms, buffers, rows, log_bytes;
};

void print(std::string const& name, line const& of) {
  std::printf("%-24s %10.1f %10.1f %10.0f %10.0f %10.0f\n", name.c_str(), middle(of.ms),
              middle(of.processor_ms), middle(of.buffers), middle(of.rows), middle(of.log_bytes));
  std::fflush(stdout);
}

/// A task for each row that has none, by its key.
std::string bare_text(std::string const& engine) {
  std::string const key =
      engine == "mariadb" ? "cast(cast(i.id as char) as binary)" : "cast(i.id as text)";
  return "insert into bare_task (task_key) select " + key +
         " from item i where not exists (select 1 from bare_task t where t.task_key = " + key + ")";
}

void make_bare(table const& of) {
  of.database().execute(
      of.on().name == "mariadb"
          ? "create table bare_task (id bigint not null auto_increment primary key, task_key "
            "varbinary(255) not null unique)"
      : of.on().name == "sqlite"
          ? "create table bare_task (id integer primary key, task_key text not null unique)"
          : "create table bare_task (id bigint generated always as identity primary key, task_key "
            "text not null unique)");
}

void make_plan(table const& of) {
  daybook::book book(of.url());
  book.migrate();
  book.make_queue("items");
  book.make_planner("items", {.queue = "items",
                              .strategy = daybook::query_strategy{.query = "select id from item"}});
}

void require(table const& of, std::string const& query) {
  if (of.number(query) == static_cast<double>(of.rows())) return;
  throw std::runtime_error("query: not every row has one task: " + query);
}

}  // namespace

void query_part(support::engine const& on, plan_settings const& with) {
  table of(on);
  of.grow_to(with.known);
  make_bare(of);
  make_plan(of);
  meter costs(on, of.database());
  line bare;
  line library;
  auto const timed = [&](line* to, auto const& body) {
    costs.begin();
    double const took = body();
    auto const spent = costs.end();
    if (to == nullptr) return took;
    to->ms.push_back(took * 1e3);
    to->processor_ms.push_back((spent.server_us + spent.client_us) / 1e3);
    to->buffers.push_back(spent.buffers);
    to->rows.push_back(spent.rows);
    to->log_bytes.push_back(spent.log_bytes);
    return took;
  };
  auto const by_hand = [&] {
    plain to(of.database());
    auto const start = clock::now();
    to.execute(bare_text(on.name));
    return seconds_since(start);
  };
  auto const by_pass = [&] {
    daybook::book book(of.url());
    auto plan = book.planner("items").value();
    plan = book.planner("items", plan.options()).value();
    auto const start = clock::now();
    plan.pass();
    return seconds_since(start);
  };
  auto const first_bare = timed(nullptr, by_hand);
  auto const first = timed(nullptr, by_pass);
  if (on.name == "postgresql") of.database().execute("vacuum analyze");
  for (int round = 0; round < with.rounds; ++round) {
    of.grow_to(of.rows() + with.fresh);
    if (round % 2 == 0) timed(&bare, by_hand);
    timed(&library, by_pass);
    if (round % 2 != 0) timed(&bare, by_hand);
  }
  require(of, "select count(*) from bare_task");
  require(of, "select count(*) from daybook_member");
  require(of, "select count(*) from daybook_planned where launches = 1");
  std::printf("\n%s: a query pass, %ld keys known, %ld new\n%-24s %10s %10s %10s %10s %10s\n",
              on.name.c_str(), with.known, with.fresh, "", "ms", "cpu ms", "buffers", "rows read",
              "log B");
  print("bare", bare);
  print("library", library);
  auto const known = static_cast<double>(with.known);
  std::printf("the first pass, all new: bare %.0f keys/s, library %.0f keys/s\n",
              known / first_bare, known / first);
  std::fflush(stdout);
}

}  // namespace bench
