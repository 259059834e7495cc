// A few threads that answer requests, and a short line in front of them: who does not fit in is
// told so at once. Thread safety: any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace command {

class pool {
 public:
  pool(std::size_t threads, std::size_t most_waiting);
  pool(pool const&) = delete;
  pool& operator=(pool const&) = delete;
  /// Does what is in hand, and drops what waits.
  ~pool();

  /// False: the line is full. The work must not throw.
  [[nodiscard]] bool put(std::function<void()> work);

 private:
  void serve();

  std::size_t most_waiting_;
  std::mutex guard_;
  std::condition_variable change_;
  std::deque<std::function<void()>> waiting_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace command
