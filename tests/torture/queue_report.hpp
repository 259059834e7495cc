// What the driver of the queues' torture counts, and how it says it. Thread-safe.
#pragma once

#include "torture/queue_ledger.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace torture {

class queue_report {
 public:
  void hit(std::string const& failpoint, std::string const& action);
  void trial(std::string const& kind);
  void add(queue_findings const& found, std::string const& where);
  /// Not a breach of a promise: a wrong exit code, a failpoint not reached.
  void failure(std::string const& what);
  void note(std::string const& line);
  [[nodiscard]] std::int64_t hits(std::string const& failpoint, std::string const& action) const;
  [[nodiscard]] queue_findings found() const;
  [[nodiscard]] bool failed() const;
  void print(std::string const& engine, unsigned seed) const;

 private:
  mutable std::mutex guard_;
  std::map<std::string, std::map<std::string, std::int64_t>> hits_;
  std::map<std::string, std::int64_t> trials_;
  queue_findings found_;
  std::vector<std::string> failures_;
  std::vector<std::string> notes_;
};

}  // namespace torture
