// The tables that aggregations come from, bricks that workers move and the pay for them, as they
// stand in each dialect; and what must be true of them at every instant, asked of the tables alone.
// Thread safety: one thread at a time.
#pragma once

#include "proof/stories/pay.hpp"
#include "support/engines.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace bricks {

/// What can be wrong.
enum class flaw : std::size_t {
  sum,       ///< a parent's sum is not that of its rows (A1)
  count,     ///< nor its count (A1)
  owner,     ///< a row of a worker in another's parent (A2)
  state,     ///< a row's state does not go with its parent's, or with its having one
  orphan,    ///< rows of a parent that is not there
  two_open,  ///< open parents of one worker
  changed,   ///< a parent that was closed has other numbers, or is open again
  derived,   ///< a column that follows from the sums or from the group
  unpaid,    ///< at the end: a worker was not paid exactly what he carried
  overflow,  ///< rows were taken whose sum has no room, or anything else changed there (A3)
};
inline constexpr std::size_t flaw_kinds = 10;
inline constexpr std::array<std::string_view, flaw_kinds> flaw_names{
    "sums",     "counts",  "owners",  "states", "orphans",
    "two open", "changed", "derived", "unpaid", "overflow"};

struct findings {
  std::array<std::int64_t, flaw_kinds> count{};
  std::int64_t parents = 0;  ///< looked at
  std::int64_t rows = 0;
  std::string first;  ///< what was wrong, in words

  findings& operator+=(findings const& other);
  void add(flaw what, std::string const& where);
  [[nodiscard]] std::int64_t of(flaw what) const { return count[static_cast<std::size_t>(what)]; }
  [[nodiscard]] std::int64_t all() const;
  [[nodiscard]] std::string text() const;
};

void make_tables(support::fresh_database const& in, std::string_view dialect);

/// What each worker has carried, by whoever wrote it down.
using carried = std::map<std::int64_t, std::int64_t>;

/// A parent, as a snapshot showed it.
struct parent {
  std::int64_t worker = 0;
  std::int64_t count = 0;
  std::int64_t sum = 0;
  int state = 0;
  std::int64_t money = 0;
  std::int64_t boss = 0;
};

class checker {
 public:
  /// On failure, everywhere: std::runtime_error with the server's message.
  checker(std::string const& url, std::string_view dialect);

  /// One statement, so one snapshot. Remembers the parents for the next.
  findings look();
  /// The same, when all is closed and settled.
  findings look_at_the_end(carried const& by);

 private:
  struct picture;
  picture take();
  findings judged(picture const& now);

  support::raw_connection on_;
  std::string dialect_;
  std::map<std::string, parent> before_;
};

}  // namespace bricks
