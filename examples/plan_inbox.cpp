// An inbox: a sale adds its event to a queue in its own transaction. A planner makes a task of each
// event, once, or says why not.
//   plan_inbox sqlite:shop.db
#include <daybook/daybook.hpp>
#include <daybook/planner.hpp>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

void check(bool right, std::string_view what) {
  std::cout << (right ? "ok      " : "FAILED  ") << what << '\n';
  if (!right) std::exit(1);
}

/// The sale and its event are there together, or not at all.
void sell(daybook::book& book, daybook::queue& events, std::int64_t id, std::int64_t cents) {
  book.transact([&](daybook::transaction& tx) {
    tx.exec("insert into sale(id, cents) values (:id, :cents)", id, cents);
    events.add(tx, daybook::key{"sale/" + std::to_string(id)});
    if (cents < 0) throw std::invalid_argument("nothing is sold for less than nothing");
  });
}

/// Refuses the tasks of sales that were gifts.
daybook::check_decision is_paid(daybook::transaction& tx, daybook::candidate& of) {
  auto const id = std::stoll(of.key.str().substr(5));
  auto const cents = tx.rows<std::int64_t>("select cents from sale where id = :id", id).at(0);
  return cents > 0 ? daybook::check_decision::launch()
                   : daybook::check_decision::refuse("it was a present");
}

}  // namespace

int main(int argc, char** argv) try {
  daybook::book book{argc > 1 ? argv[1] : "sqlite:shop.db"};
  book.migrate();
  book.transact([](daybook::transaction& tx) {
    tx.exec("create table if not exists sale(id bigint primary key, cents bigint not null)");
  });
  // Upkeep forgets answered events a week later; the planner remembers their keys.
  auto events = book.make_queue("sales", {.done_retention = std::chrono::hours{24 * 7}});
  auto shipments = book.make_queue("ship");
  auto plan = book.make_planner("shipments",
                                {.queue = "ship", .strategy = daybook::inbox_strategy{"sales"}});

  for (std::int64_t id = 1; id <= 9; ++id) sell(book, events, id, id % 3 == 0 ? 0 : 100);
  try {
    sell(book, events, 10, -1);
  } catch (std::invalid_argument const& e) {
    std::cout << "not sold: " << e.what() << '\n';
  }

  auto const done = plan.pass({.check = is_paid});
  for (auto const& one : plan.refusals()) std::cout << one.key << ": " << one.reason << '\n';
  check(done.launched == 6, "six sales are to be shipped");
  check(done.refused == 3, "three were presents");
  check(!events.find(daybook::key{"sale/10"}), "what was not sold is not heard of");
  check(plan.pass({.check = is_paid}).seen == 0, "and each is answered once");
  check(shipments.counts().due == 6, "their tasks wait for the packers");
} catch (std::exception const& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
