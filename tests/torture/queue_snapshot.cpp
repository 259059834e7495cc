#include "torture/queue_snapshot.hpp"

#include <daybook/queue.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

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

double per_second(int tasks, std::chrono::steady_clock::duration took) {
  return tasks / std::chrono::duration<double>(took).count();
}

}  // namespace

bool under_a_snapshot(support::engine const& on, int tasks) {
  support::fresh_database const database(on);
  auto book = database.open();
  book.migrate();
  auto queue = book.make_queue("snapshot");
  int next = 0;
  queue.import([&]() -> std::optional<daybook::entry> {
    if (next == tasks) return std::nullopt;
    return daybook::entry{daybook::key("k" + std::to_string(next++))};
  });
  support::raw_connection holder(database.url());
  holder.execute(begin_of(std::string(book.dialect())));
  auto const seen = holder.execute("select count(*) from daybook_member");

  std::array<double, parts> speed{};
  int done = 0;
  auto batch = queue.claim({.limit = batch_size});
  for (auto& fifth : speed) {
    auto const from = done;
    auto const since = std::chrono::steady_clock::now();
    auto const until = &fifth == &speed.back() ? tasks : from + tasks / parts;
    while (batch && done < until) {
      for (auto const& one : batch->tasks()) batch->finish(one, daybook::result::success());
      done += static_cast<int>(batch->tasks().size());
      auto after = std::move(*batch).complete_and_claim(batch_size);
      if (after.ended != daybook::outcome::done) return false;
      batch = std::move(after.next);
    }
    fifth = per_second(done - from, std::chrono::steady_clock::now() - since);
  }
  bool const still_held = holder.execute("select count(*) from daybook_member") == seen;
  std::printf("engine %s  tasks %d, tasks/s in fifths:", on.name.c_str(), done);
  for (auto const one : speed) std::printf(" %.0f", one);
  auto const kept = speed.back() / speed.front();
  std::printf("\n  last beside first %.2f\n", kept);
  bool const all = done == tasks && !batch && queue.counts().succeeded == tasks && still_held;
  return all && (tasks < measurable || kept >= 0.9);
}

}  // namespace torture
