#include "tables.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace model {

namespace {

/// Every number of a text, whatever is in between.
std::vector<std::int64_t> numbers_in(std::string const& text) {
  std::vector<std::int64_t> out;
  for (std::size_t at = 0; at < text.size();) {
    bool const digit = text[at] >= '0' && text[at] <= '9';
    if (!digit && text[at] != '-') {
      ++at;
      continue;
    }
    std::size_t length = 0;
    out.push_back(std::stoll(text.substr(at, 20), &length));
    at += length;
  }
  return out;
}

std::string differ(row const& expected, covering const& there) {
  bool const suspect = expected.state == daybook::task_state::quarantined;
  std::ostringstream out;
  auto const compare = [&](char const* what, auto is, auto should) {
    if (is != should) out << ' ' << what << " is " << is << " instead of " << should << ';';
  };
  compare("claimed", there.claimed, expected.claim != 0);
  compare("state", there.state, static_cast<int>(expected.state));
  compare("lane", there.lane, expected.priority + (suspect ? 10 : 0));
  compare("attempts", there.attempts, expected.attempts);
  compare("crashes", there.crashes, expected.crashes);
  compare("turn", there.turn, expected.turn);
  compare("due", there.due, expected.due);
  auto const said = out.str();
  return said.empty() ? "" : expected.key + ":" + said;
}

}  // namespace

/// A text of all rows: each engine has a word of its own for this.
std::string tables::all(std::string const& columns, std::string const& rest) {
  auto const handle = on_.native();
  if (std::holds_alternative<::pg_conn*>(handle)) {
    return on_.execute("select string_agg(concat_ws(' ', " + columns + "), ';') from " + rest);
  }
  if (std::holds_alternative<::st_mysql*>(handle)) {
    return on_.execute("set group_concat_max_len = 100000000; select group_concat(concat_ws(' ', " +
                       columns + ") separator ';') from " + rest);
  }
  auto joined = columns;
  for (auto at = joined.find(", "); at != std::string::npos; at = joined.find(", ", at)) {
    joined.replace(at, 2, " || ' ' || ");
  }
  return on_.execute("select group_concat(" + joined + ", ';') from " + rest);
}

std::int64_t tables::id_of(std::string const& queue) {
  return std::stoll(on_.execute("select id from daybook_queue where name = '" + queue + "'"));
}

std::map<std::string, std::int64_t> tables::members(std::int64_t queue) {
  std::istringstream in(
      all("id, member_key", "daybook_member where queue = " + std::to_string(queue)));
  std::map<std::string, std::int64_t> out;
  for (std::string one; std::getline(in, one, ';');) {
    auto const space = one.find(' ');
    out[one.substr(space + 1)] = std::stoll(one.substr(0, space));
  }
  return out;
}

picture tables::look(std::int64_t queue) {
  auto const of_queue = " where queue = " + std::to_string(queue);
  picture out;
  out.members = members(queue);
  auto const found = numbers_in(
      all("lo, hi, lane, state, attempts, crashes, turn_us, due_us", "daybook_segment" + of_queue));
  for (std::size_t i = 0; i + 8 <= found.size(); i += 8) {
    auto const* n = &found[i];
    out.covered.push_back({n[0], n[1], static_cast<int>(n[2]), static_cast<int>(n[3]),
                           static_cast<int>(n[4]), static_cast<int>(n[5]), n[6], n[7], false});
    ++out.segments;
  }
  // Rows of [lo, hi, hi of the segment it was cut from, lane, state, attempts, crashes, turn_us,
  // period_us, due_us].
  auto const taken =
      numbers_in(all("ranges", "daybook_claim" + of_queue + " and reclaimed_us is null"));
  for (std::size_t i = 0; i + 10 <= taken.size(); i += 10) {
    auto const* n = &taken[i];
    out.covered.push_back({n[0], n[1], static_cast<int>(n[3]), static_cast<int>(n[4]),
                           static_cast<int>(n[5]), static_cast<int>(n[6]), n[7], n[9], true});
  }
  std::sort(out.covered.begin(), out.covered.end(),
            [](covering const& a, covering const& b) { return a.lo < b.lo; });
  return out;
}

std::int64_t tables::covered_ids(std::int64_t queue) {
  return std::stoll(
      on_.execute("select coalesce(sum(hi - lo), 0) from daybook_segment where queue = " +
                  std::to_string(queue)));
}

std::int64_t tables::requests(std::int64_t queue) {
  return std::stoll(
      on_.execute("select count(*) from daybook_request where queue = " + std::to_string(queue)));
}

std::int64_t tables::running_ids(std::int64_t queue) {
  std::int64_t sum = 0;
  for (auto const& one : look(queue).covered) sum += one.claimed ? one.hi - one.lo : 0;
  return sum;
}

us tables::next_slot(std::int64_t queue) {
  return std::stoll(
      on_.execute("select slot_next_us from daybook_queue where id = " + std::to_string(queue)));
}

std::int64_t tables::claims_of_the_dead() {
  return std::stoll(
      on_.execute("select count(*) from daybook_claim c join daybook_holder h on h.uuid = c.holder"
                  " where c.reclaimed_us is null and h.ended_us is not null"));
}

std::int64_t tables::forgotten_ledgers() {
  return std::stoll(
      on_.execute("select count(*) from daybook_done d where not exists (select 1 from "
                  "daybook_claim c where c.id = d.claim and c.reclaimed_us is null)"));
}

std::string difference(naive const& expected, picture const& there) {
  for (std::size_t i = 1; i < there.covered.size(); ++i) {
    if (there.covered[i].lo < there.covered[i - 1].hi) {
      return "two segments or claims have the id " + std::to_string(there.covered[i].lo);
    }
  }
  if (there.members.size() != expected.rows.size()) {
    return std::to_string(there.members.size()) + " members instead of " +
           std::to_string(expected.rows.size());
  }
  for (auto const& [id, one] : expected.rows) {
    auto const member = there.members.find(one.key);
    if (member == there.members.end() || member->second != id) return "no member " + one.key;
    auto const above =
        std::upper_bound(there.covered.begin(), there.covered.end(), id,
                         [](std::int64_t at, covering const& c) { return at < c.lo; });
    if (above == there.covered.begin() || std::prev(above)->hi <= id) {
      return "nothing covers " + one.key;
    }
    if (auto said = differ(one, *std::prev(above)); !said.empty()) return said;
  }
  return "";
}

}  // namespace model
