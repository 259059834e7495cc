// The stock of many products, asked for by a node's threads; and the answers stored in batches,
// each with its own end in one transaction.
//
//   work_a_queue [URL]
#include <daybook/daybook.hpp>
#include <daybook/node.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr int products = 500;

/// What is asked elsewhere, as small as will do: one product is not known there.
int ask_the_stock_system(std::string const& product, std::string const& /*idempotency_key*/) {
  if (product == "product/13") throw std::runtime_error("404, no such product");
  return 7;
}

void work(daybook::book& book, daybook::node& node) {
  auto answers = book.make_queue("answers");

  node.work("stock",
            [answers](daybook::job& job) mutable {
              auto const& product = job.task().key;
              auto const pieces = ask_the_stock_system(product, job.idempotency_key());
              job.perform([&](daybook::transaction& tx) {
                answers.add(tx, daybook::key{product}, {.payload = std::to_string(pieces)});
              });
              return daybook::result::success();
            },
            {.threads = 8, .timeout = 30s});

  node.work_in_batches("answers",
                       [](daybook::job_batch& batch) {
                         batch.perform([&](daybook::transaction& tx) {
                           for (std::size_t i = 0; i < batch.size(); ++i) {
                             auto const& task = batch.task(i);
                             tx.exec("insert into stock(product, pieces) values (:p, :n)", task.key,
                                     std::stoll(*task.payload));
                           }
                         });
                       },
                       {.threads = 1, .batch = 200});
}

int run(daybook::book& book) {
  auto stock = book.make_queue("stock", {.period = 240h});
  std::vector<daybook::entry> all;
  for (int i = 0; i < products; ++i) all.push_back({daybook::key{"product/" + std::to_string(i)}});
  stock.import(all);

  daybook::node node(book);
  work(book, node);
  node.drain();  // a service calls start(), and stop() when it ends

  auto const counts = stock.counts();
  std::cout << counts.succeeded << " answered, " << node.counts("answers")->succeeded
            << " stored\n";
  return counts.succeeded == products - 1 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) try {
  daybook::book book(count > 1 ? words[1] : "sqlite::memory:");
  book.migrate();
  book.transact([](daybook::transaction& tx) {
    tx.exec("create table if not exists stock(product varchar(255) not null, pieces int not null)");
  });
  return run(book);
} catch (std::exception const& e) {
  std::cerr << "work_a_queue: " << e.what() << '\n';
  return 70;
}
