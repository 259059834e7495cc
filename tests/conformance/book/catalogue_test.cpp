// Our SQL as the engines see it: it prepares, and what is hot finds its row by the primary key.
#include "conformance/book/catalogue.hpp"

#include "queue/maintenance/watcher.hpp"

#include <daybook/node.hpp>

namespace conformance {
namespace {

/// Whether MariaDB begins where it is told to, and not at the beginning of the index.
/// MySQL has the partitions before the type.
bool begins_within(daybook::db::table const& plan, std::string const& table) {
  for (std::size_t at = 0; at < plan.size(); ++at) {
    std::optional<std::string> name;
    std::optional<std::string> type;
    daybook::decode(plan.row(at)[2], name);
    daybook::decode(plan.row(at)[plan.width == 12 ? 4 : 3], type);
    if (name == table) return type == "range";
  }
  return false;
}

TEST_P(catalogue, every_statement_prepares_with_either_clock) {
  for (bool const movable : {false, true}) {
    auto options = watched();
    options.movable_clock = movable;
    options.prefix = movable ? "movable_" : "real_";
    auto book = database_.open(options);
    auto run = taken(book.start(nightly_, day_));
    auto const with = live_values(options.prefix);
    auto const in = book.internals().ready();
    daybook::core::read(in, 5s, [&](daybook::db::session& on) {
      for (auto const& [name, entry] : in.sql.all()) {
        if (name.starts_with("testing.") && !movable) continue;
        for (auto const& part : entry.parts) {
          try {
            static_cast<void>(explained(on, explain(), part.what, with));
          } catch (std::exception const& e) {
            ADD_FAILURE() << name << ": " << e.what();
          }
        }
      }
    });
  }
}

TEST_P(catalogue, hot_statements_use_the_primary_key) {
  auto options = watched();
  options.movable_clock = false;
  options.prefix = "real_";
  auto book = database_.open(options);
  auto run = taken(book.start(nightly_, day_));
  ASSERT_TRUE(run.step("load", insert("load")));
  // Enough rows that a whole table is not the shortest way.
  for (int i = 0; i < 30; ++i) {
    auto other = taken(book.start(process{"p" + std::to_string(i)}, day_));
    EXPECT_TRUE(other.intend("pay"));
    EXPECT_TRUE(std::move(other).fail("no"));
  }
  auto with = live_values("real_");
  for (auto const* name : {"process", "run_key", "acquisition", "holder", "epoch"}) {
    auto const found =
        database_.query(std::string("select ") + name + " from real_run where process = 'nightly'");
    if (std::string(name) == "epoch") {
      with.numbers["epoch"] = std::stoll(found);
    } else {
      with.texts[std::string(name) == "run_key" ? "key" : name] = found;
    }
  }
  auto const in = book.internals().ready();
  std::string text;
  daybook::core::transact(in, {.name = "plans"}, [&](daybook::db::session& on) {
    if (on_postgres()) {
      for (auto const* off : {"set local enable_seqscan = off", "set local enable_bitmapscan = off",
                              "set local enable_hashjoin = off", "set local enable_mergejoin = off",
                              "set local enable_material = off"}) {
        on.run({"plans", off, {}, {}}, {});
      }
    }
    auto const how = explain();
    for (auto const* name : {"run.start", "run.look", "run.free", "run.fence", "run.step",
                             "run.end", "run.advance", "run.memory", "run.held", "holder.renew",
                             "holder.mark_dead", "holder.alive", "operate.prune_holders"}) {
      int number = 0;
      for (auto const& part : in.sql[name].parts) {
        text += std::string(name) + " " + std::to_string(++number) + "\n";
        for (auto const& one : accesses(explained(on, how, part.what, with))) {
          text += "  " + one + "\n";
          if (one == "given whole") continue;  // what the caller gives
          for (auto const* bad : {"Seq Scan", "whole", "SCAN r", "SCAN h", "SCAN real_"}) {
            EXPECT_EQ(one.find(bad), std::string::npos) << name << ": " << one;
          }
        }
      }
    }
    return daybook::core::decision::rollback;
  });
  text.pop_back();
  // What the poolers and the snapshots stand before is one engine.
  if (!on_mysql()) golden("plans." + std::string(book.dialect()) + ".txt", text);
}

TEST_P(catalogue, a_queues_hot_statements_use_their_index) {
  std::set<std::string> const claims{"c whole", "r whole", "k whole", "Seq Scan on real_claim c",
                                     "Seq Scan on real_claim c_1"};  // few, and their ranges
  auto options = watched();
  options.movable_clock = false;
  options.prefix = "real_";
  auto book = database_.open(options);
  auto q = book.make_queue("stock", {.segment = 2});
  fill(q, 5000);
  for (int i = 0; i < 20; ++i) {
    auto batch = q.claim({.limit = 50}).value();
    for (auto const& one : batch.tasks()) batch.finish(one, daybook::result::success("x"));
    EXPECT_EQ(std::move(batch).complete(), outcome::done);
  }
  auto const held = q.claim({.limit = 4}).value();
  auto with = samples{};
  with.by_room = {{". key", "k1"}, {". claim", held.id()}, {". holder", "h"}};
  auto const in = book.internals().ready();
  std::string text;
  daybook::core::transact(in, {.name = "plans"}, [&](daybook::db::session& on) {
    if (on_postgres()) {
      on.run({"plans", "analyze real_segment, real_member, real_outcome", {}, {}}, {});
      on.run({"plans", "set local enable_seqscan = off", {}, {}}, {});
    }
    auto const how = explain();
    for (auto const* name : {"member.find", "member.range", "segment.of", "segment.hold",
                             "segment.piece", "segment.living", "task.outcome", "task.told",
                             "series.heads", "series.all_heads", "claim.due", "wake.suspects"}) {
      for (auto const& part : in.sql[name].parts) {
        text += std::string(name) + "\n";
        for (auto const& one : accesses(explained(on, how, part.what, with))) {
          text += "  " + one + "\n";
          for (auto const* bad : {"Seq Scan", "whole", "SCAN real_"}) {
            if (claims.contains(one)) continue;
            EXPECT_EQ(one.find(bad), std::string::npos) << name << ": " << one;
          }
        }
      }
    }
    // What an idle process asks for, and what people do. The claims and requests are few, and read
    // whole.
    for (auto const* name : {"wake.look", "queue.standing"}) {
      auto const looked = accesses(explained(on, how, in.sql[name].parts[0].what, with));
      EXPECT_TRUE(std::any_of(looked.begin(), looked.end(),
                              [](std::string const& one) {
                                return one.find("real_segment") != one.npos &&
                                       one.find("segment_by_due") != one.npos;
                              }))
          << name << ": " << testing::PrintToString(looked);
    }
    return daybook::core::decision::rollback;
  });
  text.pop_back();
  if (!on_mysql()) golden("plans_queue." + std::string(book.dialect()) + ".txt", text);
}

/// Not all of its planner's, of which there may be millions.
TEST_P(catalogue, what_is_known_of_keys_is_looked_up_key_by_key) {
  auto options = watched();
  options.movable_clock = false;
  auto const book = database_.open(options);
  auto const in = book.internals().ready();
  samples const with{{}, {}, {{"planned.of keys", R"([["k1"]])"}}};
  std::set<std::string> found;
  daybook::core::transact(in, {.name = "plans"}, [&](daybook::db::session& on) {
    if (on_postgres()) {
      for (auto const* off : {"seqscan", "bitmapscan", "hashjoin", "mergejoin"}) {
        on.run({"plans", "set local enable_" + std::string(off) + " = off", {}, {}}, {});
      }
    }
    found = accesses(explained(on, explain(), in.sql["planned.of"].parts[0].what, with));
    return daybook::core::decision::rollback;
  });
  auto const* const by_key = on_sqlite()     ? "planned_key=?"
                             : on_postgres() ? "Index Scan using daybook_planned"
                                             : "p by PRIMARY";
  EXPECT_NE(testing::PrintToString(found).find(by_key), std::string::npos)
      << testing::PrintToString(found);
}

TEST_P(catalogue, a_comparison_with_a_table_uses_the_index_of_each) {
  auto options = watched();
  options.movable_clock = false;
  options.prefix = "real_";
  auto book = database_.open(options);
  // As applications have them: with a collation that is not ours, an index that is not the first.
  std::string const text = on_mariadb()  ? "varchar(40) collate utf8mb4_unicode_ci"
                           : on_sqlite() ? "text collate nocase"
                                         : "varchar(40)";
  database_.execute("create table product(id int not null primary key, code " + text +
                    " not null unique, number bigint not null unique, day date)" + innodb());
  database_.execute((on_mariadb()
                         ? "insert into product select seq, concat('k', seq), seq, null from " +
                               numbers_table(1, 5000)
                         : "with recursive n(i) as (select 1 union all select i + 1 from n "
                           "where i < 5000) insert into product select i, 'k' || i, i, "
                           "null from n"));
  auto q = book.make_queue("stock");
  fill(q, 5000);
  auto const in = book.internals().ready();
  std::string text_of_plans;
  for (auto const* column : {"code", "number"}) {
    auto with = samples{};
    bool const number = std::string(column) == "number";
    with.by_room = {{". mark", "7"}, {". after", "k1"}, {". rows", "[[1]]"}};
    auto const how_filled = daybook::queues::look_at(q.internals(), {"product", column}).sql;
    daybook::core::transact(in, {.name = "plans"}, [&](daybook::db::session& on) {
      if (on_postgres()) {
        on.run({"plans", "analyze real_member, product", {}, {}}, {});
        on.run({"plans", "set local enable_seqscan = off", {}, {}}, {});
        on.run({"plans", "set local enable_bitmapscan = off", {}, {}}, {});
      }
      auto const how = explain();
      for (auto const* name :
           {"watch.first_rows", "watch.next_rows", "watch.members", "watch.drop_members"}) {
        auto const made = in.sql.made(name, how_filled);
        text_of_plans += std::string(name) + (number ? " number\n" : " code\n");
        auto const plan = explained(on, how, made.parts[0].what, with);
        // MySQL decides anew for each mark.
        if (on_mariadb() && !on_mysql() && std::string(name) == "watch.next_rows") {
          EXPECT_TRUE(begins_within(plan, "t")) << column;
        }
        for (auto const& one : accesses(plan)) {
          text_of_plans += "  " + one + "\n";
          bool const ours = one.find("real_") != one.npos || one.find("product") != one.npos;
          for (auto const* bad : {"Seq Scan", "whole", "SCAN m", "SCAN t "}) {
            bool const by_index = one.find("USING") != one.npos;
            EXPECT_TRUE(!ours || by_index || one.find(bad) == one.npos)
                << name << " " << column << ": " << one;
          }
        }
      }
      return daybook::core::decision::rollback;
    });
  }
  text_of_plans.pop_back();
  if (!on_mysql()) golden("plans_watch." + std::string(book.dialect()) + ".txt", text_of_plans);
}

TEST_P(catalogue, a_schedules_hot_statements_use_their_index) {
  auto options = watched();
  options.movable_clock = false;
  options.prefix = "real_";
  auto book = database_.open(options);
  auto const year_ago =
      std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()) - 24h * 365;
  daybook::node node(book);
  for (std::string const name : {"stock", "leads"}) {
    book.make_schedule(name, daybook::cron("0 0 * * *"),
                       {.catch_up = daybook::catch_up::all, .since = year_ago});
    node.serve(name, [](daybook::tick&) {});
  }
  EXPECT_GE(node.drain(), 2 * 364);
  database_.execute(  // as if its last one ran
      "update real_schedule set running_us = 1, running_key = "
      "(select max(r.run_key) from real_run r where r.process = name)");
  auto const with = samples{
      {},
      {},
      {{". name", "stock"}, {". schedule", "stock"}, {". run_key", "k1"}, {". reason", ""}}};
  auto const in = book.internals().ready();
  std::string text;
  daybook::core::transact(in, {.name = "plans"}, [&](daybook::db::session& on) {
    if (on_postgres()) {
      on.run({"plans", "analyze real_schedule, real_tick, real_run, real_holder", {}, {}}, {});
      for (auto const* off : {"set local enable_seqscan = off", "set local enable_bitmapscan = off",
                              "set local enable_hashjoin = off", "set local enable_mergejoin = off",
                              "set local enable_material = off"}) {
        on.run({"plans", off, {}, {}}, {});
      }
    }
    auto const how = explain();
    for (auto const* name :
         {"schedule.look", "schedule.advance", "schedule.begin", "schedule.end", "tick.extend",
          "tick.begin", "tick.crashed", "tick.end", "tick.again", "tick.find", "tick.next_open",
          "tick.list", "tick.cutoff", "tick.mark", "tick.prune", "schedule.touch"}) {
      for (auto const& part : in.sql[name].parts) {
        text += std::string(name) + "\n";
        for (auto const& one : accesses(explained(on, how, part.what, with))) {
          text += "  " + one + "\n";
          for (auto const* bad : {"Seq Scan", "whole", "SCAN "}) {
            // The clock is a row of its own, in no table.
            bool const clock = one == "SCAN clock" || one == "SCAN CONSTANT ROW";
            EXPECT_TRUE(clock || one.find(bad) == std::string::npos) << name << ": " << one;
          }
        }
      }
    }
    return daybook::core::decision::rollback;
  });
  text.pop_back();
  if (!on_mysql()) golden("plans_schedule." + std::string(book.dialect()) + ".txt", text);
}

/// Where all are due, a planner may read the table from its beginning, past all that were done.
TEST_P(catalogue, a_claim_reads_no_table_from_its_beginning) {
  if (!on_postgres()) return;  // the others never do so with an index at hand
  auto options = watched();
  options.movable_clock = false;
  options.prefix = "real_";
  auto book = database_.open(options);
  auto q = book.make_queue("stock", {.segment = 1});
  fill(q, 5000);
  auto const held = q.claim({.limit = 4}).value();
  samples const with{{}, {}, {{". claim", held.id()}, {". holder", "h"}}};
  auto const in = book.internals().ready();
  daybook::core::transact(in, {.name = "plans"}, [&](daybook::db::session& on) {
    on.run({"plans", "analyze real_segment, real_member", {}, {}}, {});
    auto const& text = in.sql["claim.take"].parts[0].what;
    for (auto const& one : accesses(explained(on, explain(), text, with))) {
      EXPECT_FALSE(one == "Seq Scan on real_segment" || one == "Seq Scan on real_member");
    }
    return daybook::core::decision::rollback;
  });
}

DAYBOOK_ON_EVERY_ENGINE(catalogue);

}  // namespace
}  // namespace conformance
