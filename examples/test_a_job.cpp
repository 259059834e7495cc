// How to test a job: a book in memory, a clock that you move, a holder that is gone. The checks
// here are plain; any test framework will do.
#include <daybook/daybook.hpp>
#include <daybook/testing.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace {

using namespace std::chrono_literals;

void check(bool right, std::string_view what) {
  std::cout << (right ? "ok      " : "FAILED  ") << what << '\n';
  if (!right) std::exit(1);
}

daybook::process const nightly{"nightly"};

/// The job under test: two steps.
daybook::outcome load(daybook::run& run, int n) {
  return run
      .step(n == 1 ? "one" : "two",
            [&](daybook::transaction& tx) { tx.exec("insert into loaded(n) values (:n)", n); })
      .what();
}

std::int64_t loaded(daybook::book& book) {
  std::int64_t count = 0;
  book.transact([&](daybook::transaction& tx) {
    count = tx.rows<std::int64_t>("select count(*) from loaded").at(0);
  });
  return count;
}

void resumes_where_the_dead_one_stood() {
  auto book = daybook::testing::open_in_memory();
  book.transact([](auto& tx) { tx.exec("create table loaded(n integer not null)"); });

  auto first = book.start(nightly).take();
  check(load(first, 1) == daybook::outcome::done, "a step is done");
  check(!book.start(nightly), "a second start is refused while the first holder is alive");

  daybook::testing::expire(book, nightly);  // as if another process had declared this one dead
  auto second = book.start(nightly).take();
  check(second.attempt() == 2, "then it takes over");
  check(load(second, 1) == daybook::outcome::skipped, "skips what is done");
  check(load(second, 2) == daybook::outcome::done, "does what is not");
  check(load(first, 2) == daybook::outcome::lost, "and the first can write nothing more");
  check(static_cast<bool>(std::move(second).finish()), "the run is finished");
  check(loaded(book) == 2, "each effect is there once");
}

/// A handler is called in the test's own thread, for what is due by the book's clock.
void asks_again_after_a_failure() {
  auto book = daybook::testing::open_in_memory();
  daybook::testing::manual_clock clock(book);
  auto stock = book.make_queue("stock", {.period = 240h, .backoff = 30s});
  stock.add(daybook::key{"product/42"});

  int asked = 0;
  daybook::node node(book);
  node.work("stock", [&](daybook::job&) {
    if (++asked == 1) throw std::runtime_error("503");
    return daybook::result::success();
  });
  check(node.drain() == 1, "it is due at once");
  check(stock.find(daybook::key{"product/42"})->remark == "503", "what was thrown is kept");
  check(node.drain() == 0, "it is not due again before its back-off is over");
  clock.advance(1min);
  check(node.drain() == 1 && stock.counts().succeeded == 1, "then it is done");
  clock.advance(255h);  // the period, and its grain: a sixteenth
  check(node.drain() == 1 && asked == 3, "and once more in the next period");
}

}  // namespace

int main() {
  resumes_where_the_dead_one_stood();
  asks_again_after_a_failure();
}
