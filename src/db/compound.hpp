// Several statements as one: what MariaDB calls a compound statement. It begins, executes the parts
// of an entry, commits where the last of them changed or returned a row, and else rolls back: a
// transaction in one round trip.
// Thread-safe.
#pragma once

#include "db/catalogue.hpp"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace db {

enum class answers : std::uint8_t { rows, count };

/// The text of it, in MariaDB's words. Where the parts answer with a count, the compound answers
/// with a row that holds it, and with none where it is one; else with the rows of the last part.
[[nodiscard]] std::string compound(std::vector<std::pair<when, std::string>> const& parts,
                                   answers answers);

/// Parts that all run, for a transaction that is open already; it answers in the same way.
[[nodiscard]] std::string compound_within(std::vector<std::pair<when, std::string>> const& parts,
                                          answers answers);

/// The column in which a count comes back.
inline constexpr std::string_view count_column = "daybook_count";

/// A statement with its values.
struct executable {
  statement what;
  std::vector<value> values;
};
/// The calls as a transaction, which commits whatever they find. Each that is asked answers with
/// its rows and those of the calls before it that are not asked, and then with a row that holds
/// its count. The statement is named after the first.
[[nodiscard]] executable compound(std::span<call const> calls);

}  // namespace db
}  // namespace v1
}  // namespace daybook
