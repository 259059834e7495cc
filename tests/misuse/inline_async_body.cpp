// complains: use of deleted function|call to deleted member function
#include <daybook/daybook.hpp>

void job(daybook::run& run, std::string const& text) {
  run.step_async(
         "one", [text](daybook::transaction& tx) { tx.exec("insert into t(a) values (:a)", text); })
      .get();
}
