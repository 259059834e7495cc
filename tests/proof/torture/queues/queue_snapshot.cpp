#include "proof/torture/queues/queue_snapshot.hpp"

#include <daybook/queue.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torture {

namespace {

constexpr int parts = 5;
/// Below this a fifth is over too soon to be measured.
constexpr int measurable = 100'000;

std::string begin_of(std::string const& dialect) {
  if (dialect == "postgres") return "begin isolation level repeatable read";
  if (dialect == "mysql") return "start transaction with consistent snapshot";
  return "begin";
}

double quantile(std::vector<double>& of, double which) {
  auto const place =
      of.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(of.size() - 1) * which);
  std::nth_element(of.begin(), place, of.end());
  return *place;
}

/// Of batches that took so long: of the fastest quarter, the slowest. Others on the machine make
/// batches slow, never fast.
double per_second(std::vector<double>& seconds, int claim) {
  return seconds.empty() ? 0 : claim / quantile(seconds, 0.25);
}

/// What the snapshot keeps the engine from clearing away, as far as it says so.
std::string dead_rows(support::raw_connection& watcher, std::string const& dialect) {
  if (dialect != "postgres") return "unknown";
  return watcher.execute(
      "select n_dead_tup from pg_stat_user_tables"
      " where relname = 'daybook_segment'");
}

}  // namespace

bool under_a_snapshot(support::engine const& on, int tasks, int segment, int claim) {
  support::fresh_database const database(on);
  auto book = database.open();
  book.migrate();
  auto queue = book.make_queue("snapshot", {.segment = segment});
  int next = 0;
  queue.import([&]() -> std::optional<daybook::entry> {
    if (next == tasks) return std::nullopt;
    return daybook::entry{daybook::key("k" + std::to_string(next++))};
  });
  support::raw_connection holder(database.url());
  holder.execute(begin_of(std::string(book.dialect())));
  auto const seen = holder.execute("select count(*) from daybook_member");

  support::raw_connection watcher(database.url());
  std::array<std::vector<double>, parts> seconds;
  std::array<std::string, parts> dead;
  int done = 0;
  auto batch = queue.claim({.limit = claim});
  while (batch) {
    auto const since = std::chrono::steady_clock::now();
    for (auto const& one : batch->tasks()) batch->finish(one, daybook::result::success());
    auto const fifth = static_cast<std::size_t>(std::int64_t{done} * parts / tasks);
    done += static_cast<int>(batch->tasks().size());
    auto next_one = std::move(*batch).complete_and_claim(claim);
    if (next_one.ended != daybook::outcome::done) return false;
    batch = std::move(next_one.next);
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - since;
    seconds.at(fifth).push_back(took.count());
    if (done * std::int64_t{parts} / tasks > std::int64_t(fifth)) {
      dead.at(fifth) = dead_rows(watcher, std::string(book.dialect()));
    }
  }
  std::array<double, parts> speed{};
  std::transform(seconds.begin(), seconds.end(), speed.begin(),
                 [&](auto& of) { return per_second(of, claim); });
  bool const still_held = holder.execute("select count(*) from daybook_member") == seen;
  std::printf("engine %s  tasks %d in segments of %d, tasks/s in fifths:", on.name.c_str(), done,
              segment);
  for (auto const one : speed) std::printf(" %.0f", one);
  std::printf("\n  claims of %d: milliseconds until the next, median and p99; dead rows\n", claim);
  for (std::size_t i = 0; i < parts; ++i) {
    if (seconds[i].empty()) continue;
    std::printf("    %.2f %.2f %s\n", quantile(seconds[i], 0.5) * 1000,
                quantile(seconds[i], 0.99) * 1000, dead[i].c_str());
  }
  auto const kept = speed.back() / speed.front();
  std::printf("  last beside first %.2f\n", kept);
  bool const all = done == tasks && queue.counts().succeeded == tasks && still_held;
  return all && (tasks < measurable || kept >= 0.9);
}

}  // namespace torture
