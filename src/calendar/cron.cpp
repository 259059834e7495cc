#include <daybook/cron.hpp>

#include "calendar/civil.hpp"
#include "calendar/zone_table.hpp"

#include <algorithm>

namespace daybook {
inline namespace v1 {

namespace {

using calendar::stretch;
using std::chrono::hours;
using std::chrono::local_seconds;
using std::chrono::seconds;
using std::chrono::sys_seconds;

/// From here on a change of clocks is a correction of the calendar.
constexpr hours correction{3};

local_seconds shown(sys_seconds at, seconds offset) {
  return local_seconds{at.time_since_epoch() + offset};
}

/// Asks the calendar, and remembers: from where it was asked to what it found, the answer is the
/// same.
class search {
 public:
  explicit search(cron_fields const& said) : said_(said) {}

  std::optional<local_seconds> from(local_seconds asked) {
    if (found_ && last_ <= asked && asked <= *found_) return found_;
    found_ = calendar::match_from(said_, asked);
    last_ = asked;
    return found_;
  }
  std::optional<local_seconds> until(local_seconds asked) {
    if (found_ && last_ >= asked && asked >= *found_) return found_;
    found_ = calendar::match_until(said_, asked);
    last_ = asked;
    return found_;
  }

 private:
  cron_fields const& said_;
  local_seconds last_{};
  std::optional<local_seconds> found_;
};

/// The ticks of one expression within one stretch of its zone's clock.
class ticks_of {
 public:
  ticks_of(cron_fields const& said, clock_changes changes, stretch const& stretch)
      : stretch_(stretch),
        from_(shown(stretch.begin, stretch.offset)),
        until_(shown(stretch.end, stretch.offset)) {
    if (said.follows_clock) return;
    auto const forward = stretch.offset - stretch.before;
    if (forward > seconds{0} && forward < correction) skips_ = changes.gap == gap::after;
    // Local times that the stretch before showed already, and that the next will show again.
    if (forward < seconds{0} && -forward < correction && changes.fold == fold::first)
      from_ -= forward;
    auto const back = stretch.offset - stretch.after;
    if (back > seconds{0} && back < correction && changes.fold == fold::second) until_ -= back;
  }

  [[nodiscard]] std::optional<sys_seconds> first(search& matches, sys_seconds from) const {
    if (skips_ && from <= stretch_.begin) {
      auto const skipped = matches.from(shown(stretch_.begin, stretch_.before));
      if (skipped && *skipped < shown(stretch_.begin, stretch_.offset)) return stretch_.begin;
    }
    auto const found = matches.from(std::max(shown(from, stretch_.offset), from_));
    if (!found || *found >= until_) return std::nullopt;
    return sys_seconds{found->time_since_epoch() - stretch_.offset};
  }

  [[nodiscard]] std::optional<sys_seconds> last(search& matches, sys_seconds until) const {
    auto const found = matches.until(std::min(shown(until, stretch_.offset), until_ - seconds{1}));
    if (found && *found >= from_) return sys_seconds{found->time_since_epoch() - stretch_.offset};
    if (!skips_) return std::nullopt;
    auto const skipped = matches.until(shown(stretch_.begin, stretch_.offset) - seconds{1});
    if (!skipped || *skipped < shown(stretch_.begin, stretch_.before)) return std::nullopt;
    return stretch_.begin;
  }

 private:
  stretch const& stretch_;
  local_seconds from_;
  local_seconds until_;
  bool skips_ = false;  ///< the change at the beginning, and a tick there stands for what it skips
};

}  // namespace

std::optional<timestamp> cron::next(timestamp after, zone const& zone,
                                    clock_changes changes) const {
  auto const& table = zone.internals();
  search matches(fields_);
  for (auto at = std::chrono::floor<seconds>(after) + seconds{1};;) {
    auto const now = table.at(at);
    if (auto const tick = ticks_of(fields_, changes, now).first(matches, at)) return *tick;
    if (now.end >= calendar::after_time) return std::nullopt;
    at = now.end;
    // Whatever is still to come is shown as this or later: stretches before it need no look.
    auto const match = matches.from(shown(at, -calendar::most_offset));
    if (!match) return std::nullopt;
    at = std::max(at, sys_seconds{match->time_since_epoch() - calendar::most_offset});
  }
}

std::optional<timestamp> cron::previous(timestamp before, zone const& zone,
                                        clock_changes changes) const {
  auto const& table = zone.internals();
  search matches(fields_);
  for (auto at = std::chrono::ceil<seconds>(before) - seconds{1};;) {
    auto const now = table.at(at);
    if (auto const tick = ticks_of(fields_, changes, now).last(matches, at)) return *tick;
    if (now.begin <= calendar::before_time) return std::nullopt;
    at = now.begin - seconds{1};
    auto const match = matches.until(shown(at, calendar::most_offset));
    if (!match) return std::nullopt;
    at = std::min(at, sys_seconds{match->time_since_epoch() + calendar::most_offset});
  }
}

}  // namespace v1
}  // namespace daybook
