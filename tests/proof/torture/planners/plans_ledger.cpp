#include "proof/torture/planners/plans_ledger.hpp"

#include <daybook/transaction.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

namespace torture {

namespace {

using daybook::task_state;
using counted = std::map<std::string, int>;
using ids = std::set<std::string>;

class checking {
 public:
  checking(daybook::book& in, std::string const& trial) : in_(in), trial_(trial) {}

  plan_findings all(std::vector<plan> const& plans) {
    for (auto const which : plans) {
      switch (which) {
        case plan::orders: orders(); break;
        case plan::sales: sales(); break;
        case plan::minutes: minutes(); break;
        case plan::customers: customers(); break;
      }
      unfinished(queue_of(which, trial_));
    }
    unfinished(events_of(trial_));
    return std::move(found_);
  }

 private:
  /// The first column: ids of the trial, or of the kind that is named.
  template <class... A>
  ids ids_of(daybook::sql query, A const&... arguments) {
    ids out;
    in_.transact([&](daybook::transaction& tx) {
      out.clear();
      for (auto const one : tx.rows<std::int64_t>(query, arguments...)) {
        out.insert(std::to_string(one));
      }
    });
    return out;
  }
  /// What was done by a plan's tasks: which task it was, and of which item.
  std::vector<std::tuple<std::string, std::string>> effects(plan which) {
    std::vector<std::tuple<std::string, std::string>> out;
    in_.transact([&](daybook::transaction& tx) {
      out = tx.rows<std::tuple<std::string, std::string>>(
          "select task, item from effect where queue = :queue", queue_of(which, trial_));
    });
    return out;
  }
  /// How often each task was done.
  counted done(plan which) {
    counted out;
    for (auto const& [task, item] : effects(which)) {
      if (item.empty()) ++out[task];
    }
    return out;
  }

  /// Each of `wanted` once, and nothing else.
  void each_once(std::string const& what, ids const& wanted, counted const& done) {
    for (auto const& one : wanted) {
      if (!done.contains(one)) found_.add(plan_flaw::missed, what + " " + one);
    }
    for (auto const& [one, times] : done) {
      if (times > 1) found_.add(plan_flaw::doubled, what + " " + one);
      if (!wanted.contains(one)) found_.add(plan_flaw::of_none, what + " " + one);
    }
  }

  void orders() {
    auto const paid =
        ids_of("select id from orders where trial = :trial and state = 'paid'", trial_);
    each_once("order", paid, done(plan::orders));
    found_.orders += static_cast<std::int64_t>(paid.size());
  }

  /// Its event stands so, with these words.
  void ended(daybook::queue const& events, std::string const& id, task_state state,
             std::string const& why) {
    auto const event = events.find(daybook::key(id));
    if (!event) return found_.add(plan_flaw::missed, "event " + id);
    if (event->state != state || event->remark.find(why) == std::string::npos) {
      found_.add(plan_flaw::reason, "event " + id + " is " + std::string(word_of(event->state)) +
                                        " '" + event->remark + "'");
    }
  }

  void sales() {
    auto const events = in_.queue(events_of(trial_)).value();
    auto const of_kind = [&](std::string const& kind) {
      return ids_of("select id from sale where trial = :trial and kind = :kind", trial_, kind);
    };
    auto const good = of_kind(good_sale);
    auto const refused = of_kind(refused_sale);
    auto const broken = of_kind(broken_sale);
    each_once("sale", good, done(plan::sales));
    for (auto const& one : good) ended(events, one, task_state::succeeded, "");
    for (auto const& one : refused) ended(events, one, task_state::discarded, refusal_of_sale);
    for (auto const& one : broken) ended(events, one, task_state::dead, fault_of_sale);
    auto const tasks = in_.queue(queue_of(plan::sales, trial_)).value().counts().members;
    none_more("tasks of sales", tasks, good.size());
    none_more("events", events.counts().members, good.size() + refused.size() + broken.size());
    found_.events += static_cast<std::int64_t>(good.size());
    found_.refused += static_cast<std::int64_t>(refused.size());
    found_.dead += static_cast<std::int64_t>(broken.size());
  }

  void none_more(std::string const& what, std::int64_t there, std::size_t wanted) {
    auto const more = there - static_cast<std::int64_t>(wanted);
    if (more > 0) found_.add(plan_flaw::of_none, std::to_string(more) + " " + what);
  }

  void minutes() {
    auto const grid = in_.planner(name_of(plan::minutes, trial_))
                          .value()
                          .grid({.from = {}, .to = {}, .limit = 10'000});
    ids wanted;
    daybook::timestamp next = grid.empty() ? daybook::timestamp{} : grid.front().from;
    for (auto const& one : grid) {
      wanted.insert(one.key);
      if (one.from != next) found_.add(plan_flaw::missed, "periods before " + one.key);
      next = one.to;
    }
    each_once("period", wanted, done(plan::minutes));
    found_.periods += static_cast<std::int64_t>(wanted.size());
  }

  /// Who was looked at by which sweep.
  std::map<std::int64_t, counted> looks() {
    std::map<std::int64_t, counted> out;
    for (auto const& [sweep, row] : effects(plan::customers)) {
      if (!row.empty()) ++out[std::stoll(sweep)][row];
    }
    return out;
  }

  void customers() {
    auto const sweeps = in_.planner(name_of(plan::customers, trial_)).value().sweeps(1000);
    auto const there = ids_of("select id from customer");
    auto const gone = ids_of("select id from gone");
    auto by_sweep = looks();
    auto const ends = done(plan::customers);
    ids known;
    for (auto at = sweeps.rbegin(); at != sweeps.rend(); ++at) {
      auto const number = std::to_string(at->number);
      auto const& seen = by_sweep[at->number];
      // Who was there in the one before is still there, unless he went; in the last is everybody.
      auto const& wanted = at->number == sweeps.front().number ? there : known;
      for (auto const& one : wanted) {
        if (!seen.contains(one) && !gone.contains(one)) {
          found_.add(plan_flaw::missed, "customer " + one + " in sweep " + number);
        }
      }
      for (auto const& [one, times] : seen) {
        known.insert(one);
        if (times > 1) found_.add(plan_flaw::doubled, "customer " + one + " in sweep " + number);
        if (!there.contains(one) && !gone.contains(one)) {
          found_.add(plan_flaw::of_none, "customer " + one + " in sweep " + number);
        }
      }
      auto const end = ends.find(name_of(plan::customers, trial_) + "/" + number + "/done");
      bool const over = at->state == daybook::sweep_state::over;
      if (!over || end == ends.end() || end->second != 1 || at->done != at->pages) {
        found_.add(plan_flaw::barrier, "the end of sweep " + number);
      }
      ++found_.sweeps;
      found_.rows += static_cast<std::int64_t>(seen.size());
      found_.late += at->late;
    }
    if (ends.size() != sweeps.size()) found_.add(plan_flaw::barrier, "ends of sweeps");
  }

  void unfinished(std::string const& queue) {
    auto const now = in_.queue(queue).value().counts();
    if (auto const open = now.waiting + now.running + now.quarantined + now.unknown; open > 0) {
      found_.add(plan_flaw::unfinished, std::to_string(open) + " of " + queue);
    }
  }

  daybook::book& in_;
  std::string const& trial_;
  plan_findings found_;
};

}  // namespace

plan_findings& plan_findings::operator+=(plan_findings const& other) {
  for (std::size_t kind = 0; kind < count.size(); ++kind) count[kind] += other.count[kind];
  first += other.first;
  orders += other.orders;
  events += other.events;
  refused += other.refused;
  dead += other.dead;
  periods += other.periods;
  sweeps += other.sweeps;
  rows += other.rows;
  late += other.late;
  return *this;
}

void plan_findings::add(plan_flaw what, std::string const& which) {
  auto const kind = static_cast<std::size_t>(what);
  if (count[kind]++ > 0) return;
  first += (first.empty() ? "" : "; ") + std::string(plan_flaw_names[kind]) + ": " + which;
}

std::int64_t plan_findings::all() const {
  return std::accumulate(count.begin(), count.end(), std::int64_t{0});
}

plan_findings check_plans(daybook::book& in, std::string const& trial,
                          std::vector<plan> const& which) {
  return checking(in, trial).all(which);
}

}  // namespace torture
