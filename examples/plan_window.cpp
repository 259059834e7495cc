// Adds up the sales of each day in Berlin when the day is over. Each day is done once, also days
// that were missed; a failed day is done again, and so is a day that somebody corrects.
//
//   plan_window [URL]
#include <daybook/daybook.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr int days_ago = 40;

/// Stands for the application's tables: a sale in each hour of the last days.
daybook::timestamp make_tables(daybook::book& book) {
  auto const now = std::chrono::floor<std::chrono::hours>(std::chrono::system_clock::now());
  book.transact([&](daybook::transaction& tx) {
    tx.exec("create table sale(sold_at bigint not null, cents bigint not null)");
    tx.exec("create table day_total(day varchar(10) primary key, cents bigint not null)");
    for (auto at = now - std::chrono::days{days_ago + 2}; at < now; at += 1h) {
      tx.exec("insert into sale values (:at, 100)",
              std::int64_t{std::chrono::microseconds(at.time_since_epoch()).count()});
    }
  });
  return now - std::chrono::days{days_ago};
}

daybook::planner declare(daybook::book& book, daybook::timestamp since) {
  book.make_queue("day-totals", {.attempts = 1});
  return book.make_planner(
      "daily-sales",
      {.queue = "day-totals",
       .strategy = daybook::window_strategy{
           .zone = "Europe/Berlin", .since = since, .retry_after = std::chrono::seconds{0}}});
}

/// A node would do this: node.work("day-totals", ...). The third day's total fails at first.
void work(daybook::book& book, daybook::planner const& plan, bool third_fails) {
  auto const days = plan.grid({.limit = 100});
  daybook::node node(book);
  node.work("day-totals", [&](daybook::job& job) {
    auto const& key = job.task().key;
    if (third_fails && key == days.at(2).key) throw std::runtime_error("the till is open");
    for (auto const& day : days) {
      if (day.key != key) continue;
      job.perform([&](daybook::transaction& tx) {
        tx.exec("delete from day_total where day = :day", key);
        tx.exec(
            "insert into day_total select :day, coalesce(sum(cents), 0) from sale "
            "where sold_at >= :from_us and sold_at < :to_us",
            key, std::int64_t{day.from.time_since_epoch().count()},
            std::int64_t{day.to.time_since_epoch().count()});
      });
    }
    return daybook::result::success();
  });
  node.drain();
}

int run(daybook::book& book) {
  auto plan = declare(book, make_tables(book));
  auto const days = static_cast<std::int64_t>(plan.grid({.limit = 100}).size());
  bool right = plan.pass().launched == days;  // a node that serves the plan does so every minute
  work(book, plan, true);

  right = right && plan.pass().launched == 1;  // the one that failed
  for (auto const& day : plan.grid({.newest_first = true, .limit = 3})) {
    std::cout << day.key << ' ' << daybook::word_of(day.state) << '\n';
  }
  work(book, plan, false);
  plan.pass();
  auto const done = plan.grid({.limit = 100});
  right = right && plan.watermark() == done.back().to;

  // Somebody enters a forgotten sale, and reopens the day.
  book.transact([&](daybook::transaction& tx) {
    tx.exec("insert into sale values (:at, 50)",
            std::int64_t{done.front().from.time_since_epoch().count()});
  });
  plan.reopen(daybook::key{done.front().key}, {.actor = "anna", .reason = "a sale was forgotten"});
  right = right && plan.pass().launched == 1;
  work(book, plan, false);

  auto const hours = (done.back().to - done.front().from) / 1h;
  std::cout << days << " days, " << hours << " hours\n";
  std::vector<std::int64_t> totals;
  book.transact([&](daybook::transaction& tx) {
    totals = tx.rows<std::int64_t>("select cents from day_total");
  });
  auto const cents = std::accumulate(totals.begin(), totals.end(), std::int64_t{0});
  right = right && std::ssize(totals) == days && cents == hours * 100 + 50;
  return right ? 0 : 1;
}

}  // namespace

int main(int count, char** words) try {
  daybook::book book(count > 1 ? words[1] : "sqlite::memory:");
  book.migrate();
  return run(book);
} catch (std::exception const& e) {
  std::cerr << "plan_window: " << e.what() << '\n';
  return 70;
}
