// daybook-amqp before a real RabbitMQ: queues and streams, into a book of each engine.
#include "brokers/rabbit.hpp"
#include "conformance/taking_in.hpp"
#include "conformance/waiting.hpp"

#include <daybook/amqp.hpp>
#include <daybook/node.hpp>

#include <string>

#include <unistd.h>

namespace conformance {
namespace {

using brokers::rabbit;

class amqp : public taking_in {
 protected:
  ~amqp() override {
    if (made_) rabbit_.remove(name_);
  }
  void declare(char const* type) {
    rabbit_.declare(name_, type);
    made_ = true;
  }
  void publish(int from, int to) {
    for (int i = from; i < to; ++i) {
      rabbit_.publish(name_, "i" + std::to_string(i), "m" + std::to_string(i));
    }
  }
  [[nodiscard]] auto queue() const { return daybook::amqp::queue_at(rabbit::url(), name_); }
  [[nodiscard]] auto stream() const { return daybook::amqp::stream_at(rabbit::url(), name_); }
  static take_options patiently() { return {.body = insert_all, .wait = 1s}; }

  rabbit rabbit_;
  std::string name_ =
      "test-" + std::to_string(::getpid()) + "-" + std::to_string(++number_of_tests);
  bool made_ = false;

 private:
  static inline int number_of_tests = 0;
};

TEST_P(amqp, messages_of_a_quorum_queue_are_taken_once_and_settled) {
  declare("quorum");
  publish(0, 50);
  auto in = book_.make_intake("in", {.page = 20});
  EXPECT_EQ(in.take_from(*queue()(), patiently()).taken, 50);
  expect_once(50);
  EXPECT_TRUE(comes_true([&] { return rabbit_.ready(name_) == 0; }));
  EXPECT_EQ(in.take_from(*queue()(), patiently()).taken, 0);
}

TEST_P(amqp, fields_of_a_message_come_as_they_are) {
  declare("quorum");
  rabbit_.publish(name_, "id", std::string(300'000, 'x'));
  auto const source = queue()();
  auto const all = source->take({.wait = 10s}, {});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].topic, name_);
  EXPECT_EQ(all[0].position, -1);
  EXPECT_EQ(all[0].id, "id");
  EXPECT_EQ(all[0].key, name_);
  EXPECT_EQ(all[0].body, std::string(300'000, 'x'));
  ASSERT_EQ(all[0].headers.size(), 1U);
  EXPECT_EQ(all[0].headers[0].name, "kind");
  EXPECT_EQ(all[0].headers[0].value, "test");
  EXPECT_FALSE(all[0].redelivered);
  source->give_back();
  auto const again = source->take({.wait = 10s}, {});
  ASSERT_EQ(again.size(), 1U);
  EXPECT_TRUE(again[0].redelivered);
}

TEST_P(amqp, what_was_committed_and_not_settled_is_dropped_when_it_comes_again) {
  declare("quorum");
  publish(0, 30);
  auto in = book_.make_intake("in", quick());
  daybook::testing::arm("intake.committed", failpoint_action::fail);
  EXPECT_EQ(fault_of([&] { in.take_from(*queue()(), patiently()); }), error_code::internal);
  daybook::testing::disarm();
  auto const report = in.take_from(*queue()(), patiently());
  EXPECT_GT(report.duplicates, 0);
  expect_once(30);
}

TEST_P(amqp, a_stream_is_read_from_the_place_in_the_book) {
  declare("stream");
  publish(0, 30);
  auto in = book_.make_intake("in", {.page = 7, .gather = 0ms});
  EXPECT_EQ(in.take_from(*stream()(), patiently()).taken, 30);
  publish(30, 40);
  EXPECT_EQ(in.take_from(*stream()(), patiently()).taken, 10);
  expect_once(40);
  EXPECT_EQ(in.info().places.at(0).next, 40);
  EXPECT_EQ(in.take_from(*stream()(), patiently()).taken, 0);
}

TEST_P(amqp, a_stream_that_was_made_anew_is_noticed) {
  declare("stream");
  publish(0, 5);
  auto in = book_.make_intake("in", quick());
  in.take_from(*stream()(), patiently());
  rabbit_.remove(name_);
  declare("stream");
  publish(100, 107);
  auto const report = in.take_from(*stream()(), patiently());
  EXPECT_EQ(report.state, intake_state::stopped);
  EXPECT_NE(report.error.find("made anew"), std::string::npos) << report.error;
  expect_once(5);
}

TEST_P(amqp, an_intake_may_begin_at_the_end_of_a_stream) {
  declare("stream");
  publish(0, 5);
  auto options = quick();
  options.begin = daybook::log_begin::end;
  auto in = book_.make_intake("in", options);
  EXPECT_EQ(in.take_from(*stream()(), patiently()).taken, 0);
  publish(5, 8);
  EXPECT_EQ(in.take_from(*stream()(), patiently()).taken, 3);
}

TEST_P(amqp, a_node_takes_them_as_they_come) {
  declare("quorum");
  book_.make_intake("in", quick());
  daybook::node node(book_, {.poll = 100ms});
  node.take_in("in", queue(), insert_all);
  node.start();
  publish(0, 40);
  EXPECT_TRUE(comes_true([&] { return database_.query("select count(*) from effect") == "40"; }));
  node.stop();
  expect_once(40);
}

TEST_P(amqp, faults_say_what_is_wrong_and_no_password) {
  auto const of = [](auto const& factory) {
    return std::pair(fault_of([&] { static_cast<void>(factory()); }),
                     message_of([&] { static_cast<void>(factory()); }));
  };
  auto const [missing, why] = of(queue());
  EXPECT_EQ(missing, error_code::configuration);
  EXPECT_NE(why.find("no queue '" + name_), std::string::npos) << why;
  auto const [refused, because] =
      of(daybook::amqp::queue_at(rabbit::url(), name_, {.password = "sesame-wrong"}));
  EXPECT_EQ(refused, error_code::not_permitted);
  EXPECT_EQ(because.find("sesame"), std::string::npos) << because;
  auto const [away, how] = of(daybook::amqp::queue_at("amqp://u:sesame@127.0.0.1:1/v", name_));
  EXPECT_EQ(away, error_code::unreachable);
  EXPECT_EQ(how.find("sesame"), std::string::npos) << how;
  EXPECT_EQ(fault_of([&] { static_cast<void>(daybook::amqp::queue_at("http://x", name_)); }),
            error_code::bad_argument);
}

TEST_P(amqp, a_queue_that_is_deleted_ends_its_consumer) {
  declare("quorum");
  auto const source = queue()();
  rabbit_.remove(name_);
  made_ = false;
  EXPECT_EQ(fault_of([&] { static_cast<void>(source->take({.wait = 10s}, {})); }),
            error_code::configuration);
}

TEST_P(amqp, a_queue_is_no_stream) {
  declare("quorum");
  publish(0, 1);
  auto const source = stream()();
  EXPECT_EQ(fault_of([&] { static_cast<void>(source->extents()); }), error_code::configuration);
}

DAYBOOK_ON_EVERY_ENGINE(amqp);

}  // namespace
}  // namespace conformance
