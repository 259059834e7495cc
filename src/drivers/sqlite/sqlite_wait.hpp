// How a session waits until it may write: for its turn, then for the file's own lock.
// Thread safety: as the session's.
#pragma once

#include "base/platform.hpp"
#include "drivers/sqlite/sqlite_turn.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include <sqlite3.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

class writers_wait {
 public:
  explicit writers_wait(std::chrono::milliseconds patience)
      : patience_(patience), limit_(patience) {}

  [[nodiscard]] std::chrono::milliseconds patience() const noexcept { return patience_; }
  /// From now on in_turn() waits for turns with the others who write this file.
  void stand_in_line(std::string const& database) { line_ = turnstile::before(database); }

  /// Null: nobody stands in line.
  [[nodiscard]] turnstile* line() const noexcept { return line_.get(); }

  /// A busy handler: sleeps for a moment, or says false when patience is over.
  bool pause(int tries);

  /// Calls `attempt`, which returns a result code, when it is this session's turn; and now and then
  /// without one, where the turn is long in coming. Returns its last code and, in `mine`, the turn:
  /// SQLITE_BUSY when patience is over, or where the busy handler is not ours, at the first.
  template <class F>
  int in_turn(turn& mine, bool handler_is_ours, F const& attempt);
  /// The same for work that another may do in its turn: SQLITE_OK without `attempt` then.
  template <class F>
  int in_turn(turn& mine, passenger& passenger, F const& attempt);

 private:
  using clock = base::boot_clock;
  /// Most turns last for milliseconds. With those that last longer, and with one that never ends,
  /// the file's own lock is tried for a while before the turn is waited for again.
  static constexpr std::chrono::milliseconds for_a_turn{1000};
  static constexpr std::chrono::milliseconds without_a_turn{100};

  template <class F>
  int in_turn(turn& mine, passenger* passenger, bool handler_is_ours, F const& attempt);

  std::chrono::milliseconds patience_;
  clock::duration limit_;  ///< of what pause() makes of it
  clock::time_point since_{};
  std::shared_ptr<turnstile> line_;  ///< null: in memory, or joined
};

template <class F>
int writers_wait::in_turn(turn& mine, bool handler_is_ours, F const& attempt) {
  return in_turn(mine, nullptr, handler_is_ours, attempt);
}

template <class F>
int writers_wait::in_turn(turn& mine, passenger& passenger, F const& attempt) {
  return in_turn(mine, &passenger, true, attempt);
}

template <class F>
int writers_wait::in_turn(turn& mine, passenger* passenger, bool handler_is_ours,
                          F const& attempt) {
  if (!line_) return attempt();
  auto const end = clock::now() + patience_;
  for (auto left = end - clock::now();;) {
    auto const half = std::chrono::duration_cast<std::chrono::milliseconds>(left / 2);
    mine = line_->take(std::min(half, for_a_turn), passenger);
    if (passenger != nullptr && passenger->arrived()) return SQLITE_OK;
    left = end - clock::now();
    limit_ = mine ? left : std::min<clock::duration>(left, without_a_turn);
    int const code = attempt();
    limit_ = patience_;
    left = end - clock::now();
    bool const busy = (code & 0xff) == SQLITE_BUSY;
    if (!busy || mine || !handler_is_ours || left.count() <= 0) return code;
  }
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
