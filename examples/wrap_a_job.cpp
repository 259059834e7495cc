// A job wrapped in Daybook: last month's sales become an invoice and a line in the ledger, once.
//
//   wrap_a_job [URL]          run it, kill it, run it twice: there is one invoice
#include <daybook/daybook.hpp>

#include <cstdint>
#include <iostream>
#include <string>
#include <utility>

namespace {

int invoice(daybook::book& book, std::string const& month) {
  auto attempt = book.start(daybook::process{"invoicing"}, daybook::key{month}, {.once = true});
  if (!attempt) return attempt.why() == daybook::start_refusal::done_before ? 0 : 75;
  auto run = std::move(attempt).take();
  auto const total = run.step("draft", [&](daybook::transaction& tx) {
    return tx.rows<std::int64_t>("select sum(cents) from sale where month = :month", month).at(0);
  });
  auto const posted = run.step("post", [&](daybook::transaction& tx) {
    tx.exec("insert into ledger(month, cents) values (:month, :cents)", month, total.value());
  });
  return posted && std::move(run).finish() ? 0 : 79;  // 79: another process took it over
}

void prepare(daybook::transaction& tx) {
  tx.exec("create table if not exists sale(month varchar(7) not null, cents bigint not null)");
  tx.exec("create table if not exists ledger(month varchar(7) not null, cents bigint not null)");
  tx.exec("delete from sale");
  tx.exec("insert into sale(month, cents) values ('2026-11', 1200), ('2026-11', 999)");
}

}  // namespace

int main(int count, char** words) try {
  daybook::book book(count > 1 ? words[1] : "sqlite:wrap_a_job.db");
  book.migrate();
  book.transact(prepare);
  int const code = invoice(book, "2026-11");
  book.transact([](daybook::transaction& tx) {
    for (auto const& cents : tx.rows<std::int64_t>("select cents from ledger")) {
      std::cout << "in the ledger: " << cents << " cents\n";
    }
  });
  return code;
} catch (daybook::error const& e) {
  std::cerr << "wrap_a_job: " << e.what() << '\n';
  return e.kind() == daybook::error_code::unreachable ? 69 : 70;
}
