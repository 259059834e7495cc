// A node works two queues: several threads ask for the stock of many products, and prices are
// raised for many products at a time. Each effect is there once.
//
//   work_a_queue [URL]
#include <daybook/daybook.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr int products = 500;

/// Stands for the other system: it does not know one of the products.
int ask_the_stock_system(std::string const& product, std::string const& /*idempotency_key*/) {
  if (product == "product/13") throw std::runtime_error("404, no such product");
  return 7;
}

void work(daybook::node& node) {
  auto const ask = [](daybook::job& job) {
    auto const& product = job.task().key;
    auto const pieces = ask_the_stock_system(product, job.idempotency_key());
    job.perform([&](daybook::transaction& tx) {
      tx.exec("update product set pieces = :n where name = :p", pieces, product);
    });
    return daybook::result::success();
  };
  node.work("stock", ask, {.threads = 8, .timeout = 30s});

  auto const rise = [](daybook::job_batch& batch) {
    batch.perform([&](daybook::transaction& tx) {
      for (std::size_t i = 0; i < batch.size(); ++i) {
        tx.exec("update product set cents = cents + 5 where name = :p", batch.task(i).key);
      }
    });
  };
  node.work_in_batches("prices", rise, {.threads = 1, .batch = 200});
}

int run(daybook::book& book) {
  std::vector<daybook::entry> all;
  for (int i = 0; i < products; ++i) all.push_back({daybook::key{"product/" + std::to_string(i)}});
  book.transact([&](daybook::transaction& tx) {
    for (auto const& one : all) {
      tx.exec("insert into product(name, pieces, cents) values (:p, 0, 100)", one.key.str());
    }
  });
  book.make_queue("stock", {.period = 240h}).import(all);
  book.make_queue("prices").import(all);

  daybook::node node(book);
  work(node);
  node.drain();  // a service calls start(), and stop() when it ends

  std::int64_t right = 0;
  book.transact([&](daybook::transaction& tx) {
    right = tx.rows<std::int64_t>("select count(*) from product where pieces = 7 and cents = 105")
                .at(0);
  });
  std::cout << right << " of " << products << " products\n";
  return right == products - 1 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) try {
  daybook::book book(count > 1 ? words[1] : "sqlite::memory:");
  book.migrate();
  book.transact([](daybook::transaction& tx) {
    tx.exec("create table product(name varchar(255) primary key, pieces int, cents int)");
  });
  return run(book);
} catch (std::exception const& e) {
  std::cerr << "work_a_queue: " << e.what() << '\n';
  return 70;
}
