// Claims of this process that it no longer has in hand, and could not end.
// Thread safety: values.
#pragma once

#include "core/lease/holder.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace daybook {
inline namespace v1 {
namespace queues {

enum class orphaned : std::uint8_t {
  before_work,  ///< nobody has had one of its tasks
  in_work,      ///< some were begun, or finished, which its ledger need not know
};

struct orphan {
  std::string claim;
  std::string holder;
  orphaned when{};
  std::shared_ptr<core::claim_mark> mark;
};

}  // namespace queues
}  // namespace v1
}  // namespace daybook
