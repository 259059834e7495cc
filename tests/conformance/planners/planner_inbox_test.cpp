// Inboxes: each event becomes one task, or ends with a reason; whoever throws, dies or is cut off.
#include "conformance/watching.hpp"

#include <daybook/planner.hpp>

#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace conformance {
namespace {

using daybook::candidate;
using daybook::check_decision;
using daybook::inbox_strategy;
using daybook::launch_rule;
using daybook::pass_report;
using daybook::planner;
using daybook::planner_options;
using daybook::task_state;

class inbox : public watching {
 protected:
  inbox()
      : events_(book_.make_queue("events", {.attempts = 2, .backoff = 10s})),
        fulfil_(book_.make_queue("fulfil", {.attempts = 1})) {}

  /// Events e<from> to e<to - 1>.
  void come(int from, int to) {
    std::vector<daybook::entry> all;
    for (int i = from; i < to; ++i) all.push_back({key("e" + std::to_string(i)), "paid"});
    EXPECT_EQ(events_.import(all).added, to - from);
  }
  planner make(planner_options of = {}) {
    of.queue = "fulfil";
    of.strategy = inbox_strategy{"events"};
    return book_.make_planner("orders", of);
  }
  static check_decision boom() { throw std::runtime_error("boom"); }
  [[nodiscard]] daybook::task_info event(std::string const& name) const {
    return events_.find(key(name)).value();
  }
  [[nodiscard]] std::int64_t tasks() const { return fulfil_.counts().members; }
  /// Of all events that ever came: each has one task, and is done.
  void expect_all_done(std::int64_t events, std::string const& where) const {
    auto const left = events_.counts();
    EXPECT_EQ(left.succeeded, events) << where;
    EXPECT_EQ(left.running, 0) << where;
    EXPECT_EQ(tasks(), events) << where;
    auto const total = [&](std::string const& what) {
      return database_.query("select coalesce(" + what + ", 0) from daybook_planned");
    };
    EXPECT_EQ(total("sum(launches)"), std::to_string(events)) << where;
    EXPECT_EQ(total("max(launches)"), "1") << where;
    expect_covered();
  }

  daybook::queue events_;
  daybook::queue fulfil_;
};

TEST_P(inbox, every_event_becomes_a_task) {
  come(0, 2500);
  auto plan = make();
  auto const sum = plan.pass();
  EXPECT_TRUE(sum.complete);
  EXPECT_EQ(sum.launched, 2500);
  EXPECT_EQ(sum.seen, 2500);
  EXPECT_EQ(fulfil_.find(key("e17")).value().payload, "paid");
  EXPECT_EQ(plan.pass().seen, 0);
  come(2500, 2503);
  EXPECT_EQ(plan.pass().launched, 3);
  expect_all_done(2503, "");
  EXPECT_LT(std::stoi(rows_of("segment")), 20) << "what ends together is one row";
  EXPECT_EQ(drain(fulfil_), 2503);
}

TEST_P(inbox, an_event_comes_with_its_producers_transaction) {
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_TRUE(run.step("sale", [&](transaction& tx) {
    tx.exec("insert into effect(name) values ('sale')");
    EXPECT_TRUE(events_.add(tx, key("sale")));
  }));
  EXPECT_THROW(static_cast<void>(run.step("no sale",
                                          [&](transaction& tx) {
                                            EXPECT_TRUE(events_.add(tx, key("no sale")));
                                            throw std::runtime_error("no money");
                                          })),
               std::runtime_error);
  EXPECT_EQ(make().pass().launched, 1);
  EXPECT_TRUE(fulfil_.find(key("sale")).has_value());
  EXPECT_FALSE(fulfil_.find(key("no sale")).has_value());
}

TEST_P(inbox, what_a_check_refuses_ends_with_the_reason) {
  come(0, 10);
  auto plan = make();
  auto const odd = [](transaction&, candidate& of) {
    return (of.key.str().back() - '0') % 2 == 1 ? check_decision::refuse("it is odd")
                                                : check_decision::launch();
  };
  auto const sum = plan.pass({.check = odd});
  EXPECT_EQ(sum.launched, 5);
  EXPECT_EQ(sum.refused, 5);
  EXPECT_EQ(event("e3").state, task_state::discarded);
  EXPECT_EQ(event("e3").remark, "it is odd");
  EXPECT_EQ(event("e4").state, task_state::succeeded);
  EXPECT_EQ(plan.refusals().size(), 5U);
  EXPECT_EQ(plan.refusals()[0].reason, "it is odd");
  EXPECT_EQ(plan.pass().seen, 0) << "it has been answered";
  EXPECT_TRUE(events_.retry(key("e3")));
  EXPECT_EQ(plan.pass().launched, 1) << "a person asked for it once more";
}

TEST_P(inbox, what_was_launched_before_is_not_again) {
  come(0, 3);
  auto plan = make();
  fulfil_.add(key("e2"), {.payload = "mine"});
  auto const first = plan.pass();
  EXPECT_EQ(first.launched, 2);
  EXPECT_EQ(first.present, 1);
  EXPECT_TRUE(events_.remove(key("e1")));
  EXPECT_TRUE(fulfil_.remove(key("e1")));
  EXPECT_TRUE(events_.add(key("e1"))) << "as a broker that delivers it once more";
  EXPECT_EQ(plan.pass().launched, 0);
  EXPECT_EQ(event("e1").state, task_state::succeeded);
  EXPECT_EQ(event("e1").remark, "its task was launched before");
  EXPECT_FALSE(fulfil_.find(key("e1")).has_value());
}

TEST_P(inbox, a_check_that_throws_stops_no_other_event) {
  come(0, 250);
  auto plan = make({.page = 100});
  auto const check = [](transaction& tx, candidate& of) {
    if (of.key.str() == "e7" || of.key.str() == "e8") return boom();
    if (of.key.str() == "e120") tx.exec("insert into nowhere values (1)");
    return check_decision::launch();
  };
  auto const sum = plan.pass({.check = check});
  EXPECT_EQ(sum.launched, 247);
  EXPECT_EQ(sum.failed, 3);
  EXPECT_EQ(sum.seen, 250);
  EXPECT_EQ(event("e7").state, task_state::waiting);
  EXPECT_EQ(event("e7").attempts, 1);
  EXPECT_NE(event("e7").remark.find("plan 'orders', key 'e7': its check threw: boom"),
            std::string::npos)
      << event("e7").remark;
  EXPECT_EQ(plan.pass({.check = check}).seen, 0) << "they wait";
  clock_.advance(1min);
  EXPECT_EQ(plan.pass({.check = check}).failed, 3);
  EXPECT_EQ(event("e120").state, task_state::dead);
  clock_.advance(1h);
  EXPECT_EQ(plan.pass({.check = check}).seen, 0) << "they wait for a person";
  EXPECT_EQ(events_.ask(task_state::dead, daybook::task_request::retry, {"anna", "it is mended"}),
            3);
  EXPECT_EQ(plan.pass().launched, 3);
  expect_all_done(250, "");
}

TEST_P(inbox, a_preview_takes_nothing) {
  come(0, 5);
  events_.add(key("later"), {.at = clock_.now() + 1h});
  auto plan = make();
  auto const check = [](transaction&, candidate& of) {
    if (of.key.str() == "e1") return boom();
    return of.key.str() == "e3" ? check_decision::refuse("three") : check_decision::launch();
  };
  auto const shown = plan.preview(100, check);
  ASSERT_EQ(shown.size(), 5U);
  EXPECT_TRUE(shown[0].launched);
  EXPECT_FALSE(shown[1].launched);
  EXPECT_NE(shown[1].reason.find("boom"), std::string::npos);
  EXPECT_EQ(shown[3].reason, "three");
  EXPECT_EQ(plan.preview(2).size(), 2U);
  EXPECT_EQ(tasks(), 0);
  EXPECT_EQ(events_.counts().due, 5);
  EXPECT_EQ(event("e1").attempts, 0);
  EXPECT_TRUE(plan.refusals().empty());
}

TEST_P(inbox, a_planner_that_dies_leaves_what_it_held_to_the_next) {
  come(0, 30);
  auto plan = make({.page = 10});
  auto other = database_.open(support::fresh_database::manual());
  auto theirs = other.planner("orders").value();
  pass_report taken;
  auto const dies = [&] {
    if (taken.ran) return;
    daybook::testing::expire(book_, process("plan orders"));
    taken = theirs.pass();
  };
  // Where there is one writer, nobody is faster than a page that was begun.
  auto const in_a_page = [&](transaction&, candidate& of) {
    if (of.key.str() == "e15" && !on_sqlite()) dies();
    return check_decision::launch();
  };
  auto const between_pages = [&](pass_report const& so_far) {
    if (so_far.seen == 20) dies();
  };
  auto const pass = [&] { plan.pass({.check = in_a_page, .on_progress = between_pages}); };
  EXPECT_NE(message_of(pass).find("taken over by another"), std::string::npos);
  EXPECT_EQ(taken.launched, on_sqlite() ? 10 : 20) << "what it had in hand among them";
  expect_all_done(30, "");
}

TEST_P(inbox, a_page_whose_events_are_anothers_by_now_is_undone) {
  come(0, 30);
  auto plan = make({.page = 10});
  auto other = database_.open(support::fresh_database::manual());
  auto theirs = other.queue("events").value();
  int performed = 0;
  auto const take = [&](transaction&, candidate& of) {
    if (of.key.str() != "e15" || performed > 0 || on_sqlite()) return check_decision::launch();
    // Nobody has taken over the run: what stops the page is that its claim is gone.
    daybook::testing::expire(book_, process("plan orders"));
    theirs.reclaim();
    while (auto batch = theirs.claim({.quarantined = true})) {
      EXPECT_EQ(batch->perform(batch->tasks()[0], insert("taken")), outcome::done);
      ++performed;
    }
    return check_decision::launch();
  };
  try {
    plan.pass({.check = take});
  } catch (daybook::error const&) {
    EXPECT_FALSE(on_sqlite()) << "one writer: nobody takes a page's events while it goes on";
  }
  static_cast<void>(plan.pass());
  EXPECT_EQ(performed, on_sqlite() ? 0 : 10);
  EXPECT_EQ(effects("taken"), std::to_string(performed));
  EXPECT_EQ(tasks(), 30 - performed) << "an event is either launched or performed";
  EXPECT_EQ(events_.counts().succeeded, 30);
  expect_covered();
}

TEST_P(inbox, consumers_and_a_planner_share_the_events) {
  come(0, 60);
  auto plan = make({.page = 10});
  auto theirs = database_.open(support::fresh_database::manual()).queue("events");
  int performed = 0;
  auto const sum = plan.pass({.on_progress = [&](pass_report const&) {
    auto batch = events_.claim({.limit = 5});
    if (!batch) return;
    for (auto const& one : batch->tasks()) {
      EXPECT_EQ(batch->perform(one,
                               [&](transaction& tx) {
                                 tx.exec("insert into effect(name) values (:n)",
                                         std::string_view(one.key));
                               }),
                outcome::done);
      ++performed;
    }
  }});
  EXPECT_GT(performed, 0);
  EXPECT_EQ(sum.launched + performed, 60);
  EXPECT_EQ(tasks(), sum.launched);
  EXPECT_EQ(database_.query("select count(distinct name) from effect"), std::to_string(performed));
  EXPECT_EQ(events_.counts().succeeded, 60);
}

TEST_P(inbox, wherever_a_pass_is_cut_off_no_event_is_lost_or_doubled) {
  auto plan = make({.page = 10});
  int events = 0;
  int interrupted = 0;
  for (auto const* place :
       {"claim.begun", "claim.before_commit", "claim.committed", "claim.taken", "block.committed",
        "step.begun", "step.effect_done", "step.before_commit", "step.committed", "complete.begun",
        "complete.before_commit", "complete.committed"}) {
    for (auto const action : {failpoint_action::cut, failpoint_action::fail}) {
      // Nothing fails between a commit and its caller but the connection.
      bool const after = std::string_view(place).ends_with("committed");
      if (action == failpoint_action::fail && after) continue;
      for (unsigned skip = 0; skip < 2; ++skip) {
        come(events, events + 25);
        events += 25;
        daybook::testing::arm(place, action, skip);
        for (int i = 0; i < 20 && (events_.counts().succeeded < events || i == 0); ++i) {
          try {
            plan.pass();
          } catch (daybook::error const&) {
            ++interrupted;
          }
          daybook::testing::disarm();
        }
        expect_all_done(events, std::string(place) + " " + std::to_string(skip));
      }
    }
  }
  std::cout << "[ inbox    ] " << events << " events, " << tasks() << " tasks, " << interrupted
            << " passes that ended early\n";
}

TEST_P(inbox, what_a_declaration_may_not_be) {
  auto const fails = [&](std::string const& from, std::string const& with) {
    try {
      planner_options of{.queue = "fulfil", .strategy = inbox_strategy{from}};
      book_.make_planner("p", of);
      ADD_FAILURE() << with;
    } catch (daybook::error const& e) {
      EXPECT_EQ(e.kind(), error_code::bad_argument) << e.what();
      EXPECT_NE(std::string(e.what()).find(with), std::string::npos) << e.what();
    }
  };
  fails("", "which queue has its events");
  fails("none", "there is no queue 'none'");
  fails("fulfil", "into which their tasks would go");
  book_.make_queue("rolling", {.period = 24h});
  fails("rolling", "has a period");
}

DAYBOOK_ON_EVERY_ENGINE(inbox);

}  // namespace
}  // namespace conformance
