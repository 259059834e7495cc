// What the driver of the planners' torture counts, and how it says it. Thread-safe.
#pragma once

#include "proof/torture/planners/plans_ledger.hpp"
#include "proof/torture/record.hpp"

#include <string>

namespace torture {

class plans_report : public record {
 public:
  void add(plan_findings const& found, std::string const& where);
  [[nodiscard]] plan_findings found() const;
  void print(std::string const& engine, unsigned seed) const;

 private:
  plan_findings found_;
};

}  // namespace torture
