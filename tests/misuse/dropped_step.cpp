// complains: unused-result|nodiscard
#include <daybook/daybook.hpp>

void job(daybook::run& run) {
  run.step("one", [](daybook::transaction&) {});
}
