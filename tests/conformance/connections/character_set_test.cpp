// Keys and texts of any script, also where the database's own character set lacks them: on MariaDB
// whatever a statement gives no character set has the database's.
#include "conformance/fixture.hpp"

#include <daybook/aggregation.hpp>
#include <daybook/planner.hpp>
#include <daybook/sweep.hpp>

#include <optional>
#include <set>

#include <gmock/gmock.h>

namespace conformance {
namespace {

using daybook::candidate;
using daybook::check_decision;
using daybook::row_key;
using daybook::sweep_state;
using daybook::task_state;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Cyrillic, Chinese, and one beyond the first 65536.
constexpr auto* text = "\xd0\xba\xd0\xbb\xd1\x8e\xd1\x87-\xe6\x97\xa5\xe6\x9c\xac-\xf0\x9f\x98\x80";
/// Latin only, and told from the one above by an accent that many collations do not see.
constexpr auto* accented = "cl\xc3\xa9";
constexpr auto* plain = "cle";

class character_sets : public on_engine {
 protected:
  /// A book in a database whose character set is this; elsewhere there is one for all.
  void in(char const* set) {
    SCOPED_TRACE(set);
    own_.reset();
    own_.emplace(GetParam());
    if (on_mariadb()) own_->execute(std::string("alter database character set ") + set);
    auto options = watched();
    auto book = own_->open(options);
    runs(book);
    tasks(book);
    events(book);
    table(
        "sale(shop varchar(40) not null primary key, town varchar(40), amount int, "
        "state smallint, pay_no varchar(60))");
    table(
        "pay(pay_no varchar(60) not null primary key, town varchar(40), amount int, "
        "state smallint)");
    for (auto const* shop : {text, accented, plain}) {
      book.transact([&](transaction& tx) {
        tx.exec("insert into sale values (:shop, :town, 5, 1, '')", shop, shop);
      });
    }
    query(book);
    sweep(book);
    aggregation(book);
    members(book);
  }

  void table(std::string const& columns) {
    own_->execute("create table " + columns + innodb() +
                  (on_mariadb() ? " default charset = utf8mb4 collate utf8mb4_bin" : ""));
  }

  void runs(daybook::book& book) {
    process const what{text};
    auto run = taken(book.start(what, key(text)));
    EXPECT_EQ(run.step(text, [](transaction&) { return std::string(text); }).value(), text);
    EXPECT_TRUE(std::move(run).fail(text));
    run = taken(book.start(what, key(text)));
    EXPECT_TRUE(std::move(run).finish());
    auto const seen = book.find(what, key(text)).value();
    EXPECT_EQ(seen.steps.at(0).value, text);
    EXPECT_EQ(seen.attempts.at(0).error, text);
    EXPECT_FALSE(book.find(what, key("?")).has_value());
  }

  void tasks(daybook::book& book) {
    auto q = book.make_queue(text);
    auto const all = {text, accented, plain};
    std::vector<daybook::entry> entries;
    for (auto const* one : all) entries.push_back({key(one), text});
    EXPECT_EQ(q.import(entries).added, 3);
    auto batch = q.claim({.limit = 3}).value();
    for (auto const& one : batch.tasks()) {
      EXPECT_EQ(one.payload, text);
      batch.finish(one, daybook::result::success(text));
    }
    EXPECT_EQ(std::move(batch).complete(), outcome::done);
    for (auto const* one : all) EXPECT_EQ(q.outcomes(key(one)).at(0).remark, text);
    EXPECT_EQ(q.find(key(text)).value().key, text);
  }

  /// An inbox: what it launches goes in by rows, and why it refuses.
  void events(daybook::book& book) {
    auto from = book.make_queue("events");
    auto into = book.make_queue("into");
    from.import({{key(text), text}, {key(accented), text}, {key(plain), {}}});
    auto plan = book.make_planner("inbox",
                                  {.queue = "into", .strategy = daybook::inbox_strategy{"events"}});
    auto const sum = plan.pass({.check = [](transaction&, candidate& of) {
      return of.key.str() == plain ? check_decision::refuse(text) : check_decision::launch();
    }});
    EXPECT_EQ(sum.launched, 2);
    EXPECT_EQ(into.find(key(text)).value().payload, text);
    EXPECT_EQ(from.find(key(text)).value().state, task_state::succeeded);
    ASSERT_THAT(plan.refusals(), SizeIs(1));
    EXPECT_EQ(plan.refusals()[0].reason, text);
    EXPECT_EQ(plan.find(key(text)).value().launches, 1);
    EXPECT_EQ(plan.find(key(accented)).value().launches, 1);
    EXPECT_EQ(from.remove(key(text)), true);
    EXPECT_EQ(into.remove(key(text)), true);
    from.add(key(text));
    EXPECT_EQ(plan.pass().launched, 0) << "what is known of it is found by its key";
  }

  void query(daybook::book& book) {
    auto into = book.make_queue("by-query");
    auto plan = book.make_planner(
        text, {.queue = "by-query",
               .strategy = daybook::query_strategy{"select shop, town from sale where town <> '" +
                                                   std::string(plain) + "'"}});
    EXPECT_EQ(plan.pass().launched, 2);
    EXPECT_EQ(plan.pass().seen, 0);
    EXPECT_EQ(into.find(key(text)).value().payload, text);
    EXPECT_EQ(into.counts().members, 2);
  }

  void sweep(daybook::book& book) {
    auto pages = book.make_queue("pages");
    // The plan's name is in the keys of its tasks.
    auto const name = std::string(text) + " sweep";
    auto plan = book.make_planner(
        name, {.queue = "pages", .strategy = daybook::sweep_strategy{.table = "sale", .page = 1}});
    std::set<std::string> seen;
    for (int passes = 0; passes < 9; ++passes) {
      plan.pass();
      while (auto batch = pages.claim()) {
        for (auto const& one : batch->tasks()) {
          auto const page = plan.page(key(one.key));
          if (page) {
            EXPECT_EQ(page->perform(*batch, one,
                                    [&](transaction&, std::vector<row_key> const& rows) {
                                      for (auto const& row : rows) seen.insert(row.at(0));
                                    }),
                      outcome::done);
          } else {
            batch->finish(one, daybook::result::success());
          }
        }
        EXPECT_EQ(std::move(*batch).complete(), outcome::done);
      }
      if (plan.sweeps(1).at(0).state == sweep_state::over) break;
    }
    EXPECT_EQ(plan.sweeps(1).at(0).state, sweep_state::over);
    EXPECT_THAT(seen, ElementsAre(plain, accented, text));
  }

  void aggregation(daybook::book& book) {
    daybook::audit_note const by{.actor = text, .reason = text};
    daybook::aggregation_options of;
    of.source = {
        .table = "sale", .key = "shop", .state = "state", .link = "pay_no", .group = {"town"}};
    of.parent = {.table = "pay", .key = "pay_no", .state = "state"};
    of.sums = {{"amount", "amount"}};
    of.key_prefix = "\xd0\xba-";
    auto pay = book.make_aggregation(text, of);
    auto const done = pay.aggregate();
    EXPECT_THAT(done.refused, IsEmpty());
    EXPECT_EQ(done.rows, 3);
    EXPECT_EQ(done.parents, 3) << "one for each text";
    auto const parent = pay.parent_of(text).value_or("");
    EXPECT_EQ(pay.find(parent).value().group, text);
    book.transact([](transaction& tx) {
      tx.exec("insert into sale values ('late', :town, 7, 1, '')", text);
    });
    EXPECT_EQ(pay.aggregate().rows, 1);
    EXPECT_EQ(pay.parent_of("late"), parent) << "it is open still";
    EXPECT_EQ(pay.find(parent).value().sums.at(0), "12");
    EXPECT_THAT(pay.verify().differences, IsEmpty());
    EXPECT_EQ(pay.close(parent, by), daybook::settling::done);
    EXPECT_EQ(pay.revert(parent, by), daybook::settling::done);
    EXPECT_EQ(pay.aggregate({.new_parent = true}).rows, 2);
    EXPECT_THAT(pay.verify().differences, IsEmpty());
  }

  /// Members that follow a column.
  void members(daybook::book& book) {
    auto q = book.make_queue("shops");
    auto shops = q.follow({.table = "sale", .key = "shop"});
    EXPECT_EQ(shops.reconcile().added, 4);
    shops.install();
    auto const other = std::string(text) + "2";
    book.transact([&](transaction& tx) {
      tx.exec("insert into sale values (:shop, :town, 7, 1, '')", other, text);
      tx.exec("delete from sale where shop = :shop", text);
    });
    EXPECT_TRUE(q.find(key(other)).has_value());
    EXPECT_FALSE(q.find(key(text)).has_value());
    EXPECT_EQ(shops.reconcile().added, 0);
  }

  std::optional<support::fresh_database> own_;
};

TEST_P(character_sets, texts_are_kept_in_a_database_of_another) {
  in("latin1 collate latin1_swedish_ci");
  if (!on_mariadb()) return;
  in("ucs2 collate ucs2_general_ci");
  in("utf8mb4 collate utf8mb4_unicode_ci");
}

DAYBOOK_ON_EVERY_ENGINE(character_sets);

}  // namespace
}  // namespace conformance
