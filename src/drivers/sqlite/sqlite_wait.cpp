#include "drivers/sqlite/sqlite_wait.hpp"

#include <thread>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// In the way is an application on a connection of its own, or one whose turn was long in coming:
/// both come and go as they like, so that short random pauses let everybody through in the end.
bool writers_wait::pause(int tries) {
  auto const now = clock::now();
  if (tries == 0) since_ = now;
  if (now - since_ >= limit_) return false;
  std::this_thread::sleep_for(std::chrono::microseconds(200) +
                              base::jitter(std::chrono::milliseconds(tries < 20 ? 1 : 5)));
  return true;
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
