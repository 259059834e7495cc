#include "planner/asked.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace daybook {
inline namespace v1 {
namespace planners {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> const columns{"id", "state", "Shop", "changed"};

std::vector<std::string> asked(std::string const& query, std::string const& called = "orders") {
  return columns_asked(words_of(query), called, columns);
}

TEST(asked, words_are_names_and_keywords) {
  EXPECT_THAT(words_of("SELECT o.id, 'it''s where' FROM shop.\"or ders\" AS o -- where\n"
                       "/* where */ Where `State`=[x] and 1e5 < o . id"),
              ElementsAre("select", "o.id", "from", "shop.or ders", "as", "o", "where", "State",
                          "x", "and", "o.id"));
  EXPECT_THAT(words_of("'never ends"), IsEmpty());
  EXPECT_THAT(words_of("\"never"), ElementsAre("never"));
  EXPECT_THAT(words_of("."), IsEmpty());
  EXPECT_THAT(words_of(""), IsEmpty());
}

TEST(asked, a_table_is_found_by_its_alias) {
  auto const words = words_of("select o.id from shop.orders o join places as p on p.id = o.place");
  EXPECT_EQ(table_called(words, "o"), "shop.orders");
  EXPECT_EQ(table_called(words, "p"), "places");
  EXPECT_EQ(table_called(words, "orders"), "shop.orders");
  EXPECT_EQ(table_called(words, "elsewhere"), "elsewhere");
  EXPECT_EQ(table_called({}, "elsewhere"), "elsewhere");
  EXPECT_EQ(table_called(words_of("select id from orders"), "ORDERS"), "orders");
}

TEST(asked, conditions_come_before_the_key) {
  EXPECT_THAT(asked("select id from orders where state = 'paid' and shop = 5 order by changed"),
              ElementsAre("state", "Shop", "id"));
  EXPECT_THAT(asked("select distinct id from orders where id > 5 and id < 9"), ElementsAre("id"));
  EXPECT_THAT(asked("select o.id from orders o, p where p.state = 1 and o.shop = p.id", "o"),
              ElementsAre("Shop", "id"));
  EXPECT_THAT(asked("select x.id from shop.orders where shop.orders.state = 2", "shop.orders"),
              ElementsAre("state"));
  EXPECT_THAT(asked("select p.id from p join orders on orders.shop = p.id where p.state = 1"),
              ElementsAre("Shop"));
  EXPECT_THAT(asked("select id from orders"), IsEmpty());
  EXPECT_THAT(asked("where"), IsEmpty());
}

}  // namespace
}  // namespace planners
}  // namespace v1
}  // namespace daybook
