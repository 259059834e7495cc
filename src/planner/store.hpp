// One planner of a book: what people ask of it, and its passes.
// Thread-safe.
#pragma once

#include "core/run/start.hpp"
#include "core/tx/context.hpp"
#include "planner/declarations.hpp"
#include "planner/definition.hpp"
#include "queue/members/store.hpp"

#include <daybook/planner.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace planners {

/// What planners work with, and do not own.
struct surroundings {
  core::context with;
  core::holder* lease;
  core::runs* runs;
  planners::declarations* declared;  ///< by this program
  std::string_view url;              ///< of the book, without its password
};

class keyset;

class store {
 public:
  store(surroundings around, definition definition, std::shared_ptr<queues::store> store)
      : around_(std::move(around)), definition_(std::move(definition)), queue_(std::move(store)) {}

  /// As it was when this was made.
  [[nodiscard]] definition const& declared() const noexcept { return definition_; }
  [[nodiscard]] core::context const& with() const noexcept { return around_.with; }
  [[nodiscard]] queues::store& into() const noexcept { return *queue_; }
  /// Where an inbox has its events from: kept, for it knows of claims whose end is in doubt. Empty:
  /// it is gone.
  [[nodiscard]] std::shared_ptr<queues::store> from(std::string const& queue) const;
  /// The same planner, as it was declared before: goes on with what that one knows of claims.
  /// Before others see this.
  void follow(store const& before) { sources_ = before.sources_; }
  /// Under which process its passes, and what people change, stand.
  [[nodiscard]] std::string process_name() const { return process_of(definition_.name); }

  /// On failure: daybook::error (error_code::configuration) where its SQL is not this program's
  /// own.
  void need_own_sql() const;

  // As planner's verbs.
  [[nodiscard]] std::vector<std::string> advice() const;
  pass_report pass(pass_options const& options) const;
  [[nodiscard]] std::vector<plan_preview> preview(int limit, launch_check const& check) const;
  [[nodiscard]] planner_info info() const;
  [[nodiscard]] std::vector<refused_key> refusals(refusals_query const& query) const;
  [[nodiscard]] std::optional<planned_key> find(key const& key) const;
  bool forget(key const& key, audit_note const& note) const;
  bool pause(bool paused, audit_note const& note) const;
  [[nodiscard]] std::vector<change_info> changes() const;
  // grid.cpp
  [[nodiscard]] std::vector<period_info> grid(grid_query const& query) const;
  [[nodiscard]] timestamp watermark() const;
  bool reopen(key const& period, audit_note const& note) const;
  // sweep_page.cpp
  bool sweep_now(audit_note const& note) const;
  [[nodiscard]] std::vector<sweep_info> sweeps(int limit) const;
  /// On failure: daybook::error (error_code::bad_argument) where it is of another strategy.
  [[nodiscard]] sweep_strategy const& as_sweep() const;
  /// The table it sweeps, as it was a second ago at most: every page asks for it. Which one that is
  /// changes between two sweeps only.
  [[nodiscard]] std::shared_ptr<keyset const> swept(std::int64_t sweep) const;

 private:
  /// The queues from which an inbox had its events.
  struct sources {
    std::mutex guard;
    std::map<std::string, std::shared_ptr<queues::store>> all;
  };

  /// As it is declared now, maybe by another process. On failure: daybook::error
  /// (error_code::bad_argument) where it is gone.
  [[nodiscard]] std::unique_ptr<store> now() const;
  bool change(std::string_view action, std::string_view detail, audit_note const& note,
              std::function<bool(db::session&)> const& guarded) const;

  surroundings around_;
  definition definition_;
  std::shared_ptr<queues::store> queue_;
  std::shared_ptr<sources> sources_ = std::make_shared<sources>();
  mutable std::mutex guard_;
  mutable std::shared_ptr<keyset const> table_;  ///< guarded
  mutable std::int64_t of_sweep_ = 0;
  mutable std::chrono::steady_clock::time_point looked_;
};

/// Makes the planner, or changes it to these options; where a pass under way rests on what changes,
/// after that. On failure: daybook::error (error_code::configuration: that takes too long).
std::shared_ptr<store> make(surroundings const& around, std::string_view name,
                            planner_options const& options);
/// As planner::page().
[[nodiscard]] std::optional<sweep_page> page(std::shared_ptr<store> const& store, key const& task);
/// Empty: there is none of that name.
std::shared_ptr<store> open(surroundings const& around, std::string_view name);
/// The same; the program declares the planner so, and changes nothing in the book.
std::shared_ptr<store> open(surroundings const& around, std::string_view name,
                            planner_options const& declared);

}  // namespace planners
}  // namespace v1
}  // namespace daybook
