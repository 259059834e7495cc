// Any text as a cron expression: refused with daybook::error that can be printed, or one whose
// ticks go on, and are the same backwards.
#include <daybook/cron.hpp>
#include <daybook/error.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using daybook::timestamp;
using std::chrono::microseconds;

void require(bool holds) {
  if (!holds) std::abort();
}

void go_on(daybook::cron const& of, daybook::zone const& in, daybook::clock_changes on,
           timestamp from) {
  auto last = from;
  for (int i = 0; i < 4; ++i) {
    auto const tick = of.next(last, in, on);
    if (!tick) return;
    require(*tick > last);
    require(of.previous(*tick + microseconds{1}, in, on) == tick);
    // Nothing between the two.
    auto const before = of.previous(*tick, in, on);
    require(i == 0 ? !before || *before <= last : before == last);
    last = *tick;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static std::array<daybook::zone, 4> const zones{daybook::zone(), daybook::zone("Europe/Berlin"),
                                                  daybook::zone("Australia/Lord_Howe"),
                                                  daybook::zone("Pacific/Apia")};
  std::string const text(reinterpret_cast<char const*>(data), size);
  try {
    auto const read = daybook::cron::parse(text);
    require(read.text() == text);
    require(daybook::cron::parse(read.text()) == read);
    auto const choice = size == 0 ? 0U : data[size - 1];
    daybook::clock_changes const on{.gap = static_cast<daybook::gap>(choice % 2),
                                    .fold = static_cast<daybook::fold>(choice % 3)};
    for (auto const& in : zones) {
      for (auto const year : {1970, 2011, 2026, 2096, 9990}) {
        auto const from = std::chrono::sys_days{std::chrono::year{year} / 12 / 25};
        go_on(read.hashed(text), in, on, from);
      }
    }
  } catch (daybook::error const& e) {
    require(e.kind() == daybook::error_code::bad_argument);
    std::string_view const what = e.what();
    require(!what.empty() && what.size() < 600);
  }
  return 0;
}
