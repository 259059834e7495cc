#include "schedule/definition.hpp"

#include "db/cells.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace daybook {
inline namespace v1 {
namespace schedules {

namespace {

using std::chrono::microseconds;

template <std::size_t count>
std::array<std::int64_t, count> numbers(std::span<cell const> cells) {
  std::array<std::int64_t, count> out{};
  for (std::size_t i = 0; i < count; ++i) decode(cells[i], out[i]);
  return out;
}

std::chrono::milliseconds milliseconds_of(std::int64_t us) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(microseconds(us));
}

}  // namespace

zone zones::operator[](std::string const& name) {
  std::lock_guard const lock(guard_);
  auto const found = known_.find(name);
  if (found != known_.end()) return found->second;
  return known_.emplace(name, zone(name)).first->second;
}

void zones::forget() {
  std::lock_guard const lock(guard_);
  known_.clear();
}

definition definition_of(std::span<cell const> columns, zones& all) {
  definition out;
  std::string text;
  decode(columns[0], out.name);
  decode(columns[1], text);
  decode(columns[2], out.options.zone);
  out.when = cron::parse(text).hashed(out.name);
  try {
    out.in = all[out.options.zone];
  } catch (error const& e) {
    out.in.reset();  // said when it is needed: a person may pause it, or give it another
    out.why_not_in = e.what();
  }
  auto const n = numbers<16>(columns.subspan(3));
  auto& to = out.options;
  to.changes = {static_cast<gap>(n[0]), static_cast<fold>(n[1])};
  to.catch_up = static_cast<catch_up>(n[2]);
  to.max_ticks = static_cast<int>(n[3]);
  to.grace = std::chrono::duration_cast<std::chrono::seconds>(microseconds(n[4]));
  to.overlap = static_cast<overlap>(n[5]);
  to.attempts = static_cast<int>(n[6]);
  to.backoff = milliseconds_of(n[7]);
  to.longest_backoff = milliseconds_of(n[8]);
  to.crash_limit = static_cast<int>(n[9]);
  to.keep = static_cast<int>(n[10]);
  out.state = static_cast<schedule_state>(n[11]);
  out.version = n[12];
  out.decisions = n[13];
  out.decided = db::time_of(n[14]);
  out.window = db::time_of(n[15]);
  out.running = db::time_in(columns[19]);
  out.running_since = db::time_in(columns[20]);
  auto const last = numbers<1>(columns.subspan(21));
  out.its = static_cast<standing>(last[0]);
  out.open_due = db::time_in(columns[22]);
  out.now = db::time_in(columns[23]).value_or(timestamp{});
  decode(columns[24], out.holder);
  decode(columns[25], out.node);
  decode(columns[26], out.pid);
  bool const nobodys = out.its != standing::none && out.its != standing::alive;
  // A lease that ends in the future, for the clock stepped back, is over now.
  if (nobodys) out.left = std::min(db::time_in(columns[27]).value_or(out.now), out.now);
  return out;
}

std::optional<timestamp> definition::next(timestamp after) const {
  return when.next(after, in ? *in : zone(options.zone), options.changes);
}

std::optional<timestamp> definition::previous(timestamp before) const {
  return when.previous(before, in ? *in : zone(options.zone), options.changes);
}

tick_info tick_of(std::span<cell const> columns) {
  tick_info out;
  auto const n = numbers<6>(columns);
  out.at = db::time_of(n[0]);
  out.first = db::time_of(n[1]);
  out.count = n[2];
  out.state = static_cast<tick_state>(n[3]);
  out.window = {db::time_of(n[4]), out.at};
  if (out.state == tick_state::due) out.due = db::time_of(n[5]);
  out.launched = db::time_in(columns[6]);
  out.ended = db::time_in(columns[7]);
  auto const m = numbers<3>(columns.subspan(8));
  out.failures = static_cast<int>(m[0]);
  out.crashes = static_cast<int>(m[1]);
  out.by_hand = m[2] == 1;
  decode(columns[11], out.run);
  decode(columns[12], out.reason);
  return out;
}

std::string text_of(timestamp at) {
  namespace chrono = std::chrono;
  auto const day = chrono::floor<chrono::days>(at);
  chrono::year_month_day const date(day);
  chrono::hh_mm_ss const time(at - day);
  std::array<char, 48> out{};
  auto size = static_cast<std::size_t>(std::snprintf(
      out.data(), out.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
      static_cast<int>(time.seconds().count())));
  std::string text(out.data(), size);
  if (auto const us = time.subseconds().count(); us != 0) {
    size = static_cast<std::size_t>(
        std::snprintf(out.data(), out.size(), ".%06d", static_cast<int>(us)));
    text.append(out.data(), size);
  }
  return text + "Z";
}

}  // namespace schedules
}  // namespace v1
}  // namespace daybook
