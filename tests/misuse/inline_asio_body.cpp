// complains: use of deleted function|call to deleted function
#include <daybook/asio.hpp>

void job(daybook::run& run, std::string const& text) {
  auto const token = [](std::exception_ptr, daybook::step_result<void>) {};
  daybook::asio::async_step(
      run, "one", [text](daybook::transaction& tx) { tx.exec("insert into t values (:a)", text); },
      token);
}
