#include "drivers/sqlite/sqlite_process.hpp"

#include "base/platform.hpp"

#include <daybook/error.hpp>

#include <atomic>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

/// The sessions that are open, and in which process: one number, for a mutex may be copied locked.
constexpr unsigned process_bits = 32;
std::atomic<std::uint64_t> open_sessions = 0;

std::uint64_t count_of(std::uint64_t state) { return state & 0xffff'ffffU; }
std::uint64_t process_of(std::uint64_t state) { return state >> process_bits; }

}  // namespace

sqlite_process::sqlite_process(std::string const& shown) : process_(base::process_id()) {
  auto const here = static_cast<std::uint64_t>(process_);
  auto seen = open_sessions.load();
  do {
    if (count_of(seen) > 0 && process_of(seen) != here) {
      throw error({.kind = error_code::forked, .statement = "connect"},
                  shown +
                      ": this process was forked while its parent had an SQLite database open, and "
                      "SQLite takes the parent's locks for its own here: execute a program in the "
                      "child (exec), or open the first book after the fork");
    }
  } while (
      !open_sessions.compare_exchange_weak(seen, (here << process_bits) | (count_of(seen) + 1)));
}

sqlite_process::~sqlite_process() {
  if (process_ == base::process_id()) --open_sessions;
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
