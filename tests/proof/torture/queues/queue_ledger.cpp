#include "proof/torture/queues/queue_ledger.hpp"

#include "proof/torture/queues/queue_job.hpp"
#include "proof/torture/rows.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

namespace torture {

namespace {

constexpr int waiting = 0;
constexpr int succeeded = 2;
constexpr int suspect = 6;

struct span {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  int state = 0;
  std::int64_t turn = 0;
  std::string claim;  ///< empty: a segment
};

struct effect {
  std::int64_t task = 0;
  std::int64_t turn = 0;
  std::string claim;
  std::int64_t number = 0;  ///< they were inserted in this order
  auto operator<=>(effect const&) const = default;
};

/// What one snapshot showed.
struct picture {
  std::vector<std::int64_t> members;
  std::map<std::int64_t, std::string> series;  ///< of members that are of one
  std::vector<span> places;                    ///< segments, and ranges of claims in hand
  std::vector<span> told;                      ///< successes in history
  std::vector<span> done;                      ///< successes in ledgers
  std::vector<effect> effects;
  std::int64_t left_over = 0;  ///< rows of ledgers whose claim is over
};

/// The ranges of claims as rows `r`, and a column of theirs.
std::string ranges(std::string_view dialect) {
  if (dialect == "mysql") {
    return "json_table(c.ranges, '$[*]' columns (lo bigint path '$[0]', hi bigint path '$[1]',"
           " turn bigint path '$[7]')) as r";
  }
  return dialect == "sqlite" ? "json_each(c.ranges) as r"
                             : "json_array_elements(c.ranges::json) as r";
}

std::string of_range(std::string_view dialect, int at, std::string const& name) {
  if (dialect == "mysql") return "r." + name;
  return (dialect == "sqlite" ? "r.value ->> " : "(r ->> ") + std::to_string(at) +
         (dialect == "sqlite" ? "" : ")");
}

std::string question(std::string_view dialect, std::string const& queue) {
  auto const is_of = "queue = (select id from daybook_queue where name = '" + queue + "')";
  std::vector<std::string> const parts{
      line(dialect, {"'m'", "id", "member_key"}) + " from daybook_member where " + is_of,
      line(dialect, {"'s'", "lo", "hi", "state", "turn_us"}) + " from daybook_segment where " +
          is_of,
      line(dialect, {"'c'", of_range(dialect, 0, "lo"), of_range(dialect, 1, "hi"), "1",
                     of_range(dialect, 7, "turn"), "c.id"}) +
          " from daybook_claim c cross join " + ranges(dialect) +
          " where c.reclaimed_us is null and c." + is_of,
      line(dialect, {"'o'", "lo", "hi", "state", "turn_us", "claim"}) +
          " from daybook_outcome where " + is_of,
      line(dialect, {"'d'", "d.lo", "d.hi", "d.state", "0", "d.claim"}) +
          " from daybook_done d join daybook_claim c on c.id = d.claim where d.state = 2"
          " and c.reclaimed_us is null and c." +
          is_of,
      line(dialect, {"'l'", "count(*)"}) +
          " from daybook_done d where not exists (select 1 from daybook_claim c"
          " where c.id = d.claim and c.reclaimed_us is null)",
      line(dialect, {"'e'", "task", "turn", "claim", "id"}) + " from task_effect where queue = '" +
          queue + "'"};
  return lines_of(dialect, parts);
}

/// Successes in history: a row stands for its ids that have no narrower row in the same claim.
std::vector<span> successes(std::vector<span> const& history) {
  std::set<std::pair<std::string, std::int64_t>> others;
  for (auto const& one : history) {
    for (auto id = one.lo; one.state != succeeded && id < one.hi; ++id) {
      others.insert({one.claim, id});
    }
  }
  std::vector<span> out;
  for (auto one : history) {
    if (one.state != succeeded) continue;
    auto const end = one.hi;
    for (auto at = others.lower_bound({one.claim, one.lo});
         at != others.end() && at->first == one.claim && at->second < end; ++at) {
      one.hi = at->second;
      if (one.lo < one.hi) out.push_back(one);
      one.lo = at->second + 1;
    }
    one.hi = end;
    if (one.lo < one.hi) out.push_back(one);
  }
  return out;
}

picture look(support::fresh_database const& in, std::string_view dialect,
             std::string const& queue) {
  std::istringstream rows(in.query(question(dialect, queue)));
  picture out;
  for (std::string row; std::getline(rows, row);) {
    std::istringstream words(row);
    std::string kind;
    words >> kind;
    if (kind == "m") {
      std::string key;
      words >> out.members.emplace_back() >> key;
      if (auto const end = key.rfind('/'); end != key.npos) {
        out.series[out.members.back()] = key.substr(0, end);
      }
    } else if (kind == "l") {
      words >> out.left_over;
    } else if (kind == "e") {
      auto& to = out.effects.emplace_back();
      words >> to.task >> to.turn >> to.claim >> to.number;
    } else {
      auto& list = kind == "o" ? out.told : kind == "d" ? out.done : out.places;
      auto& to = list.emplace_back();
      words >> to.lo >> to.hi >> to.state >> to.turn >> to.claim;
    }
  }
  auto const by_lo = [](span const& a, span const& b) { return a.lo < b.lo; };
  out.told = successes(out.told);
  std::sort(out.members.begin(), out.members.end());
  std::sort(out.places.begin(), out.places.end(), by_lo);
  return out;
}

/// The place that covers an id; null: none.
span const* place_of(picture const& what, std::int64_t id) {
  auto const above = std::upper_bound(what.places.begin(), what.places.end(), id,
                                      [](std::int64_t at, span const& one) { return at < one.lo; });
  if (above == what.places.begin()) return nullptr;
  auto const& found = *std::prev(above);
  return id < found.hi ? &found : nullptr;
}

void check_places(picture const& what, queue_findings& to) {
  for (std::size_t at = 1; at < what.places.size(); ++at) {
    if (what.places[at].lo < what.places[at - 1].hi) to.add(queue_flaw::overlap);
  }
  for (auto const id : what.members) {
    if (place_of(what, id) == nullptr) to.add(queue_flaw::uncovered);
  }
}

/// Of members that are there, for a range covers others, too.
template <class F>
void each_living(picture const& what, span const& in, F const& body) {
  auto at = std::lower_bound(what.members.begin(), what.members.end(), in.lo);
  for (; at != what.members.end() && *at < in.hi; ++at) body(*at);
}

void check_effects(picture const& what, bool whole_history, queue_findings& to) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> by_turn;
  std::set<std::pair<std::string, std::int64_t>> by_claim;
  for (auto const& one : what.effects) {
    if (++by_turn[{one.task, one.turn}] > 1) to.add(queue_flaw::duplicate);
    by_claim.insert({one.claim, one.task});
  }
  to.effects += static_cast<std::int64_t>(what.effects.size());
  std::set<std::pair<std::string, std::int64_t>> known;
  for (auto const* const list : {&what.told, &what.done}) {
    for (auto const& one : *list) {
      for (auto id = one.lo; id < one.hi; ++id) known.insert({one.claim, id});
      each_living(what, one, [&](std::int64_t id) {
        if (is_performed(id) && !by_claim.contains({one.claim, id})) to.add(queue_flaw::lost);
      });
    }
  }
  if (!whole_history) return;
  for (auto const& one : what.effects) {
    // What was removed while it was in hand leaves no history.
    bool const is_there = std::binary_search(what.members.begin(), what.members.end(), one.task);
    if (is_there && !known.contains({one.claim, one.task})) to.add(queue_flaw::unrecorded);
  }
}

/// They were all imported, so that ids are the order of adding. What was asked for once more has
/// its place from the first time.
void check_order(picture const& what, queue_findings& to) {
  auto in_order = what.effects;
  std::sort(in_order.begin(), in_order.end(),
            [](effect const& a, effect const& b) { return a.number < b.number; });
  std::set<std::int64_t> had;
  std::map<std::string, std::int64_t> last;
  for (auto const& one : in_order) {
    auto const series = what.series.find(one.task);
    if (series == what.series.end() || !had.insert(one.task).second) continue;
    auto& before = last[series->second];
    if (one.task < before) to.add(queue_flaw::order);
    before = std::max(before, one.task);
  }
}

void check_outside(picture const& what, std::string const& file, queue_findings& to) {
  std::ifstream in(file);
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> calls;
  std::set<std::pair<std::string, std::int64_t>> by_claim;
  for (effect one; in >> one.task >> one.turn >> one.claim;) {
    ++calls[{one.task, one.turn}];
    by_claim.insert({one.claim, one.task});
  }
  for (auto const& [of, count] : calls) {
    ++to.outside;
    to.outside_again += count - 1;
  }
  for (auto const* const list : {&what.told, &what.done}) {
    for (auto const& one : *list) {
      each_living(what, one, [&](std::int64_t id) {
        if (!is_performed(id) && !by_claim.contains({one.claim, id})) to.add(queue_flaw::lost);
      });
    }
  }
}

/// Each living task has succeeded, and history tells of it at that turn; with a period its segment
/// is at the next.
void check_end(picture const& what, bool periodic, bool whole_history, queue_findings& to) {
  std::set<std::pair<std::int64_t, std::int64_t>> told;
  for (auto const& one : what.told) {
    each_living(what, one, [&](std::int64_t id) { told.insert({id, periodic ? 0 : one.turn}); });
  }
  for (auto const id : what.members) {
    auto const* const place = place_of(what, id);
    if (place == nullptr) continue;
    if (!place->claim.empty() || place->state == waiting || place->state == suspect) {
      to.add(queue_flaw::unfinished);
    } else if (place->state == succeeded) {
      bool const is_told = told.contains({id, periodic ? 0 : place->turn});
      if (whole_history && !is_told) to.add(queue_flaw::unfinished);
    }
  }
  for (auto const& one : what.places) {
    if (!one.claim.empty()) to.add(queue_flaw::in_hand);
  }
  to.add(queue_flaw::in_hand, what.left_over);
}

}  // namespace

queue_findings& queue_findings::operator+=(queue_findings const& other) {
  for (std::size_t at = 0; at < queue_flaw_kinds; ++at) count[at] += other.count[at];
  effects += other.effects;
  outside += other.outside;
  outside_again += other.outside_again;
  return *this;
}

std::int64_t queue_findings::all() const {
  return std::accumulate(count.begin(), count.end(), std::int64_t{0});
}

std::string queue_findings::text() const {
  std::string out;
  for (std::size_t at = 0; at < queue_flaw_kinds; ++at) {
    if (count[at] == 0) continue;
    out += (out.empty() ? "" : ", ") + std::string(queue_flaw_names[at]) + " " +
           std::to_string(count[at]);
  }
  return out;
}

void make_task_ledger(support::fresh_database const& in, std::string_view dialect) {
  std::string number = "id bigint primary key auto_increment";
  if (dialect == "sqlite") number = "id integer primary key autoincrement";
  if (dialect == "postgres") number = "id bigserial primary key";
  in.execute("create table task_effect(" + number +
             ", queue varchar(255) not null, task bigint not null, turn bigint not null,"
             " claim varchar(255) not null, pid bigint not null)");
}

queue_findings check_queue(support::fresh_database const& in, std::string_view dialect,
                           std::string const& queue, std::string const& outside, moment when,
                           bool whole_history) {
  auto const what = look(in, dialect, queue);
  queue_findings out;
  check_places(what, out);
  check_effects(what, whole_history, out);
  check_order(what, out);
  check_outside(what, outside, out);
  if (when == moment::at_the_end) check_end(what, is_periodic(queue), whole_history, out);
  return out;
}

}  // namespace torture
