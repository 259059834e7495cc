// Schedules under test: two processes with a clock that both see, and what their handlers have
// done.
#pragma once

#include "conformance/fixture.hpp"
#include "conformance/people.hpp"

#include <daybook/node.hpp>

#include <array>

#include <gmock/gmock.h>

namespace conformance {

using daybook::catch_up;
using daybook::overlap;
using daybook::schedule_options;
using daybook::tick;
using daybook::tick_info;
using daybook::tick_state;
using daybook::timestamp;

inline constexpr timestamp noon = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + 12h;
/// Two processes with a clock that both see, and what their handlers have done.
class scheduling : public on_engine {
 protected:
  struct done {
    timestamp at;
    daybook::tick_window window;
    int node = 0;
  };

  scheduling() { clock_.stop_at(noon); }

  void serve(std::string const& name, std::function<void(tick&)> const& what = {}) {
    int number = 0;
    for (auto* const node : {&first_, &second_}) {
      node->serve(name, [this, what, number](tick& one) {
        if (what) what(one);
        done_.push_back({one.at(), one.window(), number});
      });
      ++number;
    }
  }
  daybook::schedule make(schedule_options const& options = {}, std::string const& name = "leads") {
    return book_.make_schedule(name, daybook::cron("* * * * *"), options);
  }
  void expect_tiled(timestamp from = noon) const {
    for (auto const& one : done_) {
      EXPECT_EQ(one.window.from, from);
      EXPECT_EQ(one.window.to, one.at);
      from = one.at;
    }
  }
  [[nodiscard]] std::vector<timestamp> instants() const {
    std::vector<timestamp> out;
    for (auto const& one : done_) out.push_back(one.at);
    return out;
  }
  /// "12:03 skipped 2 (why)", the newest first.
  static std::vector<std::string> lines(daybook::schedule const& of) {
    static constexpr std::array<char const*, 5> names{"due", "running", "done", "failed",
                                                      "skipped"};
    std::vector<std::string> out;
    for (auto const& one : of.ticks()) {
      auto line = one.run.substr(11, 5) + " " + names.at(static_cast<std::size_t>(one.state));
      if (one.count > 1) line += " " + std::to_string(one.count);
      if (!one.reason.empty()) line += " (" + one.reason + ")";
      out.push_back(line);
    }
    return out;
  }

  daybook::testing::manual_clock clock_{book_};
  daybook::book other_{database_.open(watched())};
  daybook::node first_{book_};
  daybook::node second_{other_};
  std::vector<done> done_;
};

using testing::ElementsAre;

}  // namespace conformance
