// A schedule as its row says it is, and what is known of the tick that runs.
// Thread safety: values.
#pragma once

#include "db/session.hpp"

#include <daybook/cron.hpp>
#include <daybook/schedule.hpp>
#include <daybook/time.hpp>
#include <daybook/zone.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

namespace daybook {
inline namespace v1 {
namespace schedules {

/// Of the tick that runs, if any.
enum class standing : std::uint8_t {
  none = 0,
  alive = 1,   ///< its holder's lease is good
  free = 2,    ///< nobody has its run
  orphan = 3,  ///< its holder is dead, and still has its run
  failed = 4,  ///< another process that took part in its run has ended that as failed
};

/// Zones by name: each file is read once.
class zones {
 public:
  /// On failure: as zone's constructor.
  [[nodiscard]] zone operator[](std::string const& name);
  /// Reads them again from now on.
  void forget();

 private:
  std::mutex guard_;
  std::map<std::string, zone, std::less<>> known_;
};

struct definition {
  std::string name;
  cron when{"@yearly"};    ///< with its `H` drawn
  std::optional<zone> in;  ///< empty: this system does not have it
  std::string why_not_in;  ///< then: what its zone's file says, for people
  schedule_options options;
  schedule_state state = schedule_state::active;
  std::int64_t version = 0;
  std::int64_t decisions = 0;
  timestamp decided;  ///< all ticks up to here are launched or skipped
  timestamp window;   ///< where the next window begins
  std::optional<timestamp> running;
  std::optional<timestamp> running_since;
  standing its = standing::none;
  std::string holder;  ///< who has its run, or had it last
  std::string node;    ///< the holder's
  std::int64_t pid = 0;
  std::optional<timestamp> left;      ///< since when nobody runs it, where that is so
  std::optional<timestamp> open_due;  ///< when a tick that is there already is to be tried
  timestamp now;

  /// Whether all that is asked of it can be told here. False: its ticks are for others to take, who
  /// know when they come.
  [[nodiscard]] bool can_be_told() const noexcept { return in || state != schedule_state::active; }
  // On failure: throws daybook::error where this system does not have its zone.
  [[nodiscard]] std::optional<timestamp> next(timestamp after) const;
  [[nodiscard]] std::optional<timestamp> previous(timestamp before) const;
};

/// From the columns of schedule.look.
[[nodiscard]] definition definition_of(std::span<cell const> columns, zones& all);
/// From the columns of tick.find.
[[nodiscard]] tick_info tick_of(std::span<cell const> columns);

/// "2026-11-21T00:00:00Z", with as much of a fraction as there is: the key of a tick's run.
[[nodiscard]] std::string text_of(timestamp at);

}  // namespace schedules
}  // namespace v1
}  // namespace daybook
