// What a query of the application's asks of one of its tables, by its words alone: for advice,
// which a person reads before it is followed. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace planners {

/// A query's names and keywords in their order, keywords in small letters, quotes taken off; "o.id"
/// is one word. Texts, numbers and comments are left out.
[[nodiscard]] std::vector<std::string> words_of(std::string_view query);

/// The table as the query writes it, with its schema, that the engine's plan calls `name`, which
/// may be its alias; `name` itself where the query does not say.
[[nodiscard]] std::string table_called(std::vector<std::string> const& words,
                                       std::string_view name);

/// What stands after the first `where`, or else after the first `on`, each once and in order, then
/// the key, which is the first that is selected: the last parts of names that are a column's in
/// `columns`. `called` is the table or its alias; names qualified by something else are another's.
[[nodiscard]] std::vector<std::string> columns_asked(std::vector<std::string> const& words,
                                                     std::string_view called,
                                                     std::vector<std::string> const& columns);

}  // namespace planners
}  // namespace v1
}  // namespace daybook
