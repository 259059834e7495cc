// The connection breaks, hangs, or the server refuses, at each transaction of the library: the
// effect is there once, the answers are right, and nothing hangs.
#include "proof/faults/fixture.hpp"

namespace conformance::faults {
namespace {

using proxy::moment;

class connection : public with_proxy {
 protected:
  /// What a server answers that wants the transaction tried again, or that goes away.
  [[nodiscard]] std::vector<std::string> refusals() const {
    if (on_postgres()) return {"40001", "40P01", "57P01"};
    return {"1213", "1205", "1020"};
  }
};

TEST_P(connection, is_slow) {
  for (auto const at : {moment::commit, moment::statement}) {
    // Nothing runs out here: a machine that stands still beside it is no fault.
    at_every_verb({.what = proxy::fault::delay, .at = at, .pause = 100ms},
                  at == moment::commit ? "slow commit" : "slow statement", 20s);
  }
  EXPECT_EQ(log_.count("doubt_resolved"), 0U);
}

TEST_P(connection, is_cut_before_the_request_arrives) {
  at_every_verb({.what = proxy::fault::cut}, "cut commit");
  EXPECT_EQ(log_.count("doubt_resolved step no"), 1U);
  EXPECT_EQ(log_.count("doubt_resolved end no"), 1U);
  at_every_verb({.what = proxy::fault::cut, .at = moment::statement}, "cut statement");
}

TEST_P(connection, is_reset) {
  at_every_verb({.what = proxy::fault::reset}, "reset commit");
  at_every_verb({.what = proxy::fault::reset, .at = moment::statement}, "reset statement");
}

TEST_P(connection, swallows_the_reply) {
  at_every_verb({.what = proxy::fault::swallow_reply}, "swallowed commit");
  EXPECT_EQ(log_.count("doubt_resolved step yes"), 1U);
  EXPECT_EQ(log_.count("doubt_resolved end yes"), 1U);
  at_every_verb({.what = proxy::fault::swallow_reply, .at = moment::statement}, "swallowed");
}

TEST_P(connection, is_half_open) {
  at_every_verb({.what = proxy::fault::half_open}, "half open commit");
  at_every_verb({.what = proxy::fault::half_open, .at = moment::statement}, "half open statement");
}

TEST_P(connection, stays_silent_after_the_request) {
  at_every_verb({.what = proxy::fault::stay_silent}, "silent commit");
  EXPECT_EQ(log_.count("doubt_resolved step yes"), 1U);
}

TEST_P(connection, brings_refusals) {
  for (auto const& code : refusals()) {
    at_every_verb({.what = proxy::fault::refuse, .code = code}, code + " commit");
    at_every_verb({.what = proxy::fault::refuse, .at = moment::statement, .code = code},
                  code + " statement");
  }
}

TEST_P(connection, loses_the_reply_of_the_resolution_too) {
  for (auto const what : {proxy::fault::cut, proxy::fault::swallow_reply}) {
    auto const name = what == proxy::fault::cut ? "cut twice" : "swallowed twice";
    SCOPED_TRACE(name);
    key const piece{name};
    auto book = far();
    work(book, piece, [&](std::string const& verb) {
      // The step's COMMIT, then those of two resolutions.
      if (verb == "step") between_.arm({.what = what, .within = "_run", .times = 3});
    });
    EXPECT_EQ(between_.hits(), 3);
    expect_once(piece, 1);
  }
}

DAYBOOK_ON_EVERY_SERVER(connection);

/// The old backend lives on and commits, or not, long after its client was cut.
class old_backend : public with_proxy {
 protected:
  /// `commits`: at the first sign that the library waits for it, it commits; else it goes away.
  void outlives(bool commits) {
    auto const name = std::string(commits ? "late " : "never ");
    for (auto const& where : own_verbs) {
      SCOPED_TRACE(name + where.name);
      key const piece{name + where.name};
      // So long a held transaction may live, which a step must find.
      auto book = far(where.name == std::string("step") ? 6s : 2s);
      int waited = 0;
      log_.on_retry = [&] {
        // Its first try after the cut may find the old connection in the pool.
        if (++waited == 1) looked_too_early(where, piece);
        commits ? static_cast<void>(between_.release()) : between_.abandon();
      };
      work(book, piece, [&](std::string const& verb) {
        if (verb == where.name) arm({.what = proxy::fault::hold}, where.within);
      });
      log_.on_retry = {};
      EXPECT_EQ(between_.hits(), 1);
      if (waited == 0) {
        // A statement that commits by itself and was never begun has no lock to wait for. It must
        // do nothing when it comes at last.
        EXPECT_STRNE(where.name, "step") << "nobody waited for the old transaction";
        static_cast<void>(between_.release());
      }
      expect_once(piece, 1);
    }
  }
  /// What a mere read would have found, whatever happens next.
  void looked_too_early(verb const& where, key const& piece) {
    if (where.name != std::string("step")) return;
    EXPECT_EQ(effects(piece.str()), "0");
  }
};

TEST_P(old_backend, commits_late) { outlives(true); }

TEST_P(old_backend, never_commits) {
  outlives(false);
  EXPECT_EQ(log_.count("doubt_resolved step no"), 1U);
  EXPECT_EQ(log_.count("doubt_resolved end no"), 1U);
}

TEST_P(old_backend, commits_late_and_the_effect_is_found) {
  auto book = far(6s);
  auto run = taken(book.start(nightly_, key{"one"}));
  int calls = 0;
  log_.on_retry = [&] { static_cast<void>(between_.release()); };
  arm({.what = proxy::fault::hold}, "steps_done = steps_done + 1");
  auto const what = run.step("load", [&](transaction& tx) {
    leave(key{"one"})(tx);
    return ++calls;
  });
  log_.on_retry = {};
  EXPECT_EQ(what.what(), outcome::done);
  EXPECT_EQ(what.value(), 1);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(effects("one"), "1");
  EXPECT_EQ(log_.count("doubt_resolved step yes"), 1U);
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(old_backend, starts_late_when_the_run_was_taken_by_a_third_try) {
  auto book = far(2s);
  ASSERT_TRUE(taken(book.start(nightly_, key{"first"})).finish());
  arm({.what = proxy::fault::hold, .times = 2}, "attempt_started_us =");
  auto run = taken(book.start(nightly_, key{"one"}));
  EXPECT_EQ(between_.hits(), 2);
  EXPECT_EQ(between_.release(), 2);
  EXPECT_EQ(run.step("load", leave(key{"one"})).what(), outcome::done);
  EXPECT_EQ(run.record("mailed").what(), outcome::done);
  EXPECT_TRUE(std::move(run).finish());
  expect_once(key{"one"}, 1);
}

TEST_P(old_backend, commits_late_in_a_take_over) {
  for (auto const& where : take_over_verbs) {
    SCOPED_TRACE(where.name);
    key const piece{std::string("over ") + where.name};
    auto book = far(2s);
    int waited = 0;
    log_.on_retry = [&] {
      ++waited;
      static_cast<void>(between_.release());
    };
    take_over(book, piece, [&] { arm({.what = proxy::fault::hold}, where.within); });
    log_.on_retry = {};
    EXPECT_EQ(between_.hits(), 1);
    expect_once(piece, 2);
  }
}

TEST_P(old_backend, commits_late_when_another_has_asked_for_the_run) {
  // While its process waits to find out, the heir comes, and waits for the same transaction.
  key const piece{"one"};
  recorder heirs_log;
  heirs_log.on_retry = [&] { static_cast<void>(between_.release()); };
  auto options = support::fresh_database::manual();
  options.lease = 2s;
  options.observer = &heirs_log;
  daybook::book heirs(database_.url(), options);
  auto book = far(6s);  // so long, too, its idle transaction may live
  auto run = taken(book.start(nightly_, piece));
  bool taken_over = false;
  log_.on_retry = [&] {
    if (std::exchange(taken_over, true)) return;
    daybook::testing::manual_clock(book_).advance(31s);
    auto heir = taken(heirs.start(nightly_, piece));
    EXPECT_EQ(heir.attempt(), 2);
    EXPECT_EQ(heir.step("load", leave(piece)).what(), outcome::skipped);
    EXPECT_EQ(heir.record("mailed").what(), outcome::done);
    EXPECT_TRUE(std::move(heir).finish());
  };
  arm({.what = proxy::fault::hold}, "steps_done = steps_done + 1");
  // What is lost is the run: the effect is there, and the heir has seen it.
  EXPECT_EQ(run.step("load", leave(piece)).what(), outcome::lost);
  log_.on_retry = {};
  EXPECT_TRUE(taken_over);
  EXPECT_GE(heirs_log.count("retried"), 1U);
  expect_once(piece, 2);
}

DAYBOOK_ON_EVERY_SERVER(old_backend);

}  // namespace
}  // namespace conformance::faults
