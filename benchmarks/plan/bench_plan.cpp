// Planners beside the same work written by hand: a table swept in pages, few new rows found among
// many, events made into tasks; in turns, in one run on one server.
//   bench_plan [--engine sqlite,postgresql,mariadb] [--part sweep,query,inbox] [--rounds 3]
//              [--rows 1000000,5000000] [--page 1000] [--workers 1,2] [--known 1000000]
//              [--events 100000] [--singles 5000] [--peers FOLDER]
//   bench_plan --small      some thousand rows, checked; no figures worth reading
// The servers are those of tests/servers/servers; FOLDER is what peers/install made.
#include "benchmarks/figures.hpp"
#include "benchmarks/plan/parts.hpp"

#include <cstdio>
#include <exception>
#include <set>
#include <stdexcept>

namespace bench {
namespace {

struct arguments {
  std::set<std::string> engines{"sqlite", "postgresql", "mariadb"};
  std::set<std::string> parts{"sweep", "query", "inbox"};
  plan_settings with;
};

void make_small(plan_settings& of) {
  of.rounds = 1;
  of.page = 70;
  of.rows = {1000, 3000};
  of.offset_seconds = 0.1;
  of.known = 3000;
  of.fresh = 50;
  of.events = 2500;
  of.singles = 40;
  of.producers = 3;
}

void read(arguments& to, std::string const& word, std::string const& value) {
  auto& with = to.with;
  if (word == "--engine") {
    to.engines = set_of(value);
  } else if (word == "--part") {
    to.parts = set_of(value);
  } else if (word == "--rounds") {
    with.rounds = std::stoi(value);
  } else if (word == "--rows") {
    with.rows = numbers_of<long>(value);
  } else if (word == "--page") {
    with.page = std::stoi(value);
  } else if (word == "--workers") {
    with.workers = numbers_of<int>(value);
  } else if (word == "--known") {
    with.known = std::stol(value);
  } else if (word == "--events") {
    with.events = std::stol(value);
  } else if (word == "--singles") {
    with.singles = std::stol(value);
  } else if (word == "--peers") {
    with.peers = value;
  } else {
    throw std::invalid_argument("unknown: " + word);
  }
}

arguments read_arguments(std::vector<std::string> const& words) {
  arguments out;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at] == "--small") {
      make_small(out.with);
      continue;
    }
    if (at + 1 == words.size()) {
      throw std::invalid_argument(words[at] + " wants a value, or is unknown");
    }
    read(out, words[at], words[at + 1]);
    ++at;
  }
  return out;
}

void run(arguments const& how) {
  std::printf("Medians of %d rounds.\n", how.with.rounds);
  for (auto const& on : support::engines()) {
    if (!how.engines.contains(on.name)) continue;
    if (how.parts.contains("sweep")) sweep_part(on, how.with);
    if (how.parts.contains("query")) query_part(on, how.with);
    if (how.parts.contains("inbox")) inbox_part(on, how.with);
  }
}

}  // namespace
}  // namespace bench

int main(int count, char** words) try {
  bench::run(bench::read_arguments({words + 1, words + count}));
  return 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "bench_plan: %s\n", e.what());
  return 1;
}
