// The queues that a book was asked for: one store each while the book is open, so that what one
// handle has left behind the next looks after, however long that one lived.
// Thread-safe.
#pragma once

#include "core/lease/holder.hpp"
#include "core/tx/context.hpp"
#include "queue/model/row.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace queues {

class store;

class opened {
 public:
  /// That of the queue whose row was just read.
  std::shared_ptr<store> of(core::context const& context, core::holder& lease,
                            std::string_view name, row row);

 private:
  std::mutex guard_;
  std::map<std::int64_t, std::shared_ptr<store>> by_id_;
};

}  // namespace queues
}  // namespace v1
}  // namespace daybook
