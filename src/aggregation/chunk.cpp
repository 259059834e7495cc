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

void add_key(base::rows& rows, std::string const& key, bool is_number) {
  if (is_number) {
    auto const number = store::key_value(key, true);
    if (!number)
      throw error({.kind = error_code::bad_argument}, "the key '" + key + "' is no integer");
    rows.add(std::get<std::int64_t>(*number));
  } else {
    rows.add(std::string_view(key));
  }
}

}  // namespace

std::string why_not(definition const& aggregation, group_rows const& group) {
  auto const& names = aggregation.options.source.group;
  if (!group.group) {
    return names.size() == 1 ? names.front() + " is null" : "a column of its group is null";
  }
  auto const separators =
      static_cast<std::size_t>(std::count(group.group->begin(), group.group->end(), '\x1f'));
  auto plain = *group.group;
  std::replace(plain.begin(), plain.end(), '\x1f', ' ');
  if (separators + 1 != names.size() || base::first_control(plain) != std::string::npos) {
    return "its group holds control characters";
  }
  if (plain.size() > longest_group) return "its group has more than 700 bytes";
  for (std::size_t i = 0; i < group.amounts.size(); ++i) {
    auto const& amount = group.amounts[i];
    auto const& sum = aggregation.options.sums[i];
    if (amount.strange > 0) return sum.from + " is no integer";
    if (amount.nulls > 0 && !aggregation.options.allow_null) return sum.from + " is null";
    if (amount.negative && !aggregation.options.allow_negative) return sum.from + " is negative";
    if (!narrowed(amount.sum)) {
      return sum.into + " would be " + text_of(amount.sum) + ", which no integer of 64 bits is";
    }
  }
  return {};
}

std::string why_not_added(definition const& aggregation, group_rows const& group,
                          std::string const& parent, std::span<cell const> now) {
  auto const& names = aggregation.options;
  if (now.empty()) return "its parent " + parent + " is not there any more";
  if (auto const state = text_in(now[0]); state != text_of(names.parent.open)) {
    return "its parent " + parent + " is not open: " + names.parent.state + " is " + state +
           "; close() makes way for another";
  }
  auto const full = [&](std::string const& column, cell const& has, exact more) -> std::string {
    auto const number = number_in(has);
    auto const& limits = *aggregation.parent.find(column);
    if (!number) return column + " of its parent " + parent + " is no integer";
    auto const then = more + *number;
    if (then > limits.high) return column + " would be more than " + std::to_string(limits.high);
    if (then < limits.low) return column + " would be less than " + std::to_string(limits.low);
    return {};
  };
  auto out = names.parent.count.empty() ? "" : full(names.parent.count, now[1], group.count);
  for (std::size_t i = 0; out.empty() && i < names.sums.size(); ++i) {
    out = full(names.sums[i].into, now[2 + i], group.amounts[i].sum);
  }
  return out;
}

bool chunk::next() {
  // Where there is one writer, a shared range is found by the transaction that takes it.
  bool const within = context_.dialect.one_writer && ranges_.shares();
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
      core::transact(context_, {.name = "aggregate"},
                     [&](db::session& session) { return body(session, left_out); });
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
  progress_.done.rows += last_.rows;
  progress_.done.parents += last_.made;
  ++progress_.done.chunks;
  if (options_.on_progress) options_.on_progress(progress_.done);
}

core::decision chunk::body(db::session& session, groups const& left_out) {
  audit_note const note{options_.actor, {}};
  auto const done_before = [&] {
    return was_done(session, context_, definition_.id, aggregation_event::kind::aggregate, call_,
                    {}, note);
  };
  if (in_doubt_ && done_before()) return core::decision::rollback;
  store_.hold(session);
  last_ = {};
  now_ = given_ ? given_ : ranges_.next_shared(session);
  if (!now_) return core::decision::commit;  // another pass may have begun
  bool const known = usual_ && steady_ && !options_.new_parent && !definition_.triggers;
  if (!usual_ && !context_.dialect.one_writer) hold_rows(session);
  if (!known) survey(session, left_out);
  if (last_.again) return core::decision::rollback;
  if (!known && last_.found.empty()) {
    return given_ ? core::decision::rollback : core::decision::commit;
  }
  if (!in_doubt_ && done_before()) return core::decision::rollback;
  if (!known) {
    find_parents(session);
    make_parents(session);
    last_.taken = take_rows(session, left_out);
  } else if (!take_all(session)) {
    usual_ = false;
    last_.again = true;
    return core::decision::rollback;
  }
  if (!base::left_out("agg_two") && !add(session)) {
    explain(session);
    return core::decision::rollback;
  }
  std::int64_t rows = 0;
  for (auto const& one : last_.taken) rows += one.count;
  write_done(session, context_, call_, {}, rows, std::to_string(last_.made) + " parents");
  last_.rows = rows;
  return core::decision::commit;
}

void chunk::refuse(group_rows const& group, std::string const& why) {
  bool const fresh = group.group ? progress_.refused.insert(*group.group).second
                                 : !std::exchange(progress_.null_refused, true);
  if (!fresh || progress_.done.refused.size() >= most_refused) return;
  progress_.done.refused.push_back({shown(group.group), group.first, why});
}

void chunk::hold_rows(db::session& session) {
  auto const found =
      db::run(session, definition_.sql.hold_rows,
              {db::value_of(now_->first), db::value_of(now_->last), std::int64_t{most_held}});
  base::rows keys;
  for (std::size_t i = 0; i < found.size(); ++i) {
    keys.begin();
    add_key(keys, text_in(found.row(i)[0]), definition_.number_keys);
  }
  last_.held = keys.text();
  if (std::cmp_equal(found.size(), most_held)) last_.rest = found.row(found.size() - 1)[0];
}

void chunk::survey(db::session& session, groups const& left_out) {
  auto const look = [&] {
    if (last_.held)
      return db::run(session, definition_.sql.survey_held, {std::string_view(*last_.held)});
    return db::run(session, usual_ ? definition_.sql.usual_survey : definition_.sql.survey,
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
    if (auto const why = why_not(definition_, one); !why.empty()) {
      refuse(one, why);
    } else if (!progress_.refused.contains(*one.group) && !left_out.contains(*one.group)) {
      last_.found.push_back(one);
    }
  }
  std::sort(last_.found.begin(), last_.found.end(),
            [](auto const& one, auto const& other) { return one.group < other.group; });
}

void chunk::find_parents(db::session& session) {
  base::rows wanted;
  for (auto const& one : last_.found) wanted.begin().add(std::string_view(*one.group));
  auto const text = wanted.text();
  auto const& statement = usual_ ? definition_.sql.open : definition_.sql.open_locked;
  auto const found = db::run(session, statement, {definition_.id, std::string_view(text)});
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto const row = found.row(i);
    auto const key = text_in(row[1]);
    if (options_.new_parent && number_in(row[2]).value() < ranges_.began_us()) {
      store_.close_within(session, key, {options_.actor, "a fresh one is begun"});
      continue;
    }
    last_.parents.emplace(text_in(row[0]), key);
  }
}

/// [key, group, its first row]
std::string chunk::new_parents(std::vector<group_rows const*> const& groups,
                               std::map<std::string, std::string> const& keys) const {
  base::rows out;
  for (auto const* one : groups) {
    out.begin();
    add_key(out, keys.at(*one->group), definition_.number_parents);
    out.add(std::string_view(*one->group));
    add_key(out, one->first, definition_.number_keys);
  }
  return out.text();
}

void chunk::make_parents(db::session& session) {
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
  auto const added = db::run(session, context_.sql["aggregation.add_open"],
                             {definition_.id, std::string_view(text)})
                         .affected;
  if (std::cmp_equal(added, missing.size())) {
    last_.parents.merge(std::map(mine));
  } else {
    // Who comes second has waited for the first, and adds to what that one has made.
    if (options_.new_parent) changed("another has made a parent of the same group");
    find_parents(session);
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
  if (db::run(session, definition_.sql.make_parents, {std::string_view(text)}).affected != wanted) {
    changed("a row went away while its group's parent was made");
  }
  last_.made = wanted;
}

std::int64_t chunk::landed(db::session& session) const {
  auto const found = db::run(session, definition_.sql.landed,
                             {db::value_of(now_->first), db::value_of(now_->last), definition_.id});
  return number_in(found.row(0)[0]).value_or(0);
}

db::table chunk::run_take(db::session& session, groups const& left_out) {
  auto out_of_it = left_out;
  out_of_it.insert(progress_.refused.begin(), progress_.refused.end());
  auto const excluded = list_of(out_of_it);
  auto const run = [&] {
    if (last_.held) {
      return db::run(session, definition_.sql.take_held,
                     {std::string_view(*last_.held), definition_.id, std::string_view(excluded)});
    }
    return db::run(session, definition_.sql.take,
                   {db::value_of(now_->first), db::value_of(now_->last), definition_.id,
                    std::string_view(excluded)});
  };
  auto found = last_.held ? run() : without_waiting(session, run);
  last_.tells = found.width > 0;
  return found;
}

/// Rows that others hold are a matter of care.
template <class F>
db::table chunk::without_waiting(db::session& session, F const& run) const {
  auto const wait = [&](std::string_view limit) {
    if (!definition_.sql.take_waits) return std::string();
    return text_in(db::run(session, context_.sql["aggregation.wait"], {limit}).row(0)[0]);
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

bool chunk::take_all(db::session& session) {
  last_.taken = groups_of(run_take(session, {}));
  std::int64_t rows = 0;
  for (auto const& one : last_.taken) {
    if (one.strays > 0 || !why_not(definition_, one).empty()) return false;
    last_.parents.emplace(*one.group, one.first);
    rows += one.count;
  }
  return rows == now_->count;
}

std::vector<group_rows> chunk::take_rows(db::session& session, groups const& left_out) {
  auto const before = definition_.triggers ? landed(session) : 0;
  auto const found = run_take(session, left_out);
  auto taken = last_.tells ? groups_of(found) : last_.found;
  std::int64_t rows = 0;
  std::int64_t strays = 0;
  for (auto const& one : taken) {
    // Rows that came in just now may be of a group whose parent was open before.
    bool const known = !options_.new_parent || last_.parents.contains(*one.group);
    if (!known || !why_not(definition_, one).empty())
      changed("rows were changed while they were taken");
    if (last_.tells) last_.parents[*one.group] = one.first;
    rows += one.count;
    strays += one.strays;
  }
  std::int64_t there = 0;
  for (auto const& one : last_.found) there += one.count;
  auto const affected = last_.tells ? rows : found.affected;
  bool const fewer = affected < there;
  // With care their parents stay open: then it is the rows that are no longer free.
  bool const others =
      last_.tells ? fewer && usual_ : affected > there || (fewer && !definition_.triggers);
  if (others) changed("rows were changed while they were taken");
  if ((fewer && !last_.tells) || strays > 0 ||
      (definition_.triggers && landed(session) - before != rows)) {
    throw error({.kind = error_code::statement},
                "a trigger of '" + definition_.source.name + "' changes rows as they are taken");
  }
  return taken;
}

bool chunk::add(db::session& session) {
  std::map<std::string, group_rows const*> by_parent;
  for (auto const& one : last_.taken) by_parent.emplace(last_.parents.at(*one.group), &one);
  bool const overwrites = base::left_out("agg_rmw");
  base::rows sums;
  for (auto const& [key, one] : by_parent) {
    sums.begin();
    add_key(sums, key, definition_.number_parents);
    db::table before;
    if (overwrites)
      before = db::run(session, definition_.sql.parent,
                       {store::key_value(key, definition_.number_parents).value()});
    auto const was = [&](std::size_t index) {
      return overwrites ? number_in(before.row(0)[index]).value_or(0) : std::int64_t{0};
    };
    sums.add(one->count + was(1));
    for (std::size_t i = 0; i < one->amounts.size(); ++i) {
      sums.add(narrowed(one->amounts[i].sum).value() + was(2 + i));
    }
  }
  auto const text = sums.text();
  auto const wanted = static_cast<std::int64_t>(by_parent.size());
  auto const& statement = overwrites ? definition_.sql.replace : definition_.sql.add;
  if (db::run(session, statement, {std::string_view(text)}).affected != wanted) return false;
  store_.follow(session, text);
  return true;
}

/// Only for tests that show what comes of it.
void chunk::add_alone() {
  core::transact(context_, {.name = "aggregate"}, [&](db::session& session) {
    return add(session) ? core::decision::commit : core::decision::rollback;
  });
}

void chunk::explain(db::session& session) {
  for (auto const& one : last_.taken) {
    auto const& key = last_.parents.at(*one.group);
    auto const found = db::run(session, definition_.sql.parent,
                               {store::key_value(key, definition_.number_parents).value()});
    auto const ours = db::run(session, context_.sql["aggregation.parent_of_ours"],
                              {definition_.id, std::string_view(key)});
    // Closed by its verb just now: the next try makes another.
    if (ours.size() == 0 || number_in(ours.row(0)[2]) == 0) continue;
    auto const why = why_not_added(definition_, one, key, found.cells);
    if (why.empty()) continue;
    refuse(one, why);
    last_.again = true;
  }
  if (!last_.again) changed("a parent was changed while rows were added to it");
}

aggregate_report aggregate(store const& store, aggregate_options const& options) {
  pass ranges(store.with(), store.declared());
  progress to;
  chunk one(store, ranges, options, to);
  for (;;) {
    if (options.stop.stop_requested()) {
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
