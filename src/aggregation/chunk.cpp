#include "aggregation/chunk.hpp"

#include "base/mutant.hpp"
#include "base/rows.hpp"
#include "base/text.hpp"
#include "base/uuid.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace aggregations {

namespace {

constexpr std::size_t most_refused = 100;
constexpr std::size_t longest_group = 700;
constexpr std::int64_t most_held = 50'000;  ///< rows, whose keys are one text
/// In milliseconds; what is held for longer is passed over.
constexpr std::string_view wait_for_rows = "100";

/// Something about the rows themselves, so that it will be so the next time, too.
bool is_of_data(error const& e) {
  return !e.retryable() && !e.in_doubt() && !e.breaks_connection() &&
         (e.kind() == error_code::constraint || e.kind() == error_code::statement ||
          e.kind() == error_code::bad_argument);
}

/// [text, ...]
std::string list_of(std::set<std::string> const& texts) {
  if (texts.empty()) return "[]";
  base::rows out;
  out.begin();
  for (auto const& one : texts) out.add(std::string_view(one));
  auto const text = out.text();
  return text.substr(1, text.size() - 2);
}

void add_key(base::rows& to, std::string const& key, bool is_number) {
  if (is_number) {
    auto const number = store::key_value(key, true);
    if (!number)
      throw error({.kind = error_code::bad_argument}, "the key '" + key + "' is no integer");
    to.add(std::get<std::int64_t>(*number));
  } else {
    to.add(std::string_view(key));
  }
}

}  // namespace

std::string why_not(definition const& of, group_rows const& which) {
  auto const& names = of.options.source.group;
  if (!which.group) {
    return names.size() == 1 ? names.front() + " is null" : "a column of its group is null";
  }
  auto const separators =
      static_cast<std::size_t>(std::count(which.group->begin(), which.group->end(), '\x1f'));
  auto plain = *which.group;
  std::replace(plain.begin(), plain.end(), '\x1f', ' ');
  if (separators + 1 != names.size() || base::first_control(plain) != std::string::npos) {
    return "its group holds control characters";
  }
  if (plain.size() > longest_group) return "its group has more than 700 bytes";
  for (std::size_t i = 0; i < which.amounts.size(); ++i) {
    auto const& amount = which.amounts[i];
    auto const& sum = of.options.sums[i];
    if (amount.strange > 0) return sum.from + " is no integer";
    if (amount.nulls > 0 && !of.options.allow_null) return sum.from + " is null";
    if (amount.negative && !of.options.allow_negative) return sum.from + " is negative";
    if (!narrowed(amount.sum)) {
      return sum.into + " would be " + text_of(amount.sum) + ", which no integer of 64 bits is";
    }
  }
  return {};
}

std::string why_not_added(definition const& of, group_rows const& which, std::string const& parent,
                          std::span<cell const> now) {
  auto const& names = of.options;
  if (now.empty()) return "its parent " + parent + " is not there any more";
  if (auto const state = text_in(now[0]); state != text_of(names.parent.open)) {
    return "its parent " + parent + " is not open: " + names.parent.state + " is " + state +
           "; close() makes way for another";
  }
  auto const full = [&](std::string const& column, cell const& has, exact more) -> std::string {
    auto const number = number_in(has);
    auto const& limits = *of.parent.find(column);
    if (!number) return column + " of its parent " + parent + " is no integer";
    auto const then = more + *number;
    if (then > limits.high) return column + " would be more than " + std::to_string(limits.high);
    if (then < limits.low) return column + " would be less than " + std::to_string(limits.low);
    return {};
  };
  auto out = names.parent.count.empty() ? "" : full(names.parent.count, now[1], which.count);
  for (std::size_t i = 0; out.empty() && i < names.sums.size(); ++i) {
    out = full(names.sums[i].into, now[2 + i], which.amounts[i].sum);
  }
  return out;
}

bool chunk::next() {
  // Where there is one writer, a shared range is found by the transaction that takes it.
  bool const within = with_.dialect.one_writer && ranges_.shares();
  given_ = within ? std::nullopt : ranges_.next();
  if (!within && !given_) return false;
  usual_ = true;
  take(given_, {});
  if (within && !now_) return next();
  steady_ = usual_ && now_ && last_.tells && last_.made == 0 && last_.rows == now_->count;
  return now_.has_value();
}

/// Others came between. At first once more with care, which keeps them out; after that as long as
/// there is patience.
void chunk::changed(std::string const& why) const {
  throw error({.kind = error_code::conflict, .retryable = !usual_}, why);
}

void chunk::take(std::optional<range> const& where, groups const& left_out) {
  given_ = where;
  call_ = base::new_uuid();
  in_doubt_ = false;
  last_ = {};
  for (bool over = false; !over;) {
    try {
      core::transact(with_, {.name = "aggregate"},
                     [&](db::session& on) { return body(on, left_out); });
      // What was refused is left out of the next try, of the same range.
      over = !std::exchange(last_.again, false);
      if (!over) given_ = now_;
    } catch (core::lost_reply const&) {
      in_doubt_ = true;
      if (base::left_out("agg_retry")) add_alone();
    } catch (error const& e) {
      bool const of_data = is_of_data(e);
      if ((of_data || e.kind() == error_code::conflict) && std::exchange(usual_, false)) continue;
      if (!of_data || last_.found.empty()) throw;
      auto const tried = last_.found;
      auto const whole = now_;
      if (tried.size() == 1) {
        refuse(tried.front(), e.what());
        return;
      }
      // Each half alone, until the one is found that cannot be.
      auto const middle = tried.begin() + static_cast<std::ptrdiff_t>(tried.size() / 2);
      auto others = left_out;
      for (auto at = middle; at != tried.end(); ++at) others.insert(at->group.value());
      take(whole, others);
      others = left_out;
      for (auto at = tried.begin(); at != middle; ++at) others.insert(at->group.value());
      take(whole, others);
      now_ = whole;
      return;
    }
  }
  count();
  if (!last_.rest) return;
  auto const whole = now_;
  take(range{*last_.rest, whole->last, whole->count}, left_out);
  now_ = whole;
}

void chunk::count() {
  if (last_.rows == 0) return;
  if (base::left_out("agg_two")) add_alone();
  to_.done.rows += last_.rows;
  to_.done.parents += last_.made;
  ++to_.done.chunks;
  if (how_.told) how_.told(to_.done);
}

core::decision chunk::body(db::session& on, groups const& left_out) {
  audit_note const by{how_.actor, {}};
  auto const done_before = [&] {
    return was_done(on, with_, of_.id, aggregation_event::kind::aggregate, call_, {}, by);
  };
  if (in_doubt_ && done_before()) return core::decision::rollback;
  store_.hold(on);
  last_ = {};
  now_ = given_ ? given_ : ranges_.next_shared(on);
  if (!now_) return core::decision::commit;  // another pass may have begun
  bool const known = usual_ && steady_ && !how_.fresh && !of_.triggers;
  if (!usual_ && !with_.dialect.one_writer) hold_rows(on);
  if (!known) survey(on, left_out);
  if (last_.again) return core::decision::rollback;
  if (!known && last_.found.empty()) {
    return given_ ? core::decision::rollback : core::decision::commit;
  }
  if (!in_doubt_ && done_before()) return core::decision::rollback;
  if (!known) {
    find_parents(on);
    make_parents(on);
    last_.taken = take_rows(on, left_out);
  } else if (!take_all(on)) {
    usual_ = false;
    last_.again = true;
    return core::decision::rollback;
  }
  if (!base::left_out("agg_two") && !add(on)) {
    explain(on);
    return core::decision::rollback;
  }
  std::int64_t rows = 0;
  for (auto const& one : last_.taken) rows += one.count;
  write_done(on, with_, call_, {}, rows, std::to_string(last_.made) + " parents");
  last_.rows = rows;
  return core::decision::commit;
}

void chunk::refuse(group_rows const& which, std::string const& why) {
  bool const fresh = which.group ? to_.refused.insert(*which.group).second
                                 : !std::exchange(to_.null_refused, true);
  if (!fresh || to_.done.refused.size() >= most_refused) return;
  to_.done.refused.push_back({shown(which.group), which.first, why});
}

void chunk::hold_rows(db::session& on) {
  auto const found =
      db::run(on, of_.sql.hold_rows,
              {db::value_of(now_->first), db::value_of(now_->last), std::int64_t{most_held}});
  base::rows keys;
  for (std::size_t i = 0; i < found.size(); ++i) {
    keys.begin();
    add_key(keys, text_in(found.row(i)[0]), of_.number_keys);
  }
  last_.held = keys.text();
  if (std::cmp_equal(found.size(), most_held)) last_.rest = found.row(found.size() - 1)[0];
}

void chunk::survey(db::session& on, groups const& left_out) {
  auto const look = [&] {
    if (last_.held) return db::run(on, of_.sql.survey_held, {std::string_view(*last_.held)});
    return db::run(on, usual_ ? of_.sql.usual_survey : of_.sql.survey,
                   {db::value_of(now_->first), db::value_of(now_->last)});
  };
  auto const all = groups_of(look());
  std::int64_t rows = 0;
  for (auto const& one : all) rows += one.count;
  // Others hold some of them, or have taken them.
  if (usual_ && rows < now_->count) {
    usual_ = false;
    last_.again = true;
    return;
  }
  refuse_or_find(all, left_out);
}

void chunk::refuse_or_find(std::vector<group_rows> const& all, groups const& left_out) {
  for (auto const& one : all) {
    if (auto const why = why_not(of_, one); !why.empty()) {
      refuse(one, why);
    } else if (!to_.refused.contains(*one.group) && !left_out.contains(*one.group)) {
      last_.found.push_back(one);
    }
  }
  std::sort(last_.found.begin(), last_.found.end(),
            [](auto const& one, auto const& other) { return one.group < other.group; });
}

void chunk::find_parents(db::session& on) {
  base::rows wanted;
  for (auto const& one : last_.found) wanted.begin().add(std::string_view(*one.group));
  auto const text = wanted.text();
  auto const& statement = usual_ ? of_.sql.open : of_.sql.open_locked;
  auto const found = db::run(on, statement, {of_.id, std::string_view(text)});
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto const row = found.row(i);
    auto const key = text_in(row[1]);
    if (how_.fresh && number_in(row[2]).value() < ranges_.began_us()) {
      store_.close_within(on, key, {how_.actor, "a fresh one is begun"});
      continue;
    }
    last_.parents.emplace(text_in(row[0]), key);
  }
}

/// [key, group, its first row]
std::string chunk::new_parents(std::vector<group_rows const*> const& of,
                               std::map<std::string, std::string> const& keys) const {
  base::rows out;
  for (auto const* one : of) {
    out.begin();
    add_key(out, keys.at(*one->group), of_.number_parents);
    out.add(std::string_view(*one->group));
    add_key(out, one->first, of_.number_keys);
  }
  return out.text();
}

void chunk::make_parents(db::session& on) {
  std::vector<group_rows const*> missing;
  for (auto const& one : last_.found) {
    if (!last_.parents.contains(*one.group)) missing.push_back(&one);
  }
  if (missing.empty()) return;
  auto const keys = store_.new_keys(numbers_, ranges_.now_us(), missing.size(),
                                    [&](std::size_t i) { return *missing[i]->group; });
  std::map<std::string, std::string> mine;
  for (std::size_t i = 0; i < missing.size(); ++i) mine.emplace(*missing[i]->group, keys[i]);
  auto text = new_parents(missing, mine);
  auto const added =
      db::run(on, with_.sql["aggregation.add_open"], {of_.id, std::string_view(text)}).affected;
  if (std::cmp_equal(added, missing.size())) {
    last_.parents.merge(std::map(mine));
  } else {
    // Who comes second has waited for the first, and adds to what that one has made.
    if (how_.fresh) changed("another has made a parent of the same group");
    find_parents(on);
    std::erase_if(missing, [&](group_rows const* one) {
      auto const found = last_.parents.find(*one->group);
      if (found == last_.parents.end())
        changed("a parent was closed meanwhile, or has the key of a new one");
      return found->second != mine.at(*one->group);
    });
    if (missing.empty()) return;
    text = new_parents(missing, mine);
  }
  auto const wanted = static_cast<std::int64_t>(missing.size());
  if (db::run(on, of_.sql.make_parents, {std::string_view(text)}).affected != wanted) {
    changed("a row went away while its group's parent was made");
  }
  last_.made = wanted;
}

std::int64_t chunk::landed(db::session& on) const {
  auto const found =
      db::run(on, of_.sql.landed, {db::value_of(now_->first), db::value_of(now_->last), of_.id});
  return number_in(found.row(0)[0]).value_or(0);
}

db::table chunk::run_take(db::session& on, groups const& left_out) {
  auto out_of_it = left_out;
  out_of_it.insert(to_.refused.begin(), to_.refused.end());
  auto const excluded = list_of(out_of_it);
  auto const run = [&] {
    if (last_.held) {
      return db::run(on, of_.sql.take_held,
                     {std::string_view(*last_.held), of_.id, std::string_view(excluded)});
    }
    return db::run(
        on, of_.sql.take,
        {db::value_of(now_->first), db::value_of(now_->last), of_.id, std::string_view(excluded)});
  };
  auto found = last_.held ? run() : without_waiting(on, run);
  last_.tells = found.width > 0;
  return found;
}

/// Rows that others hold are a matter of care.
template <class F>
db::table chunk::without_waiting(db::session& on, F const& run) const {
  auto const wait = [&](std::string_view limit) {
    if (!of_.sql.take_waits) return std::string();
    return text_in(db::run(on, with_.sql["aggregation.wait"], {limit}).row(0)[0]);
  };
  auto const before = wait(wait_for_rows);
  try {
    auto out = run();
    wait(before);
    return out;
  } catch (error const& e) {
    if (e.kind() != error_code::conflict) throw;
    changed(e.what());
  }
}

bool chunk::take_all(db::session& on) {
  last_.taken = groups_of(run_take(on, {}));
  std::int64_t rows = 0;
  for (auto const& one : last_.taken) {
    if (one.strays > 0 || !why_not(of_, one).empty()) return false;
    last_.parents.emplace(*one.group, one.first);
    rows += one.count;
  }
  return rows == now_->count;
}

std::vector<group_rows> chunk::take_rows(db::session& on, groups const& left_out) {
  auto const before = of_.triggers ? landed(on) : 0;
  auto const found = run_take(on, left_out);
  auto taken = last_.tells ? groups_of(found) : last_.found;
  std::int64_t rows = 0;
  std::int64_t strays = 0;
  for (auto const& one : taken) {
    // Rows that came in just now may be of a group whose parent was open before.
    bool const known = !how_.fresh || last_.parents.contains(*one.group);
    if (!known || !why_not(of_, one).empty()) changed("rows were changed while they were taken");
    if (last_.tells) last_.parents[*one.group] = one.first;
    rows += one.count;
    strays += one.strays;
  }
  std::int64_t there = 0;
  for (auto const& one : last_.found) there += one.count;
  auto const affected = last_.tells ? rows : found.affected;
  bool const fewer = affected < there;
  // With care their parents stay open: then it is the rows that are no longer free.
  bool const others = last_.tells ? fewer && usual_ : affected > there || (fewer && !of_.triggers);
  if (others) changed("rows were changed while they were taken");
  if ((fewer && !last_.tells) || strays > 0 || (of_.triggers && landed(on) - before != rows)) {
    throw error({.kind = error_code::statement},
                "a trigger of '" + of_.source.name + "' changes rows as they are taken");
  }
  return taken;
}

bool chunk::add(db::session& on) {
  std::map<std::string, group_rows const*> by_parent;
  for (auto const& one : last_.taken) by_parent.emplace(last_.parents.at(*one.group), &one);
  bool const overwrites = base::left_out("agg_rmw");
  base::rows sums;
  for (auto const& [key, one] : by_parent) {
    sums.begin();
    add_key(sums, key, of_.number_parents);
    db::table before;
    if (overwrites)
      before = db::run(on, of_.sql.parent, {store::key_value(key, of_.number_parents).value()});
    auto const was = [&](std::size_t at) {
      return overwrites ? number_in(before.row(0)[at]).value_or(0) : std::int64_t{0};
    };
    sums.add(one->count + was(1));
    for (std::size_t i = 0; i < one->amounts.size(); ++i) {
      sums.add(narrowed(one->amounts[i].sum).value() + was(2 + i));
    }
  }
  auto const text = sums.text();
  auto const wanted = static_cast<std::int64_t>(by_parent.size());
  auto const& statement = overwrites ? of_.sql.replace : of_.sql.add;
  if (db::run(on, statement, {std::string_view(text)}).affected != wanted) return false;
  store_.follow(on, text);
  return true;
}

/// Only for tests that show what comes of it.
void chunk::add_alone() {
  core::transact(with_, {.name = "aggregate"}, [&](db::session& on) {
    return add(on) ? core::decision::commit : core::decision::rollback;
  });
}

void chunk::explain(db::session& on) {
  for (auto const& one : last_.taken) {
    auto const& key = last_.parents.at(*one.group);
    auto const found =
        db::run(on, of_.sql.parent, {store::key_value(key, of_.number_parents).value()});
    auto const ours =
        db::run(on, with_.sql["aggregation.parent_of_ours"], {of_.id, std::string_view(key)});
    // Closed by its verb just now: the next try makes another.
    if (ours.size() == 0 || number_in(ours.row(0)[2]) == 0) continue;
    auto const why = why_not_added(of_, one, key, found.cells);
    if (why.empty()) continue;
    refuse(one, why);
    last_.again = true;
  }
  if (!last_.again) changed("a parent was changed while rows were added to it");
}

aggregate_report aggregate(store const& of, aggregate_options const& how) {
  pass ranges(of.with(), of.declared());
  progress to;
  chunk one(of, ranges, how, to);
  for (;;) {
    if (how.stop.stop_requested()) {
      to.done.complete = false;
      break;
    }
    if (!one.next()) break;
  }
  return to.done;
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
