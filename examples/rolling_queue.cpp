// Asks for every product once in ten days; a product that fails is asked for again sooner.
//   rolling_queue sqlite:shop.db
#include <daybook/daybook.hpp>

#include <chrono>
#include <iostream>

namespace {

daybook::result ask_the_stock_system(std::string const& product) {
  if (product == "product/13") return daybook::result::failure("503, try later");
  return daybook::result::success();
}

}  // namespace

int main(int argc, char** argv) try {
  daybook::book book{argc > 1 ? argv[1] : "sqlite:shop.db"};
  book.migrate();
  auto stock = book.make_queue("stock", {.period = std::chrono::days{10}});
  for (int i = 1; i <= 20; ++i) stock.add(daybook::key{"product/" + std::to_string(i)});

  while (auto batch = stock.claim()) {
    for (auto const& task : batch->tasks()) batch->finish(task, ask_the_stock_system(task.key));
    if (std::move(*batch).complete() == daybook::outcome::lost) std::cerr << "lost a batch\n";
  }
  auto const now = stock.counts();
  std::cout << now.succeeded << " asked for, " << now.waiting << " to be tried again, in "
            << now.segments << " rows\n";
} catch (std::exception const& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
