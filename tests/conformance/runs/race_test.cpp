// Several at once: exactly one wins, and nobody waits for what is not his.
#include "conformance/fixture.hpp"

#include <atomic>
#include <barrier>
#include <thread>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace conformance {
namespace {

class race : public on_engine {};

TEST_P(race, two_threads_for_one_key) {
  constexpr int rounds = 200;
  auto other = database_.open();
  std::atomic<int> won = 0;
  std::atomic<int> both = 0;
  std::atomic<int> holding = 0;
  std::barrier together(2);
  auto const contend = [&](daybook::book& book) {
    for (int round = 0; round < rounds; ++round) {
      if (round % 20 == 0) {
        EXPECT_EQ(daybook::testing::renew(book), daybook::lease_state::held)
            << "all of them may take longer than a lease";
      }
      together.arrive_and_wait();
      auto attempt = book.start(nightly_, key{std::to_string(round)}, {.once = true});
      if (attempt) {
        ++won;
        if (++holding > 1) ++both;
      }
      together.arrive_and_wait();
      holding = 0;
      if (attempt) {
        EXPECT_TRUE(std::move(attempt).take().finish());
      }
    }
  };
  {
    std::jthread const second([&] { contend(other); });
    contend(book_);
  }
  EXPECT_EQ(won, rounds);
  EXPECT_EQ(both, 0);
  EXPECT_EQ(rows_of("attempt"), std::to_string(rounds));
}

TEST_P(race, four_threads_of_one_book_for_the_same_key_in_turn) {
  constexpr int wanted = 40;
  std::atomic<int> finished = 0;
  auto const work = [&] {
    while (finished < wanted) {
      auto attempt = book_.start(nightly_, day_);
      if (!attempt) continue;
      auto run = std::move(attempt).take();
      if (run.step("load", insert("load")) && std::move(run).finish()) ++finished;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  }
  EXPECT_EQ(effects("load"), std::to_string(finished.load()));
  EXPECT_EQ(seen().info.number, finished.load());
}

TEST_P(race, processes_for_the_same_keys) {
  constexpr int children = 3;
  constexpr int keys = 15;
  std::vector<pid_t> pids;
  for (int i = 0; i < children; ++i) {
    std::vector<std::string> words{DAYBOOK_CONTENDER, database_.url(), std::to_string(keys)};
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t pid = 0;
    ASSERT_EQ(::posix_spawn(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ), 0);
    pids.push_back(pid);
  }
  for (auto const pid : pids) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_EQ(effects("load"), std::to_string(keys));
  EXPECT_EQ(rows_of("attempt"), std::to_string(keys));
}

TEST_P(race, many_keys_in_parallel) {
  constexpr int threads = 6;
  constexpr int keys = 10;
  auto const work = [&](int thread) {
    for (int at = 0; at < keys; ++at) {
      auto run = taken(book_.start(nightly_, key{std::to_string(thread * 100 + at)}));
      EXPECT_EQ(run.step("load", insert("load")).what(), outcome::done);
      EXPECT_TRUE(std::move(run).finish());
    }
  };
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back(work, i);
  }
  EXPECT_EQ(effects("load"), std::to_string(threads * keys));
  EXPECT_EQ(rows_of("holder"), "1");
}

TEST_P(race, two_heirs_for_one_dead_holder) {
  daybook::testing::manual_clock clock(book_);
  auto other = database_.open();
  auto third = database_.open();
  for (int round = 0; round < 10; ++round) {
    key const piece{std::to_string(round)};
    auto zombie = taken(book_.start(nightly_, piece));
    clock.advance(31s);
    ASSERT_EQ(daybook::testing::renew(other), daybook::lease_state::held);
    ASSERT_EQ(daybook::testing::renew(third), daybook::lease_state::held);
    std::atomic<int> won = 0;
    std::barrier together(2);
    auto const inherit = [&](daybook::book& book) {
      together.arrive_and_wait();
      auto attempt = book.start(nightly_, piece);
      together.arrive_and_wait();
      if (!attempt) return;
      ++won;
      auto run = std::move(attempt).take();
      EXPECT_EQ(run.attempt(), 2);
      EXPECT_TRUE(run.step("load", insert("load")));
      EXPECT_TRUE(std::move(run).finish());
    };
    {
      std::jthread const second([&] { inherit(other); });
      inherit(third);
    }
    EXPECT_EQ(won, 1);
    EXPECT_FALSE(zombie.step("load", insert("load")));
    EXPECT_EQ(seen(piece).attempts.size(), 2U);
  }
  EXPECT_EQ(effects("load"), "10");
}

DAYBOOK_ON_EVERY_ENGINE(race);

}  // namespace
}  // namespace conformance
