#include "calendar/zone_table.hpp"

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace calendar {

namespace {

using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::year;
using std::chrono::years;

constexpr int years_of_cycle = 400;
/// 400 years of the Gregorian calendar, which are whole weeks too.
constexpr seconds cycle = std::chrono::days{146097};

year year_of(sys_seconds instant) {
  return std::chrono::year_month_day{std::chrono::floor<std::chrono::days>(instant)}.year();
}

sys_seconds new_year(year y) { return sys_days{y / 1 / 1}; }

}  // namespace

zone_table::zone_table() : kinds_{{.offset = {}, .abbreviation = "UTC"}} {}

zone_table::zone_table(std::vector<clock_kind> kinds, std::size_t first,
                       std::vector<change> changes, std::optional<posix_rule> const& rule)
    : kinds_(std::move(kinds)), first_(first), changes_(std::move(changes)) {
  if (rule) follow(*rule);
}

std::size_t zone_table::number_of(clock_kind const& kind) {
  auto const found = std::find(kinds_.begin(), kinds_.end(), kind);
  if (found != kinds_.end()) return static_cast<std::size_t>(found - kinds_.begin());
  kinds_.push_back(kind);
  return kinds_.size() - 1;
}

void zone_table::follow(posix_rule const& rule) {
  auto const standard = number_of(rule.standard);
  if (!rule.summer) {
    if (changes_.empty()) first_ = standard;
    return;
  }
  auto const summer = number_of(rule.summer->kind);
  bool const alone = changes_.empty();
  auto const from = alone ? new_year(year{0}) : changes_.back().at;
  auto const start = std::clamp(year_of(from), year{0}, year{9999});
  std::vector<change> ruled;
  for (auto y = start - years{1}; y <= start + years{years_of_cycle + 6}; ++y) {
    auto const begins = rule.summer->start.in(y).time_since_epoch() - rule.standard.offset;
    auto const ends = rule.summer->end.in(y).time_since_epoch() - rule.summer->kind.offset;
    ruled.push_back({sys_seconds{ends}, standard});
    ruled.push_back({sys_seconds{begins}, summer});
  }
  // Where summer ends in the instant in which the next begins, it goes on: the last one counts.
  std::stable_sort(ruled.begin(), ruled.end(),
                   [](change const& a, change const& b) { return a.at < b.at; });
  auto now = alone ? standard : changes_.back().kind;
  if (alone) first_ = standard;
  bool repeats = false;
  for (std::size_t i = 0; i < ruled.size(); ++i) {
    // The summer that begins after the last of these years is not here to cover anything.
    if (ruled[i].at >= new_year(start + years{years_of_cycle + 5})) break;
    bool const covered = i + 1 < ruled.size() && ruled[i + 1].at == ruled[i].at;
    if (covered || ruled[i].at <= from || ruled[i].kind == now) continue;
    changes_.push_back(ruled[i]);
    now = ruled[i].kind;
    repeats = repeats || ruled[i].at >= new_year(start + years{2});
  }
  if (repeats) cycle_ = new_year(start + years{2});
}

stretch zone_table::listed(sys_seconds instant) const {
  auto const next = std::upper_bound(changes_.begin(), changes_.end(), instant,
                                     [](sys_seconds t, change const& c) { return t < c.at; });
  auto const index = next - changes_.begin();
  auto const kind_at = [&](std::ptrdiff_t i) {
    return i < 0 ? first_ : changes_[static_cast<std::size_t>(i)].kind;
  };
  auto const kind = kind_at(index - 1);
  bool const is_last = next == changes_.end();
  return {.begin = index == 0 ? before_time : std::prev(next)->at,
          .end = is_last ? after_time : next->at,
          .before = kinds_[kind_at(index - 2 < -1 ? -1 : index - 2)].offset,
          .offset = kinds_[kind].offset,
          .after = kinds_[is_last ? kind : next->kind].offset,
          .kind = kind};
}

stretch zone_table::at(sys_seconds instant) const {
  auto const within = std::clamp(instant, before_time, after_time - seconds{1});
  // A year later, so that the change before is of the cycle as well.
  if (!cycle_ || within < *cycle_ + std::chrono::days{366} + cycle) return listed(within);
  auto const back = (within - *cycle_ - std::chrono::days{366}) / cycle * cycle;
  auto found = listed(within - back);
  found.begin += back;
  found.end += back;
  return found;
}

}  // namespace calendar
}  // namespace v1
}  // namespace daybook
