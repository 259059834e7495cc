// Turns at a SQLite file: in order, between processes, and never more than a courtesy.
#include "drivers/drivers.hpp"
#include "drivers/sqlite/sqlite_side_file.hpp"
#include "drivers/sqlite/sqlite_turn.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using daybook::error_code;
using daybook::isolation;
using daybook::drivers::side_file;
using daybook::drivers::turn;
using daybook::drivers::turnstile;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;
namespace fs = std::filesystem;

class sqlite_turn : public testing::Test {
 protected:
  sqlite_turn() {
    std::string name = fs::temp_directory_path() / "daybook-turn-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder");
    folder_ = name;
    file_ = folder_ + "/shop.db";
    std::ofstream(file_).flush();
  }
  ~sqlite_turn() override { fs::remove_all(folder_); }

  /// A line that knows nothing of others of this process, as another process has it.
  [[nodiscard]] std::shared_ptr<turnstile> elsewhere() const {
    return std::make_shared<turnstile>(file_);
  }
  [[nodiscard]] std::unique_ptr<daybook::db::session> connect(
      std::chrono::milliseconds patience) const {
    daybook::db::url to;
    to.path = file_;
    to.shown = "sqlite:" + file_;
    return daybook::drivers::connect_sqlite(to, {.lock_timeout = patience});
  }
  static daybook::db::statement words(std::string text) {
    return {"test", std::move(text), {}, {}};
  }

  std::string folder_;
  std::string file_;
};

TEST_F(sqlite_turn, comes_to_one_at_a_time) {
  auto const line = turnstile::before(file_);
  int inside = 0;  // not atomic: the thread sanitizer looks, too
  int most = 0;
  int turns = 0;
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < 4; ++i) {
      all.emplace_back([&] {
        for (int n = 0; n < 200; ++n) {
          auto const mine = line->take(1h);
          ASSERT_TRUE(mine);
          most = std::max(most, ++inside);
          ++turns;
          --inside;
        }
      });
    }
  }
  EXPECT_EQ(most, 1);
  EXPECT_EQ(turns, 800);
}

TEST_F(sqlite_turn, comes_in_the_order_of_asking) {
  auto const line = turnstile::before(file_);
  std::vector<std::size_t> order;
  {
    std::vector<std::jthread> all;
    auto mine = line->take(1h);
    for (std::size_t i = 0; i < 5; ++i) {
      all.emplace_back([&, i] {
        auto const next = line->take(1h);
        order.push_back(i);
      });
      while (line->waiting() <= i) std::this_thread::yield();
    }
    mine.give_back();
  }
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

TEST_F(sqlite_turn, is_one_over_processes) {
  auto const here = turnstile::before(file_);
  auto const there = elsewhere();
  auto mine = here->take(1h);
  EXPECT_TRUE(mine);
  EXPECT_FALSE(there->take(10ms));
  mine.give_back();
  auto theirs = there->take(1h);
  EXPECT_TRUE(theirs);
  EXPECT_FALSE(here->take(10ms));
  // A thread stays behind that waits for the file. It must not keep what nobody wants any more.
  theirs.give_back();
  EXPECT_TRUE(there->take(1h));
  EXPECT_TRUE(here->take(1h));
}

TEST_F(sqlite_turn, comes_when_the_one_who_has_it_is_killed) {
  auto const child = ::fork();
  if (child == 0) {
    auto const mine = elsewhere()->take(1h);
    ::raise(SIGSTOP);
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, WUNTRACED);
  ASSERT_TRUE(WIFSTOPPED(status));
  auto const line = turnstile::before(file_);
  EXPECT_FALSE(line->take(10ms));
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(line->take(1h));
}

TEST_F(sqlite_turn, is_given_back_where_a_child_has_inherited_the_lock) {
  auto const here = turnstile::before(file_);
  auto mine = here->take(1h);
  auto const child = ::fork();
  if (child == 0) {
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, WUNTRACED);
  mine.give_back();
  EXPECT_TRUE(elsewhere()->take(1h));
  ::kill(child, SIGCONT);
  ::waitpid(child, &status, 0);
}

TEST_F(sqlite_turn, lasts_as_long_as_the_one_who_has_it_not_as_the_line) {
  auto line = turnstile::before(file_);
  std::optional<turn> mine = line->take(1h);
  line.reset();
  EXPECT_FALSE(elsewhere()->take(10ms));
  mine.reset();
  EXPECT_TRUE(elsewhere()->take(1h));
}

TEST_F(sqlite_turn, is_of_the_file_by_whatever_name) {
  fs::create_symlink(file_, folder_ + "/link.db");
  auto const line = turnstile::before(file_);
  EXPECT_EQ(line, turnstile::before(folder_ + "/link.db"));
  EXPECT_EQ(line, turnstile::before(folder_ + "/./shop.db"));
  std::ofstream(folder_ + "/other.db").flush();
  EXPECT_NE(line, turnstile::before(folder_ + "/other.db"));
}

TEST_F(sqlite_turn, file_has_the_permissions_of_the_database) {
  for (auto const mode : {0640U, 0600U, 0666U}) {
    ASSERT_EQ(::chmod(file_.c_str(), mode), 0);
    fs::remove(file_ + "-turn");
    EXPECT_TRUE(elsewhere()->take(1h));
    struct stat about {};
    ASSERT_EQ(::stat((file_ + "-turn").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, mode);
  }
}

TEST_F(sqlite_turn, is_taken_within_the_process_where_no_file_can_be_had) {
  fs::create_symlink("/nowhere", file_ + "-turn");  // links are not followed
  ASSERT_FALSE(side_file(file_, "-turn").open());
  auto const line = turnstile::before(file_);
  auto mine = line->take(1h);
  EXPECT_TRUE(mine);
  EXPECT_FALSE(line->take(10ms));
  std::jthread const next([&] { EXPECT_TRUE(line->take(1h)); });
  mine.give_back();
}

TEST_F(sqlite_turn, that_never_comes_is_not_waited_for) {
  auto const session = connect(200ms);
  side_file const held(file_, "-turn");
  ASSERT_TRUE(held.try_lock());
  session->run(words("create table t(a)"), {});
  session->begin(isolation::read_committed);
  session->run(words("insert into t values (1)"), {});
  session->commit();
  EXPECT_EQ(session->run(words("insert into t values (2)"), {}).affected, 1);
}

TEST_F(sqlite_turn, does_not_stand_for_the_lock_of_the_database) {
  auto const session = connect(50ms);
  session->run(words("create table t(a)"), {});
  ::sqlite3* raw = nullptr;
  ASSERT_EQ(::sqlite3_open(file_.c_str(), &raw), SQLITE_OK);
  std::unique_ptr<::sqlite3, decltype(&::sqlite3_close)> const theirs(raw, &::sqlite3_close);
  ASSERT_EQ(::sqlite3_exec(raw, "begin immediate", nullptr, nullptr, nullptr), SQLITE_OK);
  auto const caught = [](auto const& what) {
    try {
      what();
    } catch (daybook::error const& e) {
      return e.kind() == error_code::conflict && e.retryable();
    }
    return false;
  };
  EXPECT_TRUE(caught([&] { session->begin(isolation::read_committed); }));
  EXPECT_TRUE(caught([&] { session->run(words("insert into t values (1)"), {}); }));
  EXPECT_TRUE(elsewhere()->take(1h)) << "it kept its turn";
  ASSERT_EQ(::sqlite3_exec(raw, "commit", nullptr, nullptr, nullptr), SQLITE_OK);
  session->begin(isolation::read_committed);
  EXPECT_FALSE(elsewhere()->take(10ms)) << "it writes without its turn";
  session->rollback();
  EXPECT_TRUE(elsewhere()->take(1h)) << "it kept its turn";
}

}  // namespace
