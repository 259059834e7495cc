// compiles
#include <daybook/daybook.hpp>

struct task {
  struct promise_type {
    task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

void named(daybook::transaction& tx) { tx.exec("delete from t"); }

task job(daybook::book& book, std::string text) {
  auto attempt = co_await book.start_async(daybook::process{"p"}, daybook::key{"k"});
  if (!attempt) co_return;
  auto run = std::move(attempt).take();
  auto body = [text](daybook::transaction& tx) {
    return tx.exec("insert into t(a) values (:a)", text);
  };
  auto const counted = co_await run.step_async("one", body);
  if (!counted || counted.value() != 1) co_return;
  if (!co_await run.step_async("two", named)) co_return;
  static_cast<void>(co_await std::move(run).finish_async());
}
