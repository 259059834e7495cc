// The server's disk is full: the step fails, nothing of it is there, and when there is room again
// the same run goes on and ends once. SQLite's test is among the conformance tests.
#include "proof/faults/fixture.hpp"

#include <fstream>
#include <optional>
#include <random>
#include <system_error>

#include <fcntl.h>

namespace conformance::faults {
namespace {

/// A file that takes all the room there is, while it lives.
class ballast {
 public:
  explicit ballast(std::string const& folder) : file_(folder + "/ballast") {
    int const into = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    std::string const block(4096, 'x');
    while (::write(into, block.data(), block.size()) > 0) {
    }
    ::close(into);
  }
  ballast(ballast const&) = delete;
  ballast& operator=(ballast const&) = delete;
  ~ballast() { ::unlink(file_.c_str()); }

 private:
  std::string file_;
};

class full : public testing::TestWithParam<support::engine> {
 protected:
  void SetUp() override {
    try {
      server_.emplace(GetParam(), "400m");
    } catch (std::system_error const& e) {
      char const* const allowed = std::getenv("DAYBOOK_ALLOW_NO_TMPFS");
      if (allowed != nullptr && std::string(allowed) == "1") GTEST_SKIP() << e.what();
      FAIL() << e.what() << ": run as root, or set DAYBOOK_ALLOW_NO_TMPFS=1 to do without";
    }
    auto options = support::fresh_database::manual();
    options.lease = 1s;  // so long a step insists when the server is away
    book_.emplace(server_->url(), options);
    book_->migrate();
    static_cast<void>(ask("create table effect(name varchar(40) not null, filler text not null)"));
  }
  void TearDown() override {
    book_.reset();
    server_.reset();
  }

  /// A row that compresses badly.
  std::string noise(std::size_t size) {
    std::string out(size, ' ');
    std::uniform_int_distribution<int> letter('a', 'z');
    for (auto& one : out) one = static_cast<char>(letter(dice_));
    return out;
  }
  auto leave(std::string name, std::size_t rows) {
    return [this, name = std::move(name), rows](transaction& tx) {
      for (std::size_t at = 0; at < rows; ++at) {
        tx.exec("insert into effect(name, filler) values (:name, :filler)", name, noise(8000));
      }
    };
  }
  [[nodiscard]] std::string ask(std::string const& text) const {
    return support::raw_connection(server_->url()).execute(text);
  }
  [[nodiscard]] std::string effects(std::string const& name) const {
    return ask("select count(*) from effect where name = '" + name + "'");
  }

  std::optional<support::private_server> server_;
  std::optional<daybook::book> book_;
  std::minstd_rand dice_{1};
  process const nightly_{"nightly"};
};

TEST_P(full, disk_fails_the_step_and_the_same_run_goes_on) {
  key const day{"day"};
  auto attempt = book_->start(nightly_, day);
  ASSERT_TRUE(attempt);
  auto run = std::move(attempt).take();
  ASSERT_TRUE(run.step("small", leave("small", 1)));
  {
    ballast const heavy(server_->folder());
    EXPECT_EQ(fault_of([&] { static_cast<void>(run.step("big", leave("big", 800))); }),
              error_code::full);
    EXPECT_EQ(effects("big"), "0");
    EXPECT_EQ(ask("select count(*) from daybook_step"), "1");
    EXPECT_EQ(ask("select steps_done from daybook_run"), "1");
  }
  EXPECT_EQ(run.step("big", leave("big", 800)).what(), outcome::done);
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_EQ(effects("big"), "800");
  EXPECT_EQ(effects("small"), "1");
  auto const seen = book_->find(nightly_, day).value();
  EXPECT_EQ(seen.info.state, run_state::succeeded);
  EXPECT_EQ(seen.attempts.size(), 1U);
}

TEST_P(full, disk_among_many_runs_leaves_each_effect_once) {
  constexpr int many = 30;
  auto const piece = [](int at) { return "p" + std::to_string(at); };
  auto const whole = [&](int at) {
    auto attempt = book_->start(nightly_, key{piece(at)}, {.once = true});
    if (!attempt) {
      EXPECT_EQ(attempt.why(), start_refusal::done_before);
      return;
    }
    auto run = std::move(attempt).take();
    EXPECT_TRUE(run.step("load", leave(piece(at), 10)));
    EXPECT_TRUE(run.record("mailed"));
    EXPECT_TRUE(std::move(run).finish());
  };
  int failures = 0;
  {
    ballast const heavy(server_->folder());
    for (int at = 0; at < many; ++at) {
      try {
        whole(at);
      } catch (daybook::error const& e) {
        ++failures;
        EXPECT_EQ(e.kind(), error_code::full) << e.what();
      }
    }
  }
  EXPECT_GT(failures, 0) << "the disk was never full";
  for (int at = 0; at < many; ++at) whole(at);
  for (int at = 0; at < many; ++at) EXPECT_EQ(effects(piece(at)), "10");
  EXPECT_EQ(ask("select count(*) from daybook_step"), std::to_string(2 * many));
  EXPECT_EQ(ask("select count(*) from daybook_attempt where state = 0"), std::to_string(many));
}

TEST_P(full, disk_that_stops_the_server_is_an_outage_like_others) {
  // PostgreSQL gives up when its log has no room; MariaDB's has its room from the beginning.
  if (GetParam().name != "postgresql") return;
  key const day{"day"};
  auto attempt = book_->start(nightly_, day);
  ASSERT_TRUE(attempt);
  auto run = std::move(attempt).take();
  {
    ballast const heavy(server_->folder());
    auto until_the_log_is_full = [&, calls = 0](transaction& tx) mutable {
      static_cast<void>(tx.rows<std::int64_t>("select 1"));
      if (calls++ > 0) return;
      support::raw_connection admin(server_->admin_url());
      EXPECT_THROW(
          for (int segments = 0; segments < 20; ++segments) {
            admin.execute("select pg_logical_emit_message(false, '', repeat('x', 20000000))");
          },
          std::runtime_error);
    };
    EXPECT_EQ(fault_of([&] { static_cast<void>(run.step("log", until_the_log_is_full)); }),
              error_code::unreachable);
  }
  server_->restart();
  EXPECT_EQ(run.step("log", leave("log", 1)).what(), outcome::done);
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_EQ(effects("log"), "1");
}

DAYBOOK_ON_EVERY_SERVER(full);

}  // namespace
}  // namespace conformance::faults
