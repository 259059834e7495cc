// Rules of the library that a build for the tests leaves out, so that the tests can show that they
// would notice. In every other build no rule is ever left out, at no cost.
// Thread-safe.
#pragma once

#include <cstdlib>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace base {

/// Whether the rule named so is left out: by DAYBOOK_MUTANT in the environment, and only in files
/// built with the macro DAYBOOK_MUTANTS.
[[nodiscard]] inline bool left_out([[maybe_unused]] std::string_view rule) noexcept {
#ifdef DAYBOOK_MUTANTS
  char const* const chosen = std::getenv("DAYBOOK_MUTANT");
  return chosen != nullptr && rule == chosen;
#else
  return false;
#endif
}

}  // namespace base
}  // namespace v1
}  // namespace daybook
