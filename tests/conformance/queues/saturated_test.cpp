// A queue that may start nothing more holds up no other of the same node.
#include "conformance/handing.hpp"

#include <daybook/node.hpp>

#include <atomic>

namespace conformance {
namespace {

class saturated : public handing {};
DAYBOOK_ON_EVERY_ENGINE(saturated);

TEST_P(saturated, queue_holds_up_no_other) {
  auto slow = book_.make_queue("slow", {.running_limit = 1});
  auto quick = book_.make_queue("quick");
  slow.import(keys(0, 50));
  quick.import(keys(0, 300));
  std::atomic<int> held = 0;
  std::atomic<bool> go_on = false;
  daybook::node node(book_);
  daybook::work_options const how{.threads = 2, .claims = {.flush_every = 100ms, .poll = 20ms}};
  node.work(
      "slow",
      [&](daybook::job&) {
        ++held;
        while (!go_on) std::this_thread::sleep_for(1ms);
        return daybook::result::success();
      },
      how);
  node.work(
      "quick", [](daybook::job&) { return daybook::result::success(); }, how);
  node.start();
  EXPECT_TRUE(comes_true([&] { return held == 1; }));
  EXPECT_TRUE(comes_true([&] { return quick.counts().succeeded == 300; }));
  EXPECT_EQ(held, 1);
  EXPECT_EQ(slow.counts().running, 1);
  go_on = true;
  node.stop();
  EXPECT_EQ(slow.counts().running, 0);
}

}  // namespace
}  // namespace conformance
