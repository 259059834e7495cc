// Another system, the stock system, knows the quantities of a shop's products, and answers for one
// product at a time. Each product is asked for once in a period. Products come and go with the rows
// of the shop's own table, which is in shop.sql.
//   sync_stock URL follow [SECONDS]             makes the queue; its members are the rows of the
//                                               table product from then on
//   sync_stock URL work http://HOST:PORT [LEASE-SECONDS]
//                                               works until it is asked to end; run several
//   sync_stock URL list                         prints the quantities that the shop knows
// The same for the daemon, in Python: sync_stock.py.
#include <daybook/daybook.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include <httplib.h>

namespace {

using std::chrono::seconds;

void follow(daybook::book& book, seconds period) {
  book.migrate();
  auto stock = book.make_queue("stock", {.period = period,
                                         .attempts = 10,
                                         .backoff = seconds(1),
                                         .longest_backoff = std::chrono::minutes(10)});
  auto products = stock.follow({.table = "product", .key = "code"});
  products.install();                       // what comes and goes from now on
  auto const found = products.reconcile();  // what was there before, and all that triggers miss
  std::cout << found.added << " products came, " << found.removed << " went\n";
}

std::int64_t us(daybook::timestamp at) { return at.time_since_epoch().count(); }

/// One of these for each thread: a connection to the stock system, kept open.
class stock_system {
 public:
  explicit stock_system(std::string const& at) : client_(at) {
    client_.set_keep_alive(true);
    client_.set_read_timeout(10);
  }
  /// The quantity; or why there is none, and the result of the task.
  std::optional<std::int64_t> ask(daybook::job const& job, daybook::result& otherwise) {
    auto const request = std::to_string(us(job.task().turn)) + '/' + job.idempotency_key();
    auto const answer = client_.Get("/stock/" + job.task().key, {{"X-Request-Id", request}});
    if (!answer) {
      otherwise = daybook::result::failure("no answer: " + httplib::to_string(answer.error()));
    } else if (answer->status == 429) {
      otherwise = daybook::result::snooze(seconds(1), "asked too fast");
    } else if (answer->status == 404) {
      otherwise = daybook::result::cancel("not known there");
    } else if (answer->status != 200) {
      otherwise = daybook::result::failure("HTTP " + std::to_string(answer->status));
    } else {
      return std::stoll(answer->body);
    }
    return std::nullopt;
  }

 private:
  httplib::Client client_;
};

/// If this process dies in between, the question is asked twice. The quantity is written once, with
/// the end of the task.
daybook::result sync(daybook::job& job, stock_system& stock) {
  auto otherwise = daybook::result::success();
  auto const quantity = stock.ask(job, otherwise);
  if (!quantity) return otherwise;
  auto const asked =
      us(std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()));
  auto const& code = job.task().key;
  auto const turn = us(job.task().turn);
  static_cast<void>(job.perform([&](daybook::transaction& tx) {
    tx.exec("update product set quantity = :quantity, asked_us = :asked where code = :code",
            *quantity, asked, code);
    tx.exec(
        "insert into quantity_history (code, turn_us, request, quantity) "
        "values (:code, :turn, :request, :quantity)",
        code, turn, job.idempotency_key(), *quantity);
  }));
  return otherwise;  // not looked at: the task has its end
}

/// The signals that ask us to end, blocked in every thread that is started afterwards.
::sigset_t held_back() {
  ::sigset_t out;
  ::sigemptyset(&out);
  ::sigaddset(&out, SIGTERM);
  ::sigaddset(&out, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &out, nullptr);
  return out;
}

void work(daybook::book& book, std::string const& stock_url, ::sigset_t const& ends) {
  daybook::node node(book);
  node.work("stock",
            [&](daybook::job& job) {
              thread_local stock_system stock(stock_url);
              return sync(job, stock);
            },
            {.threads = 4, .claims = {.batch = 100}});
  node.start();
  int which = 0;
  ::sigwait(&ends, &which);
  node.stop();  // what is in hand is finished, the rest handed back
}

void list(daybook::book& book) {
  using row = std::tuple<std::string, std::optional<std::int64_t>>;
  book.transact([](daybook::transaction& tx) {
    for (auto const& [code, quantity] :
         tx.rows<row>("select code, quantity from product order by code")) {
      std::cout << code << ' ' << (quantity ? std::to_string(*quantity) : "?") << '\n';
    }
  });
}

}  // namespace

int main(int count, char** words) try {
  auto const ends = held_back();
  std::string const verb = count > 2 ? words[2] : "list";
  seconds const lease(count > 4 ? std::stoi(words[4]) : 30);
  daybook::book book(count > 1 ? words[1] : "sqlite:shop.db", {.lease = lease});
  if (verb == "follow") {
    follow(book, count > 3 ? seconds(std::stoi(words[3])) : std::chrono::days(10));
  } else if (verb == "work") {
    work(book, count > 3 ? words[3] : "http://127.0.0.1:8080", ends);
  } else {
    list(book);
  }
} catch (std::exception const& e) {
  std::cerr << "sync_stock: " << e.what() << '\n';
  return 1;
}
