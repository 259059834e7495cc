#include "benchmarks/queue/bare/bare_delay.hpp"

#include "benchmarks/queue/moments.hpp"
#include "benchmarks/queue/postgres_link.hpp"
#include "benchmarks/queue/tasks.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

#include <poll.h>

namespace bench {

namespace {

using clock = std::chrono::steady_clock;

/// Until something was heard, or a second is over.
void listen(postgres_link const& on) {
  ::pollfd what{.fd = PQsocket(on.raw()), .events = POLLIN, .revents = 0};
  ::poll(&what, 1, 1000);
  PQconsumeInput(on.raw());
  while (auto* const heard = PQnotifies(on.raw())) PQfreemem(heard);
}

/// Claims what there is, up to a hundred; the moments at which they began, by the task's number.
void work(postgres_link& on, std::vector<clock::time_point>& begun) {
  long claim = 0;
  for (std::size_t done = 0; done < begun.size();) {
    auto const number = std::to_string(++claim);
    auto const got = on.run("claim", {"100", number, "1", "100", "-infinity"});
    if (PQntuples(got.get()) == 0) {
      listen(on);
      continue;
    }
    auto const now = clock::now();
    for (int row = 0; row < PQntuples(got.get()); ++row, ++done) {
      auto const payload = words(got.get(), row, 1);
      auto const at = payload.find_first_of("0123456789");
      begun.at(std::stoul(std::string(payload.substr(at + 1, 10)))) = now;
    }
    auto const ended = on.run("complete", {number, "1", "{}", "{}"});
    if (big(ended.get(), 0, 0) != 1) throw std::runtime_error("the tasks were lost");
  }
}

}  // namespace

delay bare_start_delay(std::string const& url, std::string const& enqueue, std::string const& claim,
                       std::string const& complete, int samples, double gap_ms) {
  auto const count = static_cast<std::size_t>(samples);
  postgres_link from(url);
  postgres_link to(url);
  from.prepare("enqueue", enqueue);
  from.prepare("notify", "notify task");
  to.prepare("claim", claim);
  to.prepare("complete", complete);
  to.text("listen task");
  std::vector<clock::time_point> begun(count);
  std::vector<clock::time_point> given(count);
  std::exception_ptr failure;
  std::thread worker([&] {
    try {
      work(to, begun);
    } catch (...) {
      failure = std::current_exception();
    }
  });
  at_random_moments(samples, gap_ms, [&](std::size_t at) {
    given[at] = clock::now();
    auto quoted = "{\"" + payload_of(static_cast<long>(at));
    for (auto quote = quoted.find('"', 2); quote != std::string::npos;
         quote = quoted.find('"', quote + 2)) {
      quoted.insert(quote, "\\");
    }
    from.pipeline();
    from.send("enqueue", {"{" + key_of(static_cast<long>(at)) + "}", quoted + "\"}"});
    from.send("notify", {});
    from.sync();
    from.answer();
    from.answer();
    from.end();
  });
  worker.join();
  if (failure) std::rethrow_exception(failure);
  return delay_of(given, begun, count);
}

}  // namespace bench
