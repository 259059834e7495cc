// The smallest program against an installed Daybook: one run of one step, in memory.
#include <daybook/daybook.hpp>

#include <iostream>
#include <utility>

int main() {
  daybook::book book("sqlite::memory:");
  book.migrate();
  auto run = book.start(daybook::process{"hello"}).take();
  auto const answer =
      run.step("add", [](auto& tx) { return tx.exec("create table t(n integer)"); });
  std::cout << "daybook " DAYBOOK_VERSION << (answer ? ": works\n" : ": lost\n");
  return std::move(run).finish() ? 0 : 1;
}
