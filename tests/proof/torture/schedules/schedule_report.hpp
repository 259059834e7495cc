// What the driver of the schedules' torture counts, and how it says it. Thread-safe.
#pragma once

#include "proof/torture/record.hpp"
#include "proof/torture/schedules/schedule_ledger.hpp"

#include <cstdint>
#include <string>

namespace torture {

class schedule_report : public record {
 public:
  void add(schedule_findings const& found, std::string const& where);
  [[nodiscard]] schedule_findings found() const;
  void print(std::string const& engine, unsigned seed) const;

 private:
  schedule_findings found_;
};

}  // namespace torture
