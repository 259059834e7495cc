// What the suites of the hand-out share: two books, the second for heirs, and waiting for what the
// claimer's thread does.
#pragma once

#include "conformance/adopt.hpp"
#include "conformance/waiting.hpp"

#include <chrono>
#include <future>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace conformance {

class handing : public adoption {
 protected:
  // A hand-out begins nothing when its lease runs low by the host's clock, and nothing renews here.
  handing() : adoption(30min), other_(database_.open()), clock_(book_) { book_.migrate(); }

  static std::vector<daybook::entry> keys(int from, int to) {
    std::vector<daybook::entry> out;
    for (int i = from; i < to; ++i) out.push_back({key("k" + std::to_string(i))});
    return out;
  }
  static daybook::task_state state_of(daybook::queue const& of, std::string const& name) {
    return of.find(key(name)).value().state;
  }
  /// Of ledgers: what is finished, and not what was begun.
  std::string ended_rows() {
    return database_.query("select count(*) from daybook_done where lo > 0");
  }
  static daybook::task_fetcher_options quick() { return {.flush_every = 100ms, .poll = 20ms}; }
  /// A stop that comes by itself, for a test that would hang.
  static daybook::claimed_task must_come(daybook::task_fetcher& from) {
    std::stop_source late;
    auto waiting = std::async(std::launch::async, [&] { return from.next(late.get_token()); });
    if (waiting.wait_for(for_ever) != std::future_status::ready) late.request_stop();
    auto out = waiting.get();
    if (!out) throw std::runtime_error("no task was handed out");
    return std::move(*out);
  }
  /// Asks for a task that there must not be: were there one, it would be there at once.
  static bool none_comes(daybook::task_fetcher& from) {
    std::stop_source late;
    auto waiting = std::async(std::launch::async, [&] { return from.next(late.get_token()); });
    static_cast<void>(waiting.wait_for(200ms));
    late.request_stop();
    return !waiting.get();
  }

  /// Reclaiming passes over a claim that a transaction has open, and comes back. The process that
  /// has lost it may itself be the one that takes it back, in its next life.
  static bool takes_back(daybook::queue of) {
    return comes_true([&] { return of.reclaim() > 0 || of.counts().claims == 0; });
  }

  daybook::book other_;
  daybook::testing::manual_clock clock_;
};

}  // namespace conformance
