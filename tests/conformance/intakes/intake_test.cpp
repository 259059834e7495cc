// How intakes are declared, what they put aside, when they stop, and nodes that serve them.
#include "conformance/taking_in.hpp"
#include "conformance/waiting.hpp"

#include <daybook/node.hpp>

#include <string>
#include <vector>

namespace conformance {
namespace {

using daybook::failure_policy;

class intakes_of_all : public taking_in {};

TEST_P(intakes_of_all, a_declaration_is_kept_as_it_is) {
  book_.make_queue("events");
  intake_options const all{.into = "events",
                           .members = {},
                           .id = {message_identity::from::header, "x-id"},
                           .payload = daybook::payload_form::base64,
                           .begin = daybook::log_begin::end,
                           .on_gap = daybook::gap_policy::skip,
                           .on_error = failure_policy::refuse,
                           .attempts = 7,
                           .backoff = 12ms,
                           .refused_limit = 13,
                           .page = 14,
                           .page_bytes = 1 << 20,
                           .gather = 15ms,
                           .lanes = 3,
                           .remember = 2h};
  book_.make_intake("in", all);
  EXPECT_TRUE(other_.intake("in").value().options() == all);
  auto const other = intake_options{.members = "events"};
  book_.make_intake("in", other);
  EXPECT_TRUE(other_.intake("in").value().options() == other);
  EXPECT_EQ(book_.intakes(), std::vector<std::string>{"in"});
  EXPECT_FALSE(book_.intake("none"));
}

TEST_P(intakes_of_all, a_declaration_that_cannot_be_is_refused) {
  book_.make_queue("rolling", {.period = 24h});
  auto const why = [&](intake_options const& options) {
    return message_of([&] { book_.make_intake("in", options); });
  };
  EXPECT_NE(why({.into = "none"}).find("there is no queue 'none'"), std::string::npos);
  EXPECT_NE(why({.into = "rolling"}).find("has a period"), std::string::npos);
  EXPECT_NE(why({.into = "a", .members = "b"}).find("not both"), std::string::npos);
  EXPECT_NE(why({.id = {message_identity::from::header, ""}}).find("id.name"), std::string::npos);
  EXPECT_NE(why({.page = 0}).find("the page"), std::string::npos);
  auto in = book_.make_intake("in", quick());
  EXPECT_NE(message_of([&] { take_log(in, briefly()); }).find("there is no body"),
            std::string::npos);
}

TEST_P(intakes_of_all, a_text_that_is_none_is_put_aside_or_coded) {
  auto events = book_.make_queue("events");
  auto in = book_.make_intake("in", {.into = "events", .gather = 0ms});
  broker_.append("t", {.id = "1", .key = {}, .body = "\xff\xfe"});
  broker_.append("t", {.id = "2", .key = {}, .body = std::string("a\0b", 3)});
  broker_.append("t", {.id = "3", .key = {}, .body = "fine"});
  auto const report = take_log(in, briefly());
  EXPECT_EQ(report.taken, 1);
  EXPECT_EQ(report.refused, 2);
  EXPECT_EQ(in.info().places.at(0).refused, 2);
  auto const aside = in.refused();
  ASSERT_EQ(aside.size(), 2U);
  EXPECT_EQ(aside[0].body, "\xff\xfe");
  EXPECT_EQ(aside[1].position, 1);
  EXPECT_EQ(fault_of([&] { in.retry(aside[0].number, by_test()); }), error_code::bad_argument);
  in = book_.make_intake("in", {.into = "events", .payload = daybook::payload_form::base64});
  EXPECT_TRUE(in.retry(aside[0].number, by_test()));
  EXPECT_EQ(events.find(key("1")).value().payload, "//4=");
}

TEST_P(intakes_of_all, names_come_from_where_it_is_said) {
  auto events = book_.make_queue("events");
  daybook::testing::sent_message const message{
      .id = "id", .key = "key", .body = "b", .headers = {{"x", "no"}, {"name", "header"}}};
  using from = message_identity::from;
  std::vector<std::pair<message_identity, std::string>> const all{
      {{from::id, ""}, "id"},
      {{from::key, ""}, "key"},
      {{from::position, ""}, "t/0/2"},
      {{from::header, "name"}, "header"}};
  for (auto const& [identity, name] : all) {
    auto in = book_.make_intake("in", {.into = "events", .id = identity, .gather = 0ms});
    broker_.append("t", message);
    EXPECT_EQ(take_log(in, briefly()).taken, 1);
    EXPECT_TRUE(events.find(key(name))) << name;
  }
  auto in = book_.make_intake("in", {.into = "events", .id = {from::digest, ""}, .gather = 0ms});
  broker_.append("t", message);
  broker_.append("t", message);
  take_log(in, briefly());
  EXPECT_EQ(events.counts().members, 5) << "two equal messages are one";
}

TEST_P(intakes_of_all, what_is_put_aside_is_so_with_the_place) {
  book_.make_queue("events");
  auto in = book_.make_intake("in", {.into = "events", .gather = 0ms});
  broker_.append("t", {.id = {}, .key = {}, .body = "nameless"});
  daybook::testing::arm("intake.effect_done", failpoint_action::fail);
  EXPECT_EQ(fault_of([&] { take_log(in, briefly()); }), error_code::internal);
  daybook::testing::disarm();
  take_log(in, briefly());
  EXPECT_EQ(in.refused().size(), 1U);
}

TEST_P(intakes_of_all, too_many_put_aside_stop_it) {
  auto options = quick();
  options.refused_limit = 2;
  options.page = 1;
  options.into = "events";
  book_.make_queue("events");
  auto in = book_.make_intake("in", options);
  for (int i = 0; i < 5; ++i) broker_.append("t", {.id = {}, .key = {}, .body = "nameless"});
  auto const report = take_log(in, briefly());
  EXPECT_EQ(report.state, intake_state::stopped);
  EXPECT_NE(report.error.find("refused_limit"), std::string::npos) << report.error;
  EXPECT_EQ(in.info().refused, 3);
  EXPECT_EQ(in.info().places.at(0).next, 3);
  EXPECT_EQ(in.info().error, report.error);
}

TEST_P(intakes_of_all, what_fails_again_and_again_stops_a_log_in_front_of_it) {
  append(0, 5);
  broker_.append("t", {.id = "poison", .key = {}, .body = "bad"});
  append(5, 8);
  auto in = book_.make_intake("in", quick());
  auto const report = take_log(in);
  EXPECT_EQ(report.taken, 5);
  EXPECT_EQ(report.state, intake_state::stopped);
  EXPECT_NE(report.error.find("t/0 at 5 with id poison failed 3 times: no such product"),
            std::string::npos)
      << report.error;
  EXPECT_EQ(book_.find(process("intake in"), key("0")).value().info.state, run_state::failed);
  auto options = quick();
  options.on_error = failure_policy::refuse;
  in = book_.make_intake("in", options);
  EXPECT_TRUE(in.resume(by_test()));
  EXPECT_EQ(take_log(in).taken, 3);
  expect_once(8);
  EXPECT_EQ(in.refused().at(0).attempts, 3);
}

TEST_P(intakes_of_all, a_pause_holds_it_back) {
  append(0, 5);
  auto in = book_.make_intake("in", quick());
  EXPECT_TRUE(in.pause(by_test()));
  EXPECT_FALSE(in.pause(by_test()));
  auto const report = take_log(in);
  EXPECT_FALSE(report.ran);
  EXPECT_EQ(report.state, intake_state::paused);
  EXPECT_TRUE(in.resume(by_test()));
  EXPECT_EQ(take_log(in).taken, 5);
}

TEST_P(intakes_of_all, a_node_takes_them_as_they_come) {
  auto options = quick();
  options.lanes = 2;
  book_.make_intake("log", options);
  book_.make_intake("queue", quick());
  broker_.make_log("t", 2);
  broker_.fail(memory_broker::call::open);
  broker_.fail(memory_broker::call::take);
  broker_.fail(memory_broker::call::settle);
  daybook::node node(book_, {.poll = 20ms});
  node.take_in("log", broker_.log("t"), insert_all);
  node.take_in("queue", broker_.queue("q"), insert_all);
  EXPECT_EQ(fault_of([&] { node.take_in("none", broker_.log("t"), insert_all); }),
            error_code::bad_argument);
  EXPECT_EQ(fault_of([&] { node.take_in("log", broker_.log("t")); }), error_code::bad_argument);
  node.start();
  for (int i = 0; i < 50; ++i) {
    broker_.append("t", message(i), i % 2);
    broker_.send("q", message(i + 50));
  }
  EXPECT_TRUE(comes_true([&] { return database_.query("select count(*) from effect") == "100"; }));
  node.stop();
  expect_once(100);
  EXPECT_GE(log_.count("retried intake"), 3U);
}

TEST_P(intakes_of_all, a_node_drains_them) {
  append(0, 5);
  book_.make_intake("log", quick());
  daybook::node node(book_);
  node.take_in("log", broker_.log("t"), insert_all);
  EXPECT_EQ(node.drain(), 5);
  expect_once(5);
}

DAYBOOK_ON_EVERY_ENGINE(intakes_of_all);

}  // namespace
}  // namespace conformance
