// A part of ./quickstart: any number of these processes refresh each package every period, each
// turn once, however they are killed. package_catalogue.cpp imports the packages; daybook.toml has
// the rest.
//
//   package_refresher prepare    makes the tables; on PostgreSQL also the schema, anew
//   package_refresher work       refreshes due packages, until it is told to end
//   package_refresher report     prints totals of the tables, as NAME VALUE
//   package_refresher holdings   prints each maintainer's total: NAME, tab, PACKAGES, tab, KB
//
// The database is $DAYBOOK_DATABASE_URL, the book's tables are in the schema $DAYBOOK_SCHEMA, as
// for the command.
#include <daybook/daybook.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>

namespace {

using namespace std::chrono_literals;

// On PostgreSQL everything is in this schema, so that the next ./quickstart can drop it first.
void prepare(daybook::book& book) {
  book.transact([&](daybook::transaction& tx) {
    if (book.dialect() == "postgres") {
      tx.exec("drop schema if exists daybook_quickstart cascade");
      tx.exec("create schema daybook_quickstart");
    }
    // No unique key: a package that is refreshed twice in one turn shall be seen.
    tx.exec(
        "create table refreshed(code text not null, turn_us bigint not null, "
        "installed_kb bigint not null)");
    tx.exec("create index refreshed_code on refreshed(code, turn_us)");
    tx.exec(
        "create table holding(id text not null primary key, maintainer text not null, "
        "state int not null, packages bigint not null, installed_kb bigint not null)");
  });
}

// --- Refreshing ---

/// How long asking about a batch takes. Three processes still do all packages within a period.
constexpr auto asking = 20ms;

/// Refreshes many packages in one transaction, which also finishes their tasks. A process that dies
/// here leaves nothing, and the next one that gets the tasks does all of it.
void refresh(daybook::job_batch& batch) {
  std::this_thread::sleep_for(asking);  // as if somebody were asked about them
  auto const what = batch.perform([&](daybook::transaction& tx) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      auto const& task = batch.task(i);
      tx.exec(
          "insert into refreshed(code, turn_us, installed_kb) "
          "select code, :turn, coalesce(installed_kb, 0) from package where code = :code",
          task.turn.time_since_epoch().count(), task.key);
    }
  });
  if (what == daybook::outcome::lost) batch.hand_back_rest();
  int again = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) again += batch.task(i).crashes > 0 ? 1 : 0;
  if (again > 0) std::cerr << "refreshed of the dead: " << again << '\n';
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

void work(daybook::book& book, ::sigset_t const& ends) {
  daybook::node node(book);
  node.work_in_batches("refresh", refresh, {.threads = 1, .batch = 100, .claims = {.batch = 100}});
  node.start();
  int which = 0;
  ::sigwait(&ends, &which);
  node.stop();  // what is in hand is finished, the rest handed back
}

// --- The results ---

struct total {
  std::string_view name;
  daybook::sql query;
};

constexpr std::array<total, 11> totals{{
    {"packages", "select count(*) from package"},
    {"installed_kb", "select cast(coalesce(sum(installed_kb), 0) as bigint) from package"},
    {"refreshed", "select count(distinct code) from refreshed"},
    {"refreshed_least",
     "select min(n) from (select count(r.code) as n from package p "
     "left join refreshed r on r.code = p.code group by p.code) of_each"},
    {"refreshed_rows", "select count(*) from refreshed"},
    {"refreshed_twice",
     "select count(*) from (select 1 from refreshed group by code, turn_us "
     "having count(*) > 1) doubles"},
    {"refreshed_kb",
     "select cast(coalesce(sum(installed_kb), 0) as bigint) from refreshed r where turn_us = "
     "(select max(turn_us) from refreshed l where l.code = r.code)"},
    {"gathered", "select count(*) from package where state <> 1"},
    {"settled", "select count(*) from holding where state = 3"},
    {"settled_packages",
     "select cast(coalesce(sum(packages), 0) as bigint) from holding where state = 3"},
    {"settled_kb",
     "select cast(coalesce(sum(installed_kb), 0) as bigint) from holding where state = 3"},
}};

std::string report(daybook::transaction& tx) {
  std::ostringstream out;
  for (auto const& [name, query] : totals) {
    out << name << ' ' << tx.rows<std::int64_t>(query).at(0) << '\n';
  }
  return out.str();
}

std::string holdings(daybook::transaction& tx) {
  using held = std::tuple<std::string, std::int64_t, std::int64_t>;
  std::ostringstream out;
  for (auto const& [who, packages, kb] :
       tx.rows<held>("select maintainer, packages, installed_kb from holding where state = 3")) {
    out << who << '\t' << packages << '\t' << kb << '\n';
  }
  return out.str();
}

void print(daybook::book& book, std::string (*what)(daybook::transaction&)) {
  std::string text;
  book.transact([&](daybook::transaction& tx) { text = what(tx); });
  std::cout << text;
}

std::string from_environment(char const* name) {
  char const* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

int main(int count, char** words) try {
  auto const ends = held_back();
  std::string_view const verb = count == 2 ? words[1] : "";
  daybook::book book(from_environment("DAYBOOK_DATABASE_URL"),
                     {.schema = from_environment("DAYBOOK_SCHEMA"), .lease = 5s});
  if (verb == "prepare") {
    prepare(book);
  } else if (verb == "work") {
    work(book, ends);
  } else if (verb == "report") {
    print(book, report);
  } else if (verb == "holdings") {
    print(book, holdings);
  } else {
    throw std::invalid_argument("prepare, work, report or holdings?");
  }
} catch (std::exception const& e) {
  std::cerr << "package_refresher: " << e.what() << '\n';
  return 1;
}
