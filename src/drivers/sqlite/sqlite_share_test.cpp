// Group commit on SQLite: what waits at the same time commits together, and fails alone.
#include "drivers/drivers.hpp"
#include "drivers/sqlite/sqlite_turn.hpp"

#include <daybook/error.hpp>

#include <atomic>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace {

using daybook::error_code;
using daybook::isolation;
using daybook::drivers::turnstile;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;
namespace fs = std::filesystem;
namespace db = daybook::db;
using body = std::function<bool(db::session&)>;

db::statement words(std::string text) { return {"test", std::move(text), {}, {}}; }

class sqlite_share : public testing::Test {
 protected:
  sqlite_share() {
    std::string name = fs::temp_directory_path() / "daybook-share-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder");
    folder_ = name;
    first_ = connect();
    first_->script("create table t(a integer primary key, by_whom text)");
  }
  ~sqlite_share() override {
    first_.reset();
    fs::remove_all(folder_);
  }

  [[nodiscard]] std::unique_ptr<db::session> connect() const {
    db::url to;
    to.path = folder_ + "/shop.db";
    to.shown = "sqlite:" + to.path;
    return daybook::drivers::connect_sqlite(to, {.lock_timeout = 60'000ms});
  }
  static body insert(int item) {
    return [item](db::session& session) {
      return session.run(words("insert into t values (" + std::to_string(item) + ", 'me')"), {})
          .something();
    };
  }
  [[nodiscard]] std::int64_t number(std::string const& query) const {
    return std::get<std::int64_t>(first_->run(words(query), {}).cells.at(0));
  }
  [[nodiscard]] std::int64_t count() const { return number("select count(*) from t"); }

  /// Calls share() with each of them on a thread and a session of its own, all in line before the
  /// first begins. What each has thrown: null where nothing.
  std::vector<std::exception_ptr> share_all(std::vector<body> const& all) {
    auto const line = turnstile::before(folder_ + "/shop.db");
    std::vector<std::exception_ptr> out(all.size());
    kept_.assign(all.size(), 0);
    {
      std::vector<std::jthread> threads;
      auto mine = line->take(1h);
      for (std::size_t at = 0; at < all.size(); ++at) {
        threads.emplace_back([&, at] {
          try {
            kept_[at] = connect()->share(all[at]) ? 1 : 0;
          } catch (...) {
            out[at] = std::current_exception();
          }
        });
        while (line->waiting() <= at) std::this_thread::yield();
      }
      mine.give_back();
    }
    return out;
  }
  static error_code kind(std::exception_ptr const& error) {
    try {
      std::rethrow_exception(error);
    } catch (daybook::error const& e) {
      return e.kind();
    }
  }

  std::string folder_;
  std::unique_ptr<db::session> first_;
  std::vector<char> kept_;  ///< not bool: each thread writes its own
};

TEST_F(sqlite_share, what_waits_goes_into_one_transaction) {
  std::vector<db::session*> on(5);
  std::vector<body> all;
  for (std::size_t i = 0; i < on.size(); ++i) {
    all.push_back([&, i](db::session& session) {
      on[i] = &session;
      return insert(static_cast<int>(i))(session);
    });
  }
  for (auto const& e : share_all(all)) EXPECT_FALSE(e);
  EXPECT_EQ(count(), 5);
  for (auto const* one : on) EXPECT_EQ(one, on.front()) << "not on the session of the first";
}

TEST_F(sqlite_share, one_that_fails_harms_no_other) {
  auto const thrown = share_all({
      insert(1),
      [](db::session& session) -> bool {
        insert(2)(session);
        throw std::runtime_error("mine");
      },
      insert(1),                                                            // there already
      insert(3), [](db::session& session) { return !insert(4)(session); },  // thinks better of it
  });
  EXPECT_FALSE(thrown[0]);
  EXPECT_THROW(std::rethrow_exception(thrown[1]), std::runtime_error);
  ASSERT_TRUE(thrown[2]);
  EXPECT_EQ(kind(thrown[2]), error_code::constraint);
  EXPECT_FALSE(thrown[3]);
  EXPECT_FALSE(thrown[4]);
  EXPECT_EQ(kept_, (std::vector<char>{1, 0, 0, 1, 0}));
  EXPECT_EQ(number("select sum(a) from t"), 1 + 3);
}

TEST_F(sqlite_share, the_first_that_fails_harms_no_other_either) {
  auto const thrown =
      share_all({[](db::session&) -> bool { throw std::runtime_error("mine"); }, insert(2)});
  EXPECT_THROW(std::rethrow_exception(thrown[0]), std::runtime_error);
  EXPECT_FALSE(thrown[1]);
  EXPECT_EQ(count(), 1);
}

TEST_F(sqlite_share, a_transaction_that_ends_fails_for_everybody) {
  auto const thrown = share_all({
      insert(1),
      [](db::session& session) {
        session.run(words("insert or rollback into t values (1, 'again')"), {});
        return true;
      },
      insert(3),
  });
  for (auto const& e : thrown) {
    ASSERT_TRUE(e);
    EXPECT_EQ(kind(e), error_code::constraint);
  }
  EXPECT_EQ(count(), 0);
}

TEST_F(sqlite_share, a_commit_that_fails_does_so_for_everybody) {
  first_->script(
      "create table parent(id integer primary key);"
      "create table child(p integer references parent deferrable initially deferred)");
  auto const thrown = share_all({
      insert(1),
      [](db::session& session) {
        return session.run(words("insert into child values (7)"), {}).something();
      },
      insert(3),
  });
  for (auto const& e : thrown) {
    ASSERT_TRUE(e);
    EXPECT_EQ(kind(e), error_code::constraint);
  }
  EXPECT_EQ(count(), 0);
  for (auto const& e : share_all({insert(1), insert(3)})) EXPECT_FALSE(e);
  EXPECT_EQ(count(), 2);
}

TEST_F(sqlite_share, takes_along_nobody_with_a_transaction_of_its_own) {
  auto const line = turnstile::before(folder_ + "/shop.db");
  std::thread::id where;
  {
    std::vector<std::jthread> threads;
    auto mine = line->take(1h);
    threads.emplace_back([&] { EXPECT_TRUE(connect()->share(insert(1))); });
    while (line->waiting() < 1) std::this_thread::yield();
    threads.emplace_back([&] {
      auto const session = connect();
      session->begin(isolation::read_committed);
      EXPECT_EQ(
          std::get<std::int64_t>(session->run(words("select count(*) from t"), {}).cells.at(0)), 2);
      insert(2)(*session);
      session->commit();
    });
    while (line->waiting() < 2) std::this_thread::yield();
    threads.emplace_back([&] {
      EXPECT_TRUE(connect()->share([&](db::session& session) {
        where = std::this_thread::get_id();
        return insert(3)(session);
      }));
    });
    while (line->waiting() < 3) std::this_thread::yield();
    auto const first = threads.front().get_id();
    mine.give_back();
    threads.clear();
    EXPECT_EQ(where, first);
  }
  EXPECT_EQ(count(), 3);
}

TEST_F(sqlite_share, many_threads_lose_nothing) {
  constexpr int threads = 6;
  constexpr int times = 50;
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&, i] {
        auto const session = connect();
        for (int n = 0; n < times; ++n) EXPECT_TRUE(session->share(insert(i * times + n)));
      });
    }
  }
  EXPECT_EQ(count(), threads * times);
}

}  // namespace
