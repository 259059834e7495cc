// A server that is there and answers nothing: our own statements end in a fault within a bounded
// time, the application's may take as long as they like.
#include "proof/faults/fixture.hpp"

namespace conformance::faults {
namespace {

using std::chrono::steady_clock;

/// Generous, for a busy machine: without limits nothing here would ever end.
constexpr auto bounded = 20s;

class hung : public with_proxy {
 protected:
  /// `what` throws that the database cannot be reached, in time.
  template <class F>
  static void expect_gone(char const* name, F&& what) {
    SCOPED_TRACE(name);
    auto const since = steady_clock::now();
    try {
      what();
      ADD_FAILURE() << "nothing was thrown";
    } catch (daybook::error const& e) {
      EXPECT_EQ(e.kind(), error_code::unreachable) << e.what();
    }
    EXPECT_LT(steady_clock::now() - since, bounded);
  }
};

TEST_P(hung, network_ends_every_verb_in_time) {
  auto book = far();
  auto run = taken(book.start(nightly_, key{"one"}));
  ASSERT_EQ(run.step("load", leave(key{"one"})).what(), outcome::done);
  between_.mute(true);
  expect_gone("start", [&] { static_cast<void>(book.start(nightly_, key{"two"})); });
  expect_gone("renew", [&] { daybook::testing::renew(book); });
  expect_gone("record", [&] { static_cast<void>(run.record("mailed")); });
  expect_gone("look", [&] { static_cast<void>(book.find(nightly_, key{"one"})); });
  expect_gone("open", [&] { static_cast<void>(far()); });
  between_.mute(false);
  EXPECT_EQ(run.record("mailed").what(), outcome::done);
  EXPECT_TRUE(std::move(run).finish());
  expect_once(key{"one"}, 1);
}

TEST_P(hung, network_during_a_step) {
  auto book = far();
  auto run = taken(book.start(nightly_, key{"one"}));
  int calls = 0;
  auto const body = [&](transaction& tx) {
    leave(key{"one"})(tx);
    if (++calls == 1) between_.mute(true);
  };
  expect_gone("step", [&] { static_cast<void>(run.step("load", body)); });
  between_.mute(false);
  EXPECT_EQ(run.step("load", body).what(), outcome::done);
  EXPECT_EQ(run.record("mailed").what(), outcome::done);
  EXPECT_TRUE(std::move(run).finish());
  expect_once(key{"one"}, 1);
}

TEST_P(hung, server_that_is_stopped) {
  auto options = support::fresh_database::manual();
  options.lease = 1s;
  options.connect_timeout = 2s;
  daybook::book book(database_.url(), options);
  auto run = taken(book.start(nightly_, key{"one"}));
  std::unique_ptr<support::stopped> asleep;
  int calls = 0;
  auto const body = [&](transaction& tx) {
    leave(key{"one"})(tx);
    if (++calls == 1)
      asleep = std::make_unique<support::stopped>(support::processes_of(GetParam()));
  };
  expect_gone("step", [&] { static_cast<void>(run.step("load", body)); });
  expect_gone("start", [&] { static_cast<void>(book.start(nightly_, key{"two"})); });
  asleep.reset();
  EXPECT_EQ(run.step("load", body).what(), outcome::done);
  EXPECT_EQ(run.record("mailed").what(), outcome::done);
  EXPECT_TRUE(std::move(run).finish());
  expect_once(key{"one"}, 1);
}

TEST_P(hung, is_not_what_takes_long_for_its_user) {
  // Longer than one of our own statements may take; and then a COMMIT that has much to write.
  auto book = far();
  auto run = taken(book.start(nightly_, key{"one"}));
  int calls = 0;
  arm({.what = proxy::fault::late_reply, .pause = 2s}, "steps_done = steps_done + 1");
  auto const what = run.step("load", [&](transaction& tx) {
    ++calls;
    leave(key{"one"})(tx);
    static_cast<void>(on_postgres() ? tx.rows<std::string>("select pg_sleep(1.8)::text").size()
                                    : tx.rows<std::int64_t>("select sleep(1.8)").size());
  });
  EXPECT_EQ(what.what(), outcome::done);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(log_.count("doubt_resolved"), 0U);
  EXPECT_EQ(run.record("mailed").what(), outcome::done);
  EXPECT_TRUE(std::move(run).finish());
  expect_once(key{"one"}, 1);
}

DAYBOOK_ON_EVERY_SERVER(hung);

}  // namespace
}  // namespace conformance::faults
