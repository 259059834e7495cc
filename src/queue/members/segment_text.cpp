#include "queue/members/segment_text.hpp"

#include "base/rows.hpp"
#include "db/row_reader.hpp"

#include <daybook/sql.hpp>

#include <algorithm>
#include <cstddef>

namespace daybook {
inline namespace v1 {
namespace queues {

std::vector<segment> ranges_of(std::string_view column) {
  constexpr std::size_t width = 10;
  auto const numbers = base::numbers_in(column);
  std::vector<segment> out;
  out.reserve(numbers.size() / width);
  for (std::size_t at = 0; at + width <= numbers.size(); at += width) {
    auto const* const n = &numbers[at];
    out.push_back({n[0], n[1], static_cast<int>(n[3]), static_cast<task_state>(n[4]),
                   static_cast<int>(n[5]), static_cast<int>(n[6]), n[7], n[8], n[9]});
  }
  std::sort(out.begin(), out.end(), [](segment const& a, segment const& b) { return a.lo < b.lo; });
  return out;
}

segment segment_of(std::span<cell const> columns) {
  segment out;
  db::row_reader(columns) >> out.lo >> out.hi >> out.lane >> out.state >> out.attempts >>
      out.crashes >> out.turn_us >> out.period_us >> out.due_us;
  return out;
}

std::string text_of(std::span<segment const> segments) {
  base::rows out;
  for (auto const& s : segments) {
    out.begin().add(s.lo).add(s.hi).add(std::int64_t{s.lane});
    out.add(static_cast<std::int64_t>(s.state)).add(std::int64_t{s.attempts});
    out.add(std::int64_t{s.crashes}).add(s.turn_us).add(s.period_us).add(s.due_us);
  }
  return out.text();
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
