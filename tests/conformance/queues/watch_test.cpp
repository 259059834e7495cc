// A queue follows a table: its triggers, on every engine.
#include "conformance/watching.hpp"

#include <future>
#include <thread>

namespace conformance {
namespace {

using daybook::queue;
using daybook::synced_table;
using support::raw_connection;

class watched_queue : public watching {
 protected:
  watched_queue()
      : stock_(book_.make_queue("stock", {.period = 240h, .segment = 100})),
        products_(stock_.follow({.table = "product", .key = "code"})) {}

  /// PostgreSQL's own user, in this database.
  [[nodiscard]] std::string admin_url() const {
    std::string const server = std::getenv("DAYBOOK_TEST_POSTGRESQL_ADMIN");
    auto const& url = database_.url();
    return server.substr(0, server.rfind('/')) + url.substr(url.rfind('/'));
  }

  queue stock_;
  daybook::table_sync products_;
};

TEST_P(watched_queue, members_come_and_go_with_the_rows) {
  EXPECT_FALSE(products_.info().installed);
  products_.install();
  EXPECT_TRUE(products_.info().installed);
  database_.execute(adding("a,b,c"));
  EXPECT_EQ(members(), (set{"a", "b", "c"}));
  database_.execute("update product set code = 'd' where code = 'b'");
  EXPECT_EQ(members(), (set{"a", "c", "d"}));
  database_.execute("update product set id = 7");
  EXPECT_EQ(members(), (set{"a", "c", "d"}));
  database_.execute("delete from product where code = 'a'");
  EXPECT_EQ(members(), (set{"c", "d"}));
  expect_covered();
  EXPECT_EQ(drain(stock_), 2);
  database_.execute(adding("a"));
  EXPECT_EQ(drain(stock_), 1) << "due at once";
  clock_.advance(256h);
  EXPECT_EQ(drain(stock_, 2), 3) << "again every period";
  expect_covered();
  products_.uninstall();
  EXPECT_FALSE(products_.info().installed);
  database_.execute(adding("e"));
  EXPECT_EQ(members().count("e"), 0U);
}

TEST_P(watched_queue, what_is_rolled_back_was_never_a_member) {
  products_.install();
  raw_connection user(direct_url());
  user.execute("begin");
  user.execute(adding("a,b"));
  user.execute("rollback");
  EXPECT_EQ(members(), set{});
  user.execute("begin");
  user.execute(adding("a,b"));
  user.execute("delete from product where code = 'a'");
  user.execute("commit");
  EXPECT_EQ(members(), set{"b"});
  expect_covered();
}

TEST_P(watched_queue, many_rows_in_one_statement_are_all_members) {
  products_.install();
  std::string sql = "insert into product(code) values ('k0')";
  for (int i = 1; i < 2500; ++i) sql += ",('k" + std::to_string(i) + "')";
  database_.execute(sql);
  EXPECT_EQ(stock_.counts().members, 2500);
  if (on_postgres()) {
    EXPECT_LE(stock_.counts().segments, 26) << "ranges, cut to the queue's segment";
  }
  expect_covered();
  EXPECT_EQ(drain(stock_), 2500);
  clock_.advance(256h);
  // Ids of triggers are far above the others, and nobody counts up to them.
  auto const done = stock_.upkeep();
  EXPECT_EQ(done.forgotten, 0);
  EXPECT_EQ(drain(stock_), 2500);
  clock_.advance(24h * 40);
  EXPECT_GT(stock_.upkeep().forgotten, 0);
  EXPECT_LE(stock_.counts().segments, 27);
  expect_covered();
  auto const one = stock_.find(key("k7")).value();
  EXPECT_TRUE(stock_.run_now(key("k7")));
  auto batch = stock_.claim({.limit = 10'000}).value();
  auto const again = std::find_if(batch.tasks().begin(), batch.tasks().end(),
                                  [&](auto const& task) { return task.id == one.id; });
  ASSERT_NE(again, batch.tasks().end());
  EXPECT_NE(batch.idempotency_key(*again), "");
  batch.finish(*again, daybook::result::failure("no"));
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(stock_.find(key("k7")).value().attempts, 1);
}

TEST_P(watched_queue, keys_that_change_places_stay_members) {
  products_.install();
  database_.execute(adding("a,b"));
  auto const a = stock_.find(key("a")).value().id;
  raw_connection user(direct_url());
  user.execute("begin");
  user.execute("update product set code = 'x' where code = 'a'");
  user.execute("update product set code = 'a' where code = 'b'");
  user.execute("update product set code = 'b' where code = 'x'");
  user.execute("commit");
  EXPECT_EQ(members(), (set{"a", "b"}));
  EXPECT_NE(stock_.find(key("a")).value().id, a) << "another row's";
  database_.execute("update product set code = 'z' || code where code = 'none'");
  expect_covered();
}

TEST_P(watched_queue, what_can_be_no_key_is_left_out_and_harms_nobody) {
  products_.install();
  database_.execute("insert into product(code) values ('" + std::string(256, 'x') + "'), ('fine')");
  EXPECT_EQ(members(), set{"fine"});
  database_.execute("update product set code = '" + std::string(257, 'y') +
                    "' where code = 'fine'");
  EXPECT_EQ(members(), set{});
  database_.execute("update product set code = 'short' where code like 'x%'");
  EXPECT_EQ(members(), set{"short"});
  database_.execute("delete from product");
  EXPECT_EQ(members(), set{});
}

TEST_P(watched_queue, a_key_that_is_there_already_stays_as_it_is) {
  stock_.add(key("a"), {.payload = "mine"});
  products_.install();
  database_.execute(adding("a,b"));
  EXPECT_EQ(stock_.find(key("a")).value().payload, "mine");
  EXPECT_EQ(stock_.counts().segments, 2) << "and no task of nobody's";
  EXPECT_EQ(members(), (set{"a", "b"}));
  // Also where the statement says how conflicts are to be resolved.
  if (!on_postgres()) database_.execute("replace into product(code) values ('a')");
  if (on_sqlite()) {
    EXPECT_EQ(stock_.find(key("a")).value().payload, "mine");
  }
  EXPECT_EQ(members(), (set{"a", "b"}));
  stock_.add(key("z"), {.payload = "mine, too"});
  auto const segments = stock_.counts().segments;
  database_.execute("update product set code = 'z' where code = 'b'");
  EXPECT_EQ(members(), (set{"a", "z"}));
  EXPECT_EQ(stock_.find(key("z")).value().payload, "mine, too");
  EXPECT_EQ(stock_.counts().segments, segments) << "and no task of nobody's";
  expect_covered();
}

TEST_P(watched_queue, truncate_is_seen_or_reconciled) {
  if (on_sqlite()) return;  // it has none
  products_.install();
  database_.execute(adding("a,b"));
  database_.execute("truncate table product");
  EXPECT_EQ(members().empty(), on_postgres());
  EXPECT_EQ(products_.reconcile().removed, on_postgres() ? 0 : 2);
  EXPECT_EQ(members(), set{});
}

TEST_P(watched_queue, a_cascade_is_seen_or_reconciled) {
  if (on_mariadb()) {
    database_.execute(
        "create table part(code varchar(300) not null primary key, foreign key "
        "(code) references product(code) on delete cascade) engine = InnoDB");
  } else {
    database_.execute("create table part(code " + text() +
                      " not null primary key references "
                      "product(code) on delete cascade)");
  }
  auto parts = book_.make_queue("parts");
  auto of_parts = parts.follow({.table = "part", .key = "code"});
  of_parts.install();
  database_.execute(adding("a,b"));
  database_.execute("insert into part(code) values ('a'), ('b')");
  EXPECT_EQ(parts.counts().members, 2);
  raw_connection user(direct_url());
  if (on_sqlite()) user.execute("pragma foreign_keys = on");
  user.execute("delete from product where code = 'a'");
  EXPECT_EQ(parts.counts().members, on_mariadb() ? 2 : 1) << "MariaDB's cascades fire none";
  EXPECT_EQ(of_parts.reconcile().removed, on_mariadb() ? 1 : 0);
  EXPECT_EQ(parts.counts().members, 1);
}

TEST_P(watched_queue, a_transaction_that_inserts_holds_nobody_up) {
  if (on_sqlite()) return;  // there one writes at a time, whatever is written
  auto limited = book_.make_queue(
      "limited", {.period = 1h, .running_limit = 500, .rate = daybook::rate{1000, 1s}});
  auto watch = limited.follow({.table = "product", .key = "code"});
  watch.install();
  products_.install();
  limited.add(key("other"));
  raw_connection user(direct_url());
  user.execute("begin");
  user.execute(adding("a,b"));
  user.execute("update product set code = 'c' where code = 'a'");
  raw_connection second(direct_url());
  second.execute("begin");
  second.execute(adding("x,y"));
  // Neither has committed.
  EXPECT_TRUE(limited.add(key("another")));
  EXPECT_EQ(drain(limited), 2);
  limited.pause();
  limited.resume();
  EXPECT_EQ(stock_.import({{key("m")}, {key("n")}}).added, 2);
  EXPECT_EQ(drain(stock_), 2);
  EXPECT_GE(limited.upkeep().merged, 0);
  second.execute("commit");
  EXPECT_EQ(limited.counts().members, 4);
  user.execute("commit");
  EXPECT_EQ(limited.counts().members, 6);
  expect_covered();
}

TEST_P(watched_queue, who_sleeps_is_woken_by_a_row) {
  if (!on_sqlite() && GetParam().name != "postgresql") return;  // there they look: wake_test.cpp
  products_.install();
  daybook::task_fetcher out(stock_, {.flush_every = 100ms, .poll = 3'600'000ms});
  std::stop_source late;
  auto waiting = std::async(std::launch::async, [&] { return out.next(late.get_token()); });
  auto const asleep = [&] {
    return on_sqlite() || database_.query(
                              "select count(*) from pg_locks where locktype = "
                              "'advisory' and mode = 'ShareLock'") != "0";
  };
  for (int i = 0; i < 6000 && !asleep(); ++i) std::this_thread::sleep_for(10ms);
  database_.execute(adding("a"));
  if (waiting.wait_for(60s) != std::future_status::ready) late.request_stop();
  auto one = waiting.get();
  ASSERT_TRUE(one) << "nobody was woken";
  EXPECT_EQ(one->task().key, "a");
  EXPECT_EQ(one->finish(daybook::result::success()), outcome::done);
}

TEST_P(watched_queue, many_connections_insert_and_delete_at_once) {
  products_.install();
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      raw_connection mine(direct_url());
      if (on_sqlite()) mine.execute("pragma busy_timeout = 20000");
      for (int i = 0; i < 25; ++i) {
        auto const name = std::to_string(writer) + "-" + std::to_string(i);
        mine.execute(adding("k" + name + ",l" + name));
        if (i % 3 == 0) mine.execute("delete from product where code = 'l" + name + "'");
      }
    });
  }
  int done = 0;
  for (int i = 0; i < 20; ++i) done += drain(stock_, 7);
  for (auto& one : writers) one.join();
  done += drain(stock_);
  EXPECT_GE(done, 4 * (50 - 9));
  EXPECT_EQ(stock_.counts().members, 4 * (50 - 9));
  expect_covered();
  auto const drift = products_.compare();
  EXPECT_EQ(drift.missing + drift.extra, 0);
}

TEST_P(watched_queue, a_reader_who_may_not_write_our_tables_is_served) {
  if (!on_postgres()) return;  // MariaDB's triggers always have their definer's rights
  products_.install();
  raw_connection user(admin_url());
  user.execute("drop role if exists clerk_of_daybook");
  user.execute("create role clerk_of_daybook");
  user.execute("grant usage on schema public to clerk_of_daybook");
  user.execute("grant insert, select, delete on product to clerk_of_daybook");
  user.execute("set role clerk_of_daybook");
  user.execute("set search_path = pg_temp");
  EXPECT_ANY_THROW(user.execute("select * from public.daybook_member"));
  user.execute("insert into public.product(code) values ('a'), ('b')");
  user.execute("delete from public.product where code = 'a'");
  EXPECT_EQ(members(), set{"b"});
  user.execute("reset role");
  user.execute("drop owned by clerk_of_daybook");
  user.execute("drop role clerk_of_daybook");
}

TEST_P(watched_queue, a_replica_role_is_reconciled) {
  if (!on_postgres()) return;
  products_.install();
  raw_connection replica(admin_url());
  replica.execute("set session_replication_role = replica");
  replica.execute(adding("a,b"));
  EXPECT_EQ(members(), set{});
  EXPECT_EQ(products_.reconcile().added, 2);
  EXPECT_EQ(members(), (set{"a", "b"}));
}

TEST_P(watched_queue, who_runs_the_printed_text_has_the_same) {
  auto text = products_.trigger_sql();
  EXPECT_NE(text.find("product"), std::string::npos);
  raw_connection user(direct_url());
  auto const run_all = [&](std::string all) {
    if (on_mariadb()) {  // as its client does
      EXPECT_TRUE(all.starts_with("delimiter //\n"));
      all = all.substr(13);
      for (std::size_t at = 0; (at = all.find("\n//\n")) != std::string::npos;) {
        user.execute(all.substr(0, at));
        all = all.substr(at + 4);
      }
      EXPECT_EQ(all, "delimiter ;\n");
    } else {
      database_.execute(all);
    }
  };
  run_all(text);
  EXPECT_TRUE(products_.info().installed);
  database_.execute(adding("a"));
  EXPECT_EQ(members(), set{"a"});
  run_all(products_.drop_sql());
  EXPECT_FALSE(products_.info().installed);
  products_.install();
  products_.install();
  EXPECT_TRUE(products_.info().installed) << "again is fine";
}

TEST_P(watched_queue, what_cannot_be_followed_says_why) {
  database_.execute(
      "create table pair(a int not null, b int not null, c int, d numeric(5,2) not "
      "null unique, e int unique, primary key (a, b))" +
      innodb());
  database_.execute("create view seen as select code from product");
  auto const why = [&](std::string const& table, std::string const& column) {
    synced_table const wanted{table, column};
    EXPECT_EQ(fault_of([&] { stock_.follow(wanted); }), error_code::bad_argument);
    return message_of([&] { stock_.follow(wanted); });
  };
  EXPECT_NE(why("produkt", "code").find("there is no table 'produkt'"), std::string::npos);
  EXPECT_NE(why("product", "cod").find("has no column 'cod'; it has id, code"), std::string::npos);
  EXPECT_NE(why("pair", "a").find("unique index over this column alone"), std::string::npos);
  EXPECT_NE(why("pair", "e").find("may be null"), std::string::npos);
  EXPECT_NE(why("pair", "d").find("can be no key"), std::string::npos);
  EXPECT_NE(why("seen", "code").find("no table of rows"), std::string::npos);
  EXPECT_NE(why("pair", "a").find("queue 'stock' cannot follow pair.a"), std::string::npos);
  EXPECT_EQ(stock_.followed()->info().table.table, "product") << "as before";
}

TEST_P(watched_queue, it_follows_one_table_and_the_book_remembers_which) {
  database_.execute("create table other(n int not null primary key)" + innodb());
  auto there = book_.queue("stock").value().followed().value();
  EXPECT_EQ(there.info().table.table, "product");
  EXPECT_EQ(there.info().table.key, "code");
  products_.install();
  synced_table const other{"other", "n"};
  EXPECT_NE(message_of([&] { stock_.follow(other); }).find("uninstall"), std::string::npos);
  EXPECT_EQ(fault_of([&] { stock_.unfollow(); }), error_code::bad_argument);
  products_.uninstall();
  stock_.follow(other);
  EXPECT_EQ(stock_.followed()->info().table.table, "other");
  EXPECT_TRUE(stock_.unfollow());
  EXPECT_FALSE(stock_.unfollow());
  EXPECT_FALSE(stock_.followed());
}

TEST_P(watched_queue, two_books_follow_one_table) {
  auto options = support::fresh_database::manual();
  std::string theirs = "other_";
  if (on_sqlite()) {
    options.prefix = theirs;
  } else {  // as alike as they can be
    std::string const cascade = on_mariadb() ? "" : " cascade";
    database_.execute("drop schema if exists books" + cascade);
    database_.execute("create schema books");
    options.schema = "books";
    theirs = "books.daybook_";
  }
  {
    auto other = database_.open(options);
    auto stock = other.make_queue("stock");
    auto products = stock.follow({.table = "product", .key = "code"});
    products_.install();
    products.install();
    database_.execute(adding("a,b"));
    EXPECT_EQ(members(), (set{"a", "b"}));
    EXPECT_EQ(database_.query("select count(*) from " + theirs + "member"), "2");
    products.uninstall();
    EXPECT_TRUE(products_.info().installed);
    database_.execute(adding("c"));
    EXPECT_EQ(members(), (set{"a", "b", "c"}));
    EXPECT_EQ(database_.query("select count(*) from " + theirs + "member"), "2");
  }
  if (!on_sqlite()) {
    database_.execute(on_mariadb() ? "drop schema books" : "drop schema books cascade");
  }
}

TEST_P(watched_queue, one_that_is_renamed_is_followed_no_more_once_another_has_its_name) {
  auto const rename = [&](std::string const& from, std::string const& to) {
    database_.execute("alter table " + from + " rename to " + to);
  };
  products_.install();
  rename("product", "product_before");
  database_.execute("create table product(id int, code " + text() + " not null primary key)" +
                    innodb());
  EXPECT_FALSE(products_.info().installed);
  EXPECT_EQ(fault_of([&] { stock_.unfollow(); }), error_code::bad_argument) << "its triggers go on";
  products_.install();
  EXPECT_TRUE(products_.info().installed);
  database_.execute(adding("a"));
  database_.execute("insert into product_before(code) values ('b')");
  EXPECT_EQ(members(), set{"a"});
  rename("product", "product_after");
  products_.uninstall();
  EXPECT_TRUE(stock_.unfollow());
  database_.execute("insert into product_after(code) values ('c')");
  EXPECT_EQ(members(), set{"a"});
}

TEST_P(watched_queue, new_members_of_a_round_wait_for_the_next_or_do_not) {
  database_.execute("create table prospect(n int not null primary key)" + innodb());
  clock_.advance(1s);
  auto const start =
      daybook::timestamp(std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::seconds(
          std::stoll(database_.query(on_sqlite()     ? "select strftime('%s', 'now')"
                                     : on_postgres() ? "select extract(epoch from now())::bigint"
                                                     : "select unix_timestamp()")))));
  auto later = book_.make_queue("later", {.period = 24h, .rounds = true});
  auto now = book_.make_queue(
      "now", {.period = 24h, .rounds = true, .new_member_policy = daybook::new_member_policy::now});
  EXPECT_EQ(book_.queue("now")->options().new_member_policy, daybook::new_member_policy::now);
  for (auto* one : {&later, &now}) one->follow({.table = "prospect", .key = "n"}).install();
  EXPECT_TRUE(now.add(key("by hand")));
  EXPECT_TRUE(later.add(key("by hand")));
  database_.execute("insert into prospect values (1), (2)");
  EXPECT_EQ(drain(now), 3) << "in no round at all";
  EXPECT_EQ(drain(later), 0);
  EXPECT_TRUE(later.open_round(start + 10min));
  clock_.advance(1h);
  EXPECT_EQ(drain(later), 3);
  EXPECT_TRUE(now.open_round(start + 10min));
  database_.execute("insert into prospect values (3)");
  EXPECT_EQ(drain(now), 1) << "beside an open round";
  EXPECT_EQ(drain(later), 0);
  EXPECT_TRUE(later.open_round(start + 2h));
  clock_.advance(2h);
  EXPECT_EQ(drain(later), 1);
  auto const same = book_.make_queue("now", {.period = 24h, .rounds = true});
  EXPECT_EQ(same.options().new_member_policy, daybook::new_member_policy::next_round);
}

TEST_P(watched_queue, a_doctor_sees_what_is_amiss) {
  auto const found = [&] {
    for (auto const& one : book_.doctor()) {
      if (one.name == "queue stock") return one;
    }
    return daybook::check_result{};
  };
  EXPECT_EQ(found().severity, daybook::severity::ok) << found().found;
  database_.execute(adding("a,b"));
  stock_.add(key("c"));
  EXPECT_EQ(found().severity, daybook::severity::warning);
  EXPECT_EQ(found().found, "2 rows without a member, 1 members without a row");
  EXPECT_EQ(found().remedy, "daybook queues reconcile stock");
  products_.reconcile();
  EXPECT_EQ(found().severity, daybook::severity::ok);
  products_.install();
  EXPECT_EQ(found().found, "follows product.code by triggers");
  if (on_postgres()) {
    database_.execute("alter table product disable trigger all");
  } else {
    auto const text = products_.drop_sql();
    auto const from = text.find("daybook_watch_");
    auto const name = text.substr(from, text.find("_insert") - from);
    database_.execute("drop trigger " + name + "_delete");
  }
  EXPECT_EQ(found().severity, daybook::severity::warning);
  EXPECT_NE(found().found.find("gone, or disabled"), std::string::npos) << found().found;
  database_.execute("drop table product");
  EXPECT_NE(found().found.find("there is no table 'product'"), std::string::npos) << found().found;
  EXPECT_TRUE(stock_.unfollow());
}

DAYBOOK_ON_EVERY_ENGINE(watched_queue);

}  // namespace
}  // namespace conformance
