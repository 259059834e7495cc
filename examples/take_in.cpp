// Messages of a broker: payments become tasks, products come and go as members of a queue, and
// postings are rows of a table. Each has its effect once, however often the broker delivers it.
//   take_in sqlite:shop.db
#include <daybook/daybook.hpp>
#include <daybook/memory_broker.hpp>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

namespace {

void check(bool right, std::string_view what) {
  std::cout << (right ? "ok      " : "FAILED  ") << what << '\n';
  if (!right) std::exit(1);
}

/// A message of the queue "payments" is a task: its id is the key, its body the payload.
daybook::intake payments(daybook::book& book) {
  book.make_queue("paid-orders");
  return book.make_intake("payments", {.into = "paid-orders"});
}

/// A message of the log "products" adds a product or changes it; one without a body removes it.
daybook::intake products(daybook::book& book) {
  book.make_queue("stock", {.period = std::chrono::hours{24}});
  return book.make_intake("products",
                          {.members = "stock", .id = {daybook::message_identity::from::key}});
}

/// The effect is ours, and commits with the place in the log: exactly once, without tasks.
void post(daybook::transaction& tx, std::span<daybook::broker::message const> messages) {
  for (auto const& one : messages) {
    tx.exec("insert into posting(doc, cents) values (:doc, :cents)", one.key, one.body);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  daybook::book book{argc > 1 ? argv[1] : "sqlite:shop.db"};
  book.migrate();
  book.transact([](daybook::transaction& tx) {
    tx.exec("create table if not exists posting(doc varchar(40) not null, cents varchar(20))");
  });
  payments(book);
  products(book);
  book.make_intake("postings", {});

  // A broker of the tests' own; a program has one of a library for its broker.
  daybook::testing::memory_broker broker;
  for (int order = 1; order <= 9; ++order) {
    broker.send("payments", {.id = "order/" + std::to_string(order), .body = "{}"});
    broker.append("products", {.key = "product/" + std::to_string(order), .body = "{}"});
    broker.append("postings", {.key = "doc/" + std::to_string(order), .body = "100"});
  }
  broker.append("products", {.key = "product/4"});  // it is gone
  broker.lose_settlements(1);                       // and what it was told, the broker forgets

  daybook::node node(book);
  node.take_in("payments", broker.queue("payments"));
  node.take_in("products", broker.log("products"));
  node.take_in("postings", broker.log("postings"), post);
  node.drain();  // or start(): then messages are taken as they come, until stop()

  check(broker.deliveries("payments") == 18, "each payment was delivered twice");
  check(book.queue("paid-orders")->counts().due == 9, "and is one task");
  check(book.queue("stock")->counts().members == 8, "eight of nine products are there");
  auto const place = book.intake("postings")->info().places.at(0);
  check(place.next == 9 && place.taken == 9, "nine postings were taken from the log");
} catch (std::exception const& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
