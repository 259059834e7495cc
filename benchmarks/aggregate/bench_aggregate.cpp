// Bricks gathered into pay: row by row as the story has it, by bare statements that take a chunk at
// once, and by the library, in turns, in one run on one server.
//   bench_aggregate [--engine sqlite,postgresql,mariadb] [--rows 200000] [--rounds 5]
//                   [--aggregators 1,4] [--chunks 1000,10000,100000]
//                   [--part gather,undo,options] [--only NAME,...]
//   bench_aggregate --check      a few thousand rows, checked; no figures worth reading
// The servers are those of tests/servers/servers.
#include "benchmarks/aggregate/gatherers.hpp"
#include "benchmarks/figures.hpp"
#include "benchmarks/queue/meter.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {
namespace {

struct settings {
  std::set<std::string> engines{"sqlite", "postgresql", "mariadb"};
  std::set<std::string> parts{"gather", "undo", "options"};
  std::set<std::string> only;
  std::vector<int> aggregators{1, 4};
  std::vector<int> chunks{1000, 10'000, 100'000};
  long rows = 200'000;
  int rounds = 5;
};

/// What the story's tables are like, and what is best on this engine for them.
shape const as_in_the_story{.name = "the story's tables", .link_index = true};
shape best_of(std::string const& engine) {
  return {.name = "without an index on the link", .fillfactor = engine == "postgresql" ? 50 : 100};
}

/// So many rows a second, and what each cost.
struct line {
  std::string what;
  std::vector<double> rates;
  std::vector<double> processor_us;  ///< the server's and this process's
  std::vector<double> log_bytes;
};

struct contestant {
  std::string name;
  long most = 0;  ///< of the rows: a slow one needs no more to be measured
  std::function<amount(field&, order const&)> gather;
};

std::vector<contestant> contestants(settings const& with) {
  std::vector<contestant> const all{
      {"row, a transaction each", with.rows / 100,
       [](field& in, order const& how) { return row_by_row(in, how, 1); }},
      {"row, 1000 a transaction", with.rows / 10,
       [](field& in, order const& how) { return row_by_row(in, how, 1000); }},
      {"bare", with.rows, bare},
      {"library", with.rows, library}};
  std::vector<contestant> out;
  for (auto const& one : all) {
    if (with.only.empty() || with.only.contains(one.name)) out.push_back(one);
  }
  return out;
}

void print(line const& of) {
  auto const [low, high] = std::minmax_element(of.rates.begin(), of.rates.end());
  std::printf("  %-28s %10.0f rows/s  [%.0f..%.0f]  a row: %.2f us, %.0f log bytes\n",
              of.what.c_str(), middle(of.rates), *low, *high, middle(of.processor_us),
              middle(of.log_bytes));
}

/// One turn, checked.
void turn(contestant const& who, order how, field& in, meter& costs, line& to) {
  how.rows = who.most;
  in.fill(how.rows);
  costs.begin();
  auto const took = who.gather(in, how);
  auto const spent = costs.end();
  in.check(how.rows);
  auto const rows = static_cast<double>(took.rows);
  to.what = who.name;
  to.rates.push_back(took.rate());
  to.processor_us.push_back((spent.server_us + spent.client_us) / rows);
  to.log_bytes.push_back(spent.log_bytes / rows);
}

void gather(support::engine const& on, shape const& in_this, settings const& with) {
  auto const all = contestants(with);
  field in(on, in_this);
  meter costs(on, in.database());
  for (auto const aggregators : with.aggregators) {
    for (auto const chunk : with.chunks) {
      std::vector<line> lines(all.size());
      for (int round = 0; round < with.rounds; ++round) {
        for (std::size_t nth = 0; nth < all.size(); ++nth) {
          auto const at = round % 2 == 0 ? nth : all.size() - 1 - nth;
          turn(all[at], {.aggregators = aggregators, .chunk = chunk}, in, costs, lines[at]);
        }
      }
      std::printf("\n%s: %s, chunk %d, aggregators %d\n", on.name.c_str(), in_this.name.c_str(),
                  chunk, aggregators);
      std::map<std::string, double> rate;
      for (auto const& one : lines) {
        print(one);
        rate[one.what] = middle(one.rates);
      }
      if (with.only.empty()) {
        std::printf("  the library is %.2f of bare, %.0f and %.0f times row by row\n",
                    rate["library"] / rate["bare"],
                    rate["library"] / rate["row, a transaction each"],
                    rate["library"] / rate["row, 1000 a transaction"]);
      }
      std::fflush(stdout);
    }
  }
}

void undo(support::engine const& on, shape const& in_this, settings const& with) {
  std::vector<double> revert;
  std::vector<double> revert_bare;
  std::vector<double> verify;
  std::vector<double> verify_bare;
  field in(on, in_this);
  for (int round = 0; round < with.rounds; ++round) {
    in.fill(with.rows);
    library(in, {.chunk = 10'000, .rows = with.rows});
    auto const found = undo_and_verify(in, 20);
    revert.push_back(found.revert_ms);
    revert_bare.push_back(found.revert_bare_ms);
    verify.push_back(found.verify_s);
    verify_bare.push_back(found.verify_bare_s);
  }
  std::printf(
      "\n%s: %s, %ld rows\n  revert of %ld rows %.2f ms, bare %.2f ms; verify of all %.3f s, bare "
      "%.3f s\n",
      on.name.c_str(), in_this.name.c_str(), with.rows, with.rows / workers, middle(revert),
      middle(revert_bare), middle(verify), middle(verify_bare));
  std::fflush(stdout);
}

/// What the table's options cost and give; PostgreSQL only.
void options(support::engine const& on, settings const& with) {
  std::vector<shape> shapes;
  for (int const fill : {100, 50}) {
    for (bool const link : {true, false}) {
      for (bool const state : {true, false}) {
        shapes.push_back({"fillfactor " + std::to_string(fill) + (link ? ", link" : "") +
                              (state ? ", state" : "") + (link || state ? " indexed" : ""),
                          fill, link, state});
      }
    }
  }
  std::vector<line> lines(shapes.size());
  std::vector<double> in_place(shapes.size());
  for (int round = 0; round < with.rounds; ++round) {
    for (std::size_t at = 0; at < shapes.size(); ++at) {
      field in(on, shapes[at]);
      contestant const ours{shapes[at].name, with.rows, library};
      meter costs(on, in.database());
      turn(ours, {.chunk = 10'000}, in, costs, lines[at]);
      in_place[at] = in.number(
          "select 100.0 * n_tup_hot_upd / greatest(n_tup_upd, 1) from pg_stat_user_tables where"
          " relname = 't_move_brick'");
    }
  }
  std::printf("\n%s: options of the table, the library, chunk 10000, aggregators 1\n",
              on.name.c_str());
  for (std::size_t at = 0; at < shapes.size(); ++at) {
    print(lines[at]);
    std::printf("  %-28s %10.0f %% of the updates are in place (HOT)\n", "", in_place[at]);
  }
  std::fflush(stdout);
}

void run(support::engine const& on, settings const& with) {
  for (auto const& one : {as_in_the_story, best_of(on.name)}) {
    if (with.parts.contains("gather")) gather(on, one, with);
    if (with.parts.contains("undo")) undo(on, one, with);
  }
  if (with.parts.contains("options") && on.name == "postgresql") options(on, with);
}

settings read_arguments(std::vector<std::string> const& words) {
  settings out;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at] == "--check") {
      out.rows = 4000;
      out.rounds = 1;
      out.chunks = {1000};
      continue;
    }
    if (at + 1 == words.size()) throw std::runtime_error(words[at] + " wants a value");
    auto const& value = words[at + 1];
    if (words[at] == "--engine") {
      out.engines = set_of(value);
    } else if (words[at] == "--part") {
      out.parts = set_of(value);
    } else if (words[at] == "--only") {
      out.only = set_of(value);
    } else if (words[at] == "--aggregators") {
      out.aggregators = numbers_of<int>(value);
    } else if (words[at] == "--chunks") {
      out.chunks = numbers_of<int>(value);
    } else if (words[at] == "--rows") {
      out.rows = std::stol(value);
    } else if (words[at] == "--rounds") {
      out.rounds = std::stoi(value);
    } else {
      throw std::runtime_error("unknown word " + words[at]);
    }
    ++at;
  }
  return out;
}

}  // namespace
}  // namespace bench

int main(int count, char** arguments) try {
  auto const with = bench::read_arguments({arguments + 1, arguments + count});
  for (auto const& on : support::engines()) {
    if (with.engines.contains(on.name)) bench::run(on, with);
  }
  return 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "bench_aggregate: %s\n", e.what());
  return 1;
}
