// complains: constraints|no matching function
#include <daybook/daybook.hpp>

void job(daybook::run& run, int* p) {
  static_cast<void>(run.step("one", [p](daybook::transaction&) { return p; }));
}
