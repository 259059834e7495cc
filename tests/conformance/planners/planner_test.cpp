// Planners of queries: what is launched once, what is refused, and what a pass in doubt leaves.
#include "conformance/watching.hpp"

#include <daybook/node.hpp>
#include <daybook/planner.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

namespace conformance {
namespace {

using daybook::candidate;
using daybook::check_decision;
using daybook::launch_rule;
using daybook::pass_report;
using daybook::planner;
using daybook::planner_options;
using daybook::query_strategy;
using daybook::task_state;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class planned : public watching {
 protected:
  planned() : fulfil_(book_.make_queue("fulfil", {.attempts = 1})) {
    database_.execute(
        "create table orders(id bigint not null primary key, state varchar(10), "
        "note varchar(40))" +
        innodb());
  }

  /// Orders [from, to), paid.
  void order(int from, int to, std::string const& state = "paid") {
    std::string rows;
    for (int i = from; i < to; ++i) {
      rows += (rows.empty() ? "(" : ",(") + std::to_string(i) + ",'" + state + "','n')";
    }
    database_.execute("insert into orders values " + rows);
  }
  planner make(planner_options of = {}) {
    of.queue = "fulfil";
    if (std::get<query_strategy>(of.strategy).query.empty()) {
      of.strategy = query_strategy{"select id, note from orders where state = 'paid'"};
    }
    return book_.make_planner("new-orders", of);
  }
  /// Of a plan with this query, when the engine knows how many orders there are.
  [[nodiscard]] std::vector<std::string> advice(std::string const& query) {
    if (on_postgres()) database_.execute("analyze orders");
    if (on_mariadb()) database_.execute("analyze table orders");
    return make({.strategy = query_strategy{query}}).advice();
  }
  int finish_all(daybook::result const& how = daybook::result::success()) {
    int count = 0;
    while (auto batch = fulfil_.claim()) {
      for (auto const& one : batch->tasks()) {
        batch->finish(one, how);
        ++count;
      }
      EXPECT_EQ(std::move(*batch).complete(), outcome::done);
    }
    return count;
  }

  daybook::queue fulfil_;
};

TEST_P(planned, every_row_is_launched_once) {
  order(1, 2501);
  order(3000, 3010, "new");
  auto plan = make();
  auto const first = plan.pass();
  EXPECT_TRUE(first.ran);
  EXPECT_TRUE(first.complete);
  EXPECT_EQ(first.launched, 2500);
  EXPECT_EQ(first.seen, 2500);
  EXPECT_EQ(fulfil_.counts().members, 2500);
  EXPECT_EQ(fulfil_.find(key("17")).value().payload, "n");
  EXPECT_EQ(plan.pass().seen, 0) << "what was launched does not come again";
  database_.execute("update orders set state = 'paid' where id = 3004");
  order(2501, 2503);
  auto const second = plan.pass();
  EXPECT_EQ(second.launched, 3) << "also one that became eligible late";
  EXPECT_EQ(finish_all(), 2503);
  expect_covered();
}

TEST_P(planned, once_is_for_ever) {
  order(1, 3);
  auto plan = make();
  EXPECT_EQ(plan.pass().launched, 2);
  EXPECT_TRUE(fulfil_.remove(key("1")));
  EXPECT_EQ(plan.pass().launched, 0) << "its task is gone, what is known of it is not";
  EXPECT_EQ(plan.find(key("1")).value().launches, 1);
  EXPECT_TRUE(plan.forget(key("1"), {.actor = "anna", .reason = "again, please"}));
  EXPECT_FALSE(plan.forget(key("1"), {.actor = "anna", .reason = ""}));
  EXPECT_EQ(plan.pass().launched, 1);
  EXPECT_EQ(plan.changes().size(), 1U);
}

TEST_P(planned, what_others_added_is_present) {
  order(1, 4);
  fulfil_.add(key("2"), {.payload = "mine"});
  auto const sum = make().pass();
  EXPECT_EQ(sum.launched, 2);
  EXPECT_EQ(sum.present, 1);
  EXPECT_EQ(fulfil_.find(key("2")).value().payload, "mine");
  EXPECT_EQ(make().pass().seen, 0);
}

TEST_P(planned, refused_rows_are_walked_past_and_shown) {
  order(1, 3001);
  auto plan = make();
  auto const odd = [](transaction&, candidate& of) {
    return std::stoi(of.key.str()) % 2 == 1 ? check_decision::refuse("it is odd")
                                            : check_decision::launch();
  };
  auto const sum = plan.pass({.check = odd});
  EXPECT_EQ(sum.launched, 1500);
  EXPECT_EQ(sum.refused, 1500);
  clock_.advance(10s);
  EXPECT_EQ(plan.pass({.check = odd}).refused, 1500)
      << "they come again, and again are walked past";
  auto const shown = plan.refusals({.after = "1", .limit = 2});
  ASSERT_EQ(shown.size(), 2U);
  EXPECT_EQ(shown[0].key, "1001");
  EXPECT_EQ(shown[0].reason, "it is odd");
  EXPECT_EQ(shown[0].count, 2);
  EXPECT_GE(shown[0].last - shown[0].first, 10s);
  EXPECT_EQ(plan.info().refused, 1500);
  EXPECT_EQ(plan.pass().launched, 1500) << "nobody refuses them any more";
  EXPECT_EQ(plan.info().refused, 0);
  EXPECT_EQ(plan.find(key("1001")).value().refusals, 2);
}

TEST_P(planned, a_check_in_sql_sees_the_row_as_it_is_now) {
  order(1, 4);
  auto plan =
      make({.check = std::string("select 1 from orders where id = :key and state = 'paid'") +
                     (on_sqlite()    ? ""
                      : on_mariadb() ? " lock in share mode"
                                     : " for share")});
  auto const leave = [&](transaction& tx, candidate& of) {
    if (of.key.str() == "1") tx.exec("update orders set state = 'gone' where id = 2");
    return check_decision::launch();
  };
  auto const sum = plan.pass({.check = leave});
  EXPECT_EQ(sum.launched, 2);
  EXPECT_EQ(sum.refused, 1);
  EXPECT_EQ(plan.refusals().at(0).reason, "its check gave no row");
  EXPECT_EQ(plan.refusals().at(0).key, "2");
}

TEST_P(planned, rules_look_at_the_last_instance) {
  order(1, 2);
  auto const at = [&](launch_rule rule) { return make({.rule = rule}).pass(); };
  EXPECT_EQ(at(launch_rule::no_overlap).launched, 1);
  EXPECT_EQ(at(launch_rule::no_overlap).refused, 1) << "it waits";
  EXPECT_EQ(at(launch_rule::always).launched, 0) << "one that waits stands for both";
  EXPECT_EQ(finish_all(), 1);
  EXPECT_EQ(at(launch_rule::after_failure).refused, 1) << "it succeeded";
  EXPECT_EQ(at(launch_rule::once).seen, 0);
  EXPECT_EQ(at(launch_rule::no_overlap).launched, 1);
  EXPECT_EQ(at(launch_rule::no_overlap).refused, 1) << "asked for, and not seen by a claim yet";
  EXPECT_EQ(finish_all(daybook::result::failure("no")), 1);
  EXPECT_EQ(fulfil_.find(key("1")).value().state, task_state::dead);
  EXPECT_EQ(at(launch_rule::after_failure).launched, 1);
  EXPECT_EQ(finish_all(), 1);
  EXPECT_EQ(at(launch_rule::always).launched, 1);
  EXPECT_EQ(finish_all(), 1);
  EXPECT_EQ(make().find(key("1")).value().launches, 4);
  expect_covered();
}

TEST_P(planned, no_rule_begins_anew_what_may_have_been_done) {
  book_.make_queue("fulfil", {.mode = daybook::step_mode::at_most_once});
  order(1, 2);
  EXPECT_EQ(make().pass().launched, 1);
  EXPECT_EQ(finish_all(daybook::result::unknown("the line was cut")), 1);
  for (auto const rule :
       {launch_rule::always, launch_rule::no_overlap, launch_rule::after_failure}) {
    EXPECT_EQ(make({.rule = rule}).pass().refused, 1) << static_cast<int>(rule);
  }
  EXPECT_EQ(make().refusals().at(0).reason, "an earlier instance is unknown");
  EXPECT_EQ(finish_all(), 0);
  EXPECT_TRUE(fulfil_.resolve(key("1"), daybook::effect_state::done));
  EXPECT_EQ(finish_all(), 0);
  EXPECT_EQ(make({.rule = launch_rule::always}).pass().launched, 1);
}

TEST_P(planned, a_preview_changes_nothing) {
  order(1, 5);
  auto plan = make();
  auto const three = [](transaction& tx, candidate& of) {
    tx.exec("delete from orders where id = 4");
    return of.key.str() == "3" ? check_decision::refuse("three") : check_decision::launch();
  };
  auto const shown = plan.preview(100, three);
  ASSERT_EQ(shown.size(), 4U);
  int refused = 0;
  for (auto const& one : shown) {
    if (!one.launched) {
      ++refused;
      EXPECT_EQ(one.key, "3");
      EXPECT_EQ(one.reason, "three");
    }
  }
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(plan.preview(2).size(), 2U);
  EXPECT_EQ(fulfil_.counts().members, 0);
  EXPECT_TRUE(plan.refusals().empty());
  EXPECT_EQ(database_.query("select count(*) from orders"), "4");
  EXPECT_EQ(plan.info().passes, 0);
}

TEST_P(planned, a_predicate_that_throws_undoes_its_page_and_no_more) {
  order(1, 26);
  auto plan = make({.page = 10});
  auto const bad = [](transaction&, candidate& of) -> check_decision {
    if (of.key.str() == "15") throw std::runtime_error("boom");
    return check_decision::launch();
  };
  try {
    plan.pass({.check = bad});
    FAIL() << "it must throw";
  } catch (daybook::error const& e) {
    EXPECT_NE(std::string(e.what()).find("plan 'new-orders', key '15': its check threw: boom"),
              std::string::npos)
        << e.what();
  }
  EXPECT_EQ(fulfil_.counts().members, 10) << "the page before stays";
  EXPECT_NE(plan.info().error.find("boom"), std::string::npos);
  EXPECT_EQ(plan.info().passes, 1);
  EXPECT_EQ(plan.pass().launched, 15);
  EXPECT_EQ(plan.info().error, "");
}

TEST_P(planned, what_a_query_may_not_be) {
  order(1, 3);
  auto const fails = [&](std::string const& query, std::string const& with) {
    try {
      make({.strategy = query_strategy{query}}).pass();
      ADD_FAILURE() << query;
    } catch (daybook::error const& e) {
      EXPECT_EQ(e.kind(), error_code::bad_argument) << e.what();
      EXPECT_NE(std::string(e.what()).find("plan 'new-orders'"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find(with), std::string::npos) << e.what();
    }
  };
  fails("select id, note, state from orders", "it has 3 columns");
  fails("select null from orders", "its key is null");
  fails("select '" + std::string(256, 'x') + "'", "256 bytes");
  fails("delete from orders", "its query");
  fails("select nothing from orders", "its query");
  EXPECT_EQ(database_.query("select count(*) from orders"), "2");
  auto twice = make({.strategy = query_strategy{"select 7 union all select 7"}}).pass();
  EXPECT_EQ(twice.launched, 1) << "a key that comes twice is one";
}

TEST_P(planned, a_query_that_does_not_end_is_ended) {
  auto const endless = on_postgres() ? std::string("select pg_sleep(60)::text")
                       : on_mariadb()
                           ? endless_query()
                           : std::string(
                                 "with recursive n(i) as (select 1 union all select i + 1 from n) "
                                 "select i from n where i < 0");
  auto plan = make({.strategy = query_strategy{endless, 1000ms}});
  try {
    plan.pass();
    FAIL() << "it must throw";
  } catch (daybook::error const& e) {
    EXPECT_NE(std::string(e.what()).find("it takes longer than 1000 ms"), std::string::npos)
        << e.what();
  }
  EXPECT_TRUE(make({.strategy = query_strategy{"select 1"}}).pass().complete);
}

TEST_P(planned, passes_exclude_each_other) {
  order(1, 30);
  auto plan = make({.page = 10});
  auto other = database_.open(support::fresh_database::manual());
  auto theirs = other.planner("new-orders", plan.options()).value();
  int busy = 0;
  auto const sum = plan.pass({.on_progress = [&](pass_report const&) {
    auto const no = theirs.pass();
    if (!no.ran && no.holder) ++busy;
  }});
  EXPECT_EQ(sum.launched, 29);
  EXPECT_EQ(busy, 3);
  EXPECT_TRUE(theirs.pass().ran);
}

TEST_P(planned, a_dead_planner_adds_nothing_more) {
  order(1, 30);
  auto plan = make({.page = 10});
  auto other = database_.open(support::fresh_database::manual());
  auto theirs = other.planner("new-orders", plan.options()).value();
  auto const nothing = [](transaction&, candidate&) { return check_decision::refuse("not now"); };
  pass_report taken;
  bool thrown = false;
  try {
    plan.pass({.on_progress = [&](pass_report const& so_far) {
      if (so_far.launched > 10) return;
      ASSERT_TRUE(daybook::testing::expire(book_, process("plan new-orders")));
      taken = theirs.pass({.check = nothing});
    }});
  } catch (daybook::error const& e) {
    thrown = true;
    EXPECT_NE(std::string(e.what()).find("taken over by another"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(thrown);
  EXPECT_EQ(taken.refused, 19);
  EXPECT_EQ(fulfil_.counts().members, 10) << "what it had launched when it was declared dead";
  EXPECT_EQ(plan.info().launched, 10) << "that of the dead counts";
  EXPECT_EQ(theirs.pass().launched, 19);
  EXPECT_EQ(database_.query("select sum(launches) from daybook_planned"), "29");
}

TEST_P(planned, a_pass_in_doubt_launches_nothing_twice) {
  order(1, 26);
  for (auto const* place : {"step.before_commit", "step.committed", "step.begun"}) {
    for (unsigned skip = 0; skip < 3; ++skip) {
      auto plan = make({.rule = launch_rule::always, .page = 10});
      database_.execute("delete from daybook_planned");
      while (finish_all() > 0) {
      }
      daybook::testing::arm(place, failpoint_action::cut, skip);
      pass_report sum;
      try {
        sum = plan.pass();
      } catch (daybook::error const&) {
        daybook::testing::disarm();
        sum = plan.pass();
      }
      daybook::testing::disarm();
      EXPECT_EQ(database_.query("select count(*) from daybook_planned where launches = 1"), "25")
          << place << " " << skip;
      EXPECT_EQ(database_.query("select count(*) from daybook_planned"), "25") << place;
    }
  }
}

TEST_P(planned, the_steps_of_earlier_passes_go) {
  order(1, 5);
  auto plan = make({.rule = launch_rule::no_overlap});
  for (int i = 0; i < 5; ++i) plan.pass();
  EXPECT_EQ(plan.info().passes, 5);
  EXPECT_EQ(database_.query("select count(*) from daybook_step"), "1");
}

TEST_P(planned, paused_is_what_nodes_look_at) {
  auto plan = make();
  EXPECT_TRUE(plan.info().next_pass.has_value());
  EXPECT_TRUE(plan.pause({.actor = "anna", .reason = "month's end"}));
  EXPECT_FALSE(plan.pause({.actor = "anna", .reason = ""}));
  EXPECT_FALSE(plan.info().next_pass.has_value());
  EXPECT_TRUE(plan.resume({.actor = "anna", .reason = ""}));
  ASSERT_EQ(plan.changes().size(), 2U);
  EXPECT_EQ(plan.changes()[0].action, "pause");
}

TEST_P(planned, a_node_makes_the_passes_and_another_where_it_is_gone) {
  auto plan = make({.every = 100ms});
  auto other = database_.open(support::fresh_database::manual());
  ASSERT_TRUE(other.planner("new-orders", plan.options()).has_value());
  daybook::node first(book_, {.poll = 20ms});
  daybook::node second(other, {.poll = 20ms});
  std::atomic<int> passes = 0;
  std::atomic<std::int64_t> launched = 0;
  for (auto* const one : {&first, &second}) {
    one->plan("new-orders",
              {.check = {}, .after = [&](std::string const& name, pass_report const& sum) {
                 EXPECT_EQ(name, "new-orders");
                 if (sum.complete) ++passes;  // a stop hands it back: it is none
                 launched += sum.launched;
               }});
    one->start();
  }
  order(1, 51);
  auto const until = std::chrono::steady_clock::now() + 60s;
  while (launched < 50 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(5ms);
  }
  first.stop();
  order(51, 101);
  while (launched < 100 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(5ms);
  }
  second.remove_planner("new-orders");
  int const then = passes;
  EXPECT_EQ(launched, 100);
  EXPECT_EQ(fulfil_.counts().members, 100);
  EXPECT_EQ(plan.info().passes, then);
  second.stop();
}

TEST_P(planned, an_inline_drain_makes_what_is_due_and_does_it) {
  make({.every = 1h});
  order(1, 11);
  daybook::node node(book_);
  std::atomic<int> done = 0;
  node.work("fulfil", [&](daybook::job&) {
    ++done;
    return daybook::result::success();
  });
  node.plan("new-orders");
  EXPECT_EQ(node.drain(), 20) << "ten launched, ten done";
  EXPECT_EQ(done, 10);
  order(11, 12);
  EXPECT_EQ(node.drain(), 0) << "the next pass is in an hour";
  clock_.advance(1h);
  EXPECT_EQ(node.drain(), 2);
  EXPECT_EQ(fault_of([&] { node.plan("none"); }), error_code::bad_argument);
  node.stop();
  EXPECT_EQ(fault_of([&] { node.plan("new-orders"); }), error_code::bad_argument);
}

TEST_P(planned, declared_again_it_is_changed) {
  order(1, 3);
  make().pass();
  auto plan = make({.rule = launch_rule::no_overlap, .every = 5s, .priority = 2});
  auto const info = book_.planner("new-orders").value().info();
  EXPECT_EQ(info.options.rule, launch_rule::no_overlap);
  EXPECT_EQ(info.options.every, 5s);
  EXPECT_EQ(info.options.priority, 2);
  EXPECT_EQ(info.options.queue, "fulfil");
  EXPECT_EQ(info.launched, 2);
  EXPECT_EQ(book_.planners(), std::vector<std::string>{"new-orders"});
  EXPECT_FALSE(book_.planner("other").has_value());
}

TEST_P(planned, declared_again_its_next_pass_is_no_later_than_it_says_now) {
  auto plan = make({.every = 1h});
  plan.pass();
  auto const in_an_hour = plan.info().next_pass.value();
  make({.every = 2h});
  EXPECT_EQ(plan.info().next_pass, in_an_hour);
  make({.every = 10s});
  EXPECT_LT(plan.info().next_pass.value(), in_an_hour - 50min);
}

TEST_P(planned, what_a_declaration_may_not_be) {
  auto const fails = [&](planner_options of, std::string const& with) {
    try {
      if (of.queue.empty()) of.queue = "fulfil";
      if (std::get<query_strategy>(of.strategy).query.empty()) {
        of.strategy = query_strategy{"select id from orders"};
      }
      book_.make_planner("p", of);
      ADD_FAILURE() << with;
    } catch (daybook::error const& e) {
      EXPECT_EQ(e.kind(), error_code::bad_argument) << e.what();
      EXPECT_NE(std::string(e.what()).find(with), std::string::npos) << e.what();
    }
  };
  fails({.queue = "none"}, "there is no queue 'none'");
  fails({.check = "select 1"}, "must have :key");
  fails({.check = "select 1 where :key = :other"}, "must have :key");
  fails({.every = 1ms}, "every");
  fails({.priority = 10}, "priority");
  fails({.page = 0}, "page");
  book_.make_queue("in order", {.in_order = true});
  fails({.queue = "in order", .priority = 2},
        "plan 'p': a priority of 2: the tasks of queue 'in order' are done in the order");
  book_.make_queue("rolling", {.period = 24h});
  fails({.queue = "rolling"}, "has a period");
}

TEST_P(planned, a_table_that_is_read_whole_is_named) {
  order(1, 2000);
  EXPECT_THAT(advice("select id, note from orders"),
              ElementsAre(AllOf(HasSubstr("whole table 'orders'"), HasSubstr("kind sweep"))));
  EXPECT_THAT(advice("select id from orders where id = 5"), IsEmpty());
}

TEST_P(planned, the_index_that_is_missing_is_named) {
  order(1, 2000);
  auto const* const query = "select o.id from orders o where o.state = 'none'";
  auto const before = advice(query);
  ASSERT_THAT(before, ElementsAre(HasSubstr("whole table 'orders': an index may spare it: ")));
  database_.execute(before.front().substr(before.front().find("create index")));
  EXPECT_THAT(advice(query), IsEmpty());
}

DAYBOOK_ON_EVERY_ENGINE(planned);

}  // namespace
}  // namespace conformance
