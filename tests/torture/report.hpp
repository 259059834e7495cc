// What the driver counts, and how it says it. Thread-safe.
#pragma once

#include "torture/ledger.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace torture {

class report {
 public:
  void hit(std::string const& failpoint, std::string const& action);
  void trial(std::string const& kind);
  void add(findings const& found, std::string const& where);
  /// Not a breach of a promise seen in the database: a wrong exit code, a failpoint not reached.
  void failure(std::string const& what);
  /// Workers that tried to write after an heir had taken over. How many got through is what the
  /// ledger says.
  void zombies(std::int64_t how_many);
  void took_over(std::chrono::milliseconds after);
  void note(std::string const& line);
  /// Every failpoint times every action must have acted.
  void require_hits(std::vector<std::string> const& actions);

  [[nodiscard]] std::int64_t trials() const;
  [[nodiscard]] findings found() const;
  [[nodiscard]] bool failed() const;
  void print(std::string const& engine, unsigned seed) const;

 private:
  mutable std::mutex guard_;
  std::map<std::string, std::map<std::string, std::int64_t>> hits_;
  std::map<std::string, std::int64_t> trials_;
  findings found_;
  std::int64_t attempted_ = 0;
  std::vector<std::chrono::milliseconds> take_overs_;
  std::vector<std::string> failures_;
  std::vector<std::string> notes_;
};

}  // namespace torture
