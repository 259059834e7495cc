#include "db/compound.hpp"

namespace daybook {
inline namespace v1 {
namespace db {

std::string compound(std::vector<std::pair<when, std::string>> const& parts, answers with) {
  // The handler, for a failed statement leaves the transaction open.
  std::string out =
      "begin not atomic declare daybook_count bigint default 0; "
      "declare exit handler for sqlexception begin rollback; resignal; end; "
      "start transaction;\n";
  for (std::size_t at = 0; at < parts.size(); ++at) {
    bool const shows_rows = with == answers::rows && at + 1 == parts.size();
    auto const one = parts[at].second + ";\nset daybook_count = " +
                     (shows_rows ? "found_rows();\n" : "row_count();\n");
    out += parts[at].first == when::always ? one : "if daybook_count = 0 then " + one + "end if;\n";
  }
  if (with == answers::count) out += "select daybook_count;\n";
  // Nothing comes after it: what is said of it is said of the whole.
  return out + "if daybook_count > 0 then commit; else rollback; end if; end";
}

std::string compound_within(std::vector<std::pair<when, std::string>> const& parts) {
  std::string out = "begin not atomic\n";
  for (auto const& part : parts) out += part.second + ";\n";
  return out + "end";
}

}  // namespace db
}  // namespace v1
}  // namespace daybook
