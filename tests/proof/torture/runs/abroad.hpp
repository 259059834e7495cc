// What must be true of the world outside and of the book, together (C3).
#pragma once

#include "proof/torture/runs/ledger.hpp"
#include "proof/torture/runs/outside.hpp"

#include <cstdint>
#include <string>

namespace torture {

/// What was seen outside; nothing here is wrong.
struct seen_outside {
  std::int64_t sent = 0;        ///< runs whose at-least-once step was called
  std::int64_t sent_again = 0;  ///< its calls beyond the first
  std::int64_t paid = 0;        ///< runs whose at-most-once step was called
  std::int64_t refused = 0;     ///< its calls of attempts that somebody had asked after

  seen_outside& operator+=(seen_outside const& other);
};

/// The file is read first and the book then, in one statement. Keys as in check().
findings check_outside(support::fresh_database const& in, std::string_view dialect,
                       std::string const& prefix, std::string const& keys, outside const& world,
                       moment when, seen_outside& seen);

}  // namespace torture
