// A child of fork() has copies of its parent's connections: every call says so, and nothing it
// does or leaves undone touches the parent's run.
#include "conformance/fixture.hpp"

#include <functional>

#include <sys/wait.h>

namespace conformance {
namespace {

class after_fork : public on_engine {
 protected:
  /// What `body` makes of it in a child that exits like any program; 0: all as it should be.
  static int in_child(std::function<int()> const& body) {
    auto const pid = ::fork();
    if (pid == 0) ::_exit(body());
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  /// 0 when `call` throws error_code::forked.
  static int forked(std::function<void()> const& call) {
    try {
      call();
    } catch (daybook::error const& e) {
      return e.kind() == error_code::forked ? 0 : 2;
    } catch (...) {
      return 3;
    }
    return 1;
  }
};

TEST_P(after_fork, every_call_says_so) {
  auto run = taken(book_.start(nightly_, day_));
  ASSERT_TRUE(run.step("one", insert("one")));
  auto const token = run.token();
  std::vector<std::function<void()>> const calls{
      [&] { book_.migrate(); },
      [&] { static_cast<void>(book_.migrations()); },
      [&] { static_cast<void>(book_.start(nightly_, key{"child"})); },
      [&] { static_cast<void>(book_.attach(token)); },
      [&] { static_cast<void>(book_.runs()); },
      [&] { static_cast<void>(book_.find(nightly_, day_)); },
      [&] { static_cast<void>(book_.doctor()); },
      [&] { book_.transact([](transaction&) {}); },
      [&] { static_cast<void>(daybook::testing::renew(book_)); },
      [&] { static_cast<void>(run.step("child", insert("child"))); },
      [&] { static_cast<void>(run.step("one", insert("child"))); },
      [&] { static_cast<void>(run.record("child")); },
      [&] { static_cast<void>(std::move(run).finish()); },
      [&] { static_cast<void>(std::move(run).fail("child")); },
      [&] { static_cast<void>(std::move(run).release("child")); },
  };
  for (std::size_t at = 0; at < calls.size(); ++at) {
    EXPECT_EQ(in_child([&] { return forked(calls[at]); }), 0) << "call " << at;
  }
  EXPECT_EQ(effects("child"), "0");
  EXPECT_TRUE(run.step("two", insert("two")));
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(after_fork, a_child_that_opens_a_book_in_the_old_ones_place_leaves_the_parents_alone) {
  if (on_sqlite()) return;  // is refused there
  auto run = taken(book_.start(nightly_, day_));
  ASSERT_TRUE(run.step("one", insert("one")));
  EXPECT_EQ(in_child([&] {
              book_ = daybook::book(database_.url(), support::fresh_database::manual());
              return book_.start(nightly_, key{"child"}) ? 0 : 1;
            }),
            0);
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  EXPECT_TRUE(run.step("two", insert("two")));
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(after_fork, the_end_of_a_child_releases_nothing) {
  auto options = watched();
  options.renew_in_background = true;
  options.prefix = "bg_";
  auto book = std::make_unique<daybook::book>(database_.open(options));
  auto run = std::make_unique<daybook::run>(taken(book->start(nightly_, day_)));
  ASSERT_TRUE(run->step("one", insert("one")));
  // As the end of main would have it: the run, then the book.
  EXPECT_EQ(in_child([&] {
              run.reset();
              book.reset();
              return 0;
            }),
            0);
  EXPECT_EQ(database_.query("select state from bg_run"), "8");
  EXPECT_EQ(database_.query("select count(*) from bg_holder where ended_us is null"), "1");
  EXPECT_TRUE(run->step("two", insert("two")));
  EXPECT_EQ(daybook::testing::renew(*book), daybook::lease_state::held);
  EXPECT_TRUE(std::move(*run).finish());
}

TEST_P(after_fork, a_child_opens_no_book_of_sqlite) {
  if (!on_sqlite()) return;
  auto run = taken(book_.start(nightly_, day_));
  // SQLite would take the parent's locks for the child's.
  EXPECT_EQ(in_child([&] {
              return forked([&] {
                daybook::book const mine(database_.url(), support::fresh_database::manual());
              });
            }),
            0);
  EXPECT_TRUE(run.step("one", insert("one")));
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(after_fork, a_child_with_a_book_of_its_own_works) {
  if (on_sqlite()) return;  // is refused there
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_EQ(in_child([&] {
              try {
                daybook::book mine(database_.url(), support::fresh_database::manual());
                if (mine.start(nightly_, day_)) return 1;
                auto own = taken(mine.start(nightly_, key{"child"}));
                if (!own.step("child", insert("child"))) return 2;
                auto ours = mine.attach(run.token());
                if (!ours || !ours->record("from the child")) return 3;
                return std::move(own).finish() ? 0 : 4;
              } catch (std::exception const& e) {
                std::fprintf(stderr, "child: %s\n", e.what());
                return 5;
              }
            }),
            0);
  EXPECT_TRUE(run.step("one", insert("one")));
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_EQ(seen().steps.size(), 2U);
  EXPECT_EQ(effects("child"), "1");
}

DAYBOOK_ON_EVERY_ENGINE(after_fork);

}  // namespace
}  // namespace conformance
