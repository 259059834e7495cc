// Pays out the parents of an aggregation, by a bank outside the database: each payment once,
// however often this program is killed.
//
//   pay_workers URL FOLDER     FOLDER stands for the bank; the tables are those of examples/pay
#include <daybook/daybook.hpp>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace {

// --- The bank: outside, never rolled back. It only has to drop payments that it has seen ---

class bank {
 public:
  explicit bank(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
  }

  /// Writes a file for each order, by its key; and a line for each call, to look at.
  void pay(std::string const& key, std::int64_t worker, std::int64_t cents) {
    std::ofstream(folder_ / "calls", std::ios::app) << key << '\n';
    auto const order = folder_ / (key + ".order");
    if (std::filesystem::exists(order)) return;
    auto const draft = folder_ / (key + ".draft");
    std::ofstream(draft) << worker << ' ' << cents << '\n';
    std::filesystem::rename(draft, order);
  }

 private:
  std::filesystem::path folder_;
};

// --- The job ---

daybook::aggregation declare(daybook::book& book) {
  daybook::aggregation_options of;
  of.source = {.table = "t_move_brick",
               .key = "id",
               .state = "status",
               .free = 1,
               .taken = 2,
               .settled = 3,
               .link = "pay_no",
               .unlinked = "",
               .group = {"worker_id"}};
  of.parent = {.table = "t_move_pay",
               .key = "pay_no",
               .state = "status",
               .open = 1,
               .closed = 2,
               .settled = 3,
               .voided = 4,
               .count = "move_count",
               .opening = {{"boss_id", "7"}},
               .following = {{"money", "move_sum * 12"}}};
  of.sums = {{"move_num", "move_sum"}};
  of.key_prefix = "P";
  return book.make_aggregation("pay", of);
}

struct payment {
  std::int64_t worker = 0;
  std::int64_t cents = 0;
};

payment look_up(daybook::book& book, std::string const& key) {
  payment out;
  book.transact([&](daybook::transaction& tx) {
    auto const found = tx.rows<std::tuple<std::int64_t, std::int64_t>>(
        "select worker_id, money from t_move_pay where pay_no = :key", key);
    std::tie(out.worker, out.cents) = found.at(0);
  });
  return out;
}

/// The bank knows the payment by its own key, not by the step's: the payment's key stays the same
/// when this run is given up and another begins. The parent is settled only after the bank has the
/// payment. If the process is killed in between, the next attempt settles it.
bool pay_one(daybook::book& book, daybook::aggregation& pay, daybook::run& run, bank& money,
             std::string const& key) {
  auto const order = look_up(book, key);
  auto const paid = run.at_least_once(
      "pay " + key, [&](daybook::effect const&) { money.pay(key, order.worker, order.cents); });
  if (!paid) return false;
  switch (pay.settle(key, {.actor = "pay_workers", .reason = "paid"})) {
    case daybook::settling::done:
    case daybook::settling::before: return true;
    default: break;
  }
  // Somebody reverted it, or changed its rows by hand: the money is paid, and the book denies it.
  throw std::runtime_error(key + " was paid and cannot be settled; see daybook aggregates verify");
}

/// 0: done; 75: another process does it; 79: lost.
int pay_workers(daybook::book& book, bank& money) {
  auto pay = declare(book);
  auto attempt = book.start(daybook::process{"pay-workers"});
  if (!attempt) return 75;
  auto run = std::move(attempt).take();

  // Each of these may be repeated, so they are no steps.
  pay.aggregate({.actor = "pay_workers"});
  pay.close_all({.actor = "pay_workers", .reason = "to be paid"});

  std::int64_t count = 0;
  daybook::parents_query closed{.state = pay.options().parent.closed};
  for (auto page = pay.parents(closed); !page.empty(); page = pay.parents(closed)) {
    for (auto const& one : page) {
      if (!pay_one(book, pay, run, money, one.key)) return 79;
      run.progress(++count, 0, "paying");
    }
    closed.after = page.back().key;
  }
  std::cerr << count << " paid\n";
  return std::move(run).finish() ? 0 : 79;
}

}  // namespace

int main(int count, char** words) try {
  if (count != 3) throw std::invalid_argument("pay_workers URL FOLDER");
  daybook::book book(words[1]);
  bank money(words[2]);
  return pay_workers(book, money);
} catch (std::exception const& e) {
  std::cerr << "pay_workers: " << e.what() << '\n';
  return 70;
}
