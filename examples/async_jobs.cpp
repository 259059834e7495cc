// Many jobs at once, without a thread for each: as callbacks, as futures, as coroutines.
//
//   async_jobs [URL]          three times ten reports, each made once
#include <daybook/daybook.hpp>
#include <daybook/future.hpp>

#include <coroutine>
#include <cstdint>
#include <exception>
#include <future>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int reports = 10;

/// The writes of a report. They have a name because step_async takes no closure written in the
/// call.
auto writes(daybook::key const& report) {
  return [name = report.str()](daybook::transaction& tx) {
    tx.exec("insert into report(name) values (:name)", name);
  };
}

// --- Futures: ask for all, then collect ---

void with_futures(daybook::book& book) {
  std::vector<std::future<daybook::start_result>> asked;
  for (int i = 0; i < reports; ++i) {
    daybook::key const report{"future/" + std::to_string(i)};
    asked.push_back(daybook::to_future(book.start_async(daybook::process{"report"}, report)));
  }
  for (auto& one : asked) {
    auto attempt = one.get();  // throws what start() would have thrown
    if (!attempt) continue;    // busy or done: attempt.why()
    auto run = std::move(attempt).take();
    auto write = writes(run.run_key());
    if (!run.step_async("write", write).get()) continue;  // lost
    if (!std::move(run).finish_async().get()) continue;
  }
}

// --- Callbacks: called on the book's thread that did the work; they must not block it ---

void with_callback(daybook::book& book, daybook::key const& report, std::promise<bool>& over) {
  book.start_async(daybook::process{"report"}, report)
      .then([&over](daybook::pending<daybook::start_result> started) {
        try {
          auto attempt = std::move(started).get();
          if (!attempt) return over.set_value(false);
          auto run = std::make_shared<daybook::run>(std::move(attempt).take());
          auto write = writes(run->run_key());
          run->step_async("write", write)
              .then([&over, run](daybook::pending<daybook::step_result<void>> done) {
                try {
                  over.set_value(std::move(done).get() && std::move(*run).finish());
                } catch (...) {
                  over.set_exception(std::current_exception());
                }
              });
        } catch (...) {  // a callback has nobody to throw to
          over.set_exception(std::current_exception());
        }
      });
}

// --- Coroutines: any coroutine type of yours; this is the smallest one that can be waited for ---

struct task {
  struct promise_type {
    std::promise<void> over;
    task get_return_object() { return {over.get_future()}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() { over.set_value(); }
    void unhandled_exception() { over.set_exception(std::current_exception()); }
  };
  std::future<void> over;
};

task with_coroutine(daybook::book& book, daybook::key report) {
  auto attempt = co_await book.start_async(daybook::process{"report"}, report);
  if (!attempt) co_return;
  auto run = std::move(attempt).take();
  auto write = writes(report);  // a body needs a name
  if (!co_await run.step_async("write", write)) co_return;
  if (!co_await std::move(run).finish_async()) co_return;
}

void prepare(daybook::transaction& tx) {
  tx.exec("create table if not exists report(name varchar(40) not null)");
  tx.exec("delete from report");
}

std::int64_t written(daybook::book& book) {
  std::int64_t count = 0;
  book.transact([&](daybook::transaction& tx) {
    count = tx.rows<std::int64_t>("select count(*) from report").at(0);
  });
  return count;
}

}  // namespace

int main(int argc, char** argv) try {
  daybook::book book(argc > 1 ? argv[1] : "sqlite::memory:", {.connections = 3});
  book.migrate();
  book.transact(prepare);

  with_futures(book);

  std::vector<std::promise<bool>> callbacks(reports);
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    with_callback(book, daybook::key{"callback/" + std::to_string(i)}, callbacks[i]);
  }
  std::vector<task> tasks;
  for (int i = 0; i < reports; ++i) {
    tasks.push_back(with_coroutine(book, daybook::key{"coroutine/" + std::to_string(i)}));
  }
  for (auto& one : callbacks) static_cast<void>(one.get_future().get());
  for (auto& one : tasks) one.over.get();

  std::cout << written(book) << " reports, " << 3 * reports << " wanted\n";
  return written(book) == std::int64_t{3} * reports ? 0 : 1;
} catch (std::exception const& e) {
  std::cerr << "async_jobs: " << e.what() << '\n';
  return 70;
}
