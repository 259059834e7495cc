// What the suites of intakes share: a broker in memory, a body that leaves a row for each message,
// and sources that do something between a message's delivery and its commit.
#pragma once

#include "conformance/watching.hpp"

#include <daybook/memory_broker.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace conformance {

using daybook::intake;
using daybook::intake_options;
using daybook::intake_state;
using daybook::message_identity;
using daybook::take_options;
using daybook::take_report;
using daybook::testing::memory_broker;
using messages = std::span<daybook::broker::message const>;

/// Calls a function when messages were taken, and are not committed.
class watched_log final : public daybook::broker::log {
 public:
  watched_log(std::unique_ptr<daybook::broker::log> inside, std::function<void()> taken)
      : inside_(std::move(inside)), taken_(std::move(taken)) {}
  std::vector<daybook::broker::log_extent> extents() override { return inside_->extents(); }
  void read_from(std::span<daybook::broker::log_place const> places) override {
    inside_->read_from(places);
  }
  messages take(daybook::broker::page_request const& request,
                std::stop_token const& stop) override {
    auto const out = inside_->take(request, stop);
    if (!out.empty() && taken_) std::exchange(taken_, {})();
    return out;
  }
  void report(std::span<daybook::broker::log_place const> places) noexcept override {
    inside_->report(places);
  }

 private:
  std::unique_ptr<daybook::broker::log> inside_;
  std::function<void()> taken_;
};

class taking_in : public watching {
 protected:
  taking_in() : other_(database_.open()) {}

  /// A body that leaves a row with the message's text.
  static void insert_all(transaction& tx, messages all) {
    for (auto const& one : all) {
      if (one.body == "bad") throw std::runtime_error("no such product");
      tx.exec("insert into effect(name) values (:n)", one.body);
    }
  }
  static take_options by_body() { return {.body = insert_all, .wait = 20ms}; }
  static take_options briefly() { return {.wait = 20ms}; }
  static intake_options quick() { return {.attempts = 3, .backoff = 1ms, .gather = 0ms}; }

  /// Messages m<from> to m<to - 1>, with ids i<n>.
  void send(int from, int to) {
    for (int i = from; i < to; ++i) broker_.send("q", message(i));
  }
  void append(int from, int to, int partition = 0) {
    for (int i = from; i < to; ++i) broker_.append("t", message(i), partition);
  }
  static daybook::testing::sent_message message(int number) {
    auto const n = std::to_string(number);
    return {.id = "i" + n, .key = "k" + n, .body = "m" + n};
  }
  take_report take_log(intake& from, take_options const& how = by_body()) {
    auto const source = broker_.log("t")();
    return from.take_from(*source, how);
  }
  take_report take_queue(intake& from, take_options const& how = by_body()) {
    auto const source = broker_.queue("q")();
    return from.take_from(*source, how);
  }
  /// m0 to m<count - 1> had their effect, each once.
  void expect_once(int count, std::string const& where = "") const {
    auto const n = std::to_string(count);
    EXPECT_EQ(database_.query("select count(*) from effect"), n) << where;
    EXPECT_EQ(database_.query("select count(distinct name) from effect"), n) << where << " doubled";
  }
  static daybook::audit_note by_test() { return {.actor = "test", .reason = "because"}; }

  daybook::book other_;
  memory_broker broker_;
};

}  // namespace conformance
