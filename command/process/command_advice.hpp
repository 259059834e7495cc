// What a file's commands will meet at night, told when the file is read: a program that is not
// there, and places of a word where a key can do harm.
// Thread safety: any thread.
#pragma once

#include "config/settings.hpp"

#include <string>
#include <vector>

namespace command {

struct command_advice {
  enum class what {
    missing,  ///< the program could not be started now
    unsafe,   ///< a key may be read as something else than a key
  };
  what kind = what::missing;
  std::string owner;  ///< "queue stock"
  std::string place;  ///< in the file
  std::string text;   ///< what is wrong, and the remedy
};

/// In the order of the file's kinds. Looks for programs in PATH.
[[nodiscard]] std::vector<command_advice> advice_on_commands(settings const& file);

}  // namespace command
