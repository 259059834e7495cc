// An application has transactions of its own, by its own driver. Daybook takes part in them.
//
//   join_a_transaction [FILE]     ships two orders: each wholly, or not at all
#include <daybook/daybook.hpp>

#include <sqlite3.h>

#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

// --- The application, as it was before it used Daybook ---

void execute(sqlite3& shop, char const* sql) {
  if (sqlite3_exec(&shop, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw std::runtime_error(sqlite3_errmsg(&shop));
  }
}

/// Rolls back unless it was committed.
class unit_of_work {
 public:
  explicit unit_of_work(sqlite3& shop) : shop_(shop) { execute(shop_, "begin immediate"); }
  unit_of_work(unit_of_work const&) = delete;
  unit_of_work& operator=(unit_of_work const&) = delete;
  ~unit_of_work() {
    if (open_) sqlite3_exec(&shop_, "rollback", nullptr, nullptr, nullptr);
  }
  void commit() {
    execute(shop_, "commit");
    open_ = false;
  }

 private:
  sqlite3& shop_;
  bool open_ = true;
};

struct closed {
  void operator()(sqlite3* shop) const { sqlite3_close_v2(shop); }
};

std::unique_ptr<sqlite3, closed> open_shop(std::string const& file) {
  sqlite3* shop = nullptr;
  int const code = sqlite3_open(file.c_str(), &shop);
  std::unique_ptr<sqlite3, closed> out(shop);
  if (code != SQLITE_OK) throw std::runtime_error("cannot open " + file);
  execute(*out, "pragma busy_timeout = 5000; pragma synchronous = full");
  return out;
}

// --- A step in the application's transaction: done when that commits ---

bool ship(daybook::book& book, daybook::run& run, sqlite3& shop, char const* customer) {
  {
    unit_of_work work(shop);
    execute(shop, "update orders set shipped = 1 where shipped = 0");
    auto tx = book.join(shop);
    auto const written = run.step(tx, "ledger", [&](daybook::transaction& also) {
      also.exec("insert into ledger(customer) values (:customer)", customer);
    });
    if (!written) return false;  // lost: what the application wrote is rolled back, too
    work.commit();
  }
  return run.confirm() == daybook::commit_outcome::committed;
}

/// The end of the run and a write of the application's, in one transaction.
bool close_the_day(daybook::book& book, daybook::run run, sqlite3& shop) {
  std::optional<daybook::pending_end> end;
  {
    unit_of_work work(shop);
    execute(shop, "update day set closed = 1");
    auto tx = book.join(shop);
    end.emplace(std::move(run).finish(tx));
    if (!*end) return false;
    work.commit();
  }
  return end->confirm() == daybook::commit_outcome::committed;
}

// --- A book on the application's only connection ---

bool count_on(sqlite3& shop) {
  auto book = daybook::book::adopt_connection(shop, {});
  auto attempt = book.start(daybook::process{"counting"});
  if (!attempt) return false;
  auto run = std::move(attempt).take();
  auto const counted = run.step("count", [](daybook::transaction& tx) {
    return tx.rows<std::int64_t>("select count(*) from ledger").at(0);
  });
  // Nothing renews in the background here: between long pieces of work, say that we live.
  if (!counted || book.renew() == daybook::lease_state::lost) return false;
  std::cout << counted.value() << " in the ledger\n";
  return counted.value() == 1 && std::move(run).finish();
}

// --- What goes wrong here, and the result that must come out ---

void check(bool right, char const* what) {
  std::cout << (right ? "ok      " : "FAILED  ") << what << '\n';
  if (!right) throw std::runtime_error(what);
}

void prepare(sqlite3& shop) {
  execute(shop,
          "drop table if exists orders; drop table if exists ledger; drop table if exists day;"
          "create table orders(customer text not null, shipped integer not null);"
          "create table ledger(customer text not null check (customer <> 'nobody'));"
          "create table day(closed integer not null);"
          "insert into orders values ('ann', 0); insert into day values (0)");
}

void work_through_the_day(daybook::book& book, sqlite3& shop) {
  auto run = book.start(daybook::process{"shipping"}, {}, {.restart = true}).take();
  try {
    static_cast<void>(ship(book, run, shop, "nobody"));
    check(false, "a step that cannot be written throws");
  } catch (daybook::error const&) {
    check(!run.done("ledger"), "what threw was rolled back: nothing of it is there");
  }
  check(ship(book, run, shop, "ann"), "the order and the ledger are written in one transaction");
  check(run.done("ledger"), "and the step is done");
  check(close_the_day(book, std::move(run), shop), "the day is closed, and the run finished");
  check(book.find(daybook::process{"shipping"}, {})->info.state == daybook::run_state::succeeded,
        "so the book says");
}

}  // namespace

int main(int count, char** words) try {
  std::string const file = count > 1 ? words[1] : "join_a_transaction.db";
  auto const shop = open_shop(file);
  {
    daybook::book book("sqlite:" + file);
    book.migrate();
    prepare(*shop);
    work_through_the_day(book, *shop);
  }
  check(count_on(*shop), "the same connection carries a book of its own");
  return 0;
} catch (std::exception const& e) {
  std::cerr << "join_a_transaction: " << e.what() << '\n';
  return 70;
}
