// What is written down of sweeps: how each stands, and its pages.
// Thread safety: values.
#pragma once

#include "planner/sources/keyset.hpp"
#include "planner/store.hpp"

#include <daybook/sweep.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace planners {

struct sweep_record {
  std::int64_t number = 0;
  sweep_state state = sweep_state::over;
  place end;  ///< where the last page ends that was cut in order
  std::int64_t pages = 0;
  std::int64_t rows = 0;
  std::int64_t late = 0;
  std::int64_t found = 0;     ///< by the comparison that is under way, or was the last
  std::int64_t compared = 0;  ///< the last page cut in order whose range that has compared
  std::int64_t comparisons = 0;
  std::optional<std::int64_t> ended_us;
  std::int64_t now_us = 0;  ///< when this was read
};

enum class page_state : std::uint8_t { cut = 0, launched = 1, done = 2, given_up = 3 };

/// Its rows are after `low`, up to `high`, and those of `keys`.
struct page_record {
  std::int64_t number = 0;
  std::int64_t base = 0;  ///< the page cut in order in whose range it was found; itself, or another
  page_state state = page_state::cut;
  place low;
  place high;
  std::vector<row_key> keys;
};

struct open_page {
  std::int64_t number = 0;
  page_state state{};
};

/// What a sweep_page holds.
struct page_in_hand {
  std::shared_ptr<store> of;
  std::int64_t sweep = 0;
  page_record page;
  std::shared_ptr<keyset const> table;
};

[[nodiscard]] key key_of_page(std::string_view planner, std::int64_t sweep, std::int64_t page);
[[nodiscard]] key key_of_end(std::string_view planner, std::int64_t sweep);

/// The last one. Empty: there was none.
[[nodiscard]] std::optional<sweep_record> last_sweep(core::context const& context,
                                                     std::int64_t planner);
/// How many of the pages that are not done, in their order, at most.
[[nodiscard]] std::vector<open_page> open_pages(store const& store, std::int64_t sweep,
                                                std::int64_t limit);
/// Empty: there is none.
[[nodiscard]] std::optional<page_record> page_of(store const& store, std::int64_t sweep,
                                                 std::int64_t number);
/// Those cut in order, after one: without their keys.
[[nodiscard]] std::vector<page_record> bases_after(store const& store, std::int64_t sweep,
                                                   std::int64_t after, std::int64_t limit);
/// All that was ever seen in the range of a page that was cut in order.
[[nodiscard]] std::vector<row_key> seen_in(store const& store, std::int64_t sweep,
                                           std::int64_t base);

/// The oldest, where it ended longer ago than the queue keeps its history, and is not the last.
[[nodiscard]] std::optional<std::int64_t> outlived_sweep(store const& store);

// In a transaction.

/// Some of its pages and of what is known of their keys; in the end itself.
void prune(store const& store, db::session& session, std::int64_t sweep);
/// False: one is under way.
bool begin_sweep(store const& store, db::session& session);
void write(store const& store, db::session& session, sweep_record const& now);
void add(store const& store, db::session& session, std::int64_t sweep, page_record const& page);

}  // namespace planners
}  // namespace v1
}  // namespace daybook
