// Which keys of a page are launched: what was launched before, the rule, the checks; and the rows
// that say so. Everything in one transaction that the caller has begun.
// Thread safety: one thread.
#pragma once

#include "core/tx/context.hpp"
#include "db/statement.hpp"
#include "planner/definition.hpp"
#include "queue/members/store.hpp"

#include <daybook/planner.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace planners {

struct decision {
  enum class kind : std::uint8_t {
    launch,  ///< its first instance
    again,   ///< a new turn of its task
    refuse,
    pass_over,  ///< nothing to say: it was launched, once is enough
  };
  kind what = kind::launch;
  std::string why = {};
};

/// What a page has come to.
struct page_sum {
  std::int64_t launched = 0;
  std::int64_t refused = 0;
  std::int64_t present = 0;
};

class launcher {
 public:
  /// `more` is borrowed. On failure: daybook::error (error_code::bad_argument) for a check that
  /// cannot be meant.
  launcher(core::context const& context, definition const& definition, queues::store const& store,
           launch_check const& more);

  /// A decision for each of `page`, whose keys are different; its payloads may be changed.
  [[nodiscard]] std::vector<decision> decide(transaction& tx, std::span<candidate> page) const;
  /// `first`: as queues::store::reserve() gave it for as many.
  page_sum write(db::session& session, std::span<candidate const> page,
                 std::span<decision const> decisions, std::int64_t first) const;
  /// A page was committed: what it launched is passed over where a query gives it once more. A
  /// period comes once, and an event that comes again is another.
  void written(std::span<candidate const> page, std::span<decision const> decisions);

 private:
  void put_earlier(db::session& session, std::span<candidate> page) const;
  [[nodiscard]] decision by_rule(candidate const& candidate) const;
  [[nodiscard]] decision decide_one(transaction& tx, candidate& candidate) const;

  core::context context_;
  definition const* definition_;
  queues::store const* queue_;
  launch_check const* more_;
  std::optional<db::statement> check_;
  /// Hashes of the keys, where the rule might launch them again: two that are alike put one off to
  /// the next pass.
  std::unordered_set<std::size_t> launched_;
};

/// One of each key, in their order.
[[nodiscard]] std::vector<candidate> distinct(std::vector<candidate> page);

}  // namespace planners
}  // namespace v1
}  // namespace daybook
