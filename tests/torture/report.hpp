// What the driver counts, and how it says it. Thread-safe.
#pragma once

#include "torture/abroad.hpp"
#include "torture/ledger.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
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
  /// How often a lease had to end, once nothing more went wrong, until a run had succeeded.
  void settled_after(std::int64_t leases);
  /// What one kind of fault leads to outside.
  void outside(std::string const& fault, seen_outside const& seen);
  void note(std::string const& line);
  /// Each of these failpoints times each action must have acted.
  void require_hits(std::vector<std::string_view> const& names,
                    std::vector<std::string> const& actions);

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
  std::map<std::int64_t, std::int64_t> settled_;
  std::map<std::string, seen_outside> outside_;
  std::vector<std::string> failures_;
  std::vector<std::string> notes_;
};

}  // namespace torture
