#include "torture/queue_snapshot.hpp"

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

constexpr int batch_size = 1000;
constexpr int parts = 5;
/// Below this a fifth is over too soon to be measured.
constexpr int measurable = 100'000;

std::string begin_of(std::string const& dialect) {
  if (dialect == "postgres") return "begin isolation level repeatable read";
  if (dialect == "mysql") return "start transaction with consistent snapshot";
  return "begin";
}

/// Of batches that took so long: of the fastest quarter, the slowest. Others on the machine make
/// batches slow, never fast.
double per_second(std::vector<double>& seconds) {
  if (seconds.empty()) return 0;
  auto const quarter = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 4);
  std::nth_element(seconds.begin(), quarter, seconds.end());
  return batch_size / *quarter;
}

}  // namespace

bool under_a_snapshot(support::engine const& on, int tasks, int segment) {
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

  std::array<std::vector<double>, parts> seconds;
  int done = 0;
  auto batch = queue.claim({.limit = batch_size});
  while (batch) {
    auto const since = std::chrono::steady_clock::now();
    for (auto const& one : batch->tasks()) batch->finish(one, daybook::result::success());
    auto const fifth = static_cast<std::size_t>(std::int64_t{done} * parts / tasks);
    done += static_cast<int>(batch->tasks().size());
    auto next_one = std::move(*batch).complete_and_claim(batch_size);
    if (next_one.ended != daybook::outcome::done) return false;
    batch = std::move(next_one.next);
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - since;
    seconds.at(fifth).push_back(took.count());
  }
  std::array<double, parts> speed{};
  std::transform(seconds.begin(), seconds.end(), speed.begin(), per_second);
  bool const still_held = holder.execute("select count(*) from daybook_member") == seen;
  std::printf("engine %s  tasks %d in segments of %d, tasks/s in fifths:", on.name.c_str(), done,
              segment);
  for (auto const one : speed) std::printf(" %.0f", one);
  auto const kept = speed.back() / speed.front();
  std::printf("\n  last beside first %.2f\n", kept);
  bool const all = done == tasks && queue.counts().succeeded == tasks && still_held;
  return all && (tasks < measurable || kept >= 0.9);
}

}  // namespace torture
