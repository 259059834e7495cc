// Things that a book keeps while it is open, one for each id: their room says what they are.
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace daybook {
inline namespace v1 {
namespace core {

class registry {
 public:
  /// Calls `change` with the thing of this id, null if there is none, and keeps what it makes of
  /// it; one call at a time. Returns the thing. On failure: what `change` throws; the thing stays.
  template <class T>
  std::shared_ptr<T> keep(std::int64_t id, std::function<void(std::shared_ptr<T>&)> const& change) {
    std::lock_guard const lock(guard_);
    auto& kept = by_id_[id];
    auto thing = std::static_pointer_cast<T>(kept);
    change(thing);
    kept = thing;
    return thing;
  }

 private:
  std::mutex guard_;
  std::map<std::int64_t, std::shared_ptr<void>> by_id_;  ///< all of one room, and of one type
};

}  // namespace core
}  // namespace v1
}  // namespace daybook
