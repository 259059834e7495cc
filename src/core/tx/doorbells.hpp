// Who in this process waits for work of which queue: an add() wakes them without the database.
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace daybook {
inline namespace v1 {
namespace core {

class doorbells {
 public:
  using place = std::multimap<std::int64_t, std::function<void()>>::iterator;

  /// `wake` is called by any thread, and not after remove(). It must not throw, nor call this.
  place add(std::int64_t queue, std::function<void()> wake);
  void remove(place place);
  void ring(std::int64_t queue) const;

 private:
  mutable std::mutex guard_;
  std::multimap<std::int64_t, std::function<void()>> waiting_;
};

}  // namespace core
}  // namespace v1
}  // namespace daybook
