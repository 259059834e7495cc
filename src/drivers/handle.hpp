// A native handle that is ours to close, or the application's to have back. The sessions do not
// ask which: what differs is here, and in what they set up at the start.
// Thread safety: as the handle's.
#pragma once

#include "drivers/drivers.hpp"

#include <daybook/error.hpp>

#include <string>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// The end of a handle's use; `close` is the end of one that is ours.
template <class N, void (*close)(N*)>
class end_of {
 public:
  end_of() = default;
  explicit end_of(give_back<N> to_application)
      : ours_(false), to_application_(std::move(to_application)) {}

  [[nodiscard]] bool ours() const noexcept { return ours_; }
  /// The application learns that the handle is of no more use.
  void set_broken(bool broken) noexcept { broken_ = broken; }
  void operator()(N* handle) const noexcept {
    if (ours_) {
      close(handle);
    } else if (to_application_) {
      to_application_(handle, broken_);
    }
  }

 private:
  bool ours_ = true;
  bool broken_ = false;
  give_back<N> to_application_;
};

/// A defect of ours: the application begins and ends the transaction that it let us join.
[[noreturn]] inline void refuse_to_end(std::string const& where) {
  throw error({.kind = error_code::internal},
              where + ": the library tried to begin or end a joined transaction");
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
