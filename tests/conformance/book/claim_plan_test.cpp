// A claim finds its segments by their keys, also where the queue was small when it was planned.
#include "conformance/book/catalogue.hpp"
#include "conformance/waiting.hpp"

#include <optional>

namespace conformance {
namespace {

class claim_plan : public catalogue {};

/// PostgreSQL keeps a plan that it made when there was one segment; SQLite and MariaDB plan anew.
TEST_P(claim_plan, reads_no_whole_table_where_the_queue_has_grown) {
  if (GetParam().name == "pgbouncer") return;  // it is not told how to plan: the session is others'
  auto options = watched();
  options.movable_clock = false;
  options.prefix = "real_";
  auto const sessions = [&] {
    return database_.query(
        "select count(*) from pg_stat_activity where datname = "
        "current_database() and pid <> pg_backend_pid()");
  };
  auto const others = on_postgres() ? sessions() : "";
  // A session's counts are seen when it has ended.
  auto const whole_reads = [&] {
    EXPECT_TRUE(comes_true([&] { return sessions() == others; }));
    return database_.query(
        "select seq_scan from pg_stat_user_tables where relname = 'real_segment'");
  };
  auto book = std::optional(database_.open(options));
  book.reset();
  auto const before = on_postgres() ? whole_reads() : "";
  book.emplace(database_.open(options));
  auto const take = [&](daybook::queue& q) {
    auto batch = q.claim({.limit = 3}).value();
    for (auto const& one : batch.tasks()) batch.finish(one, daybook::result::success());
    EXPECT_EQ(std::move(batch).complete(), outcome::done);
  };
  auto q = book->make_queue("stock", {.segment = 2});
  fill(q, 40);
  if (on_postgres()) database_.execute("analyze real_segment");
  for (int i = 0; i < 10; ++i) take(q);
  fill(q, 5000);
  for (int i = 0; i < 10; ++i) take(q);
  if (on_postgres()) {
    book.reset();
    EXPECT_EQ(whole_reads(), before);
    return;
  }
  auto const in = book->internals().ready();
  daybook::core::transact(in, {.name = "plans"}, [&](daybook::db::session& on) {
    for (auto const& part : in.sql["claim.take"].parts) {
      if (!part.what.text.starts_with("delete") && !part.what.text.starts_with("update")) continue;
      auto const how = explain();
      auto const found = accesses(explained(on, how, part.what, {}));
      auto const* const by_key =
          on_sqlite() ? "real_segment USING INTEGER PRIMARY KEY" : "s by PRIMARY";
      EXPECT_NE(testing::PrintToString(found).find(by_key), std::string::npos)
          << testing::PrintToString(found);
    }
    return daybook::core::decision::rollback;
  });
}

DAYBOOK_ON_EVERY_ENGINE(claim_plan);

}  // namespace
}  // namespace conformance
