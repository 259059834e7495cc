// Two nodes at one tick, of which one is slow.
#include "conformance/fixture.hpp"

#include <daybook/node.hpp>

namespace conformance {
namespace {

using daybook::tick;
using daybook::tick_state;

constexpr daybook::timestamp midday =
    std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + 12h;

/// Lets another node be faster, in the midst of a take-over.
class slow final : public daybook::observer {
 public:
  explicit slow(std::function<void()> meanwhile) : meanwhile_(std::move(meanwhile)) {}
  void taken_over(daybook::run_event const&) noexcept override { meanwhile_(); }

 private:
  std::function<void()> meanwhile_;
};

class schedule_race : public on_engine {
 protected:
  schedule_race() { clock_.stop_at(midday); }

  daybook::testing::manual_clock clock_{book_};
  daybook::book other_{database_.open(watched())};
  daybook::node dying_{book_};
  daybook::node faster_{other_};
};

TEST_P(schedule_race, who_comes_too_late_to_take_over_does_nothing) {
  auto const leads =
      book_.make_schedule("leads", daybook::cron("* * * * *"), {.backoff = std::chrono::hours{1}});
  auto const fails = [](tick&) { throw std::runtime_error("the partner is away"); };
  faster_.serve("leads", fails);
  slow watch([&] { EXPECT_EQ(faster_.drain(), 1); });
  auto options = watched();
  options.observer = &watch;
  auto third = database_.open(options);
  daybook::node late(third);
  late.serve("leads", fails);
  dying_.serve("leads", [&](tick&) {
    clock_.advance(31s);  // its lease is over
    EXPECT_EQ(late.drain(), 0);
  });
  clock_.advance(1min);
  EXPECT_EQ(dying_.drain(), 1);
  auto const is = leads.find(midday + 1min).value();
  EXPECT_EQ(is.state, tick_state::due);
  EXPECT_EQ(is.failures, 1);
  EXPECT_EQ(book_.find(process("leads"), key(is.run))->info.attempt, 2);
}

DAYBOOK_ON_EVERY_ENGINE(schedule_race);

}  // namespace
}  // namespace conformance
