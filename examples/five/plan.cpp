// Finds work that must exist and does not: paid orders to ship, events to answer, days to close,
// members to look at. Each is launched once, and checked at its launch. (Four planners.)
//
//   plan URL        run it again: nothing is launched again
#include <daybook/daybook.hpp>
#include <daybook/planner.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>

namespace {

void prepare(daybook::transaction& tx) {
  tx.exec("create table if not exists orders(id int primary key, state text, grams int)");
  tx.exec("create table if not exists member(id bigint primary key not null)");
  if (tx.rows<std::int64_t>("select count(*) from orders").at(0) > 0) return;
  tx.exec("insert into orders values (1, 'paid', 800), (2, 'new', 90), (3, 'paid', 40000)");
  for (std::int64_t id = 1; id <= 250; ++id) tx.exec("insert into member values (:id)", id);
}

/// Called in the transaction that launches. On a server the query would end in `for share`.
daybook::check_decision check_parcel(daybook::transaction& tx, daybook::candidate& order) {
  auto const grams = tx.rows<std::int64_t>(
      "select grams from orders where id = cast(:id as int) and state = 'paid'", order.key.str());
  if (grams.empty()) return daybook::check_decision::refuse("it is not paid any more");
  if (grams.front() > 31'500) return daybook::check_decision::refuse("too heavy for a parcel");
  return daybook::check_decision::launch();
}

void declare(daybook::book& book) {
  for (auto const* name : {"ship", "answer", "close", "visit"}) book.make_queue(name);
  book.make_planner(
      "orders",
      {.queue = "ship",
       .strategy = daybook::query_strategy{"select id from orders where state = 'paid'"}});
  auto events = book.make_queue("events");
  events.add(daybook::key{"complaint-1"}, {.payload = "the parcel was wet"});
  book.make_planner("events", {.queue = "answer", .strategy = daybook::inbox_strategy{"events"}});
  auto const today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  daybook::window_strategy const days{.since = today - std::chrono::days{7}};
  if (!book.planner("days")) book.make_planner("days", {.queue = "close", .strategy = days});
  book.make_planner(
      "members",
      {.queue = "visit", .strategy = daybook::sweep_strategy{.table = "member", .page = 100}});
}

}  // namespace

int main(int, char** words) try {
  daybook::book book(words[1]);
  book.migrate();
  book.transact(prepare);
  declare(book);

  daybook::node node(book);
  node.plan("orders", {.check = check_parcel});
  for (auto const* name : {"events", "days", "members"}) node.plan(name);
  for (auto const* name : {"ship", "answer", "close", "visit"}) {
    node.work(name, [](daybook::job&) { return daybook::result::success(); });
  }
  node.drain();  // a service calls start(), and stop() when it ends

  for (auto const* name : {"ship", "answer", "close", "visit"}) {
    std::cout << name << ": " << book.queue(name)->counts().succeeded << '\n';
  }
  for (auto const& one : book.planner("orders")->refusals()) {
    std::cout << "order " << one.key << ": " << one.reason << '\n';
  }
} catch (std::exception const& e) {
  std::cerr << "plan: " << e.what() << '\n';
  return 70;
}
