// Bricks that workers carried become payments: each record is counted once, sums are exact, and a
// payment can be taken back until it is settled. (Aggregation.)
//
//   bricks URL        run it again, or several at once: nothing is counted twice
#include <daybook/daybook.hpp>

#include <cstdint>
#include <iostream>
#include <string>
#include <tuple>

namespace {

void prepare(daybook::transaction& tx) {
  tx.exec(
      "create table if not exists brick(id int primary key not null, worker int not null, "
      "bricks int not null, state int not null, payment varchar(40) not null)");
  tx.exec(
      "create table if not exists payment(id varchar(40) primary key not null, worker int, "
      "state int not null, records int not null default 0, bricks int not null default 0, "
      "cents int not null default 0)");
  if (tx.rows<std::int64_t>("select count(*) from brick").at(0) > 0) return;
  tx.exec(
      "insert into brick values (1, 101, 81, 1, ''), (2, 102, 41, 1, ''), (3, 101, 70, 1, ''), "
      "(4, 101, 28, 1, ''), (5, 102, 35, 1, '')");
}

daybook::aggregation declare(daybook::book& book) {
  daybook::aggregation_options of;
  of.source = {
      .table = "brick", .key = "id", .state = "state", .link = "payment", .group = {"worker"}};
  of.parent = {.table = "payment",
               .key = "id",
               .state = "state",
               .count = "records",
               .following = {{"cents", "bricks * 12"}}};
  of.sums = {{"bricks", "bricks"}};
  return book.make_aggregation("pay", of);
}

}  // namespace

int main(int, char** words) try {
  daybook::book book(words[1]);
  book.migrate();
  book.transact(prepare);
  auto pay = declare(book);

  pay.aggregate({.actor = "bricks"});
  for (auto const& one : pay.parents({.state = pay.options().parent.open})) {
    if (one.group == "102") pay.revert(one.key, {.actor = "alice", .reason = "he says 35 is 53"});
  }
  pay.aggregate({.actor = "bricks"});  // what was taken back is free, and taken again
  pay.close_all({.actor = "bricks", .reason = "the day is over"});
  for (auto const& one : pay.parents({.state = pay.options().parent.closed})) {
    // Here the bank is asked, by one.key: examples/pay_workers.cpp.
    pay.settle(one.key, {.actor = "bricks", .reason = "paid"});
  }

  book.transact([](daybook::transaction& tx) {
    for (auto const& [worker, records, bricks, cents] :
         tx.rows<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>>(
             "select worker, records, bricks, cents from payment where state = 3 "
             "order by worker")) {
      std::cout << worker << ": " << records << " records, " << bricks << " bricks, " << cents
                << " cents\n";
    }
  });
  std::cout << pay.verify().differences.size() << " differences\n";
} catch (std::exception const& e) {
  std::cerr << "bricks: " << e.what() << '\n';
  return 70;
}
