// Checks the commands of a file when the file is read, and not at night when they run: is the
// program there, and can a key do harm where the command takes it?
// Thread safety: any thread.
#pragma once

#include "config/settings.hpp"

#include <string>
#include <vector>

namespace command {

struct command_advice {
  enum class hazard {
    missing_program,  ///< could not be started now
    unsafe_key,       ///< the program, or a shell, may take a key for something else
  };
  hazard kind = hazard::missing_program;
  std::string owner;  ///< "queue stock"
  std::string place;  ///< in the file
  std::string text;   ///< what is wrong, and the remedy
};

/// In the order of the file: schedules, then queues. Looks for programs in PATH.
[[nodiscard]] std::vector<command_advice> advice_on_commands(settings const& file);

}  // namespace command
