// One of any number of servers exports the new leads at each tick. It stores the window of the
// export, and makes the export when somebody asks for it. (One node per tick.)
//
//   export URL SECONDS        run several at once; prints "from to leads" of every export
#include <daybook/daybook.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <thread>
#include <tuple>

namespace {

using namespace std::chrono_literals;

constexpr daybook::cron each_second("* * * * * *");  // midnight would be "0 0 * * *"

std::int64_t us(daybook::timestamp at) { return at.time_since_epoch().count(); }

void prepare(daybook::transaction& tx) {
  tx.exec("create table if not exists lead(at_us bigint not null)");
  tx.exec("create table if not exists export(from_us bigint not null, to_us bigint not null)");
}

/// The tick's window begins where that of the previous tick ended: nothing is left out.
void record_export(daybook::tick& tick) {
  auto const [from, to] = tick.window();
  auto const done = tick.run().step("export", [&](daybook::transaction& tx) {
    tx.exec("insert into export values (:from, :to)", us(from), us(to));
  });
  if (!done) std::cerr << "another server has it\n";
}

void enter_leads(daybook::book& book, std::chrono::seconds how_long) {
  for (auto const end = std::chrono::steady_clock::now() + how_long;
       std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(50ms)) {
    auto const now =
        std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
    book.transact(
        [&](daybook::transaction& tx) { tx.exec("insert into lead values (:at)", us(now)); });
  }
}

void list(daybook::transaction& tx) {
  for (auto const& [from, to, leads] :
       tx.rows<std::tuple<std::int64_t, std::int64_t, std::int64_t>>(
           "select from_us, to_us, (select count(*) from lead where at_us >= from_us and "
           "at_us < to_us) from export order by from_us")) {
    std::cout << from << ' ' << to << ' ' << leads << '\n';
  }
}

}  // namespace

int main(int count, char** words) try {
  daybook::book book(words[1]);
  book.migrate();
  book.transact(prepare);
  book.make_schedule("leads", each_second);
  daybook::node node(book);
  node.serve("leads", record_export);
  node.start();
  enter_leads(book, std::chrono::seconds(count > 2 ? std::stoi(words[2]) : 5));
  node.stop();
  book.transact(list);
} catch (std::exception const& e) {
  std::cerr << "export: " << e.what() << '\n';
  return 70;
}
