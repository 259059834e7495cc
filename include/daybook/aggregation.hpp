// Rows of a table of yours, added up into parent rows: each row once, every sum exact, every step
// reversible until it is settled. See docs/guides/aggregations.md.
// Thread safety: any thread may call, any number of processes at a time. Lifetime: the book must
// outlive it.
//
//   auto pay = book.make_aggregation("pay", declared);
//   pay.aggregate();
//   pay.close_all({.actor = "alice", .reason = "month's end"});
//   pay.settle("P01HF...", {.actor = "alice"});
#pragma once

#include <daybook/aggregation_options.hpp>
#include <daybook/detail/export.hpp>
#include <daybook/operate.hpp>
#include <daybook/time.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {

namespace aggregations {
class store;
}  // namespace aggregations

/// Rows that were left free, because they cannot be taken. They do not stop other groups.
struct refused_rows {
  std::string group;  ///< its values, separated by ", "
  std::string row;    ///< the key of the first of them
  std::string why;    ///< "move_num is null", "move_sum would be more than 2147483647"
};

struct aggregate_report {
  std::int64_t rows = 0;                   ///< taken
  std::int64_t parents = 0;                ///< made
  std::int64_t chunks = 0;                 ///< transactions that took something
  std::vector<refused_rows> refused = {};  ///< at most 100, one for each group
  bool complete = true;                    ///< false: asked to stop before the end
};

struct aggregate_options {
  /// Adds to no parent that was open before; closes it if its group has new rows.
  bool new_parent = false;
  std::string actor = {};
  std::stop_token stop = {};
  /// Called after each chunk with what was done so far.
  std::function<void(aggregate_report const&)> on_progress = {};
};

/// A group as aggregate() would take it now.
struct group_preview {
  std::string group;
  std::int64_t rows = 0;
  std::vector<std::string> sums;      ///< in the order declared, exact, of any size
  std::optional<std::string> parent;  ///< that is open and would be added to
  std::string refused;                ///< why not, if so
};

/// The answer of a verb on one parent.
enum class settling : std::uint8_t {
  done = 0,
  before = 1,   ///< it was so already, and nothing was changed
  none = 2,     ///< there is no such parent
  open = 3,     ///< close it first
  settled = 4,  ///< cannot be undone
  voided = 5,   ///< it was reverted
  differs = 6,  ///< it does not match its rows: see verify()
  closed = 7,   ///< no row of it can be removed
};
/// "done", "before", ...
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(settling way) noexcept;

/// A difference between a parent and its rows.
struct difference {
  enum class kind : std::uint8_t {
    count,          ///< the parent's count is not that of its rows
    sum,            ///< a sum is not theirs
    state,          ///< a row's state does not go with its parent's
    group,          ///< a row is of another group than its parent
    orphan,         ///< rows name a parent that is not there
    unlinked,       ///< rows are taken and name no parent, or are free and name one
    unknown_state,  ///< a state that was not declared
    two_open,       ///< a parent that is open and was not made by us, or is forgotten
    gone,           ///< a parent that is neither settled nor void is not there
  };
  kind what{};
  std::string parent;
  std::string group;
  std::string column;    ///< which count, sum or state
  std::string expected;  ///< what its rows say
  std::string found;     ///< what it says
  std::string row;       ///< an example, where one row is wrong
};
/// "count", "sum", ...
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(difference::kind kind) noexcept;

struct verify_report {
  std::int64_t parents = 0;
  std::int64_t rows = 0;
  std::vector<difference> differences = {};  ///< at most `limit`
  bool complete = true;                      ///< false: there are more
};

struct aggregated_row {
  std::string key;
  std::string state;
  std::vector<std::optional<std::string>> amounts;
};

/// One entry of the history.
struct aggregation_event {
  enum class kind : std::uint8_t { aggregate = 1, close, settle, revert, remove };
  std::int64_t id = 0;
  timestamp at{};
  kind what{};
  std::string parent;     ///< empty for a chunk
  std::int64_t rows = 0;  ///< how many it concerned
  std::string actor;
  std::string reason;
  std::string detail;  ///< "move_sum 1200" of a parent that was reverted, "2 parents" of a chunk
};
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(aggregation_event::kind kind) noexcept;

struct parent_info {
  std::string key;
  std::string group;
  std::string state;  ///< the value in its state column
  std::optional<std::int64_t> count;
  std::vector<std::string> sums;
  timestamp opened{};
};

struct parents_query {
  std::optional<state_value> state = {};
  std::string after = {};  ///< the last key of the page before
  int limit = 100;         ///< 1 to 10 000
};

class DAYBOOK_EXPORT aggregation {
 public:
  explicit aggregation(std::shared_ptr<aggregations::store> inside) : inside_(std::move(inside)) {}

  [[nodiscard]] std::string const& name() const noexcept;
  [[nodiscard]] aggregation_options const& options() const noexcept;
  /// Missing indexes that would help, as `create index` statements to read.
  [[nodiscard]] std::vector<std::string> advice() const;

  // On failure, all: throws daybook::error, and the transaction has changed nothing.

  /// Takes every row that is free when it is called and that no other transaction holds, chunk by
  /// chunk, each a transaction: rows, their parents' counts and sums, a line of history. The next
  /// call takes what others held.
  aggregate_report aggregate(aggregate_options const& options = {});
  /// The rows that aggregate() would take; writes nothing. At most `limit` groups, in their order.
  [[nodiscard]] std::vector<group_preview> preview(int limit = 1000) const;

  // One transaction each. May be repeated: settling::before.

  /// Closes the parent: no more rows are added.
  settling close(std::string_view parent, audit_note const& note);
  /// Closes each open parent; returns how many.
  std::int64_t close_all(audit_note const& note);
  /// Settles the parent and its rows together, after its count and sums were found equal to theirs.
  settling settle(std::string_view parent, audit_note const& note);
  /// Frees its rows and makes it void, with a count and sums of 0; the history keeps the old ones.
  /// For an open or closed parent.
  settling revert(std::string_view parent, audit_note const& note);
  /// Frees one row of a parent that is open; its count and sums become those of the rest.
  settling remove(std::string_view row, audit_note const& note);

  [[nodiscard]] std::optional<parent_info> find(std::string_view parent) const;
  [[nodiscard]] std::vector<parent_info> parents(parents_query const& query = {}) const;
  /// A page of a parent's rows in the order of their keys, after `after`.
  [[nodiscard]] std::vector<aggregated_row> rows(std::string_view parent,
                                                 std::string_view after = {},
                                                 int limit = 1000) const;
  /// Empty: the row is free, or not there.
  [[nodiscard]] std::optional<std::string> parent_of(std::string_view row) const;
  /// Compares every parent with its rows, in one snapshot.
  [[nodiscard]] verify_report verify(int limit = 1000) const;
  /// Newest first, of one parent or (empty) of all; after the first page `before` is the id of the
  /// last page's last.
  [[nodiscard]] std::vector<aggregation_event> history(std::string_view parent = {},
                                                       int limit = 100,
                                                       std::int64_t before = 0) const;

 private:
  std::shared_ptr<aggregations::store> inside_;
};

}  // namespace v1
}  // namespace daybook
