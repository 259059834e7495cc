// Asks another system for the stock of every product, one by one, once in ten days. Products come
// and go. (The rolling task table.)
//
//   stock URL        run it again, or several at once: no product is asked for twice
#include <daybook/daybook.hpp>
#include <daybook/table_sync.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <tuple>

namespace {

void prepare(daybook::transaction& tx) {
  tx.exec(
      "create table if not exists product(code varchar(40) primary key not null, pieces bigint, "
      "asked int not null default 0)");
  if (tx.rows<std::int64_t>("select count(*) from product").at(0) > 0) return;
  for (int i = 1; i <= 200; ++i) {
    tx.exec("insert into product(code) values (:code)", "product-" + std::to_string(i));
  }
}

/// Stands for the other system. A product that it does not know is tried again later.
std::int64_t ask_the_stock_system(std::string const& product) {
  if (product == "product-13") throw std::runtime_error("404, no such product");
  return std::int64_t{7};
}

daybook::result refresh(daybook::job& job) {
  auto const& product = job.task().key;
  auto const pieces = ask_the_stock_system(product);
  job.perform([&](daybook::transaction& tx) {  // with the record that it was done
    tx.exec("update product set pieces = :pieces, asked = asked + 1 where code = :code", pieces,
            product);
  });
  return daybook::result::success();
}

}  // namespace

int main(int, char** words) try {
  daybook::book book(words[1]);
  book.migrate();
  book.transact(prepare);
  auto stock = book.make_queue("stock", {.period = std::chrono::days{10}});
  auto products = stock.follow({.table = "product", .key = "code"});
  products.install();  // triggers: a product that comes is a task, one that goes is none
  products.reconcile();

  daybook::node node(book);
  node.work("stock", refresh, {.threads = 4, .timeout = std::chrono::seconds{30}});
  node.drain();  // a service calls start(), and stop() when it ends
  book.transact([](daybook::transaction& tx) {
    tx.exec("delete from product where code = 'product-1'");
    tx.exec(
        "insert into product(code) select 'new' where not exists "
        "(select 1 from product where code = 'new')");
  });
  node.drain();

  book.transact([](daybook::transaction& tx) {
    for (auto const& [asked, products] : tx.rows<std::tuple<std::int64_t, std::int64_t>>(
             "select asked, count(*) from product group by asked order by asked")) {
      std::cout << products << " products asked for " << asked << " times\n";
    }
  });
} catch (std::exception const& e) {
  std::cerr << "stock: " << e.what() << '\n';
  return 70;
}
