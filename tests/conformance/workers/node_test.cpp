// Nodes with threads and the database's own clock: they wake by themselves, and share the work.
#include "conformance/fixture.hpp"
#include "conformance/waiting.hpp"

#include <daybook/node.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace conformance {
namespace {

using daybook::node_options;
using daybook::tick;
using daybook::timestamp;

class nodes : public testing::TestWithParam<support::engine> {
 protected:
  nodes() : empty_(GetParam()), database_(*empty_), book_(open()) {}

  [[nodiscard]] daybook::book open() {
    daybook::book_options options;
    options.observer = &log_;
    return database_.open(options);
  }
  void saw(tick const& one) {
    std::lock_guard const lock(guard_);
    windows_.push_back(one.window());
    seen_.notify_all();
  }
  void wait_for(std::size_t ticks) {
    std::unique_lock lock(guard_);
    ASSERT_TRUE(seen_.wait_for(lock, 60s, [&] { return windows_.size() >= ticks; }));
  }
  /// In the order of their instants.
  void expect_tiled() {
    std::sort(windows_.begin(), windows_.end(),
              [](auto const& a, auto const& b) { return a.to < b.to; });
    for (std::size_t i = 1; i < windows_.size(); ++i) {
      EXPECT_EQ(windows_[i].from, windows_[i - 1].to);
    }
  }

  recorder log_;
  empty_database empty_;
  support::fresh_database& database_;
  daybook::book book_;
  std::mutex guard_;
  std::condition_variable seen_;
  std::vector<daybook::tick_window> windows_;
};

TEST_P(nodes, two_share_a_schedule_and_its_windows_tile) {
  auto other = open();
  daybook::node first(book_, {.threads = 2});
  daybook::node second(other, {.threads = 2});
  book_.make_schedule("each second", daybook::cron("* * * * * *"));
  for (auto* const one : {&first, &second}) {
    one->serve("each second", [this](tick& now) { saw(now); });
    one->start();
  }
  wait_for(4);
  first.stop();
  second.stop();
  EXPECT_EQ(first.counts().done + second.counts().done, static_cast<std::int64_t>(windows_.size()));
  expect_tiled();
}

TEST_P(nodes, one_that_is_stopped_hands_back_what_heeds_it_and_another_goes_on) {
  auto other = open();
  daybook::node first(book_, {.threads = 1});
  daybook::node second(other, {.threads = 1, .poll = 50ms});
  auto leads = book_.make_schedule("by hand", daybook::cron("@yearly"));
  std::atomic<bool> begun = false;
  first.serve("by hand", [&](tick& one) {
    begun = true;
    while (!one.stopping().stop_requested()) std::this_thread::sleep_for(1ms);
    one.hand_back();
  });
  second.serve("by hand", [this](tick& one) { saw(one); });
  first.start();
  auto const at = leads.trigger({.actor = "anna", .reason = "a test"});
  first.wake();
  while (!begun) std::this_thread::sleep_for(1ms);
  second.start();
  first.stop();
  wait_for(1);
  second.stop();
  EXPECT_EQ(first.counts().handed_back, 1);
  EXPECT_EQ(second.counts().done, 1);
  EXPECT_EQ(leads.find(at)->failures, 0);
}

TEST_P(nodes, serves_again_what_is_made_later) {
  daybook::node early(book_, {.poll = 50ms});
  early.serve("later", [this](tick& one) { saw(one); });
  early.start();
  book_.make_schedule("later", daybook::cron("* * * * * *"));
  wait_for(1);
  early.serve("later", {});
  early.stop();
}

TEST_P(nodes, what_failed_is_tried_again_in_time_and_not_at_the_next_poll) {
  daybook::node patient(book_, {.threads = 2, .poll = 1h});
  auto leads = book_.make_schedule("by hand", daybook::cron("@yearly"), {.backoff = 10ms});
  std::atomic<int> attempts = 0;
  patient.serve("by hand", [&](tick& one) {
    if (++attempts < 3) throw std::runtime_error("away");
    saw(one);
  });
  static_cast<void>(leads.trigger({.actor = "anna", .reason = "a test"}));
  patient.start();
  wait_for(1);
  patient.stop();
  EXPECT_EQ(attempts, 3);
}

/// How often it was said that a zone is not here.
struct missing_zones final : daybook::observer {
  std::atomic<int> said = 0;
  void retried(std::string_view, std::string_view why) noexcept override {
    if (why.find("time zone 'Mars/Olympus' is not in") != std::string_view::npos) ++said;
  }
};

TEST_P(nodes, one_without_the_zone_leaves_a_free_tick_to_others_and_says_so_once) {
  auto leads = book_.make_schedule("leads", daybook::cron("@yearly"));
  auto const at = leads.trigger({.actor = "anna", .reason = "a test"});
  {
    daybook::node before(book_);
    before.serve("leads", [](tick& one) { one.hand_back(); });
    EXPECT_EQ(before.drain(), 1);
  }
  auto const attempts = [&] {
    return database_.query("select count(*) from daybook_attempt where process = 'leads'");
  };
  EXPECT_EQ(attempts(), "1");
  database_.execute("update daybook_schedule set zone = 'Mars/Olympus'");
  book_.make_schedule("beside", daybook::cron("* * * * * *"));
  missing_zones heard;
  daybook::book_options options;
  options.observer = &heard;
  auto other = database_.open(options);
  daybook::node here(other, {.threads = 2, .poll = 10ms});
  std::atomic<int> beside = 0;
  here.serve("beside", [&](tick&) { ++beside; });
  here.serve("leads", [this](tick& one) { saw(one); });
  here.start();
  // It looks at them all meanwhile, again and again.
  EXPECT_TRUE(comes_true([&] { return beside >= 2; }));
  EXPECT_EQ(attempts(), "1");
  EXPECT_EQ(heard.said, 1);
  database_.execute("update daybook_schedule set zone = 'UTC'");
  wait_for(1);  // it is there now
  here.stop();
  EXPECT_EQ(attempts(), "2");
  EXPECT_EQ(leads.find(at)->state, daybook::tick_state::done);
}

TEST_P(nodes, options_out_of_their_range_are_refused) {
  EXPECT_EQ(fault_of([&] { daybook::node(book_, {.threads = 0}); }), error_code::bad_argument);
  EXPECT_EQ(fault_of([&] { daybook::node(book_, {.poll = 1ms}); }), error_code::bad_argument);
  daybook::node twice(book_);
  twice.start();
  EXPECT_EQ(fault_of([&] { twice.start(); }), error_code::bad_argument);
}

DAYBOOK_ON_EVERY_ENGINE(nodes);

}  // namespace
}  // namespace conformance
