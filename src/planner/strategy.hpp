// The strategies: where the keys of a pass come from. Each has a source of its own (query.cpp,
// ...). Thread safety: one thread.
#pragma once

#include "planner/launcher.hpp"
#include "planner/store.hpp"

#include <daybook/planner.hpp>

#include <functional>
#include <stop_token>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace planners {

/// What else happens in the transaction that launches a page; it may be called again.
using beside_page = std::function<void(db::session&, std::span<decision const>)>;

/// What a source is asked to fill: a pass, or a preview.
class sink {
 public:
  sink() = default;
  sink(sink const&) = delete;
  sink& operator=(sink const&) = delete;
  virtual ~sink() = default;
  /// Decides about the keys and, in a pass, launches them in one transaction. False: no more, for
  /// now. On failure: throws, and nothing of this page stays.
  virtual bool take(std::vector<candidate> page, beside_page const& also = {}) = 0;
  /// A key about which nothing could be decided: its check threw. What it is tried by again is its
  /// source's affair.
  virtual void fail(std::string_view key, std::string_view why) = 0;
  /// A transaction of the pass's own in which its run is still held; not in a preview.
  virtual bool write(std::function<void(db::session&)> const& body) = 0;
  /// Whoever waits for the source to end asks here; what runs for long heeds it.
  [[nodiscard]] virtual std::stop_token stopping() const = 0;
  /// A preview changes nothing.
  [[nodiscard]] virtual bool only_looks() const noexcept = 0;
};

/// False: stopped before its end.
bool feed(store const& store, query_strategy const& strategy, sink& sink);
bool feed(store const& store, inbox_strategy const& strategy, sink& sink);
bool feed(store const& store, window_strategy const& strategy, sink& sink);
bool feed(store const& store, sweep_strategy const& strategy, sink& sink);

/// What only the database can say about a declaration. On failure: daybook::error
/// (error_code::bad_argument) that names what does not fit.
void examine(surroundings const& around, std::string_view name, planner_options const& options);

}  // namespace planners
}  // namespace v1
}  // namespace daybook
