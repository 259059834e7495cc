#include "drivers/sqlite/sqlite_changes.hpp"

#include <algorithm>

#include <poll.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds between{4};
constexpr std::int64_t unreadable = -1;

}  // namespace

std::int64_t sqlite_changes::number(::sqlite3& handle) {
  if (!ask_) {
    ::sqlite3_stmt* raw = nullptr;
    ::sqlite3_prepare_v3(&handle, "pragma data_version", -1, SQLITE_PREPARE_PERSISTENT, &raw,
                         nullptr);
    ask_.reset(raw);
  }
  bool const found = ask_ && ::sqlite3_step(ask_.get()) == SQLITE_ROW;
  auto const out = found ? ::sqlite3_column_int64(ask_.get(), 0) : unreadable;
  ::sqlite3_reset(ask_.get());
  return out;
}

bool sqlite_changes::begin(::sqlite3& handle) {
  seen_ = number(handle);
  return seen_ != unreadable;
}

bool sqlite_changes::wait(::sqlite3& handle, steady_clock::time_point until,
                          base::bell const& unless) {
  for (;;) {
    auto const now = number(handle);
    if (now != seen_) {
      seen_ = now;
      return true;
    }
    auto const left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
    if (left <= milliseconds{0}) return false;
    ::pollfd rung{.fd = unless.descriptor(), .events = POLLIN, .revents = 0};
    if (::poll(&rung, 1, static_cast<int>(std::min(left, between).count())) > 0) return false;
  }
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
