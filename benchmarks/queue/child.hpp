// A peer's program: it says "ready" when it is connected, works when told to, says "answer ..."
// when all is done (benchmarks/peers/common.mjs). Thread safety: one thread at a time.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include <sys/types.h>

namespace bench {

class child {
 public:
  /// `words`: the program and its arguments. Returns when it is ready.
  /// On failure, everywhere: std::runtime_error, as where the program has ended.
  child(std::vector<std::string> const& words, std::string const& database_url);
  child(child const&) = delete;
  child& operator=(child const&) = delete;
  /// Kills it where it has not ended.
  ~child();

  void go();
  /// The numbers of its answer.
  std::vector<double> answer();
  /// Until it has ended.
  void wait();

 private:
  std::string line();

  std::string name_;
  ::pid_t process_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

}  // namespace bench
