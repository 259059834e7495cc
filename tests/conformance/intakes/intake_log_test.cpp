// Messages of a log: each once, whoever dies, stalls or moves the place; and what a log does that
// was cut, grew or was made anew.
#include "conformance/taking_in.hpp"
#include "intake/store.hpp"

#include <set>
#include <string>
#include <vector>

namespace conformance {
namespace {

class intake_of_log : public taking_in {};

TEST_P(intake_of_log, each_message_becomes_a_task) {
  broker_.make_log("t", 3);
  for (int i = 0; i < 2500; ++i) broker_.append("t", message(i), i % 3);
  auto events = book_.make_queue("events");
  auto in = book_.make_intake("in", {.into = "events"});
  auto const report = take_log(in, briefly());
  EXPECT_TRUE(report.ran);
  EXPECT_EQ(report.taken, 2500);
  EXPECT_EQ(events.find(key("i17")).value().payload, "m17");
  EXPECT_EQ(take_log(in, briefly()).taken, 0);
  append(2500, 2503);
  EXPECT_EQ(take_log(in, briefly()).taken, 3);
  EXPECT_EQ(drain(events), 2503);
  auto const info = in.info();
  ASSERT_EQ(info.places.size(), 3U);
  EXPECT_EQ(info.places[0].next, 837);
  EXPECT_EQ(info.places[0].taken, 837);
  EXPECT_EQ(broker_.reported("t", 0), 837);
}

TEST_P(intake_of_log, a_body_writes_in_the_transaction_of_the_place) {
  append(0, 100);
  auto in = book_.make_intake("in", quick());
  EXPECT_EQ(take_log(in).taken, 100);
  expect_once(100);
  EXPECT_EQ(in.info().places.at(0).next, 100);
}

TEST_P(intake_of_log, a_fault_anywhere_neither_loses_nor_doubles) {
  auto in = book_.make_intake("in", quick());
  int sent = 0;
  for (auto const action : {failpoint_action::fail, failpoint_action::cut}) {
    for (auto const* const place :
         {"taken", "begun", "effect_done", "before_commit", "committed", "settled"}) {
      auto const where = std::string("intake.") + place;
      append(sent, sent + 5);
      sent += 5;
      // The places of a first look are a transaction, too.
      daybook::testing::arm(where, action, sent == 5 && *place != 't' && *place != 's' ? 1 : 0);
      try {
        take_log(in);
      } catch (daybook::error const& e) {
        EXPECT_EQ(e.kind(), error_code::internal) << e.what();
      }
      daybook::testing::disarm();
      take_log(in);
      expect_once(sent, where);
      EXPECT_EQ(in.info().places.at(0).next, sent) << where;
    }
  }
}

TEST_P(intake_of_log, who_was_taken_for_dead_with_messages_in_hand_writes_nothing) {
  append(0, 20);
  auto in = book_.make_intake("in", quick());
  auto heir = other_.intake("in").value();
  watched_log late(broker_.log("t")(), [&] {
    EXPECT_TRUE(daybook::testing::expire(book_, process("intake in"), key("0")));
    EXPECT_EQ(take_log(heir).taken, 20);
  });
  EXPECT_EQ(fault_of([&] { in.take_from(late, by_body()); }), error_code::conflict);
  expect_once(20);
}

TEST_P(intake_of_log, one_process_takes_a_lane_at_a_time) {
  append(0, 5);
  auto in = book_.make_intake("in", quick());
  auto other = other_.intake("in").value();
  watched_log here(broker_.log("t")(), [&] {
    auto const report = take_log(other);
    EXPECT_FALSE(report.ran);
    EXPECT_TRUE(report.holder);
  });
  EXPECT_EQ(in.take_from(here, by_body()).taken, 5);
}

// A broker's queue would deliver to it, and count that as a delivery that failed.
TEST_P(intake_of_log, who_may_not_take_opens_no_source) {
  append(0, 5);
  auto in = book_.make_intake("in", quick());
  auto other = other_.intake("in").value();
  watched_log here(broker_.log("t")(), [&] {
    broker_.fail(memory_broker::call::open);
    EXPECT_FALSE(other.internals().take_from(broker_.log("t"), by_body()).ran);
  });
  EXPECT_EQ(in.take_from(here, by_body()).taken, 5);
  EXPECT_EQ(fault_of([&] { other.internals().take_from(broker_.log("t"), by_body()); }),
            error_code::unreachable);
  EXPECT_EQ(other.internals().take_from(broker_.log("t"), by_body()).taken, 0);
}

TEST_P(intake_of_log, a_place_that_a_person_moves_is_read_again) {
  append(0, 20);
  auto in = book_.make_intake("in", quick());
  watched_log here(broker_.log("t")(), [&] {
    EXPECT_TRUE(in.move({"t", 0, 15}, by_test()));
    EXPECT_FALSE(in.move({"t", 7, 15}, by_test()));
  });
  EXPECT_EQ(in.take_from(here, by_body()).taken, 5);
  expect_once(5);
  EXPECT_EQ(in.changes().at(0).action, "move");
}

TEST_P(intake_of_log, a_log_that_was_made_anew_is_noticed) {
  append(0, 5);
  auto in = book_.make_intake("in", quick());
  EXPECT_EQ(take_log(in).taken, 5);
  broker_.make_anew("t");
  append(100, 107);
  auto const report = take_log(in);
  EXPECT_EQ(report.state, intake_state::stopped);
  EXPECT_NE(report.error.find("made anew"), std::string::npos) << report.error;
  EXPECT_FALSE(take_log(in).ran) << "until a person resumes it";
  expect_once(5);
  EXPECT_TRUE(in.move({"t", 0, 0}, by_test()));
  EXPECT_TRUE(in.resume(by_test()));
  EXPECT_EQ(take_log(in).taken, 7);
}

TEST_P(intake_of_log, a_log_that_ends_before_the_place_is_noticed) {
  append(0, 5);
  auto in = book_.make_intake("in", quick());
  EXPECT_EQ(take_log(in).taken, 5);
  broker_.make_anew("t");
  append(5, 7);
  auto const report = take_log(in);
  EXPECT_EQ(report.state, intake_state::stopped);
  EXPECT_NE(report.error.find("ends at 2"), std::string::npos) << report.error;
  expect_once(5);
}

// The broker keeps the newest message of each key only.
TEST_P(intake_of_log, an_anchor_that_was_compacted_says_nothing) {
  append(0, 5);
  auto in = book_.make_intake("in", quick());
  take_log(in);
  append(5, 8);
  broker_.compact("t", 0, 4);
  EXPECT_EQ(take_log(in).taken, 3);
  expect_once(8);
}

TEST_P(intake_of_log, messages_that_are_gone_stop_it) {
  append(0, 5);
  auto in = book_.make_intake("in", quick());
  take_log(in);
  append(5, 15);
  broker_.drop_before("t", 0, 8);
  auto const report = take_log(in);
  EXPECT_EQ(report.state, intake_state::stopped);
  EXPECT_NE(report.error.find("3 messages of t/0"), std::string::npos) << report.error;
  expect_once(5);
  auto options = quick();
  options.on_gap = daybook::gap_policy::skip;
  in = book_.make_intake("in", options);
  EXPECT_TRUE(in.resume(by_test()));
  EXPECT_EQ(take_log(in).skipped, 3);
  expect_once(12);
  EXPECT_EQ(in.info().places.at(0).skipped, 3);
}

TEST_P(intake_of_log, it_may_begin_at_the_end) {
  append(0, 5);
  auto options = quick();
  options.begin = daybook::log_begin::end;
  auto in = book_.make_intake("in", options);
  EXPECT_EQ(take_log(in).taken, 0);
  append(5, 7);
  EXPECT_EQ(take_log(in).taken, 2);
}

TEST_P(intake_of_log, a_new_partition_is_read_from_its_beginning) {
  append(0, 5);
  auto options = quick();
  options.begin = daybook::log_begin::end;
  auto in = book_.make_intake("in", options);
  take_log(in);
  broker_.add_partition("t");
  append(5, 8, 1);
  EXPECT_EQ(take_log(in).taken, 3);
}

TEST_P(intake_of_log, lanes_share_the_partitions) {
  broker_.make_log("t", 4);
  for (int i = 0; i < 40; ++i) broker_.append("t", message(i), i % 4);
  auto options = quick();
  options.lanes = 2;
  auto in = book_.make_intake("in", options);
  auto how = by_body();
  how.lane = 1;
  EXPECT_EQ(take_log(in, how).taken, 20);
  EXPECT_EQ(take_log(in).taken, 20);
  expect_once(40);
  how.lane = 2;
  EXPECT_EQ(fault_of([&] { take_log(in, how); }), error_code::bad_argument);
}

TEST_P(intake_of_log, members_come_and_go) {
  auto stock = book_.make_queue("stock", {.period = 240h});
  stock.add(key("old"), {.payload = "1"});
  auto in = book_.make_intake(
      "in", {.members = "stock", .id = {message_identity::from::key, ""}, .gather = 0ms});
  auto const says = [&](std::string key, std::string body) {
    broker_.append("t", {.id = {}, .key = std::move(key), .body = std::move(body)});
  };
  says("a", "1");
  says("b", "1");
  says("a", "2");
  says("b", "");
  says("old", "2");
  says("c", "");
  says("d", "");
  says("d", "1");
  EXPECT_EQ(take_log(in, briefly()).taken, 8);
  EXPECT_EQ(members(), (set{"a", "d", "old"}));
  EXPECT_EQ(stock.find(key("a")).value().payload, "2");
  EXPECT_EQ(stock.find(key("old")).value().payload, "2");
  says("a", "");
  says("b", "5");
  take_log(in, briefly());
  EXPECT_EQ(members(), (set{"b", "d", "old"}));
  expect_covered();
}

TEST_P(intake_of_log, the_broker_is_never_called_within_a_transaction) {
  append(0, 30);
  auto in = book_.make_intake("in", quick());
  // Where there is one writer, this would wait for the transaction that waits for it.
  broker_.on_call([&](memory_broker::call) {
    other_.transact([](transaction& tx) { tx.exec("insert into product(code) values ('x')"); });
    other_.transact([](transaction& tx) { tx.exec("delete from product"); });
  });
  EXPECT_EQ(take_log(in).taken, 30);
  expect_once(30);
}

DAYBOOK_ON_EVERY_ENGINE(intake_of_log);

}  // namespace
}  // namespace conformance
