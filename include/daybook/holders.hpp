// Holders: the processes that work, or have worked, in a book, and what each has in hand.
// Thread safety: values.
//
//   for (auto const& one : book.holders()) {
//     std::cout << one.node << ' ' << one.pid << ' ' << daybook::word_of(one.state) << '\n';
//   }
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {

enum class holder_state : std::uint8_t {
  alive = 0,
  late = 1,  ///< it has not renewed its lease for two thirds of it, and begins nothing until it has
  dead = 2,  ///< its lease is over, and it did not end: others take what it has in hand
  ended = 3,  ///< it closed its book
};
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(holder_state state) noexcept;

/// Whether this process still has its lease.
enum class lease_state : std::uint8_t { held, lost };

/// A run, or tasks of one queue.
enum class work_kind : std::uint8_t { run, tasks };

/// A run that a holder has, or its tasks of one queue.
struct held_work {
  work_kind kind = work_kind::run;
  std::string name;        ///< the run's process, or the queue
  std::string key;         ///< the run's
  std::int64_t tasks = 0;  ///< how many, of the queue
  timestamp since{};       ///< the attempt's start, or the oldest claim's
};

/// A process, from its first work (of a node: from its start) until its book is closed.
struct holder_info {
  std::string holder;  ///< its uuid
  std::string node;    ///< host name
  std::int64_t pid = 0;
  holder_state state = holder_state::alive;
  timestamp started{};
  timestamp renewed{};             ///< the last renewal of its lease
  timestamp until{};               ///< the end of its lease
  std::optional<timestamp> ended;  ///< it ended, or others declared it dead
  std::vector<held_work> work;     ///< in its name, even if it is dead; oldest first
};

struct holders_query {
  bool all = false;  ///< also those that ended, or died, and left nothing behind
};

}  // namespace v1
}  // namespace daybook
