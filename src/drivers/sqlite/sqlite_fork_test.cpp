// fork() and SQLite: what a child may open, and what not, also when its parent is gone.
#include "drivers/drivers.hpp"

#include <daybook/error.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

namespace daybook {
inline namespace v1 {
namespace drivers {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<db::session> connect(std::string const& file) {
  return connect_sqlite(db::parse_url("sqlite:" + file), {});
}

std::int64_t rows_in(db::session& session) {
  db::statement const asked{.name = "facts", .text = "select count(*) from t"};
  return std::get<std::int64_t>(session.run(asked, {}).cells.at(0));
}

class sqlite_fork : public testing::Test {
 protected:
  sqlite_fork()
      : folder_(fs::temp_directory_path() / ("daybook_fork_" + std::to_string(::getpid()))),
        file_((folder_ / "shop.db").string()) {
    fs::create_directories(folder_);
  }
  ~sqlite_fork() override { fs::remove_all(folder_); }

  /// What `child` returns in the child of a process that has run `before`, and has ended by then,
  /// as daemon() has it.
  static char in_child_of_one_that_ended(std::function<void()> const& before,
                                         std::function<char()> const& child) {
    std::array<int, 2> ends{};
    std::array<int, 2> answer{};
    if (::pipe(ends.data()) != 0 || ::pipe(answer.data()) != 0) return '!';
    auto const parent = ::fork();
    if (parent == 0) {
      before();
      if (::fork() != 0) ::_exit(0);
      ::close(ends[1]);
      char nothing = 0;
      static_cast<void>(::read(ends[0], &nothing, 1));  // the end: nobody else has it any more
      char const said = child();
      static_cast<void>(::write(answer[1], &said, 1));
      ::_exit(0);
    }
    ::waitpid(parent, nullptr, 0);
    ::close(ends[0]);
    ::close(ends[1]);
    ::close(answer[1]);
    char said = '?';
    static_cast<void>(::read(answer[0], &said, 1));
    ::close(answer[0]);
    return said;
  }

  /// 'f': refused as forked, with the remedy. 'w': it works.
  [[nodiscard]] std::function<char()> opening(std::string const& file) const {
    return [file] {
      try {
        auto const session = connect(file);
        session->script("create table if not exists t(i integer) strict");
        for (int at = 0; at < 50; ++at) {
          session->begin(isolation::read_committed);
          session->script("insert into t values (1)");
          session->commit();
        }
        return 'w';
      } catch (error const& e) {
        bool const told = std::string_view(e.what()).find("exec") != std::string_view::npos;
        return e.kind() == error_code::forked && told ? 'f' : 'e';
      } catch (...) {
        return 'x';
      }
    };
  }

  fs::path folder_;
  std::string file_;
};

TEST_F(sqlite_fork, a_child_of_one_that_had_a_session_open_is_refused) {
  auto const open_one = [&] { static_cast<void>(connect(file_).release()); };
  EXPECT_EQ(in_child_of_one_that_ended(open_one, opening(file_)), 'f');
  // The table of locks is one for all files; what is copied locked is, too.
  EXPECT_EQ(in_child_of_one_that_ended(open_one, opening((folder_ / "other.db").string())), 'f');
}

TEST_F(sqlite_fork, so_is_one_where_the_session_was_adopted) {
  auto const adopt_one = [&] {
    ::sqlite3* raw = nullptr;
    ::sqlite3_open(file_.c_str(), &raw);
    ::sqlite3_exec(raw, "pragma synchronous = full", nullptr, nullptr, nullptr);
    static_cast<void>(adopt(*raw, transactions::ours, {}).release());
  };
  EXPECT_EQ(in_child_of_one_that_ended(adopt_one, opening(file_)), 'f');
  auto const take = [&] {
    ::sqlite3* raw = nullptr;
    ::sqlite3_open(file_.c_str(), &raw);
    try {
      static_cast<void>(adopt(*raw, transactions::ours, {}));
    } catch (error const& e) {
      return e.kind() == error_code::forked ? 'f' : 'e';
    }
    return 'w';
  };
  EXPECT_EQ(in_child_of_one_that_ended([&] { static_cast<void>(connect(file_).release()); }, take),
            'f');
}

TEST_F(sqlite_fork, a_child_of_one_that_had_none_open_works) {
  EXPECT_EQ(in_child_of_one_that_ended([] {}, opening(file_)), 'w');
  auto const open_and_close = [&] { connect(file_).reset(); };
  EXPECT_EQ(in_child_of_one_that_ended(open_and_close, opening(file_)), 'w');
  auto const session = connect(file_);
  EXPECT_EQ(rows_in(*session), 100);
}

TEST_F(sqlite_fork, a_session_that_the_child_drops_stays_open_for_the_parent) {
  auto session = connect(file_);
  EXPECT_EQ(in_child_of_one_that_ended([&] { session.reset(); }, opening(file_)), 'f');
  EXPECT_TRUE(session->usable());
}

}  // namespace
}  // namespace drivers
}  // namespace v1
}  // namespace daybook
