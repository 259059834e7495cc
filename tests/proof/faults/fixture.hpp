// A book behind a proxy, the same book directly, and a whole piece of work in verbs.
#pragma once

#include "conformance/fixture.hpp"
#include "proxy/proxy.hpp"
#include "support/server.hpp"

#include <array>
#include <cstdio>
#include <map>
#include <memory>

namespace conformance::faults {

/// One of the library's transactions, and a text that only it has, in all dialects.
struct verb {
  char const* name;
  char const* within;
};

inline constexpr std::array<verb, 6> own_verbs{{
    {"register", "lease_until_us, ttl_us"},
    {"start", "attempt_started_us ="},
    {"step", "steps_done = steps_done + 1"},
    {"record", "steps_done = steps_done + 1"},
    {"renew", "in_hand ="},
    {"end", "succeeded_us = case"},
}};
inline constexpr std::array<verb, 3> take_over_verbs{{
    {"mark_dead", "'dead'"},
    {"free", "'its holder died'"},
    {"start", "attempt_started_us ="},
}};

/// How many faults of each kind have struck, printed at the end: for docs/inside/proof.md.
class tally final : public testing::Environment {
 public:
  static void count(proxy::plan const& what) {
    constexpr std::array names{"delay",    "late reply",       "half open", "reset",  "cut",
                               "no reply", "silence after it", "held back", "refused"};
    auto const where = what.at == proxy::moment::commit ? " at COMMIT" : " at a statement";
    ++all()[names.at(static_cast<std::size_t>(what.what)) + std::string(where) +
            (what.code.empty() ? "" : " with " + what.code)];
  }
  void TearDown() override {
    for (auto const& [kind, count] : all()) std::printf("  %4d  %s\n", count, kind.c_str());
  }

 private:
  static std::map<std::string, int>& all() {
    static std::map<std::string, int> kept;
    return kept;
  }
};
inline testing::Environment* const prints_tally = testing::AddGlobalTestEnvironment(new tally);

class with_proxy : public on_engine {
 protected:
  with_proxy()
      : between_(on_postgres() ? proxy::protocol::postgres : proxy::protocol::mysql,
                 support::port_of(database_.url())) {}

  /// A book through the proxy. What of ours gets no answer is given up after connect_timeout, which
  /// a busy machine needs now and then, and three times a third of the lease: 3 s with one second.
  [[nodiscard]] daybook::book far(std::chrono::milliseconds lease = 1s) {
    auto options = support::fresh_database::manual();
    options.lease = lease;
    options.connect_timeout = 2s;
    options.observer = &log_;
    return daybook::book(between_.url_of(database_.url()), options);
  }

  /// By hand it is told of its doubt; the background would try again, too.
  static void renew(daybook::book& with, std::function<void()> const& between_tries = {}) {
    for (int tries = 0;; ++tries) {
      try {
        EXPECT_EQ(daybook::testing::renew(with), daybook::lease_state::held);
        return;
      } catch (daybook::error const& e) {
        ASSERT_TRUE(e.retryable() || e.in_doubt()) << e.what();
        ASSERT_LT(tries, 5) << e.what();
        if (between_tries) between_tries();
      }
    }
  }

  static auto leave(key const& piece) {
    return [piece](transaction& tx) {
      tx.exec("insert into effect(name) values (:name)", piece.str());
    };
  }

  /// Registers, starts, does a step, records one, renews, ends. `before` is called before each.
  void work(daybook::book& with, key const& piece, std::function<void(std::string)> const& before) {
    before("register");
    before("start");
    auto run = taken(with.start(nightly_, piece));
    before("step");
    EXPECT_EQ(run.step("load", leave(piece)).what(), outcome::done);
    before("record");
    EXPECT_EQ(run.record("mailed").what(), outcome::done);
    before("renew");
    renew(with, [this] {
      if (log_.on_retry) log_.on_retry();
    });
    before("end");
    EXPECT_TRUE(std::move(run).finish());
  }

  /// A dead holder's run is taken over and ended. `before` is called before the take-over.
  void take_over(daybook::book& with, key const& piece, std::function<void()> const& before) {
    auto zombie = taken(book_.start(nightly_, piece));
    EXPECT_EQ(zombie.step("load", leave(piece)).what(), outcome::done);
    EXPECT_TRUE(taken(with.start(nightly_, key{piece.str() + " first"})).finish());
    daybook::testing::manual_clock(book_).advance(31s);
    renew(with);  // the heir's own lease is shorter
    before();
    auto heir = taken(with.start(nightly_, piece));
    EXPECT_EQ(heir.attempt(), 2);
    EXPECT_EQ(heir.step("load", leave(piece)).what(), outcome::skipped);
    EXPECT_EQ(heir.record("mailed").what(), outcome::done);
    EXPECT_EQ(zombie.step("late", leave(piece)).what(), outcome::lost);
    EXPECT_TRUE(std::move(heir).finish());
  }

  /// Its effect is there once, and its history is that of `attempts`.
  void expect_once(key const& piece, std::size_t attempts) {
    EXPECT_EQ(effects(piece.str()), "1");
    auto const seen = book_.find(nightly_, piece).value();
    EXPECT_EQ(seen.info.state, run_state::succeeded);
    EXPECT_EQ(seen.info.attempt, static_cast<std::int64_t>(attempts));
    EXPECT_EQ(seen.steps.size(), 2U);
    EXPECT_EQ(seen.info.steps_done, 2);
    ASSERT_EQ(seen.attempts.size(), attempts);
    EXPECT_EQ(std::count_if(seen.attempts.begin(), seen.attempts.end(),
                            [](auto const& one) { return one.state == run_state::succeeded; }),
              1);
  }

  /// The same plan at each of the library's transactions.
  void at_every_verb(proxy::plan const& what, std::string const& name,
                     std::chrono::milliseconds lease = 1s) {
    int number = 0;
    for (auto const& where : own_verbs) {
      SCOPED_TRACE(name + " at " + where.name);
      key const piece{name + std::to_string(++number)};
      auto book = far(lease);
      work(book, piece, [&](std::string const& verb) {
        if (verb == where.name) arm(what, where.within);
      });
      expect_once(piece, 1);
      EXPECT_EQ(between_.hits(), 1);
    }
    for (auto const& where : take_over_verbs) {
      SCOPED_TRACE(name + " at the take-over's " + where.name);
      key const piece{name + std::to_string(++number)};
      auto book = far(lease);
      take_over(book, piece, [&] { arm(what, where.within); });
      expect_once(piece, 2);
      EXPECT_EQ(between_.hits(), 1);
    }
  }
  void arm(proxy::plan what, char const* within) {
    what.within = within;
    tally::count(what);
    between_.arm(std::move(what));
  }

  proxy::proxy between_;
};

/// Those that a client talks to directly.
inline std::vector<support::engine> servers() {
  auto out = support::engines();
  std::erase_if(out,
                [](auto const& one) { return one.name == "sqlite" || one.name == "pgbouncer"; });
  return out;
}

#define DAYBOOK_ON_EVERY_SERVER(suite)                                           \
  INSTANTIATE_TEST_SUITE_P(engines, suite, testing::ValuesIn(faults::servers()), \
                           [](auto const& of) { return support::name_of(of.param); })

}  // namespace conformance::faults
