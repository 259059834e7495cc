// What belongs to the end of an attempt beside its own row.
// Thread safety: values; both are called by the thread that ends the attempt.
#pragma once

#include "db/session.hpp"

#include <daybook/observer.hpp>
#include <daybook/outcome.hpp>

#include <functional>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace core {

struct beside_end {
  /// Written in the same transaction. It may be called again.
  std::function<void(db::session&, run_state, std::string_view why)> write = {};
  /// Once, when end() has committed that.
  std::function<void(run_event const&)> after = {};
};

}  // namespace core
}  // namespace v1
}  // namespace daybook
