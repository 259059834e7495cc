// The processes of kills.py: all take messages of one RabbitMQ queue or stream into one table.
//
//   taker setup  BOOK QUEUE TYPE      makes book, table, intake and queue ("quorum" or "stream")
//   taker send   BOOK QUEUE COUNT     messages m0, m1, ... with ids, each confirmed
//   taker take   BOOK QUEUE TYPE      for ever, again after each fault
//   taker count  BOOK                 "EFFECTS DIFFERENT"
#include "brokers/rabbit.hpp"

#include <daybook/amqp.hpp>
#include <daybook/daybook.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <thread>
#include <utility>

namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

/// Slow, so that most of those who are killed are killed here.
void insert(daybook::transaction& tx, std::span<daybook::broker::message const> messages) {
  std::this_thread::sleep_for(5ms);
  for (auto const& one : messages) tx.exec("insert into effect(name) values (:n)", one.body);
}

void take(daybook::book& book, std::string const& queue, std::string const& type) {
  auto in = book.intake("in").value();
  daybook::take_options const how{
      .until = daybook::take_until::stop, .body = insert, .wait = 300ms};
  for (;;) {
    try {
      auto const report =
          type == "stream"
              ? in.take_from(*daybook::amqp::stream_at(brokers::rabbit::url(), queue)(), how)
              : in.take_from(*daybook::amqp::queue_at(brokers::rabbit::url(), queue)(), how);
      if (!report.error.empty()) std::cerr << report.error << '\n';
    } catch (std::exception const& e) {
      std::cerr << e.what() << '\n';
    }
    std::this_thread::sleep_for(100ms);
  }
}

void setup(daybook::book& book, std::string const& queue, std::string const& type) {
  book.migrate();
  book.transact(
      [](daybook::transaction& tx) { tx.exec("create table effect(name varchar(40) not null)"); });
  book.make_intake("in", {.page = 20, .gather = 0ms});
  brokers::rabbit().declare(queue, type.c_str());
}

void count(daybook::book& book) {
  book.transact([](daybook::transaction& tx) {
    auto const found = tx.rows<std::pair<std::int64_t, std::int64_t>>(
        "select count(*), count(distinct name) from effect");
    std::cout << found.at(0).first << ' ' << found.at(0).second << '\n';
  });
}

}  // namespace

int main(int argc, char** argv) try {
  std::string const verb = argc > 2 ? argv[1] : "";
  // Whoever was killed is missed soon.
  daybook::book_options options;
  options.lease = 2s;
  daybook::book book(argc > 2 ? argv[2] : "", options);
  if (verb == "count") {
    count(book);
  } else if (argc != 5) {
    return 64;
  } else if (verb == "setup") {
    setup(book, argv[3], argv[4]);
  } else if (verb == "send") {
    brokers::rabbit to;
    for (int i = 0; i < std::stoi(argv[4]); ++i) {
      to.publish(argv[3], "i" + std::to_string(i), "m" + std::to_string(i));
    }
  } else {
    take(book, argv[3], argv[4]);
  }
} catch (std::exception const& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
