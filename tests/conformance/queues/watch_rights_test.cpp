// What the triggers of a queue let others do: nothing but change the members by their rows.
#include "conformance/watching.hpp"

#include <daybook/table_sync.hpp>

#include <gmock/gmock.h>

namespace conformance {
namespace {

using daybook::severity;
using support::raw_connection;
using testing::HasSubstr;

class watch_rights : public watching {
 protected:
  watch_rights()
      : stock_(book_.make_queue("stock")),
        products_(stock_.follow({.table = "product", .key = "code"})) {
    products_.install();
  }
  /// PostgreSQL's own user, in this database.
  [[nodiscard]] std::string admin_url() const {
    std::string const server = std::getenv("DAYBOOK_TEST_POSTGRESQL_ADMIN");
    auto const& url = database_.url();
    return server.substr(0, server.rfind('/')) + url.substr(url.rfind('/'));
  }
  /// Somebody who may make tables, and add products.
  static void become_stranger(raw_connection& user) {
    user.execute("drop role if exists stranger_of_daybook");
    user.execute("create role stranger_of_daybook");
    user.execute("grant usage, create on schema public to stranger_of_daybook");
    user.execute("grant insert, select on product to stranger_of_daybook");
    user.execute("set role stranger_of_daybook");
  }
  static void leave(raw_connection& user) {
    user.execute("reset role");
    user.execute("drop owned by stranger_of_daybook");
    user.execute("drop role stranger_of_daybook");
  }
  [[nodiscard]] static std::string function() { return "daybook_watch_1()"; }
  [[nodiscard]] daybook::check_result triggers() const {
    for (auto const& one : book_.doctor()) {
      if (one.name == "triggers") return one;
    }
    return {};
  }

  daybook::queue stock_;
  daybook::table_sync products_;
};

TEST_P(watch_rights, nobody_else_hangs_the_function_on_a_table_of_theirs) {
  if (!on_postgres()) return;
  database_.execute(adding("a,b"));
  raw_connection user(admin_url());
  become_stranger(user);
  user.execute("create table theirs(code text)");
  EXPECT_THAT(message_of([&] {
                user.execute(
                    "create trigger clear after truncate on theirs for each statement "
                    "execute function " +
                    function());
              }),
              HasSubstr("permission denied for function"));
  user.execute("truncate theirs");
  EXPECT_EQ(members(), (set{"a", "b"}));
  leave(user);
}

TEST_P(watch_rights, a_temporary_type_of_theirs_is_not_taken_for_the_servers) {
  if (!on_postgres()) return;
  database_.execute("create table taken(who varchar(40))");
  raw_connection user(admin_url());
  become_stranger(user);
  user.execute(
      "create function pg_temp.evil(pg_catalog.varchar) returns bool language plpgsql as $$ begin "
      "insert into public.taken values (current_user); return true; end $$");
  user.execute("create domain pg_temp.text as pg_catalog.varchar check (pg_temp.evil(value))");
  user.execute("insert into public.product(code) values ('a')");
  EXPECT_EQ(database_.query("select count(*) from taken"), "0");
  EXPECT_EQ(members(), set{"a"});
  leave(user);
}

TEST_P(watch_rights, the_doctor_finds_functions_that_others_may_execute) {
  if (!on_postgres()) return;
  EXPECT_EQ(triggers().severity, severity::ok) << triggers().found;
  for (auto const* const before :
       {"grant execute on function daybook_watch_1() to public",
        "alter function daybook_watch_1() set search_path = pg_catalog"}) {
    SCOPED_TRACE(before);
    database_.execute(before);
    EXPECT_EQ(triggers().severity, severity::failed);
    EXPECT_THAT(triggers().found, HasSubstr("daybook_watch_1"));
    EXPECT_THAT(triggers().remedy, HasSubstr("daybook queues watch QUEUE --install"));
    products_.install();
    EXPECT_EQ(triggers().severity, severity::ok) << triggers().found;
  }
}

/// A dump of one database, restored under another name beside it.
TEST_P(watch_rights, a_dump_is_restored_under_another_name) {
  if (!on_mariadb()) return;
  support::fresh_database const shop(GetParam());
  support::fresh_database const copy(GetParam());
  // Statements of a movable clock name its table.
  daybook::book book(shop.url());
  book.migrate();
  shop.execute("create table product(code varchar(40) not null primary key) engine = InnoDB");
  book.make_queue("stock").follow({.table = "product", .key = "code"}).install();
  shop.execute("insert into product values ('a')");
  auto const name = [](std::string const& url) { return url.substr(url.rfind('/') + 1); };
  auto const as = " --no-defaults --socket=" + shop.query("select @@socket") + " --user=root ";
  auto const command =
      "mariadb-dump" + as + name(shop.url()) + " | mariadb" + as + name(copy.url());
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  copy.execute("insert into product values ('b')");
  copy.execute("update product set code = 'c' where code = 'a'");
  EXPECT_EQ(copy.query("select group_concat(member_key order by member_key) from daybook_member"),
            "b,c");
  EXPECT_EQ(shop.query("select group_concat(member_key) from daybook_member"), "a");
  copy.execute("delete from product");
  EXPECT_EQ(copy.query("select count(*) from daybook_member"), "0");
}

DAYBOOK_ON_EVERY_ENGINE(watch_rights);

}  // namespace
}  // namespace conformance
