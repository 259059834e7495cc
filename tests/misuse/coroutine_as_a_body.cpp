// complains: constraints not satisfied|no matching (member )?function
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

void job(daybook::book& book, daybook::run& run) {
  auto body = [&](daybook::transaction&) -> task {
    static_cast<void>(co_await book.start_async(daybook::process{"p"}));
  };
  run.step_async("one", body).get();
}
