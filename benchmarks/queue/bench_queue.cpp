// Queues worked off by bare loops, by peers and by the library, in turns, in one run on one server.
//   bench_queue [--engine sqlite|postgresql|mariadb] [--tasks 300000] [--rounds 7]
//               [--batch 1,10,100,1000] [--workers 1,2,4,8] [--part
//               drain,singles,enqueue,delay,idle]
//               [--only NAME,...] [--peers FOLDER] [--daybook PROGRAM]
//   bench_queue --small      a few hundred tasks each, checked; no figures worth reading
// The servers are those of tests/servers/servers; FOLDER is what peers/install made,
// PROGRAM the command, whose daemon takes part with a child for each batch.
#include "benchmarks/figures.hpp"
#include "benchmarks/queue/contestant.hpp"
#include "benchmarks/queue/daemon_drain.hpp"
#include "benchmarks/queue/library_queue.hpp"
#include "benchmarks/queue/meter.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

namespace bench {
namespace {

struct settings {
  std::vector<std::string> engines{"sqlite", "postgresql", "mariadb"};
  std::vector<int> batches{1, 10, 100, 1000};
  std::vector<int> workers{1, 2, 4, 8};
  std::set<std::string> parts{"drain", "singles", "enqueue", "delay", "idle"};
  std::set<std::string> only;
  std::string peers;
  std::string daybook;
  long tasks = 300'000;
  int rounds = 7;
  int samples = 300;
  int idle_ms = 5000;
};

/// A line of the table: one contestant in one setting.
struct line {
  std::string what;
  std::vector<double> rates;
  std::vector<cost> costs;  ///< for each task
};

double middle_of(std::vector<cost> const& of, double cost::*which) {
  std::vector<double> each;
  for (auto const& one : of) each.push_back(one.*which);
  return middle(each);
}

void print_head(std::string const& what) {
  std::printf("\n%s\n%-38s %10s %23s %9s %9s %8s %8s %8s\n", what.c_str(), "", "tasks/s",
              "[least..most]", "server us", "client us", "log B", "stmts", "commits");
}

void print(line const& of) {
  auto const [low, high] = std::minmax_element(of.rates.begin(), of.rates.end());
  char range[48];
  std::snprintf(range, sizeof range, "[%.0f..%.0f]", *low, *high);
  std::printf("%-38s %10.0f %23s %9.2f %9.2f %8.1f %8.4f %8.4f\n", of.what.c_str(),
              middle(of.rates), range, middle_of(of.costs, &cost::server_us),
              middle_of(of.costs, &cost::client_us), middle_of(of.costs, &cost::log_bytes),
              middle_of(of.costs, &cost::statements), middle_of(of.costs, &cost::commits));
  std::fflush(stdout);
}

cost for_each(cost of, long tasks) {
  auto const by = static_cast<double>(tasks);
  return {of.server_us / by, of.client_us / by, of.statements / by, of.commits / by,
          of.log_bytes / by};
}

/// Contestants on one engine, and their turns.
class field {
 public:
  field(support::engine const& on, settings const& with) : on_(on), with_(with) {
    auto everybody = bare_contestants(on);
    for (auto& one : library_contestants(on, with.daybook)) everybody.push_back(std::move(one));
    for (auto& one : peer_contestants(on, with.peers)) everybody.push_back(std::move(one));
    for (auto& one : everybody) {
      if (with.only.empty() || with.only.contains(one->name())) all_.push_back(std::move(one));
    }
    for (auto const& one : all_) meters_.emplace_back(on, one->database());
  }

  void drains() {
    for (auto const batch : with_.batches) {
      for (auto const workers : with_.workers) {
        // A small batch waits for the disk: fewer of the same tasks are enough.
        auto const most = std::min(with_.tasks, 5000L * batch);
        turns(
            "drain, batch " + std::to_string(batch) + ", workers " + std::to_string(workers),
            [&](contestant& who) { return !who.has_singles() && who.drains(batch, workers); },
            [&](std::size_t at) {
              return drained(at, {batch, workers, most});
            });
      }
    }
  }

  void singles() {
    for (auto const workers : with_.workers) {
      auto const most = std::min(with_.tasks, 2000L * workers);
      turns(
          "single transactions, workers " + std::to_string(workers),
          [&](contestant& who) { return who.has_singles(); },
          [&](std::size_t at) {
            return drained(at, {1, workers, most});
          });
    }
  }

  void enqueues() {
    using way = std::optional<amount> (contestant::*)(long);
    auto const part = [&](char const* what, way how) {
      turns(
          what, [](contestant&) { return true; },
          [&](std::size_t at) -> std::optional<measured> {
            meters_[at].begin();
            auto const done = ((*all_[at]).*how)(with_.tasks);
            if (!done) return std::nullopt;
            return measured{*done, for_each(meters_[at].end(), done->tasks)};
          });
    };
    part("enqueue with unique keys, 1000 in a call", &contestant::enqueue_unique);
    part("enqueue by import", &contestant::enqueue_import);
  }

  void delays() {
    std::map<std::size_t, std::vector<delay>> found;
    for (int round = 0; round < with_.rounds; ++round) {
      for (std::size_t at = 0; at < all_.size(); ++at) {
        auto const one = all_[at]->start_delay(with_.samples, 10);
        if (one) found[at].push_back(*one);
      }
    }
    if (found.empty()) return;
    std::printf("\n%s: from enqueue to start, a task each 10 ms; ms\n%-38s %8s %8s\n",
                on_.name.c_str(), "", "p50", "p99");
    for (auto const& [at, each] : found) {
      std::vector<double> p50;
      std::vector<double> p99;
      for (auto const& one : each) {
        p50.push_back(one.p50_ms);
        p99.push_back(one.p99_ms);
      }
      std::printf("%-38s %8.2f %8.2f\n", all_[at]->name().c_str(), middle(p50), middle(p99));
    }
    std::fflush(stdout);
  }

  void idles() {
    bool any = false;
    for (std::size_t at = 0; at < all_.size(); ++at) {
      cost found;
      bool const did = all_[at]->idle([&] {
        meters_[at].begin_connected();
        std::this_thread::sleep_for(std::chrono::milliseconds(with_.idle_ms));
        found = meters_[at].end_connected();
      });
      if (!did) continue;
      if (!any) {
        std::printf("\n%s: waiting for nothing, a second of it\n%-38s %10s %10s\n",
                    on_.name.c_str(), "", "statements", "server us");
      }
      any = true;
      auto const seconds = with_.idle_ms / 1e3;
      std::printf("%-38s %10.1f %10.0f\n", all_[at]->name().c_str(), found.statements / seconds,
                  found.server_us / seconds);
    }
    std::fflush(stdout);
  }

 private:
  struct measured {
    amount done;
    cost each;
  };

  std::optional<measured> drained(std::size_t at, order const& how) {
    auto& who = *all_[at];
    who.prepare(with_.tasks);
    meters_[at].begin();
    auto const done = who.drain(how);
    auto const spent = meters_[at].end();
    if (done.tasks < how.most) throw std::runtime_error(who.name() + " left tasks");
    who.check(done.tasks);
    return measured{done, for_each(spent, done.tasks)};
  }

  /// Round after round, every other one in the opposite order.
  template <class Takes, class Turn>
  void turns(std::string const& what, Takes takes, Turn turn) {
    std::vector<std::size_t> in;
    for (std::size_t at = 0; at < all_.size(); ++at) {
      if (takes(*all_[at])) in.push_back(at);
    }
    std::map<std::size_t, line> lines;
    for (int round = 0; round < with_.rounds; ++round) {
      for (std::size_t nth = 0; nth < in.size(); ++nth) {
        auto const at = in[round % 2 == 0 ? nth : in.size() - 1 - nth];
        auto const found = turn(at);
        if (!found) continue;
        auto& to = lines[at];
        to.what = all_[at]->name();
        to.rates.push_back(static_cast<double>(found->done.tasks) / found->done.seconds);
        to.costs.push_back(found->each);
      }
    }
    if (lines.empty()) return;
    print_head(on_.name + ": " + what);
    for (auto const& [at, one] : lines) print(one);
  }

  support::engine on_;
  settings const& with_;
  contestants all_;
  std::vector<meter> meters_;
};

void make_small(settings& of) {
  of.batches = {7};
  of.workers = {3};
  of.tasks = 300;
  of.rounds = 1;
  of.samples = 10;
  of.idle_ms = 100;
}

settings read_arguments(std::vector<std::string> const& words) {
  settings out;
  for (std::size_t at = 0; at < words.size(); ++at) {
    auto const& word = words[at];
    if (word == "--small") {
      make_small(out);
      continue;
    }
    if (at + 1 == words.size()) throw std::invalid_argument(word + " wants a value, or is unknown");
    auto const& value = words[++at];
    auto const each = words_of(value);
    if (word == "--engine") {
      out.engines = each;
    } else if (word == "--batch") {
      out.batches = numbers_of<int>(value);
    } else if (word == "--workers") {
      out.workers = numbers_of<int>(value);
    } else if (word == "--tasks") {
      out.tasks = std::stol(value);
    } else if (word == "--rounds") {
      out.rounds = std::stoi(value);
    } else if (word == "--part") {
      out.parts = {each.begin(), each.end()};
    } else if (word == "--only") {
      out.only = {each.begin(), each.end()};
    } else if (word == "--peers") {
      out.peers = value;
    } else if (word == "--daybook") {
      out.daybook = value;
    } else {
      throw std::invalid_argument("unknown: " + word);
    }
  }
  return out;
}

support::engine engine_of(std::string const& name) {
  for (auto const& one : support::engines()) {
    if (one.name == name) return one;
  }
  throw std::invalid_argument("no engine is named " + name);
}

int run(settings const& with) {
  std::printf("%ld tasks, medians of %d rounds; costs are for each task.\n", with.tasks,
              with.rounds);
  for (auto const& name : with.engines) {
    field on(engine_of(name), with);
    if (with.parts.contains("drain")) on.drains();
    if (with.parts.contains("singles")) on.singles();
    if (with.parts.contains("enqueue")) on.enqueues();
    if (with.parts.contains("delay")) on.delays();
    if (with.parts.contains("idle")) on.idles();
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    if (argc > 1 && argv[1] == std::string("--child")) return bench::answer_tasks();
    return bench::run(bench::read_arguments({argv + 1, argv + argc}));
  } catch (std::exception const& e) {
    std::cerr << "bench_queue: " << e.what() << '\n';
    return 1;
  }
}
