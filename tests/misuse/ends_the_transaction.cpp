// complains: the library begins and ends the transaction|not a constant|constant expression
#include <daybook/daybook.hpp>

void job(daybook::run& run) {
  static_cast<void>(run.step("one", [](daybook::transaction& tx) {
    tx.exec("update ledger set posted = 1");
    tx.exec("-- now or never\n COMMIT");
  }));
}
