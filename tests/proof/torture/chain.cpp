// Arms a second failpoint when the first has cut a connection or failed: the only way into the
// resolution of a doubt, for the library arms one at a time. And writes down which failpoints are
// passed. The linker (--wrap) leads every call of base::hit_armed_failpoint here; no product code
// knows of it.
#include "proof/torture/job.hpp"

#include <daybook/testing.hpp>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

bool real_hit(std::string_view name) asm(
    "__real__ZN7daybook2v14base19hit_armed_failpointESt17basic_string_viewIcSt11char_traitsIcEE");
bool wrapped_hit(std::string_view name) asm(
    "__wrap__ZN7daybook2v14base19hit_armed_failpointESt17basic_string_viewIcSt11char_traitsIcEE");

namespace {

void arm_the_second() {
  if (char const* const then = std::getenv(torture::then_variable); then != nullptr) {
    std::string const second = then;
    ::unsetenv(torture::then_variable);
    ::setenv("DAYBOOK_FAILPOINT", second.c_str(), 1);
    daybook::testing::arm_from_environment();
  } else if (std::getenv(torture::passed_variable) != nullptr) {
    // Of no effect: what is passed from here on is written down, too.
    daybook::testing::arm(torture::never_acts, daybook::testing::failpoint_action::fail,
                          std::numeric_limits<unsigned>::max());
  }
}

/// A process that is killed here has written it.
void write_down(std::string_view line) {
  if (char const* const file = std::getenv(torture::passed_variable); file != nullptr) {
    std::ofstream(file, std::ios::app) << line << std::endl;
  }
}

}  // namespace

bool wrapped_hit(std::string_view name) {
  write_down(name);
  bool cut = false;
  try {
    cut = real_hit(name);
  } catch (...) {
    write_down(torture::acted_word);
    arm_the_second();
    throw;
  }
  if (cut) write_down(torture::acted_word);
  if (cut) arm_the_second();
  return cut;
}
