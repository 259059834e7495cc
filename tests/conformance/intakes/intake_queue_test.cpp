// Messages of a broker's queue: each once as long as its id is remembered, however often it comes.
#include "conformance/taking_in.hpp"

#include <string>

namespace conformance {
namespace {

class intake_of_queue : public taking_in {};

TEST_P(intake_of_queue, each_message_becomes_a_task_and_is_settled) {
  send(0, 2500);
  auto events = book_.make_queue("events");
  auto in = book_.make_intake("in", {.into = "events"});
  EXPECT_EQ(take_queue(in, briefly()).taken, 2500);
  EXPECT_EQ(broker_.left("q"), 0U);
  EXPECT_EQ(events.find(key("i17")).value().payload, "m17");
  EXPECT_EQ(drain(events), 2500);
}

TEST_P(intake_of_queue, what_comes_again_is_dropped) {
  send(0, 50);
  auto in = book_.make_intake("in", quick());
  broker_.lose_settlements(1);
  auto const report = take_queue(in);
  EXPECT_EQ(report.taken, 50);
  EXPECT_EQ(report.duplicates, 50);
  EXPECT_EQ(broker_.deliveries("q"), 100);
  send(10, 20);  // the producer sent them twice
  broker_.send("q", message(50));
  broker_.send("q", message(50));
  EXPECT_EQ(take_queue(in).taken, 1);
  expect_once(51);
  EXPECT_EQ(broker_.left("q"), 0U);
}

TEST_P(intake_of_queue, a_fault_anywhere_neither_loses_nor_doubles) {
  auto in = book_.make_intake("in", quick());
  int sent = 0;
  for (auto const action : {failpoint_action::fail, failpoint_action::cut}) {
    for (auto const* const place :
         {"taken", "begun", "effect_done", "before_commit", "committed", "settled"}) {
      auto const where = std::string("intake.") + place;
      send(sent, sent + 5);
      sent += 5;
      daybook::testing::arm(where, action);
      try {
        take_queue(in);
      } catch (daybook::error const& e) {
        EXPECT_EQ(e.kind(), error_code::internal) << e.what();
      }
      daybook::testing::disarm();
      take_queue(in);
      expect_once(sent, where);
      EXPECT_EQ(broker_.left("q"), 0U) << where;
    }
  }
}

TEST_P(intake_of_queue, a_settlement_that_fails_comes_again) {
  send(0, 5);
  auto in = book_.make_intake("in", quick());
  broker_.fail(memory_broker::call::settle);
  EXPECT_EQ(fault_of([&] { take_queue(in); }), error_code::unreachable);
  EXPECT_EQ(broker_.left("q"), 5U);
  EXPECT_EQ(take_queue(in).duplicates, 5);
  expect_once(5);
}

TEST_P(intake_of_queue, ids_are_remembered_for_so_long) {
  auto options = quick();
  options.remember = 1h;
  auto in = book_.make_intake("in", options);
  send(0, 1);
  take_queue(in);
  clock_.advance(59min);
  daybook::testing::renew(book_);
  send(0, 1);
  EXPECT_EQ(take_queue(in).duplicates, 1);
  clock_.advance(2min);
  daybook::testing::renew(book_);
  send(1, 2);
  take_queue(in);  // forgets those that are old
  EXPECT_EQ(rows_of("intake_seen"), "1");
  send(0, 1);
  EXPECT_EQ(take_queue(in).taken, 1);
}

TEST_P(intake_of_queue, what_has_no_name_is_put_aside_once) {
  auto in = book_.make_intake("in", quick());
  broker_.send("q", {.body = "nameless"});
  send(0, 2);
  broker_.send("q", {.id = std::string(300, 'x'), .body = "long"});
  broker_.lose_settlements(1);
  auto const report = take_queue(in);
  EXPECT_EQ(report.refused, 2);
  EXPECT_EQ(report.taken, 2);
  auto const aside = in.refused();
  ASSERT_EQ(aside.size(), 2U) << "also where they come again";
  EXPECT_EQ(aside[0].reason, "it has no id");
  EXPECT_EQ(aside[0].body, "nameless");
  EXPECT_NE(aside[1].reason.find("300 bytes"), std::string::npos) << aside[1].reason;
  EXPECT_TRUE(in.discard(aside[0].number, by_test()));
  EXPECT_FALSE(in.discard(aside[0].number, by_test()));
  EXPECT_EQ(in.info().refused, 1);
}

TEST_P(intake_of_queue, what_fails_again_and_again_is_put_aside_and_taken_later) {
  auto in = book_.make_intake("in", quick());
  send(0, 20);
  broker_.send("q", {.id = "poison", .key = {}, .body = "bad"});
  send(20, 30);
  auto const report = take_queue(in);
  EXPECT_EQ(report.taken, 30);
  EXPECT_EQ(report.refused, 1);
  expect_once(30);
  EXPECT_EQ(broker_.left("q"), 0U);
  auto const aside = in.refused();
  ASSERT_EQ(aside.size(), 1U);
  EXPECT_EQ(aside[0].id, "poison");
  EXPECT_EQ(aside[0].attempts, 3);
  EXPECT_EQ(aside[0].reason, "no such product");
  EXPECT_THROW(in.retry(aside[0].number, by_test(), insert_all), std::runtime_error);
  EXPECT_EQ(in.refused().size(), 1U);
  auto const mended = [](transaction& tx, messages all) {
    for (auto const& one : all) tx.exec("insert into effect(name) values (:n)", one.id);
  };
  EXPECT_TRUE(in.retry(aside[0].number, by_test(), mended));
  EXPECT_EQ(in.refused().size(), 0U);
  EXPECT_EQ(effects("poison"), "1");
  EXPECT_EQ(in.changes().at(0).action, "retry");
}

TEST_P(intake_of_queue, two_lanes_may_have_one_message) {
  auto options = quick();
  options.lanes = 2;
  auto in = book_.make_intake("in", options);
  send(0, 5);
  send(0, 5);
  auto how = by_body();
  how.lane = 1;
  EXPECT_EQ(take_queue(in).taken, 5);
  send(0, 6);
  EXPECT_EQ(take_queue(in, how).taken, 1);
  expect_once(6);
}

DAYBOOK_ON_EVERY_ENGINE(intake_of_queue);

}  // namespace
}  // namespace conformance
