// Events in, one by one and a thousand in a call, and out again.
#include "benchmarks/figures.hpp"
#include "benchmarks/plan/inboxes.hpp"
#include "benchmarks/plan/parts.hpp"
#include "benchmarks/queue/meter.hpp"

#include <cstdio>
#include <set>
#include <stdexcept>

namespace bench {

namespace {

struct line {
  std::vector<double> singly, many, out, out_processor_us;
};

void note(std::vector<double>& to, amount const& of) {
  to.push_back(static_cast<double>(of.tasks) / of.seconds);
}

void turn(contestant& who, plan_settings const& with, meter& costs, line& to) {
  if (auto const took = who.enqueue_singly(with.singles, with.producers)) note(to.singly, *took);
  auto many = who.enqueue_unique(with.events);
  if (!many) many = who.enqueue_import(with.events);  // it has no keys
  if (many) note(to.many, *many);
  who.prepare(with.events);
  costs.begin();
  auto const took = who.drain({.batch = 1000, .workers = 1, .most = with.events});
  auto const spent = costs.end();
  if (took.tasks != with.events) throw std::runtime_error(who.name() + " left events");
  who.check(took.tasks);
  note(to.out, took);
  to.out_processor_us.push_back((spent.server_us + spent.client_us) /
                                static_cast<double>(took.tasks));
}

}  // namespace

void inbox_part(support::engine const& on, plan_settings const& with) {
  std::set<std::string> const beside{"graphile-worker", "PgQ"};
  auto all = inboxes(on);
  for (auto& one : peer_contestants(on, with.peers)) {
    if (beside.contains(one->name())) all.push_back(std::move(one));
  }
  std::vector<meter> meters;
  for (auto const& one : all) meters.emplace_back(on, one->database());
  std::vector<line> lines(all.size());
  for (int round = 0; round < with.rounds; ++round) {
    for (std::size_t nth = 0; nth < all.size(); ++nth) {
      auto const at = round % 2 == 0 ? nth : all.size() - 1 - nth;
      turn(*all[at], with, meters[at], lines[at]);
    }
  }
  std::printf("\n%s: events a second; in: %ld by %d at once, %ld by 1000 in a call; out: all\n",
              on.name.c_str(), with.singles, with.producers, with.events);
  std::printf("%-24s %12s %12s %12s %16s\n", "", "singly", "1000 a call", "out",
              "out: cpu us each");
  for (std::size_t at = 0; at < all.size(); ++at) {
    auto const& one = lines[at];
    std::printf("%-24s %12.0f %12.0f %12.0f %16.2f\n", all[at]->name().c_str(), middle(one.singly),
                middle(one.many), middle(one.out), middle(one.out_processor_us));
  }
  std::fflush(stdout);
}

}  // namespace bench
