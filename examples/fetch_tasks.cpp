// Several threads ask for the stock of many products; one task fetcher claims for all of them.
//
//   fetch_tasks [URL]
#include <daybook/daybook.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr int products = 500;

/// Stands for the other system: it does not know one of the products.
daybook::result ask(daybook::task const& of) {
  if (of.key == "product/13") return daybook::result::failure("the shop does not know it");
  return daybook::result::success();
}

void work(daybook::task_fetcher& out, std::atomic<int>& asked) {
  while (auto one = out.next()) {
    one->finish(ask(one->task()));
    if (++asked == products) out.close();  // a service would wait for the next that is due
  }
}

int run(daybook::book& book) {
  auto stock = book.make_queue("stock", {.period = 240h});
  std::vector<daybook::entry> all;
  for (int i = 0; i < products; ++i) all.push_back({daybook::key{"product/" + std::to_string(i)}});
  stock.import(all);

  std::atomic<int> asked = 0;
  {
    daybook::task_fetcher out(stock, {.batch = 100});
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] { work(out, asked); });
    }
    threads.clear();  // waits for them
  }                   // what is finished is written down, the rest is handed back

  auto const counts = stock.counts();
  std::cout << asked << " asked, " << counts.succeeded << " answered, " << counts.running
            << " in hand\n";
  return counts.running == 0 && counts.succeeded == products - 1 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) try {
  daybook::book book(count > 1 ? words[1] : "sqlite::memory:");
  book.migrate();
  return run(book);
} catch (std::exception const& e) {
  std::cerr << "fetch_tasks: " << e.what() << '\n';
  return 70;
}
