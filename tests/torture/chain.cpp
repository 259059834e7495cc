// Arms a second failpoint when the first has cut a connection or failed: the only way into the
// resolution of a doubt, for the library arms one at a time. The linker (--wrap) leads every call
// of base::hit_armed_failpoint here; no product code knows of it.
#include "torture/job.hpp"

#include <daybook/testing.hpp>

#include <cstdlib>
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
  }
}

}  // namespace

bool wrapped_hit(std::string_view name) {
  bool cut = false;
  try {
    cut = real_hit(name);
  } catch (...) {
    arm_the_second();
    throw;
  }
  if (cut) arm_the_second();
  return cut;
}
