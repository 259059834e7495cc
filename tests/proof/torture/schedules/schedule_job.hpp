// What the driver of the schedules' torture, its nodes and its check agree on: which schedules
// there are, and what their handlers do. Thread safety: values.
#pragma once

#include <daybook/schedule.hpp>

#include <array>
#include <chrono>
#include <string>

namespace torture {

/// Of a node in a mix: it really ends.
inline constexpr std::chrono::milliseconds node_lease{1000};

/// Of those of which only the newest ticks are kept.
inline constexpr int pruned_keep = 10;

/// Schedules of a mix differ in everything that decides what is launched.
struct scheduled {
  std::string name;
  std::string cron;
  daybook::schedule_options options;
  int failures_of_ten = 0;              ///< so many attempts of ten
  std::chrono::milliseconds works{20};  ///< after its effect
  bool pruned = false;                  ///< only its newest ticks are kept; none fails for good
};

inline std::string name_of_schedule(int number) { return "s" + std::to_string(number); }

inline scheduled schedule_of(int number) {
  using std::chrono::milliseconds;
  static constexpr std::array periods{1, 3, 2, 5, 2, 1, 3, 1, 7, 10};
  static constexpr std::array zones{"UTC", "Asia/Shanghai", "Europe/Berlin"};
  auto const part = [&](int divisor, std::size_t size) {
    return static_cast<std::size_t>(number / divisor) % size;
  };
  scheduled out;
  out.name = name_of_schedule(number);
  out.pruned = number % 8 == 3;
  int const period = out.pruned ? 1 : periods.at(part(1, periods.size()));
  bool const drawn = number % 6 == 5;
  out.cron = drawn         ? "H/" + std::to_string(period) + " * * * * *"
             : period == 1 ? "* * * * * *"
                           : "*/" + std::to_string(period) + " * * * * *";
  auto& to = out.options;
  to.zone = zones.at(part(2, zones.size()));
  to.catch_up = out.pruned ? daybook::catch_up::all : static_cast<daybook::catch_up>(number % 3);
  to.overlap = static_cast<daybook::overlap>(part(3, 2));
  to.grace = std::chrono::seconds{period};
  to.max_ticks = number % 2 == 0 ? 20 : 1000;
  to.attempts = out.pruned ? 1000 : 3;
  to.backoff = milliseconds{200};
  to.longest_backoff = std::chrono::seconds{1};
  to.crash_limit = out.pruned ? 100 : 3 + number % 4;
  to.keep = out.pruned ? pruned_keep : 100'000;
  if (!out.pruned && number % 4 == 1) out.failures_of_ten = 3;
  if (!out.pruned && number % 5 == 2) out.works = milliseconds{1400 * period};
  return out;
}

/// Of a directed trial, whose clock only moves by hand.
inline constexpr char const* minutely = "* * * * *";
inline std::string brief_name(std::string const& name) { return name + ".brief"; }

}  // namespace torture
