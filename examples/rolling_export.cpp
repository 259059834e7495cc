// Leads come in all the time. Every few seconds one of any number of processes exports the new
// ones. The export is stored as its window, and made when somebody asks for it: nothing lies on one
// server's disk.
//   rolling_export sqlite:leads.db serve 5       launches exports for 5 seconds; run several
//   rolling_export sqlite:leads.db record        as a command of `daybook daemon`: the same step
//   rolling_export sqlite:leads.db list          "from to leads", a line for each export
#include <daybook/daybook.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
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

/// Once, in the transaction that also records that it was done.
daybook::step_result<void> write_export(daybook::run& run, std::int64_t from, std::int64_t to) {
  return run.step("export", [&](daybook::transaction& tx) {
    tx.exec("insert into export (from_us, to_us) values (:from, :to)", from, to);
  });
}

void serve(daybook::book& book, std::chrono::seconds how_long) {
  book.make_schedule("leads", each_second);
  daybook::node node(book);
  node.serve("leads", [](daybook::tick& tick) {
    auto const [from, to] = tick.window();
    if (!write_export(tick.run(), us(from), us(to))) std::cerr << "lost to another node\n";
  });
  node.start();
  std::this_thread::sleep_for(how_long);
  node.stop();
}

std::string from_environment(char const* name) {
  if (char const* const text = std::getenv(name)) return text;
  throw std::runtime_error(std::string(name) + " is not set: this is for `daybook daemon`");
}

/// "2026-11-21T12:00:00Z", perhaps with a fraction, in microseconds.
std::int64_t us(std::string const& text) {
  std::tm parts{};
  std::istringstream in(text);
  in >> std::get_time(&parts, "%Y-%m-%dT%H:%M:%S");
  double fraction = 0;
  if (in.peek() == '.') in >> fraction;
  return static_cast<std::int64_t>(::timegm(&parts)) * 1'000'000 +
         static_cast<std::int64_t>(fraction * 1e6 + 0.5);
}

/// The daemon holds the tick's run; its child takes part in it.
int record(daybook::book& book) {
  auto run = book.attach(from_environment("DAYBOOK_RUN"));
  if (!run) return 79;  // another daemon has it now
  auto const from = us(from_environment("DAYBOOK_WINDOW_START"));
  auto const to = us(from_environment("DAYBOOK_WINDOW_END"));
  return write_export(*run, from, to) ? 0 : 79;
}

/// A click on an export: prints its leads.
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
  std::string const verb = argc > 2 ? argv[2] : "serve";
  if (verb == "record") return record(book);
  make_tables(book);
  if (verb == "serve") serve(book, std::chrono::seconds(argc > 3 ? std::stoi(argv[3]) : 5));
  list(book);
} catch (std::exception const& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
