// The verbs of runs, over every engine: start, step, finish, fail, resume, take over.
#include "support/engines.hpp"

#include <daybook/daybook.hpp>
#include <daybook/testing.hpp>

#include <chrono>

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using daybook::key;
using daybook::outcome;
using daybook::process;
using daybook::run_state;
using daybook::start_refusal;

class runs : public testing::TestWithParam<support::engine> {
 protected:
  runs() : database_(GetParam()), book_(database_.open()) {
    database_.execute("create table effect(name varchar(40) not null)");
  }
  [[nodiscard]] std::string effects(std::string const& name) const {
    return database_.query("select count(*) from effect where name = '" + name + "'");
  }
  static daybook::run taken(daybook::start_result attempt) {
    EXPECT_TRUE(attempt);
    return std::move(attempt).take();
  }

  support::fresh_database database_;
  daybook::book book_;
  process const nightly_{"nightly"};
  key const day_{"2026-11-21"};
};

TEST_P(runs, step_commits_effect_and_record_together) {
  auto run = taken(book_.start(nightly_, day_));
  auto const counted = run.step("load", [](daybook::transaction& tx) {
    tx.exec("insert into effect(name) values (:n)", "load");
    return 42;
  });
  EXPECT_EQ(counted.what(), outcome::done);
  EXPECT_EQ(counted.value(), 42);
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_EQ(effects("load"), "1");
  auto const seen = book_.find(nightly_, day_);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->info.state, run_state::succeeded);
  ASSERT_EQ(seen->steps.size(), 1U);
  EXPECT_EQ(seen->steps[0].name, "load");
  EXPECT_EQ(seen->steps[0].value, "42");
  ASSERT_EQ(seen->attempts.size(), 1U);
}

TEST_P(runs, taken_over_when_the_lease_is_over_and_resumed_where_it_stood) {
  daybook::testing::manual_clock clock(book_);
  auto zombie = taken(book_.start(nightly_, day_));
  auto const insert = [](char const* name) {
    return
        [name](daybook::transaction& tx) { tx.exec("insert into effect(name) values (:n)", name); };
  };
  ASSERT_TRUE(zombie.step("one", insert("one")));

  auto other = database_.open();
  auto const busy = other.start(nightly_, day_);
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.why(), start_refusal::running_elsewhere);
  ASSERT_TRUE(busy.holder());

  clock.advance(31s);
  auto heir = taken(other.start(nightly_, day_));
  EXPECT_EQ(heir.attempt(), 2);
  EXPECT_EQ(heir.step("one", insert("one")).what(), outcome::skipped);
  EXPECT_EQ(zombie.step("two", insert("zombie")).what(), outcome::lost);
  EXPECT_TRUE(zombie.stop().stop_requested());
  EXPECT_FALSE(std::move(zombie).finish());
  EXPECT_EQ(heir.step("two", insert("two")).what(), outcome::done);
  EXPECT_TRUE(std::move(heir).finish());
  EXPECT_EQ(effects("one"), "1");
  EXPECT_EQ(effects("two"), "1");
  EXPECT_EQ(effects("zombie"), "0");
}

INSTANTIATE_TEST_SUITE_P(engines, runs, testing::ValuesIn(support::engines()),
                         [](auto const& of) { return support::name_of(of.param); });

}  // namespace
