// What the driver of the queues' torture counts, and how it says it. Thread-safe.
#pragma once

#include "proof/torture/queues/queue_ledger.hpp"
#include "proof/torture/record.hpp"

#include <string>

namespace torture {

class queue_report : public record {
 public:
  void add(queue_findings const& found, std::string const& where);
  [[nodiscard]] queue_findings found() const;
  void print(std::string const& engine, unsigned seed) const;

 private:
  queue_findings found_;
};

}  // namespace torture
