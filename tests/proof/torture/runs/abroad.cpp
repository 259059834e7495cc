#include "proof/torture/runs/abroad.hpp"

#include "proof/torture/job.hpp"

#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace torture {

namespace {

/// A step outside, of one run.
struct place {
  std::string step;
  std::string key;
  std::int64_t run_no = 0;
  auto operator<=>(place const&) const = default;
};

struct told {
  std::int64_t calls = 0;
  std::int64_t accepted = 0;
  std::set<std::string> idempotency_keys;
};

struct book_says {
  std::set<place> records;
  std::set<place> intents;
};

bool is_like(std::string const& key, std::string const& keys) {
  if (!keys.ends_with('%')) return key == keys;
  return key.starts_with(std::string_view(keys).substr(0, keys.size() - 1));
}

/// One text of lines "record sent KEY RUN_NO".
std::string question(std::string_view dialect, std::string const& prefix, std::string const& keys) {
  auto const all_of = [&](std::string const& table) {
    return "select '" + table + "' as kind, name, run_key, run_no from " + prefix + table +
           " where name in ('" + sent_step + "', '" + paid_step + "') and run_key like '" + keys +
           "'";
  };
  auto const from = " from (" + all_of("step") + " union all " + all_of("intent") + ") d";
  if (dialect == "mysql") {
    return "select coalesce(group_concat(concat_ws(' ', kind, name, run_key, run_no)"
           " separator '\\n'), '')" +
           from;
  }
  std::string const line = "kind || ' ' || name || ' ' || run_key || ' ' || cast(run_no as text)";
  bool const lite = dialect == "sqlite";
  return "select coalesce(" + std::string(lite ? "group_concat(" : "string_agg(") + line + ", " +
         (lite ? "char(10)" : "chr(10)") + "), '')" + from;
}

book_says read_book(support::fresh_database const& in, std::string const& text) {
  std::istringstream lines(in.query(text));
  book_says out;
  std::string kind;
  for (place one; lines >> kind >> one.step >> one.key >> one.run_no;) {
    (kind == "step" ? out.records : out.intents).insert(one);
  }
  return out;
}

std::map<place, told> read_world(outside const& world, std::string const& keys) {
  std::map<place, told> out;
  for (auto const& one : world.calls()) {
    if (!is_like(one.key, keys)) continue;
    auto& of = out[{one.step, one.key, one.run_no}];
    ++of.calls;
    if (!one.refused) ++of.accepted;
    of.idempotency_keys.insert(one.idempotency_key);
  }
  return out;
}

}  // namespace

seen_outside& seen_outside::operator+=(seen_outside const& other) {
  sent += other.sent;
  sent_again += other.sent_again;
  paid += other.paid;
  refused += other.refused;
  return *this;
}

findings check_outside(support::fresh_database const& in, std::string_view dialect,
                       std::string const& prefix, std::string const& keys, outside const& world,
                       moment when, seen_outside& seen) {
  auto const outside_says = read_world(world, keys);
  auto const book = read_book(in, question(dialect, prefix, keys));
  findings out;
  auto const count = [&](flaw what, bool is_there) {
    if (is_there) ++out.count[static_cast<std::size_t>(what)];
  };
  std::set<std::string> all_keys;
  std::size_t places = 0;
  for (auto const& [at, what] : outside_says) {
    bool const once = at.step == paid_step;
    count(flaw::outside_key, what.idempotency_keys.size() != 1);
    all_keys.insert(what.idempotency_keys.begin(), what.idempotency_keys.end());
    ++places;
    // The intent is committed before the call, and goes only with the record.
    count(flaw::outside_forgotten,
          once && what.accepted > 0 && !book.records.contains(at) && !book.intents.contains(at));
    count(flaw::outside_twice, once && what.accepted > 1);
    (once ? seen.paid : seen.sent) += 1;
    (once ? seen.refused : seen.sent_again) += what.calls - (once ? what.accepted : 1);
  }
  count(flaw::outside_key, all_keys.size() < places);
  if (when == moment::amid) return out;
  for (auto const& at : book.records) {
    auto const found = outside_says.find(at);
    count(flaw::outside_lost, found == outside_says.end() || found->second.accepted == 0);
  }
  return out;
}

}  // namespace torture
