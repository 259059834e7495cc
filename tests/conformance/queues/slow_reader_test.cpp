// Whoever works longer between two pages of a query than a lease lasts, is given the rest of it.
#include "conformance/waiting.hpp"
#include "conformance/watching.hpp"

#include <daybook/planner.hpp>

#include <string>

namespace conformance {
namespace {

class slow_reader : public watching {
 protected:
  slow_reader() : queue_(book_.make_queue("all")) {
    database_.execute("create table wanted(id int not null primary key)" + innodb());
    std::string rows;
    for (int i = 0; i < 300; ++i) rows += (i == 0 ? "(" : ",(") + std::to_string(i) + ")";
    database_.execute("insert into wanted values " + rows);
  }
  [[nodiscard]] std::string readers(std::string const& more) const {
    return database_.query(
        "select count(*) from pg_stat_activity where datname = current_database() and state = "
        "'idle in transaction' and query like 'fetch forward%'" +
        more);
  }
  /// Works until the session that reads has waited longer than the lease, or is gone. Other engines
  /// have no time-out there.
  void work_for_long() {
    if (!on_postgres() || worked_) return;
    worked_ = true;
    ASSERT_EQ(readers(""), "1");
    ASSERT_TRUE(comes_true([&] {
      return readers(" and clock_timestamp() - state_change > interval '1500 ms'") == "1" ||
             readers("") == "0";
    }));
  }

  daybook::queue queue_;
  bool worked_ = false;
};

TEST_P(slow_reader, a_pass_comes_to_its_end) {
  auto book = database_.open(watched(1s));
  auto plan = book.make_planner(
      "slow", {.queue = "all",
               .strategy = daybook::query_strategy{"select id from wanted order by id"},
               .rule = daybook::launch_rule::no_overlap,
               .page = 100});
  auto const sum = plan.pass({.on_progress = [&](auto const&) { work_for_long(); }});
  EXPECT_EQ(sum.launched, 300);
  EXPECT_TRUE(sum.complete);
}

TEST_P(slow_reader, an_import_comes_to_its_end) {
  auto book = database_.open(watched(1s));
  auto const query = "select a.id * 300 + b.id from wanted a, wanted b where a.id < 50";
  auto const found = book.make_queue("all").import_query(query, {}, [&](auto const&) {
    work_for_long();
    return true;
  });
  EXPECT_EQ(found.added, 15'000);
}

DAYBOOK_ON_EVERY_ENGINE(slow_reader);

}  // namespace
}  // namespace conformance
