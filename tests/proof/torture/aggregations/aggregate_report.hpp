// What the driver of the aggregations' torture counts, and how it says it. Thread-safe.
#pragma once

#include "proof/stories/bricks.hpp"
#include "proof/torture/record.hpp"

#include <string>

namespace torture {

class aggregate_report : public record {
 public:
  void add(bricks::findings const& found, std::string const& where);
  [[nodiscard]] bricks::findings found() const;
  void print(std::string const& engine, unsigned seed) const;

 private:
  bricks::findings found_;
  std::int64_t looks_ = 0;
};

}  // namespace torture
