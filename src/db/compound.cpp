#include "db/compound.hpp"

namespace daybook {
inline namespace v1 {
namespace db {

namespace {

// The handler, for a failed statement leaves the transaction open.
constexpr std::string_view or_nothing =
    "declare exit handler for sqlexception begin rollback; resignal; end; start transaction;\n";

// A row of an answer travels by itself, before the COMMIT: it wakes the client once more, which is
// a fifth of what a record takes. One is what nearly all find.
constexpr std::string_view count_unless_one =
    "if daybook_count <> 1 then select daybook_count; end if;\n";

}  // namespace

std::string compound(std::vector<std::pair<when, std::string>> const& parts, answers answers) {
  auto out = "begin not atomic declare daybook_count bigint default 0; " + std::string(or_nothing);
  for (std::size_t at = 0; at < parts.size(); ++at) {
    bool const shows_rows = answers == answers::rows && at + 1 == parts.size();
    auto const one = parts[at].second + ";\nset daybook_count = " +
                     (shows_rows ? "found_rows();\n" : "row_count();\n");
    out += parts[at].first == when::always ? one : "if daybook_count = 0 then " + one + "end if;\n";
  }
  if (answers == answers::count) out += count_unless_one;
  // Nothing comes after it: what is said of it is said of the whole.
  return out + "if daybook_count > 0 then commit; else rollback; end if; end";
}

std::string compound_within(std::vector<std::pair<when, std::string>> const& parts,
                            answers answers) {
  std::string out = "begin not atomic\n";
  if (answers == answers::count) out += "declare daybook_count bigint default 0;\n";
  for (auto const& part : parts) out += part.second + ";\n";
  if (answers == answers::count)
    out.append("set daybook_count = row_count();\n").append(count_unless_one);
  return out + "end";
}

executable compound(std::span<call const> calls) {
  executable out;
  out.what.name = calls.front().what->name;
  auto& text = out.what.text = "begin not atomic " + std::string(or_nothing);
  for (auto const& one : calls) {
    out.what.takes_its_time = out.what.takes_its_time || one.what->takes_its_time;
    text.append(one.what->text).append("\n;\n");  // the text may end with a comment
    if (one.asked) text.append("select row_count() as ").append(count_column).append(";\n");
    auto const first = out.values.size();
    for (auto const index : one.what->order) out.what.order.push_back(first + index);
    out.values.insert(out.values.end(), one.values.begin(), one.values.end());
  }
  text += "commit; end";
  out.what.inputs.resize(out.values.size());
  return out;
}

}  // namespace db
}  // namespace v1
}  // namespace daybook
