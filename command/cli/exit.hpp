// Exit codes of the command: scripts depend on each number. And the one type that carries such a
// code, with what to say, from where something is found wrong to main().
// Thread safety: values.
#pragma once

#include <daybook/error.hpp>

#include <stdexcept>
#include <string>

namespace command {

namespace exit_code {
inline constexpr int done = 0;
inline constexpr int differs = 1;       ///< what was looked at, or drained, is not as it should be
inline constexpr int usage = 64;        ///< a flag, a number, a missing argument
inline constexpr int bad_data = 65;     ///< a name or a key that cannot be one
inline constexpr int missing = 66;      ///< no such run, no such file
inline constexpr int unreachable = 69;  ///< the database; or an ending that was not recorded
inline constexpr int defect = 70;       ///< of this program
inline constexpr int io = 74;
inline constexpr int busy = 75;  ///< another holder runs it
inline constexpr int not_permitted = 77;
inline constexpr int configuration = 78;
inline constexpr int lost = 79;     ///< ownership, while the child was running
inline constexpr int unknown = 80;  ///< an at-most-once step's outcome
inline constexpr int timed_out = 124;
inline constexpr int cannot_execute = 126;
inline constexpr int not_found = 127;
inline constexpr int signalled = 128;  ///< and the signal's number
}  // namespace exit_code

/// Ends the command with a code. The text names the thing, the place and the remedy.
class complaint : public std::runtime_error {
 public:
  complaint(int code, std::string const& text) : std::runtime_error(text), code_(code) {}
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

/// The exit code of a fault of the library.
[[nodiscard]] constexpr int code_of(daybook::error_code kind) noexcept {
  using daybook::error_code;
  switch (kind) {
    case error_code::bad_argument: return exit_code::bad_data;
    // A lock not had in time is no other holder's run, so it is not 75.
    case error_code::unreachable:
    case error_code::conflict: return exit_code::unreachable;
    case error_code::not_permitted:
    case error_code::read_only: return exit_code::not_permitted;
    case error_code::configuration: return exit_code::configuration;
    case error_code::full:
    case error_code::io: return exit_code::io;
    case error_code::constraint:
    case error_code::statement:
    case error_code::forked:
    case error_code::closed:
    case error_code::internal: break;
  }
  return exit_code::defect;
}

}  // namespace command
