// Any bytes as a zone file: broken for a reason, or a table whose stretches follow each other, that
// takes every instant to local time and back, and in which ticks go on.
#include "calendar/tzif.hpp"

#include <daybook/cron.hpp>
#include <daybook/zone.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace {

using daybook::timestamp;
using daybook::calendar::zone_table;
using std::chrono::microseconds;

void require(bool holds) {
  if (!holds) std::abort();
}

void follow(zone_table const& table, std::chrono::sys_seconds from) {
  auto at = table.at(from);
  for (int i = 0; i < 50; ++i) {
    require(at.begin < at.end);
    auto const same = table.at(at.end - std::chrono::seconds{1});
    require(same.begin == at.begin && same.end == at.end && same.offset == at.offset);
    if (at.end >= daybook::calendar::after_time) return;
    auto const next = table.at(at.end);
    require(next.begin == at.end && next.before == at.offset && at.after == next.offset);
    at = next;
  }
}

void there_and_back(daybook::zone const& in, timestamp instant) {
  auto const local = in.to_local(instant).time;
  auto const found = in.to_instants(local);
  require(found.comes != daybook::local_meaning::kind::never);
  // Clocks set back twice in three days may show a time three times: the first two are told.
  require(found.first <= instant);
  require(in.to_local(found.first).time == local && in.to_local(found.second).time == local);
}

void go_on(daybook::cron const& of, daybook::zone const& in, timestamp from) {
  for (auto const fold : {daybook::fold::first, daybook::fold::second, daybook::fold::both}) {
    daybook::clock_changes const on{.fold = fold};
    auto last = from;
    for (int i = 0; i < 3; ++i) {
      auto const tick = of.next(last, in, on);
      if (!tick) break;
      require(*tick > last);
      require(of.previous(*tick + microseconds{1}, in, on) == tick);
      auto const before = of.previous(*tick, in, on);
      require(i == 0 ? !before || *before <= last : before == last);
      last = *tick;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const bytes(reinterpret_cast<char const*>(data), size);
  auto read = daybook::calendar::read_tzif(bytes);
  require(read.table.has_value() == read.broken.empty());
  if (!read.table) return 0;
  auto const table = std::make_shared<zone_table const>(std::move(*read.table));
  follow(*table, daybook::calendar::before_time);
  daybook::zone const in("Fuzz/Town", table);
  for (auto const year : {-200, 1, 1970, 2026, 2038, 2500, 9998}) {
    auto const day = std::chrono::sys_days{std::chrono::year{year} / 3 / 28};
    follow(*table, day);
    there_and_back(in, day);
    go_on("30 2 * * *", in, day);
    go_on("*/20 * * * *", in, day);
    go_on("0 0 29 2 *", in, day);
  }
  return 0;
}
