// What the driver of the runs' torture counts, and how it says it. Thread-safe.
#pragma once

#include "proof/torture/record.hpp"
#include "proof/torture/runs/abroad.hpp"
#include "proof/torture/runs/ledger.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace torture {

class report : public record {
 public:
  void add(findings const& found, std::string const& where);
  /// Workers that tried to write after an heir had taken over. How many got through is what the
  /// ledger says.
  void zombies(std::int64_t how_many);
  void took_over(std::chrono::milliseconds after);
  /// How often a lease had to end, once nothing more went wrong, until a run had succeeded.
  void settled_after(std::int64_t leases);
  /// What one kind of fault leads to outside.
  void outside(std::string const& fault, seen_outside const& seen);
  [[nodiscard]] findings found() const;
  void print(std::string const& engine, unsigned seed) const;

 private:
  void print_times() const;
  [[nodiscard]] std::int64_t attempts() const;

  findings found_;
  std::int64_t attempted_ = 0;
  std::vector<std::chrono::milliseconds> take_overs_;
  std::map<std::int64_t, std::int64_t> settled_;
  std::map<std::string, seen_outside> outside_;
};

}  // namespace torture
