// A queue as the documents tell it, with a row for every task and nothing shared: what the segments
// of the library are compared with. Nothing here knows of segments.
// Thread safety: one thread.
#pragma once

#include <daybook/daybook.hpp>

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace model {

using us = std::int64_t;
inline constexpr us never = std::numeric_limits<us>::max();

/// An instant rounded up to whole `grain`s.
[[nodiscard]] us up_to(us instant, us grain);
[[nodiscard]] us grain_of(daybook::queue_options const& by);

/// How a task ended in the hands of a claim. `written`: a crash does not undo it.
struct verdict {
  daybook::result::kind what{};
  us delay = 0;
  bool written = false;
};

struct row {
  std::int64_t id = 0;
  std::string key;
  daybook::task_state state{};
  int priority = 5;
  int attempts = 0;
  int crashes = 0;
  us turn = 0;
  us due = 0;
  us period = 0;  ///< that it was armed with
  int claim = 0;  ///< 0: in nobody's hands
  std::optional<verdict> how = {};
};

enum class asked : std::uint8_t { run_now, retry, discard, was_done, was_not_done };
struct request {
  std::int64_t id = 0;
  asked what{};
  us at = 0;
};

class naive {
 public:
  using options = daybook::queue_options;

  std::map<std::int64_t, row> rows;  ///< live members, by id
  std::deque<request> requests;
  bool paused = false;
  std::optional<us> round;

  [[nodiscard]] row* find(std::string const& key);
  void add(options const& by, std::int64_t id, std::string key, int priority, std::optional<us> at,
           us now);
  /// What may be claimed now.
  [[nodiscard]] std::vector<row const*> eligible(bool rounds, bool suspects, us now) const;
  /// Empty: `ids` is a batch that may be claimed of `from`; else what is wrong with it.
  [[nodiscard]] std::string illegal(std::vector<row const*> const& from,
                                    std::vector<std::int64_t> const& ids) const;
  void take(std::vector<std::int64_t> const& ids, int claim);
  /// The claim is over, in order or as its worker died.
  void end(options const& by, int claim, bool crashed, us now);
  /// Does what people asked for, but of tasks in hand.
  void attend(options const& by, us now);
  /// Follows a changed period.
  void upkeep(options const& by, us now);

 private:
  static void roll(options const& by, row& of, daybook::task_state state, us now);
  static void fail(options const& by, row& of, us now);
  static void crash(options const& by, row& of);
  static void apply(options const& by, row& of, verdict const& how, us now);
  static void change(options const& by, row& of, asked what, us now, us at);
};

}  // namespace model
