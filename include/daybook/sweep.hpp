// Pages of a sweep over a table: the rows of one task, and the state of a sweep. See
// docs/guides/planners.md.
// Thread safety: values; the verbs of a page like those of its planner.
//
//   node.work(queue, [&](daybook::job& job) {
//     plan.page(key(job.task().key)).value().perform(job, [](transaction& tx, auto const& rows) {
//       for (auto const& one : rows) tx.exec("update ...", one[0]);
//     });
//     return daybook::result::success();
//   });
#pragma once

#include <daybook/claim.hpp>
#include <daybook/detail/export.hpp>
#include <daybook/outcome.hpp>
#include <daybook/time.hpp>
#include <daybook/transaction.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace daybook {
inline namespace v1 {

namespace planners {
struct page_in_hand;
}  // namespace planners

/// The key of a row of a table: its columns as texts, in the order of sweep_strategy::key.
using row_key = std::vector<std::string>;

/// The numbers are in the table and never change.
enum class sweep_state : std::uint8_t {
  cutting = 0,
  working = 1,  ///< some pages are not done
  closing = 2,  ///< looks for rows that came meanwhile
  over = 3,     ///< its last task is launched
};

/// "cutting", "working", ...
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(sweep_state state) noexcept;

struct sweep_info {
  std::int64_t number = 0;
  sweep_state state{};
  std::int64_t pages = 0;
  std::int64_t done = 0;         ///< of them
  std::int64_t given_up = 0;     ///< their tasks were discarded or removed by somebody
  std::int64_t failed = 0;       ///< their tasks failed; counted among the first 1000 not done
  std::int64_t rows = 0;         ///< in all pages
  std::int64_t late = 0;         ///< of them, found by comparisons
  std::int64_t vanished = 0;     ///< rows that were gone when their page was worked on
  std::int64_t comparisons = 0;  ///< that have ended
  timestamp started{};
  std::optional<timestamp> ended;
};

/// The rows that one task stands for, as they were when the page was cut.
class DAYBOOK_EXPORT sweep_page {
 public:
  explicit sweep_page(std::shared_ptr<planners::page_in_hand const> inside)
      : inside_(std::move(inside)) {}

  [[nodiscard]] std::int64_t sweep() const noexcept;
  [[nodiscard]] std::int64_t number() const noexcept;
  [[nodiscard]] bool done() const noexcept;  ///< when it was looked up
  /// The keys of the rows, in the order of the table's index.
  [[nodiscard]] std::vector<row_key> const& keys() const noexcept;

  // On failure, all: throw daybook::error.

  /// The keys whose rows are still there: as the transaction sees it, or, without one, now.
  [[nodiscard]] std::vector<row_key> present(transaction& tx) const;
  [[nodiscard]] std::vector<row_key> present() const;
  /// The same, and the page is done when the transaction commits. It must be the transaction that
  /// finishes the task. Missing rows are counted.
  std::vector<row_key> finish_in(transaction& with_its_task) const;

  using body = std::function<void(transaction&, std::vector<row_key> const&)>;

  /// Calls `effect` with the rows that are still there, in a transaction in which the task succeeds
  /// and the page is done: exactly once. `writer` is a daybook::job or a daybook::claimed_task.
  template <class W>
  outcome perform(W& writer, body const& effect) const {
    return writer.perform([&](transaction& tx) { effect(tx, finish_in(tx)); });
  }
  outcome perform(claim& claim, task const& task, body const& effect) const {
    return claim.perform(task, [&](transaction& tx) { effect(tx, finish_in(tx)); });
  }

 private:
  std::shared_ptr<planners::page_in_hand const> inside_;
};

}  // namespace v1
}  // namespace daybook
