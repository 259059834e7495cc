// A stop while a planner's query is executed: it is interrupted, and the pass is made later.
#include "conformance/waiting.hpp"
#include "conformance/watching.hpp"

#include <daybook/node.hpp>
#include <daybook/planner.hpp>

#include <chrono>
#include <future>
#include <stop_token>
#include <string>

namespace conformance {
namespace {

using daybook::planner;
using daybook::query_strategy;

class stopped_planner : public watching {
 protected:
  stopped_planner() : fulfil_(book_.make_queue("fulfil")) {}

  /// As long as nobody ends it; its timeout would, and the pass would have failed.
  planner make_endless() {
    auto const endless =
        on_postgres()  ? std::string("select pg_sleep(3600)::text")
        : on_mariadb() ? endless_query()
                       : std::string(
                             "with recursive n(i) as (select 1 union all select i + 1 from n) "
                             "select i from n where i < 0");
    return make(endless, 60s);
  }
  planner make(std::string const& query, std::chrono::milliseconds timeout = 10min) {
    return book_.make_planner(
        "endless", {.queue = "fulfil", .strategy = query_strategy{query, timeout}, .every = 100ms});
  }
  /// Until the server is at it; SQLite does not tell.
  void wait_for_query() {
    auto const running = [&] {
      auto const pass = book_.find(process("plan endless"), key());
      if (!pass || pass->info.state != run_state::ready) return false;
      if (on_sqlite()) return true;
      return database_.query(on_postgres()
                                 ? "select count(*) from pg_stat_activity where datname = "
                                   "current_database() and wait_event = 'PgSleep'"
                                 : "select count(*) from information_schema.processlist "
                                   "where db = database() and id <> connection_id() "
                                   "and info like '%seq + b.seq < 0%'") != "0";
    };
    ASSERT_TRUE(comes_true(running));
  }
  /// Nothing of it failed or is there, and the next pass, on the same book, is as any other.
  void expect_handed_back(planner const& plan) {
    EXPECT_EQ(plan.info().error, "");
    EXPECT_EQ(plan.info().passes, 0) << "it is due as before";
    auto const pass = book_.find(process("plan endless"), key()).value();
    EXPECT_EQ(pass.info.state, run_state::interrupted);
    EXPECT_EQ(fulfil_.counts().members, 0);
    auto quick = make("select 'a' union all select 'b'");
    auto const sum = quick.pass();
    EXPECT_TRUE(sum.complete);
    EXPECT_EQ(sum.launched, 2);
    EXPECT_EQ(quick.pass().launched, 0);
    EXPECT_EQ(fulfil_.counts().members, 2);
  }

  daybook::queue fulfil_;
};

TEST_P(stopped_planner, a_node_that_stops_interrupts_it) {
  auto const plan = make_endless();
  daybook::node node(book_, {.poll = 20ms});
  node.plan("endless");
  node.start();
  wait_for_query();
  node.stop();
  expect_handed_back(plan);
}

TEST_P(stopped_planner, a_node_that_serves_it_no_more_interrupts_it) {
  auto const plan = make_endless();
  daybook::node node(book_, {.poll = 20ms});
  node.plan("endless");
  node.start();
  wait_for_query();
  node.remove_planner("endless");
  expect_handed_back(plan);
}

TEST_P(stopped_planner, a_drain_that_is_stopped_interrupts_it) {
  auto const plan = make_endless();
  daybook::node node(book_);
  node.plan("endless");
  auto drained = std::async(std::launch::async, [&] { return node.drain(); });
  wait_for_query();
  node.stop();
  EXPECT_EQ(drained.get(), 0);
  expect_handed_back(plan);
}

TEST_P(stopped_planner, a_pass_that_is_asked_to_stop_interrupts_it) {
  auto plan = make_endless();
  std::stop_source stop;
  auto passing = std::async(std::launch::async, [&] {
    return plan.pass({.check = {}, .stop = stop.get_token(), .on_progress = {}});
  });
  wait_for_query();
  stop.request_stop();
  auto const sum = passing.get();
  EXPECT_TRUE(sum.ran);
  EXPECT_FALSE(sum.complete);
  EXPECT_EQ(sum.launched, 0);
  auto const again = plan.pass({.check = {}, .stop = stop.get_token(), .on_progress = {}});
  EXPECT_FALSE(again.complete) << "nothing is executed where that was asked before";
  expect_handed_back(plan);
}

DAYBOOK_ON_EVERY_ENGINE(stopped_planner);

}  // namespace
}  // namespace conformance
