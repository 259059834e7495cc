// A process at work on the orders of torture_plan, until it is asked to end or dies of itself.
//   plan_worker URL write SEED LONGEST-SLEEP-MS
//     adds, pays and deletes orders, commits late, aborts
//   plan_worker URL plan SEED 0 [FAILPOINT]
//     makes passes, with faults armed; with that one only, at each pass
//   plan_worker URL cursor
//     what a naive reader sees that remembers an id
#include <daybook/book.hpp>
#include <daybook/planner.hpp>
#include <daybook/testing.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using daybook::transaction;

volatile std::sig_atomic_t over = 0;

struct aborted : std::runtime_error {
  aborted() : std::runtime_error("aborted") {}
};

class dice {
 public:
  explicit dice(unsigned seed) : of_(seed) {}
  int up_to(int most) { return std::uniform_int_distribution<int>(0, most)(of_); }
  bool one_in(int many) { return up_to(many - 1) == 0; }

 private:
  std::minstd_rand of_;
};

daybook::book open(std::string const& url) {
  daybook::book_options options;
  options.lease = 2s;
  return daybook::book(url, options);
}

void write_once(transaction& tx, dice& chance, int longest_ms) {
  // By the writer's own clock, which is wrong.
  auto const created = std::int64_t{chance.up_to(1'000'000)};
  int const rows = chance.one_in(10) ? 50 : 1 + chance.up_to(3);
  for (int i = 0; i < rows; ++i) {
    tx.exec("insert into orders(state, created) values (:state, :created)",
            chance.one_in(4) ? "new" : "paid", created);
  }
  if (chance.one_in(3)) {
    // One that is old becomes eligible now.
    auto const old = tx.rows<std::int64_t>("select min(id) from orders where state = 'new'");
    if (!old.empty() && old.front() > 0) {
      tx.exec("update orders set state = 'paid' where id = :id", old.front());
    }
  }
  if (chance.one_in(8)) {
    auto const some = tx.rows<std::int64_t>(
        "select id from orders where created % 7 = 3 order by id desc limit 1");
    if (!some.empty()) {
      tx.exec("insert into gone(id) values (:id)", some.front());
      tx.exec("delete from orders where id = :id", some.front());
    }
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(chance.up_to(longest_ms)));
  if (chance.one_in(60)) std::raise(SIGKILL);
  if (chance.one_in(5)) throw aborted();
}

void write(daybook::book& book, dice chance, int longest_ms) {
  while (over == 0) {
    try {
      book.transact([&](transaction& tx) { write_once(tx, chance, longest_ms); });
    } catch (aborted const&) {
      continue;
    } catch (daybook::error const& e) {
      // Two may have deleted the same order; the reply to a COMMIT may be lost.
      std::fprintf(stderr, "write: %s\n", e.what());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(chance.up_to(20)));
  }
}

void plan(daybook::book& book, dice chance, std::string const& only) {
  using daybook::testing::failpoint_action;
  static constexpr std::array places{"start.before_commit", "start.committed",    "step.begun",
                                     "step.effect_done",    "step.before_commit", "step.committed",
                                     "end.before_commit",   "end.committed"};
  static constexpr std::array actions{failpoint_action::kill, failpoint_action::cut,
                                      failpoint_action::fail};
  auto orders = book.planner("orders").value();
  orders = book.planner("orders", orders.options()).value();  // its SQL is this program's
  while (over == 0) {
    if (!only.empty()) {
      daybook::testing::arm(only, failpoint_action::fail);
    } else if (chance.one_in(3)) {
      daybook::testing::arm(places.at(static_cast<std::size_t>(chance.up_to(7))),
                            actions.at(static_cast<std::size_t>(chance.up_to(2))),
                            static_cast<unsigned>(chance.up_to(3)));
    }
    try {
      orders.pass({.check = [](transaction&,
                               daybook::candidate&) { return daybook::check_decision::launch(); },
                   .stop = {},
                   .on_progress = {}});
    } catch (daybook::error const& e) {
      std::fprintf(stderr, "plan: %s\n", e.what());
    }
    daybook::testing::disarm();
    std::this_thread::sleep_for(std::chrono::milliseconds(chance.up_to(30)));
  }
}

void follow_a_cursor(daybook::book& book) {
  std::int64_t cursor = 0;
  // Once more when all others have ended.
  for (bool more = true; more;) {
    more = over == 0;
    try {
      book.transact([&](transaction& tx) {
        auto last = cursor;
        for (auto const id : tx.rows<std::int64_t>(
                 "select id from orders where id > :cursor and state = 'paid' order by id", last)) {
          tx.exec("insert into visited(id) values (:id)", id);
          last = id;
        }
        cursor = last;
      });
    } catch (daybook::error const& e) {
      std::fprintf(stderr, "cursor: %s\n", e.what());
    }
    std::this_thread::sleep_for(20ms);
  }
}

}  // namespace

int main(int count, char** words) try {
  std::signal(SIGTERM, [](int) { over = 1; });
  if (count < 3) throw std::runtime_error("plan_worker URL ROLE ...");
  auto book = open(words[1]);
  std::string const role = words[2];
  auto const number = [&](int at) { return count > at ? std::stoi(words[at]) : 0; };
  if (role == "write") {
    write(book, dice(static_cast<unsigned>(number(3))), number(4));
  } else if (role == "plan") {
    plan(book, dice(static_cast<unsigned>(number(3))), count > 5 ? words[5] : "");
  } else {
    follow_a_cursor(book);
  }
  return 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "plan_worker: %s\n", e.what());
  return 1;
}
