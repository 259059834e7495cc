// A queue over many periods, with a moved clock: how many rows stand for its members. Of the tasks
// 3 % fail and are tried again within the hour; in each period 1 % of the keys go and as many come,
// and 0.1 % are asked for now. Upkeep once a period. Exit 1 where the rows are above 5 % of the
// members after it, or a task is not done once a period.
//   queue_periods --engine sqlite --members 20000 --periods 4 --seed 1
#include "support/engines.hpp"

#include <daybook/daybook.hpp>
#include <daybook/testing.hpp>

#include <chrono>
#include <cstdlib>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;

constexpr auto period = hours{240};
constexpr double most_rows = 0.05;

struct wishes {
  std::string engine = "sqlite";
  std::int64_t members = 20'000;
  int periods = 4;
  std::uint64_t seed = 1;
};

class life {
 public:
  life(support::engine const& on, wishes const& how)
      : how_(how),
        database_(on),
        book_(database_.open()),
        clock_(book_),
        queue_(book_.make_queue("stock", {.period = period, .backoff = minutes{10}})),
        random_(how.seed) {
    clock_.stop_at(clock_.now());
    std::vector<daybook::entry> all;
    for (std::int64_t i = 0; i < how.members; ++i) all.push_back({fresh()});
    queue_.import(all);
  }

  /// False: it went wrong.
  bool live() {
    bool fine = true;
    for (int i = 1; i <= how_.periods; ++i) fine = one_period(i) && fine;
    return fine;
  }

 private:
  daybook::key fresh() {
    keys_.push_back("k" + std::to_string(next_++));
    return daybook::key(keys_.back());
  }

  void forward(microseconds by) {
    clock_.advance(by);
    gone_by_ += by;
    static_cast<void>(daybook::testing::renew(book_));
  }

  /// How many tasks succeed or fail for the last time.
  std::int64_t drain() {
    std::int64_t done = 0;
    std::uniform_int_distribution<int> width(300, 1000);
    for (int count = 1; auto batch = queue_.claim({.limit = width(random_)}); ++count) {
      for (auto const& one : batch->tasks()) {
        bool const fails = random_() % 100 < 3;
        batch->finish(one, fails ? daybook::result::failure("no") : daybook::result::success());
        if (!fails) ++done;
      }
      if (std::move(*batch).complete() != daybook::outcome::done) return -1;
      if (count % 50 == 0) forward(minutes{1});
    }
    return done;
  }

  std::int64_t churn() {
    auto const each = how_.members / 100;
    for (std::int64_t i = 0; i < each; ++i) {
      std::swap(keys_[random_() % keys_.size()], keys_.back());
      if (!queue_.remove(daybook::key(keys_.back()))) return -1;
      keys_.pop_back();
    }
    for (std::int64_t i = 0; i < each; ++i) queue_.add(fresh());
    return each;
  }

  bool one_period(int number) {
    gone_by_ = {};
    auto const start = std::chrono::steady_clock::now();
    auto done = drain();
    auto const peak = rows();
    for (int i = 0; i < 12; ++i) {
      forward(minutes{15});
      done += drain();
    }
    auto expected = how_.members;
    forward(hours{24});
    expected += churn();
    for (std::int64_t i = 0; i < how_.members / 1000; ++i) {
      queue_.run_now(daybook::key(keys_[random_() % keys_.size()]));
      ++asked_;
    }
    for (int i = 0; i < 12; ++i) {
      done += drain();
      forward(minutes{15});
    }
    auto const before = rows();
    auto const upkept = queue_.upkeep();
    auto const after = rows();
    auto const took = std::chrono::steady_clock::now() - start;
    std::cout << "period " << std::setw(2) << number << ": " << done << " done; rows "
              << share(peak) << " after the first pass, " << share(before) << " before upkeep, "
              << share(after) << " after it (" << after << "; " << upkept.trimmed << " trimmed); "
              << std::chrono::duration_cast<std::chrono::seconds>(took).count() << " s"
              << std::endl;
    // Whatever was asked for is done at its turn, and not again in the next period.
    bool const all_done = done >= expected - asked_ && done <= expected + asked_;
    if (!all_done)
      std::cout << "  " << expected << " were expected, give or take " << asked_ << '\n';
    forward(std::chrono::duration_cast<microseconds>(period + period / 16) - gone_by_);
    return all_done && static_cast<double>(after) <= most_rows * static_cast<double>(how_.members);
  }

  [[nodiscard]] std::int64_t rows() const { return queue_.counts().segments; }
  [[nodiscard]] std::string share(std::int64_t of) const {
    auto const hundredths = of * 10'000 / how_.members;
    auto const rest = std::to_string(hundredths % 100);
    return std::to_string(hundredths / 100) + (rest.size() < 2 ? ".0" : ".") + rest + " %";
  }

  wishes how_;
  support::fresh_database database_;
  daybook::book book_;
  daybook::testing::manual_clock clock_;
  daybook::queue queue_;
  std::mt19937_64 random_;
  std::vector<std::string> keys_;
  std::int64_t next_ = 0;
  std::int64_t asked_ = 0;
  microseconds gone_by_{};
};

}  // namespace

int main(int argc, char** argv) {
  wishes how;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string const name = argv[i];
    if (name == "--engine") how.engine = argv[i + 1];
    if (name == "--members") how.members = std::stoll(argv[i + 1]);
    if (name == "--periods") how.periods = std::stoi(argv[i + 1]);
    if (name == "--seed") how.seed = std::stoull(argv[i + 1]);
  }
  ::setenv("DAYBOOK_TEST_ENGINES", how.engine.c_str(), 1);
  auto const engines = support::engines();
  if (engines.size() != 1) {
    std::cerr << "queue_periods: there is no engine " << how.engine << '\n';
    return 64;
  }
  try {
    return life(engines.front(), how).live() ? 0 : 1;
  } catch (std::exception const& e) {
    std::cerr << "queue_periods: " << e.what() << '\n';
    return 1;
  }
}
