// Whoever may write the book's tables may write SQL there: a program executes only what it
// declares.
#include "conformance/watching.hpp"

#include <daybook/node.hpp>
#include <daybook/planner.hpp>

#include <gmock/gmock.h>

namespace conformance {
namespace {

using daybook::query_strategy;
using daybook::sweep_strategy;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class own_sql : public watching {
 protected:
  own_sql() : queue_(book_.make_queue("fulfil")) {
    database_.execute("create table secret(code varchar(40) not null primary key)" + innodb());
    database_.execute("insert into secret values ('swordfish')");
    database_.execute(adding("a,b"));
  }
  daybook::planner make(daybook::planner_options of) {
    of.queue = "fulfil";
    return book_.make_planner("new", of);
  }
  daybook::planner make() { return make({.strategy = query_strategy{"select code from product"}}); }
  /// Neither a pass nor a preview of it, and nothing is recorded.
  static void expect_refused(daybook::planner& plan, std::string const& why) {
    auto const passes = plan.info().passes;
    auto const message = message_of([&] { plan.pass(); });
    EXPECT_THAT(message, AllOf(HasSubstr("plan 'new' in "), HasSubstr(why),
                               HasSubstr("make_planner, or [[plan]] in daybook.toml")));
    EXPECT_EQ(fault_of([&] { plan.pass(); }), error_code::configuration);
    EXPECT_EQ(fault_of([&] { static_cast<void>(plan.preview()); }), error_code::configuration);
    EXPECT_EQ(plan.info().passes, passes);
    EXPECT_EQ(plan.info().error, "");
  }

  daybook::queue queue_;
};

TEST_P(own_sql, what_a_program_does_not_declare_it_does_not_execute) {
  auto mine = make();
  auto other = database_.open(support::fresh_database::manual());
  auto theirs = other.planner("new").value();
  expect_refused(theirs, "this program does not declare it");
  EXPECT_THAT(theirs.advice(), ElementsAre(HasSubstr("its query is not explained here")));
  daybook::node node(other);
  EXPECT_EQ(fault_of([&] { node.plan("new"); }), error_code::configuration);
  EXPECT_EQ(members(), set{});
  EXPECT_EQ(mine.pass().launched, 2);
  theirs = other.planner("new", mine.options()).value();
  EXPECT_EQ(theirs.pass().seen, 0);
  EXPECT_TRUE(theirs.advice().empty() || theirs.advice()[0].find("explained") == std::string::npos);
  EXPECT_FALSE(other.planner("none", mine.options()).has_value());
}

TEST_P(own_sql, what_others_write_into_the_book_is_not_executed) {
  auto plan = make();
  auto const write = [&](std::string const& change) {
    database_.execute("update daybook_planner set " + change);
  };
  write("source = 'select code from secret'");
  expect_refused(plan, "its SQL there differs from what this program declares");
  write(
      "source = 'select code from product', check_sql = 'select code from secret where :key = 1'");
  expect_refused(plan, "its SQL there differs");
  make();
  EXPECT_EQ(plan.pass().launched, 2);
  EXPECT_EQ(members(), (set{"a", "b"})) << "what is secret is still that";
}

TEST_P(own_sql, nor_is_another_table_swept) {
  auto plan = make({.strategy = sweep_strategy{.table = "product"}});
  database_.execute("update daybook_planner set source = 'secret'");
  expect_refused(plan, "its SQL there differs");
  database_.execute("update daybook_planner set source = 'product', key_columns = 'code'");
  expect_refused(plan, "its SQL there differs");
  EXPECT_EQ(members(), set{});
}

TEST_P(own_sql, a_plan_without_any_is_passed_by_whoever_finds_it) {
  book_.make_queue("events").add(key("e"));
  make({.strategy = daybook::inbox_strategy{"events"}});
  auto other = database_.open(support::fresh_database::manual());
  EXPECT_EQ(other.planner("new").value().pass().launched, 1);
}

/// A process that was updated goes on where one of before may not.
TEST_P(own_sql, a_node_of_another_declaration_leaves_the_pass_to_its_own) {
  make({.strategy = query_strategy{"select code from product"}, .every = 1h});
  daybook::node old(book_);
  old.plan("new");
  auto other = database_.open(support::fresh_database::manual());
  other.make_planner("new", {.queue = "fulfil",
                             .strategy = query_strategy{"select code from product where id = 7"},
                             .every = 1h});
  EXPECT_EQ(old.drain(), 0);
  EXPECT_EQ(log_.count("retried plan new"), 1U);
  database_.execute("update product set id = 7 where code = 'b'");
  daybook::node fresh(other);
  fresh.plan("new");
  EXPECT_EQ(fresh.drain(), 1);
  EXPECT_EQ(members(), set{"b"});
}

DAYBOOK_ON_EVERY_ENGINE(own_sql);

}  // namespace
}  // namespace conformance
