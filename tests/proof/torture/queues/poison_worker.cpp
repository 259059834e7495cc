// A worker that some tasks kill: those whose key begins with "abort", "loop" or "memory". Each
// begin of a task is a line of LOG first.
//   poison_worker URL LOG           a node of the library, until SIGTERM
//   poison_worker --batch LOG       as a child of `daybook daemon`: JSON lines in, and out
//   poison_worker --task LOG KEY    the same, of one task
#include <daybook/book.hpp>
#include <daybook/node.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;  // it has more memory mapped than any limit allows
#else
constexpr bool sanitized = false;
#endif

void limit(int what, ::rlim_t to) {
  ::rlimit const how{to, to};
  if (::setrlimit(static_cast<__rlimit_resource>(what), &how) != 0) {
    throw std::runtime_error("no limit can be set");
  }
}

/// Ended by the processor time it takes, counted from here: what came before is no poison.
[[noreturn]] void loop() {
  ::rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  limit(RLIMIT_CPU, static_cast<::rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1);
  for (bool volatile ever = true; ever;) {
  }
  std::abort();
}

/// What cannot go on without memory ends the process, as does what calls it.
[[noreturn]] void eat() noexcept {
  if (sanitized) std::raise(SIGKILL);
  ::rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  limit(RLIMIT_AS, pages * static_cast<::rlim_t>(::sysconf(_SC_PAGESIZE)) + (1U << 28U));
  for (std::vector<std::vector<char>> all;;) all.emplace_back(std::size_t{1} << 24U);
}

class tasks {
 public:
  explicit tasks(std::string const& log)
      : log_(::open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {
    if (log_ < 0) throw std::runtime_error(log + " cannot be written");
  }
  void one(std::string const& key) const {
    auto const line = key + "\n";
    if (::write(log_, line.data(), line.size()) < 0) std::abort();
    if (key.starts_with("abort")) std::abort();
    if (key.starts_with("memory")) eat();
    if (key.starts_with("loop")) loop();
    std::this_thread::sleep_for(1ms);
  }

 private:
  int log_;
};

void work(std::string const& url, tasks const& all) {
  ::sigset_t ends;
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  // The driver moves the clock past this lease, when the process is dead.
  daybook::book book(url, {.lease = 30s});
  daybook::node node(book, {.poll = 50ms});
  node.work("poison",
            [&](daybook::job& job) {
              all.one(job.task().key);
              return daybook::result::success();
            },
            {.threads = 2, .claims = {.batch = 30, .flush_every = 50ms, .poll = 50ms}});
  node.start();
  int which = 0;
  ::sigwait(&ends, &which);
  node.stop();
}

void work_batch(tasks const& all) {
  std::string const before = "\"key\":\"";
  for (std::string line; std::getline(std::cin, line);) {
    auto const from = line.find(before) + before.size();
    auto const key = line.substr(from, line.find('"', from) - from);
    all.one(key);
    std::cout << R"({"key":")" << key << R"(","result":"success"})" << std::endl;
  }
}

}  // namespace

int main(int count, char** words) try {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_CORE, 0);
  if (count < 3) throw std::runtime_error("see the head of poison_worker.cpp");
  std::string const first = words[1];
  tasks const all(words[2]);
  if (first == "--batch") {
    work_batch(all);
  } else if (first == "--task") {
    all.one(count > 3 ? words[3] : "");
  } else {
    work(first, all);
  }
} catch (std::exception const& e) {
  std::fprintf(stderr, "poison_worker: %s\n", e.what());
  return 1;
}
