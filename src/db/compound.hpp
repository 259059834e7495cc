// Several statements as one: what MariaDB calls a compound statement. It begins, executes the parts
// of an entry, commits where the last of them changed or returned a row, and else rolls back: a
// transaction in one round trip.
// Thread-safe.
#pragma once

#include "db/catalogue.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace db {

enum class answers : std::uint8_t { rows, count };

/// The text of it, in MariaDB's words. Where the parts answer with a count, the compound answers
/// with a row that holds it; else with the rows of the last part.
[[nodiscard]] std::string compound(std::vector<std::pair<when, std::string>> const& parts,
                                   answers with);

/// Parts that all run, for a transaction that is open already: only the answer of the last is
/// shown.
[[nodiscard]] std::string compound_within(std::vector<std::pair<when, std::string>> const& parts);

}  // namespace db
}  // namespace v1
}  // namespace daybook
