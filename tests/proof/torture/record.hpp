// What every driver of the torture counts, whatever it tortures: trials, failpoints that were hit,
// what went wrong besides the promises. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace torture {

class record {
 public:
  record(record const&) = delete;
  record& operator=(record const&) = delete;

  void hit(std::string const& failpoint, std::string const& action);
  void trial(std::string const& kind);
  /// Not a breach of a promise seen in the database: a wrong exit code, a failpoint not reached.
  void failure(std::string const& what);
  void note(std::string const& line);
  /// Fails where this failpoint never acted so.
  void require_hit(std::string const& failpoint, std::string const& action);

  [[nodiscard]] std::int64_t trials() const;
  [[nodiscard]] bool failed() const;

 protected:
  record() = default;
  ~record() = default;

  /// "killed 3, stopped 5": how many of each kind.
  [[nodiscard]] std::string kinds() const;
  // For print(), in this order; the caller holds no lock.
  void print_trials(std::string const& engine, unsigned seed) const;
  void print_notes() const;
  void print_sum(std::int64_t violations) const;

  mutable std::mutex guard_;

 private:
  std::map<std::string, std::map<std::string, std::int64_t>> hits_;
  std::map<std::string, std::int64_t> trials_;
  std::vector<std::string> failures_;
  std::vector<std::string> notes_;
};

}  // namespace torture
