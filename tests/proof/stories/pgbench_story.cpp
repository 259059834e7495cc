// A story on data that nobody here wrote: what PostgreSQL's own pgbench writes down of its
// transfers is gathered while it runs, per teller and per branch at once, by processes that are
// killed, stopped and cut off; others undo it. In the end the parents' sums are the balances that
// pgbench itself keeps.
//   story_pgbench [--seconds 10] [--scale 5] [--clients 4] [--seed 1] [--chunk 500]
// --scale: pgbench's own, a branch and ten tellers each.
#include "proof/stories/bricks.hpp"
#include "proof/stories/crew.hpp"
#include "proof/stories/pgbench.hpp"
#include "proof/torture/child.hpp"
#include "proof/torture/driver.hpp"
#include "support/engines.hpp"

#include <daybook/book.hpp>
#include <daybook/error.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

namespace story {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using torture::child;

struct settings : torture::driver_settings {
  int seconds = 10;
  int scale = 5;
  int clients = 4;
  int chunk = 500;
};

/// One of the two aggregations, and the table whose balances it must come to.
struct side {
  char const* who;     ///< the aggregation's name
  char const* column;  ///< of pgbench_history
  char const* table;
  char const* balance;
};
constexpr std::array sides{side{"teller", "tid", "pgbench_tellers", "tbalance"},
                           side{"branch", "bid", "pgbench_branches", "bbalance"}};

std::string pgbench_program() {
  for (auto const& one : fs::directory_iterator("/usr/lib/postgresql")) {
    auto const file = one.path() / "bin/pgbench";
    if (fs::exists(file)) return file;
  }
  throw std::runtime_error(
      "pgbench is not there: it comes with the package of PostgreSQL's server");
}

child run_pgbench(std::vector<std::string> const& more, std::string const& url) {
  std::vector<std::string> words{pgbench_program(), "--no-vacuum"};
  words.insert(words.end(), more.begin(), more.end());
  words.push_back(url);
  return child(torture::dying_with_us(std::move(words)));
}

void make_tables(support::fresh_database const& in, settings const& how) {
  auto making = run_pgbench(
      {"--initialize", "--quiet", "--init-steps=dtgp", "--scale", std::to_string(how.scale)},
      in.url());
  auto const came = making.wait(120s);
  if (came.what != child::state::exited || came.code != 0) {
    throw std::runtime_error("pgbench --initialize " + came.text() + ": " + making.words());
  }
  // Its own inserts name their columns, so that ours have their defaults.
  in.execute(
      "alter table pgbench_history add column id bigint generated always as identity"
      " primary key");
  for (auto const& one : sides) {
    std::string const who = one.who;
    in.execute("alter table pgbench_history add column " + who +
               "_state smallint not null default 1, add column " + who +
               "_pay varchar(32) not null default ''");
    in.execute("create index on pgbench_history (" + who + "_pay)");
    in.execute("create table " + who + "_pay (pay_no varchar(32) primary key, " + one.column +
               " int not null, changes bigint not null default 0, total bigint not null default 0,"
               " state smallint not null default 0)");
  }
}

/// Parents that are not what their rows are; one statement. Also where rows have none, at the end.
std::string differing(side const& of) {
  std::string const who = of.who;
  return "select count(*) from (select p.pay_no from " + who +
         "_pay p left join pgbench_history h on h." + who + "_pay = p.pay_no group by p.pay_no" +
         " having p.changes <> count(h.id) or p.total <> coalesce(sum(h.delta), 0)" +
         " or count(h.id) filter (where h." + of.column + " <> p." + of.column + ") > 0) d";
}

/// Those whose balance is not the sum of its parents that are in force.
std::string out_of_balance(side const& of) {
  std::string const column = of.column;
  return "select count(*) from " + std::string(of.table) + " t where t." + of.balance +
         " <> (select coalesce(sum(p.total), 0) from " + of.who + "_pay p where p." + column +
         " = t." + column + " and p.state <> 4)";
}

long number(support::raw_connection& on, std::string const& query) {
  return std::stol(on.execute(query));
}

std::vector<post> posts() {
  std::vector<post> out;
  for (auto const& one : sides) {
    out.insert(out.end(), 3, post{one.who, "aggregate"});
    out.push_back({one.who, "revert"});
    out.push_back({one.who, "settle"});
  }
  return out;
}

long sum_up(daybook::book& book, support::raw_connection& on, int chunk) {
  long wrong = 0;
  for (auto const& one : sides) {
    auto gathers = book.make_aggregation(one.who, pgbench::per(one.who, chunk));
    while (gathers.aggregate().rows > 0) {
    }
    auto const differences = number(on, differing(one));
    auto const unbalanced = number(on, out_of_balance(one));
    auto const all = number(on, "select count(*) from " + std::string(one.table));
    auto const parents = number(on, "select count(*) from " + std::string(one.who) + "_pay");
    auto const verified = gathers.verify();
    std::printf(
        "            per %s: %ld parents of %ld, %ld differ from their rows, %ld balances"
        " differ from pgbench's, verify tells of %zu\n",
        one.who, parents, all, differences, unbalanced, verified.differences.size());
    wrong += differences + unbalanced + static_cast<long>(verified.differences.size());
  }
  return wrong;
}

int tell(settings const& how) {
  support::fresh_database const database(torture::find_engine("postgresql"));
  daybook::book book(database.url());
  book.migrate();
  make_tables(database, how);
  for (auto const& one : sides) {
    static_cast<void>(book.make_aggregation(one.who, pgbench::per(one.who, how.chunk)));
  }
  auto const tally = fs::temp_directory_path() / ("story_pgbench_" + std::to_string(::getpid()));
  support::raw_connection on(database.url());
  auto bench = run_pgbench({"--client", std::to_string(how.clients), "--time",
                            std::to_string(how.seconds), "--random-seed", std::to_string(how.seed)},
                           database.url());
  crew hands(posts(), {.hand = torture::worker_path("story_hand"),
                       .url = database.url(),
                       .tally = tally.string(),
                       .chunk = how.chunk,
                       .seed = how.seed});
  long looks = 0;
  long amid = 0;
  auto next = std::chrono::steady_clock::now();
  child::change came;
  while (came = bench.wait(0ms), came.what == child::state::silent) {
    hands.strike();
    if (std::chrono::steady_clock::now() < next) continue;
    next += 1s;
    for (auto const& one : sides) amid += number(on, differing(one));
    ++looks;
  }
  if (came.what != child::state::exited || came.code != 0) {
    throw std::runtime_error("pgbench " + came.text() + ": " + bench.words());
  }
  hands.end();
  auto const transfers = number(on, "select count(*) from pgbench_history");
  std::printf("pgbench     seed %u: %ld transfers; %s\n", how.seed, transfers,
              hands.text().c_str());
  auto const at_the_end = sum_up(book, on, how.chunk);
  std::printf("pgbench     %ld snapshots, %ld faults: %ld differences\n", looks + 1, hands.faults(),
              amid + at_the_end);
  std::printf("violations %ld / %ld snapshots\n", amid + at_the_end, looks + 1);
  for (auto const& one : hands.failures()) std::printf("FAILURE %s\n", one.c_str());
  fs::remove(tally);
  if (amid + at_the_end > 0) return 1;
  return hands.failures().empty() && transfers > 0 && hands.faults() > 5 ? 0 : 2;
}

}  // namespace
}  // namespace story

int main(int count, char** arguments) try {
  story::settings how;
  how.engine = "postgresql";
  how.seed = 1;
  torture::switches words(how, bricks::flaw_names);
  words.add("--seconds", &how.seconds);
  words.add("--scale", &how.scale);
  words.add("--clients", &how.clients);
  words.add("--chunk", &how.chunk);
  if (!words.read({arguments + 1, arguments + count})) {
    std::fputs("story_pgbench: see the head of pgbench_story.cpp\n", stderr);
    return 3;
  }
  return story::tell(how);
} catch (std::exception const& e) {
  std::fprintf(stderr, "story_pgbench: %s\n", e.what());
  return 1;
}
