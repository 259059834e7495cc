// Every paid order is shipped once: a planner finds the orders, locks and checks each, and launches
// a task for it. It prints the orders that were not launched, and why.
//
//   plan_orders [URL]
#include <daybook/daybook.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>

namespace {

using namespace std::chrono_literals;

daybook::planner plan(daybook::book& book) {
  book.make_queue("ship");
  return book.make_planner(
      "paid-orders",
      {.queue = "ship",
       .strategy = daybook::query_strategy{"select id, address from orders where state = 'paid'"},
       .rule = daybook::launch_rule::once,
       .every = 1min});
}

/// Called in the transaction that launches: rows that it has locked stay locked until the task is
/// there. (On PostgreSQL the query would end in `for share`; SQLite has one writer.)
daybook::check_decision check(daybook::transaction& tx, daybook::candidate& order) {
  auto const weight = tx.rows<std::int64_t>(
      "select grams from orders where id = cast(:id as int) and state = 'paid'", order.key.str());
  if (weight.empty()) return daybook::check_decision::refuse("it is not paid any more");
  if (weight.front() > 31'500) return daybook::check_decision::refuse("too heavy for a parcel");
  return daybook::check_decision::launch();
}

int run(daybook::book& book) {
  auto orders = plan(book);
  for (auto const& one : orders.preview(10, check)) {
    std::cout << one.key << (one.launched ? " would be launched" : " would not: " + one.reason)
              << '\n';
  }

  int shipped = 0;
  daybook::node node(book);
  node.plan("paid-orders", {.check = check, .after = {}});
  node.work("ship", [&](daybook::job&) {
    ++shipped;
    return daybook::result::success();
  });
  node.drain();  // a service calls start(), and stop() when it ends
  orders.pass({.check = check, .stop = {}, .on_progress = {}});  // again is fine: once is for ever

  for (auto const& one : orders.refusals()) std::cout << one.key << ": " << one.reason << '\n';
  return shipped == 2 && orders.refusals().size() == 1 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) try {
  daybook::book book(count > 1 ? words[1] : "sqlite::memory:");
  book.migrate();
  book.transact([](daybook::transaction& tx) {
    tx.exec("create table orders(id int primary key, state text, grams int, address text)");
    tx.exec(
        "insert into orders values (1, 'paid', 800, 'Basel'), (2, 'new', 90, 'Ulm'), "
        "(3, 'paid', 40000, 'Graz'), (4, 'paid', 1200, 'Bern')");
  });
  return run(book);
} catch (std::exception const& e) {
  std::cerr << "plan_orders: " << e.what() << '\n';
  return 70;
}
