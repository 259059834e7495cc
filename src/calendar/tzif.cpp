#include "calendar/tzif.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace calendar {

namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

/// Thrown and caught in this file only; `why` is a literal.
struct bad {
  std::string_view why;
};

class zone_reader {
 public:
  explicit zone_reader(std::string_view bytes) : left_(bytes) {}

  std::string_view take(std::size_t count) {
    if (count > left_.size()) throw bad{"it is cut short"};
    auto const taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }
  unsigned byte() { return static_cast<unsigned char>(take(1).front()); }
  /// Big-endian, two's complement.
  std::int64_t integer(std::size_t width) {
    std::uint64_t value = 0;
    for (char const c : take(width)) value = value << 8U | static_cast<unsigned char>(c);
    auto const unused = 64U - 8U * static_cast<unsigned>(width);
    return static_cast<std::int64_t>(value << unused) >> unused;
  }
  [[nodiscard]] std::string_view left() const { return left_; }

 private:
  std::string_view left_;
};

struct header {
  char version = 0;
  std::size_t universal = 0;
  std::size_t standard = 0;
  std::size_t leaps = 0;
  std::size_t changes = 0;
  std::size_t kinds = 0;
  std::size_t letters = 0;

  /// What follows it, in bytes, where an instant has `width`.
  [[nodiscard]] std::size_t size(std::size_t width) const {
    return changes * (width + 1) + kinds * 6 + letters + leaps * (width + 4) + standard + universal;
  }
};

header read_header(zone_reader& reader) {
  header found;
  if (reader.left().size() < 5 || reader.take(4) != "TZif") throw bad{"it is no zone file"};
  found.version = reader.take(1).front();
  reader.take(15);
  for (auto* count : {&found.universal, &found.standard, &found.leaps, &found.changes, &found.kinds,
                      &found.letters}) {
    auto const value = reader.integer(4);
    // No zone has so many; and so no sum of sizes can overflow.
    if (value < 0 || value > 65536) throw bad{"a count in its header is too large"};
    *count = static_cast<std::size_t>(value);
  }
  if (found.kinds == 0 || found.kinds > 256) throw bad{"it has no local time, or too many"};
  if (found.letters == 0) throw bad{"it has no abbreviation"};
  if (found.standard != 0 && found.standard != found.kinds) throw bad{"its counts disagree"};
  if (found.universal != 0 && found.universal != found.kinds) throw bad{"its counts disagree"};
  return found;
}

std::vector<sys_seconds> read_instants(zone_reader& reader, header const& head, std::size_t width) {
  std::vector<sys_seconds> found;
  auto last = std::int64_t{0};
  for (std::size_t i = 0; i < head.changes; ++i) {
    auto const value = reader.integer(width);
    if (i > 0 && value <= last) throw bad{"its changes are not in their order"};
    last = value;
    found.emplace_back(seconds{value});
  }
  return found;
}

std::vector<std::size_t> read_numbers(zone_reader& reader, header const& head) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < head.changes; ++i) {
    found.push_back(reader.byte());
    if (found.back() >= head.kinds) throw bad{"a change is to a local time that it does not have"};
  }
  return found;
}

std::vector<clock_kind> read_kinds(zone_reader& reader, header const& head) {
  std::vector<clock_kind> found;
  std::vector<std::size_t> names;
  for (std::size_t i = 0; i < head.kinds; ++i) {
    auto const offset = seconds{reader.integer(4)};
    if (offset > most_offset || offset < -most_offset) throw bad{"an offset is over 26 hours"};
    auto const daylight = reader.byte();
    if (daylight > 1) throw bad{"a local time is neither standard nor daylight saving"};
    names.push_back(reader.byte());
    found.push_back({.offset = offset, .abbreviation = {}, .daylight = daylight == 1});
  }
  auto const letters = reader.take(head.letters);
  for (std::size_t i = 0; i < head.kinds; ++i) {
    auto const end =
        names[i] < letters.size() ? letters.find('\0', names[i]) : std::string_view::npos;
    if (end == std::string_view::npos) throw bad{"an abbreviation has no end"};
    found[i].abbreviation = letters.substr(names[i], end - names[i]);
  }
  return found;
}

/// Between two line feeds; empty: there is no rule, and nothing changes after the last change.
std::optional<posix_rule> read_footer(std::string_view left) {
  if (left.size() < 2 || left.front() != '\n') throw bad{"its footer is missing"};
  auto const end = left.find('\n', 1);
  if (end == std::string_view::npos) throw bad{"its footer has no end"};
  auto const text = left.substr(1, end - 1);
  if (text.empty()) return std::nullopt;
  auto rule = read_posix_rule(text);
  if (!rule) throw bad{"its footer is no rule of POSIX"};
  return rule;
}

zone_table read_all(std::string_view bytes) {
  zone_reader from(bytes);
  auto head = read_header(from);
  std::size_t width = 4;
  if (head.version != '\0') {
    from.take(head.size(width));
    head = read_header(from);
    width = 8;
  }
  if (head.leaps != 0) throw bad{"it counts leap seconds: name the zone without right/"};
  auto const instants = read_instants(from, head, width);
  auto const numbers = read_numbers(from, head);
  auto kinds = read_kinds(from, head);
  from.take(head.standard + head.universal);
  auto const rule = width == 8 ? read_footer(from.left()) : std::nullopt;
  std::size_t first = 0;
  std::vector<change> changes;
  for (std::size_t i = 0; i < instants.size(); ++i) {
    if (instants[i] >= after_time) throw bad{"a change is in no year"};
    if (instants[i] <= before_time) {
      first = numbers[i];
    } else {
      changes.push_back({instants[i], numbers[i]});
    }
  }
  return {std::move(kinds), first, std::move(changes), rule};
}

}  // namespace

tzif read_tzif(std::string_view bytes) {
  try {
    return {read_all(bytes), {}};
  } catch (bad const& wrong) {
    return {std::nullopt, wrong.why};
  }
}

}  // namespace calendar
}  // namespace v1
}  // namespace daybook
