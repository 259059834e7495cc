// Leads come in all the time; every few seconds an export of what is new is to be had, by one of
// any number of processes. It is stored as its query, and made when somebody asks for it: nothing
// lies on one server's disk.
//   rolling_export sqlite:leads.db serve 5       launches exports for 5 seconds; run several
//   rolling_export sqlite:leads.db list          "from to leads", a line for each export
#include <daybook/daybook.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <thread>
#include <tuple>

namespace {

constexpr daybook::cron each_second("* * * * * *");

std::int64_t us(daybook::timestamp at) { return at.time_since_epoch().count(); }

void make_tables(daybook::book& book) {
  book.migrate();
  book.transact([](daybook::transaction& tx) {
    tx.exec("create table if not exists lead (at_us bigint not null, name text not null)");
    tx.exec("create table if not exists export (from_us bigint not null, to_us bigint not null)");
  });
}

void serve(daybook::book& book, std::chrono::seconds how_long) {
  book.make_schedule("leads", each_second);
  daybook::node node(book);
  node.serve("leads", [](daybook::tick& tick) {
    auto const [from, to] = tick.window();
    auto const exported = tick.run().step("export", [&](daybook::transaction& tx) {
      tx.exec("insert into export (from_us, to_us) values (:from, :to)", us(from), us(to));
    });
    if (!exported) std::cerr << "lost to another node\n";
  });
  node.start();
  std::this_thread::sleep_for(how_long);
  node.stop();
}

/// What a click on an export does.
std::int64_t stream(daybook::transaction& tx, std::int64_t from, std::int64_t to) {
  return tx
      .rows<std::int64_t>("select count(*) from lead where at_us >= :from and at_us < :to", from,
                          to)
      .at(0);
}

void list(daybook::book& book) {
  using window = std::tuple<std::int64_t, std::int64_t>;
  book.transact([](daybook::transaction& tx) {
    for (auto const& [from, to] :
         tx.rows<window>("select from_us, to_us from export order by from_us")) {
      std::cout << from << ' ' << to << ' ' << stream(tx, from, to) << '\n';
    }
  });
}

}  // namespace

int main(int argc, char** argv) try {
  daybook::book book{argc > 1 ? argv[1] : "sqlite:leads.db"};
  make_tables(book);
  std::string const verb = argc > 2 ? argv[2] : "serve";
  if (verb == "serve") serve(book, std::chrono::seconds(argc > 3 ? std::stoi(argv[3]) : 5));
  list(book);
} catch (std::exception const& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
