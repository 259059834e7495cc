// Another process of the races.
//   contender URL KEYS       one of several that want the same keys: leaves a row in the table
//                            `effect` for each run that it won, and ends with 0 when every key is
//                            done
//   contender URL pass PLAN  makes a pass of a plan; DAYBOOK_FAILPOINT says where it dies
#include <daybook/daybook.hpp>
#include <daybook/testing.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <utility>

namespace {

bool once(daybook::book& book, daybook::key const& piece) {
  daybook::process const nightly("nightly");
  for (;;) {
    auto attempt = book.start(nightly, piece, {.once = true});
    if (attempt) {
      auto run = std::move(attempt).take();
      auto const leave_a_row = [](daybook::transaction& tx) {
        tx.exec("insert into effect(name) values (:n)", "load");
      };
      return run.step("load", leave_a_row) && std::move(run).finish();
    }
    if (attempt.why() == daybook::start_refusal::done_before) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

int main(int count, char** words) try {
  if (count != 3 && count != 4) return 64;
  daybook::book book(words[1], {.renew_in_background = false, .movable_clock = true});
  if (count == 4) {
    auto plan = book.planner(words[3]).value();
    plan = book.planner(words[3], plan.options()).value();  // its SQL is this program's
    daybook::testing::arm_from_environment();
    return plan.pass().ran ? 0 : 3;
  }
  for (int at = 0; at < std::stoi(words[2]); ++at) {
    if (!once(book, daybook::key{std::to_string(at)})) return 2;
  }
  return 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "contender: %s\n", e.what());
  return 1;
}
