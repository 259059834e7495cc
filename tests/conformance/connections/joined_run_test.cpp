// Steps and the end of a run in a transaction that the application began and ends.
#include "conformance/adopt.hpp"

#include "core/lease/holder.hpp"
#include "service/engine.hpp"

#include <thread>

namespace conformance {
namespace {

using daybook::commit_outcome;

class joined_run : public adoption {
 protected:
  auto step(daybook::run& of, daybook::external_transaction& in, char const* name) {
    return of.step(in, name, insert(name));
  }
  [[nodiscard]] std::string all_effects() const {
    return database_.query("select count(*) from effect");
  }
};

TEST_P(joined_run, a_step_is_done_exactly_when_the_application_commits) {
  auto run = taken(book_.start(nightly_, day_));
  begin();
  insert_mine("mine");
  EXPECT_EQ(step(run, *adoption::join(), "one").what(), outcome::done);
  EXPECT_EQ(rows_of("step"), "0");
  app_.execute("rollback");
  EXPECT_EQ(run.confirm(), commit_outcome::rolled_back);
  EXPECT_EQ(rows_of("step") + all_effects(), "00");

  begin();
  insert_mine("mine");
  {
    auto const tx = adoption::join();
    EXPECT_EQ(step(run, *tx, "one").what(), outcome::done);
    EXPECT_EQ(step(run, *tx, "two").what(), outcome::done);
  }
  app_.execute("commit");
  EXPECT_EQ(run.confirm(), commit_outcome::committed);
  EXPECT_EQ(effects("mine") + effects("one") + effects("two"), "111");
  EXPECT_EQ(rows_of("step"), "2");
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(joined_run, finishes_exactly_when_the_application_commits) {
  auto run = taken(book_.start(nightly_, day_));
  begin();
  insert_mine("mine");
  auto end = std::move(run).finish(*adoption::join());
  ASSERT_TRUE(end);
  app_.execute("rollback");
  EXPECT_EQ(end.confirm(), commit_outcome::rolled_back);
  EXPECT_EQ(seen().info.state, run_state::ready);

  run = std::move(end).take_back();
  begin();
  insert_mine("mine");
  auto again = std::move(run).finish(*adoption::join());
  app_.execute("commit");
  EXPECT_EQ(again.confirm(), commit_outcome::committed);
  EXPECT_EQ(effects("mine"), "1");
  EXPECT_EQ(seen().info.state, run_state::succeeded);
}

TEST_P(joined_run, one_that_was_taken_over_writes_nothing) {
  auto run = taken(book_.start(nightly_, day_));
  ASSERT_TRUE(daybook::testing::expire(book_, nightly_, day_));
  auto other = database_.open(support::fresh_database::manual());
  auto const stolen = taken(other.start(nightly_, day_));
  begin();
  insert_mine("mine");
  auto const tx = adoption::join();
  EXPECT_EQ(step(run, *tx, "one").what(), outcome::lost);
  app_.execute("rollback");
  EXPECT_EQ(all_effects(), "0");
}

TEST_P(joined_run, the_run_of_another_book_is_refused) {
  support::fresh_database const elsewhere(GetParam());
  auto other = elsewhere.open();
  auto run = taken(other.start(nightly_, day_));
  begin();
  expect_refusal(error_code::bad_argument, "another book",
                 [&] { static_cast<void>(step(run, *adoption::join(), "one")); });
  app_.execute("rollback");
}

TEST_P(joined_run, a_borrowed_book_joins_its_own_handle) {
  auto on = adoption::adopt_connection();
  auto run = taken(on.start(nightly_, day_));
  begin();
  insert_mine("mine");
  EXPECT_EQ(step(run, *join(on, app_), "one").what(), outcome::done);
  app_.execute("commit");
  EXPECT_EQ(run.confirm(), commit_outcome::committed);
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_EQ(effects("mine") + effects("one"), "11");
}

// What the renewal does besides waits for their rows, one after the other. SQLite has one lock for
// all: there the renewal itself waits.
TEST_P(joined_run, those_that_are_late_in_open_transactions_let_the_lease_be_renewed) {
  if (on_sqlite()) return;
  auto const options = watched(6s);
  for (bool const overdue : {true, false}) {
    auto book = database_.open(options);
    auto& lease = book.internals().lease();
    std::vector<daybook::run> late;
    for (auto const* name : {"a", "b", "c", "d", "e"}) {
      process const it{std::string(name) + (overdue ? "1" : "2")};
      auto const within = overdue ? 4s : 1h;
      late.push_back(taken(book.start(it, day_, {.deadline = within})));
    }
    begin();
    for (auto& one : late) {
      EXPECT_EQ(one.step(*join(book, app_), "one", insert("one")).what(), outcome::done);
    }
    if (overdue) {
      std::this_thread::sleep_for(6500ms);  // a third of the lease past their deadlines
    } else {
      for (auto& one : late) {
        auto const where = "' and process = '" + one.process_name().str() + "'";
        lease.add_orphan({one.process_name().str(), day_.str(),
                          database_.query("select acquisition from daybook_run where run_key = '" +
                                          day_.str() + where)});
      }
    }
    int renewals = 0;
    {
      std::jthread const looks([&](std::stop_token const& stop) {
        auto before = lease.peek()->since_renewal();
        while (!stop.stop_requested()) {
          auto const now = lease.peek()->since_renewal();
          if (now < before) ++renewals;
          before = now;
          std::this_thread::sleep_for(20ms);
        }
      });
      EXPECT_EQ(daybook::testing::renew(book), daybook::lease_state::held);
    }
    EXPECT_GE(renewals, 3) << "before all, and between those that it waits for";
    app_.execute("rollback");
  }
}

DAYBOOK_ON_EVERY_ENGINE(joined_run);

}  // namespace
}  // namespace conformance
