// Wakes one thread that waits for a descriptor, a socket say, from any other.
// Thread-safe.
#pragma once

namespace daybook {
inline namespace v1 {
namespace base {

class bell {
 public:
  /// On failure: std::system_error, when the process has no descriptors left.
  bell();
  bell(bell const&) = delete;
  bell& operator=(bell const&) = delete;
  ~bell();

  void ring() noexcept;
  /// Forgets that it was rung.
  void silence() noexcept;
  /// Readable while it is rung: for poll(2). The bell's own.
  [[nodiscard]] int descriptor() const noexcept { return ends_[0]; }

 private:
  int ends_[2];  // of a pipe: for reading, for writing
};

}  // namespace base
}  // namespace v1
}  // namespace daybook
