// complains: has no member named .commit.|no member named
#include <daybook/daybook.hpp>

void job(daybook::run& run) {
  static_cast<void>(run.step("one", [](daybook::transaction& tx) { tx.commit(); }));
}
