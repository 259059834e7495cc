// A SQLite file that is deleted, or replaced, while sessions are open on it.
#include "drivers/drivers.hpp"

#include <daybook/error.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace daybook {
inline namespace v1 {
namespace drivers {
namespace {

namespace fs = std::filesystem;

class sqlite_file : public testing::Test {
 protected:
  sqlite_file()
      : folder_(fs::temp_directory_path() / ("daybook_file_" + std::to_string(::getpid()))),
        path_((folder_ / "shop.db").string()) {
    fs::create_directories(folder_);
  }
  ~sqlite_file() override { fs::remove_all(folder_); }

  [[nodiscard]] std::unique_ptr<db::session> connect(bool must_exist = false) const {
    return connect_sqlite(db::parse_url("sqlite:" + path_), {}, must_exist);
  }
  static void write(db::session& session) {
    db::statement const insert{.name = "write", .text = "insert into t values (1)"};
    session.run(insert, {});
  }
  static void expect_moved(std::function<void()> const& work) {
    try {
      work();
      ADD_FAILURE() << "nothing was noticed";
    } catch (error const& e) {
      EXPECT_EQ(e.kind(), error_code::unreachable);
      EXPECT_FALSE(e.in_doubt());
      EXPECT_NE(std::string(e.what()).find("deleted or replaced"), std::string::npos) << e.what();
    }
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(sqlite_file, a_book_in_memory_has_no_file_to_be_deleted) {
  auto where = db::parse_url("sqlite:" + path_);
  where.path = "file:/daybook-memory-test?vfs=memdb";
  auto const first = connect_sqlite(where, {});
  EXPECT_NO_THROW(static_cast<void>(connect_sqlite(where, {}, true)));
}

TEST_F(sqlite_file, a_deleted_file_takes_no_writes) {
  auto const session = connect();
  session->script("create table t (a)");
  write(*session);
  fs::remove(path_);
  expect_moved([&] { session->begin(isolation::serializable); });
  expect_moved([&] { write(*session); });
  expect_moved([&] { session->share([](db::session& other) { return write(other), true; }); });
  EXPECT_FALSE(session->usable());
}

TEST_F(sqlite_file, a_transaction_does_not_commit_into_a_replaced_file) {
  auto const session = connect();
  session->script("create table t (a)");
  session->begin(isolation::serializable);
  write(*session);
  fs::rename(path_, path_ + ".old");
  fs::copy_file(path_ + ".old", path_);
  expect_moved([&] { session->commit(); });
}

TEST_F(sqlite_file, a_file_that_must_be_there_is_not_made) {
  expect_moved([&] { static_cast<void>(connect(true)); });
  EXPECT_FALSE(fs::exists(path_));
}

}  // namespace
}  // namespace drivers
}  // namespace v1
}  // namespace daybook
