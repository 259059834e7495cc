// compiles
#include <daybook/daybook.hpp>

bool job(daybook::book& book) {
  auto attempt = book.start(daybook::process{"p"}, daybook::key{"k"});
  if (!attempt) return false;
  auto run = std::move(attempt).take();
  auto const counted = run.step("count", [](daybook::transaction& tx) {
    tx.exec("savepoint mine");
    tx.exec("insert into t(a, b) values (:a, :b)", 1, "two");
    tx.exec("rollback to savepoint mine");
    // As MariaDB reads it, it has one parameter; as the others do, two.
    tx.exec(R"(update t set a = 'it\'s :no', b = :b)", 1);
    constexpr daybook::sql kept = "update t set a = :a where a = '12:30' or b = :a::text";
    tx.exec(kept, 1);
    static_cast<void>(tx.rows<std::optional<std::string>>("select b from t"));
    return tx.rows<std::int64_t>("select count(*) from t").front();
  });
  return counted && static_cast<bool>(std::move(run).finish());
}
constexpr daybook::cron nightly("30 2 * * MON-FRI");
static_assert(nightly.fields() == daybook::cron("30 2 ? * 1-5").fields());
