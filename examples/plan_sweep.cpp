// Works out every customer's discount anew, in pages: each customer once, also those who came
// during the sweep. When all are done, one more task tells the sales department.
//   plan_sweep [URL]
//
// On SQLite or PostgreSQL: it makes its tables in a transaction, which MariaDB cannot do.
#include <daybook/daybook.hpp>
#include <daybook/planner.hpp>
#include <daybook/sweep.hpp>

#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/// The application's own tables, and a change that it makes.
void on_our_own(daybook::book& book, char const* what, auto const& body) {
  auto attempt = book.start(daybook::process{"shop"}, daybook::key{what});
  if (!attempt) return;
  auto run = std::move(attempt).take();
  bool const done =
      run.step("change", [&](daybook::transaction& tx) { body(tx); }) && std::move(run).finish();
  if (!done) throw std::runtime_error(std::string("the change was lost: ") + what);
}

void work_out_discounts(daybook::transaction& tx, std::vector<daybook::row_key> const& customers) {
  for (auto const& one : customers) {
    tx.exec(
        "update customer set discount = spent / 1000, worked_out = worked_out + 1 "
        "where id = :id",
        std::stoll(one[0]));
  }
}

}  // namespace

int main(int argc, char** argv) try {
  daybook::book book{argc > 1 ? argv[1] : "sqlite:shop.db"};
  book.migrate();
  on_our_own(book, "tables", [](daybook::transaction& tx) {
    tx.exec(
        "create table customer(id bigint primary key not null, spent bigint not null, "
        "discount bigint not null default 0, worked_out bigint not null default 0)");
    for (std::int64_t i = 0; i < 950; ++i) {
      tx.exec("insert into customer(id, spent) values (:id, :spent)", i * 37, i * 100);
    }
  });

  auto pages = book.make_queue("discounts");
  auto plan = book.make_planner(
      "all-customers", {.queue = "discounts",
                        .strategy = daybook::sweep_strategy{.table = "customer", .page = 100}});

  bool told = false;
  for (int passes = 0; passes < 10 && !told; ++passes) {
    plan.pass();
    if (passes == 0) {
      on_our_own(book, "late", [](daybook::transaction& tx) {
        tx.exec("insert into customer(id, spent) values (5, 1000), (99999, 1000)");
        tx.exec("delete from customer where id = 74");
      });
    }
    while (auto batch = pages.claim({.limit = 4})) {
      for (auto const& task : batch->tasks()) {
        if (auto const page = plan.page(daybook::key{task.key})) {
          page->perform(*batch, task, work_out_discounts);
        } else {
          std::cout << "to the sales department: all discounts are new: " << *task.payload << '\n';
          told = true;
          batch->finish(task, daybook::result::success());
        }
      }
      if (std::move(*batch).complete() == daybook::outcome::lost) std::cerr << "lost a batch\n";
    }
  }

  auto const sweep = plan.sweeps().at(0);
  std::cout << sweep.rows << " customers in " << sweep.pages << " pages, " << sweep.late
            << " of them came late, " << sweep.vanished << " had gone\n";
  return told && sweep.rows == 952 && sweep.late == 2 && sweep.vanished == 1 ? 0 : 1;
} catch (std::exception const& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
