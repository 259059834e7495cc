// Requests by the name that their sender gave them (Idempotency-Key): a request that is sent again
// has the answer of the first time, and changes nothing. The book keeps the names of changes for
// ever; this keeps the answers for an hour.
// Thread safety: any thread.
#pragma once

#include "http/message.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace command {

class named_requests {
 public:
  /// Begins one; `print` stands for all that it says. Its answer, where it was answered before;
  /// empty: it is to be done, then end() or give_up(). On failure: refusal (409: it is under way,
  /// 422: it said something else).
  [[nodiscard]] std::optional<http_answer> begin(std::string const& name, std::string const& print);
  void end(std::string const& name, http_answer const& answer);
  /// It changed nothing, and may be sent again.
  void give_up(std::string const& name);

 private:
  using clock = std::chrono::steady_clock;
  struct one {
    std::string print;
    std::optional<http_answer> answer;
    clock::time_point at;
  };
  std::mutex guard_;
  std::map<std::string, one> all_;
};

}  // namespace command
