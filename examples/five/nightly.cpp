// The nightly batch has steps, one of which must never be done twice. Somebody may start it while
// it runs, and it may die in the middle. (The control table.)
//
//   nightly URL DATE [STEP]        STEP: it kills itself after that step
#include <daybook/daybook.hpp>

#include <csignal>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>

namespace {

void prepare(daybook::transaction& tx) {
  tx.exec("create table if not exists sale(day text not null, customer int, cents int not null)");
  tx.exec("create table if not exists total(day text not null, cents bigint not null)");
  tx.exec("create table if not exists customer(id int primary key, points bigint not null)");
  if (tx.rows<std::int64_t>("select count(*) from customer").at(0) > 0) return;
  tx.exec("insert into customer values (1, 0), (2, 0)");
  tx.exec(
      "insert into sale values ('2026-11-21', 1, 1200), ('2026-11-21', 2, 900), "
      "('2026-11-21', 1, 300), ('2026-11-22', 2, 500)");
}

/// Each step is done once, with its effect, or not at all: points are not given twice.
int nightly(daybook::book& book, std::string const& day, std::string const& die_after) {
  auto attempt = book.start(daybook::process{"nightly"}, daybook::key{day}, {.once = true});
  if (!attempt) {
    bool const before = attempt.why() == daybook::start_refusal::done_before;
    std::cout << (before ? "done before\n" : "somebody is at it\n");
    return before ? 0 : 75;
  }
  auto run = std::move(attempt).take();
  auto const step = [&](std::string const& name, daybook::sql effect) {
    auto const done = run.step(name, [&](daybook::transaction& tx) { tx.exec(effect, day); });
    if (done && name == die_after) std::raise(SIGKILL);
    return static_cast<bool>(done);
  };
  bool const done =
      step("total",
           "insert into total select day, sum(cents) from sale where day = :day "
           "group by day") &&
      step("points",
           "update customer set points = points + (select coalesce(sum(cents), 0) / 100 "
           "from sale where day = :day and customer = customer.id)") &&
      step("forget", "delete from sale where day = :day");
  return done && std::move(run).finish() ? 0 : 79;  // 79: another process has taken it over
}

}  // namespace

int main(int count, char** words) try {
  daybook::book book(words[1]);
  book.migrate();
  book.transact(prepare);
  int const code = nightly(book, count > 2 ? words[2] : "2026-11-21", count > 3 ? words[3] : "");
  book.transact([](daybook::transaction& tx) {
    for (auto const& [id, points] : tx.rows<std::tuple<std::int64_t, std::int64_t>>(
             "select id, points from customer order by id")) {
      std::cout << "customer " << id << ": " << points << " points\n";
    }
  });
  return code;
} catch (std::exception const& e) {
  std::cerr << "nightly: " << e.what() << '\n';
  return 70;
}
