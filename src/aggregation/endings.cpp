// What becomes of parents: closed, settled, void. Each verb is one transaction that first writes
// down that it happens, under an id of its own: where its reply is lost, it is run again, waits for
// the lost one to end, and finds that line or does it all. Locks are taken in one order: the line,
// the declaration, our row of the parent, the parent, its rows.
#include "aggregation/store.hpp"

#include "base/rows.hpp"
#include "base/uuid.hpp"
#include "core/tx/transact.hpp"

#include <daybook/error.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {
namespace aggregations {

namespace {

[[noreturn]] void again(std::string const& why) {
  throw error({.kind = error_code::conflict, .retryable = true}, why);
}

}  // namespace

settling store::change(aggregation_event::kind what, std::string_view name, std::string_view parent,
                       audit_note const& by, body const& does) const {
  auto const call = base::new_uuid();
  step last;
  for (;;) {
    try {
      core::transact(with_, {.name = name}, [&](db::session& on) {
        if (was_done(on, with_, of_.id, what, call, parent, by)) return core::decision::rollback;
        hold(on);
        last = does(on);
        if (last.how != settling::done) return core::decision::rollback;
        write_done(on, with_, call, last.parent, last.rows, last.detail);
        return core::decision::commit;
      });
      return last.how;
    } catch (core::lost_reply const&) {
      continue;
    }
  }
}

settling store::standing(db::session& on, std::string_view parent) const {
  auto const key = key_value(parent, of_.number_parents);
  if (!key) return settling::none;
  auto const found = db::run(on, of_.sql.parent, {*key});
  if (found.size() == 0) return settling::none;
  auto const& p = of_.options.parent;
  auto const state = text_in(found.row(0)[0]);
  auto const is = [&](state_value const& one) { return state == text_of(one); };
  if (is(p.open)) return settling::open;
  if (is(p.closed)) return settling::closed;
  if (is(p.settled)) return settling::settled;
  return is(p.voided) ? settling::voided : settling::differs;
}

settling store::close(std::string_view parent, audit_note const& by) const {
  return change(aggregation_event::kind::close, "close", parent, by, [&](db::session& on) {
    step out{.parent = std::string(parent)};
    auto const ours = db::run(on, with_.sql["aggregation.parent_of_ours"], {of_.id, parent});
    if (!shut(on, parent, false)) {
      out.how = settling::none;
    } else if (db::run(on, of_.sql.close, {std::string_view(one_parent(parent))}).affected == 0) {
      // One that somebody has changed by hand makes way for another of its group.
      bool const was_open = number_in(ours.row(0)[2]) == 1;
      if (!was_open) out.how = standing(on, parent);
      if (out.how == settling::closed) out.how = settling::before;
      out.detail = "it was changed by hand";
    }
    return out;
  });
}

void store::close_within(db::session& on, std::string_view parent, audit_note const& by) const {
  if (!shut(on, parent, false) ||
      db::run(on, of_.sql.close, {std::string_view(one_parent(parent))}).affected == 0) {
    again("a parent was closed by another");
  }
  auto const call = base::new_uuid();
  static_cast<void>(was_done(on, with_, of_.id, aggregation_event::kind::close, call, parent, by));
}

std::int64_t store::close_all(audit_note const& by) const {
  std::vector<std::string> open;
  core::read(with_, [&](db::session& on) {
    auto const found = db::run(on, with_.sql["aggregation.open_parents"], {of_.id});
    open.clear();
    for (std::size_t i = 0; i < found.size(); ++i) open.push_back(text_in(found.row(i)[0]));
  });
  std::int64_t closed = 0;
  for (auto const& one : open) closed += close(one, by) == settling::done ? 1 : 0;
  return closed;
}

std::optional<group_rows> store::move_rows(db::session& on, std::string_view parent,
                                           db::entry const& how, db::entry const& left) const {
  auto const key = key_value(parent, of_.number_parents).value();
  auto const was = groups_of(db::run(on, of_.sql.sum_rows, {key}));
  auto const found = db::run(on, how, {key});
  if (of_.triggers && number_in(db::run(on, left, {key}).row(0)[0]) != 0) return std::nullopt;
  if (found.width == 0) {
    if (found.affected != was.front().count) return std::nullopt;
    return was.front();
  }
  auto moved = groups_of(found);
  if (moved.front().strays != 0) return std::nullopt;
  return std::move(moved.front());
}

settling store::settle(std::string_view parent, audit_note const& by) const {
  return change(aggregation_event::kind::settle, "settle", parent, by,
                [&](db::session& on) { return settle_in(on, parent); });
}

step store::settle_in(db::session& on, std::string_view parent) const {
  step out{.parent = std::string(parent)};
  if (!shut(on, parent, true)) {
    out.how = settling::none;
    return out;
  }
  auto const rows = one_parent(parent);
  if (db::run(on, of_.sql.settle, {std::string_view(rows)}).affected == 0) {
    out.how = standing(on, parent);
    if (out.how == settling::settled) out.how = settling::before;
    if (out.how == settling::closed) again("a parent that was not closed is now");
    return out;
  }
  auto const key = key_value(parent, of_.number_parents).value();
  auto const says = db::run(on, of_.sql.parent, {key});
  auto const moved = move_rows(on, parent, of_.sql.settle_rows, of_.sql.not_settled);
  auto const row = says.row(0);
  bool same = moved.has_value();
  if (same && !of_.options.parent.count.empty()) same = number_in(row[1]) == moved->count;
  for (std::size_t i = 0; same && i < of_.options.sums.size(); ++i) {
    auto const found = number_in(row[2 + i]);
    same = found && *found == moved->amounts[i].sum && moved->amounts[i].strange == 0;
  }
  if (!same) {
    out.how = settling::differs;
    return out;
  }
  out.rows = moved->count;
  return out;
}

settling store::revert(std::string_view parent, audit_note const& by) const {
  return change(aggregation_event::kind::revert, "revert", parent, by,
                [&](db::session& on) { return revert_in(on, parent); });
}

step store::revert_in(db::session& on, std::string_view parent) const {
  step out{.parent = std::string(parent)};
  if (!shut(on, parent, true)) {
    out.how = settling::none;
    return out;
  }
  auto const key = key_value(parent, of_.number_parents).value();
  auto const says = db::run(on, of_.sql.parent_locked, {key});
  auto const now_is = standing(on, parent);
  if (now_is != settling::open && now_is != settling::closed) {
    out.how = now_is == settling::voided ? settling::before : now_is;
    return out;
  }
  auto const moved = move_rows(on, parent, of_.sql.free_rows, of_.sql.not_freed);
  auto const row = says.row(0);
  auto const& count = of_.options.parent.count;
  if (!moved || (!count.empty() && number_in(row[1]) != moved->count)) {
    out.how = settling::differs;
    return out;
  }
  if (!count.empty()) out.detail = count + " " + text_in(row[1]);
  for (std::size_t i = 0; i < of_.options.sums.size(); ++i) {
    out.detail +=
        (out.detail.empty() ? "" : ", ") + of_.options.sums[i].into + " " + text_in(row[2 + i]);
  }
  auto const rows = one_parent(parent);
  if (db::run(on, of_.sql.clear, {std::string_view(rows)}).affected != 1) {
    again("a parent that was locked was changed");
  }
  follow(on, rows);
  out.rows = moved->count;
  return out;
}

settling store::remove(std::string_view row, audit_note const& by) const {
  return change(aggregation_event::kind::remove, "remove_row", {}, by,
                [&](db::session& on) { return remove_in(on, row); });
}

step store::remove_in(db::session& on, std::string_view row) const {
  step out;
  auto const key = key_value(row, of_.number_keys);
  auto const found = key ? db::run(on, of_.sql.link_of, {*key}) : db::table{};
  if (found.size() == 0 || number_in(found.row(0)[1]) == 0) {
    out.how = found.size() == 0 ? settling::none : settling::before;
    return out;
  }
  out.parent = text_in(found.row(0)[0]);
  auto const parent = key_value(out.parent, of_.number_parents).value();
  db::run(on, of_.sql.parent_locked, {parent});
  if (auto const now_is = standing(on, out.parent); now_is != settling::open) {
    out.how = now_is;
    return out;
  }
  if (db::run(on, of_.sql.free_row, {*key, parent}).affected != 1) {
    again("a row was changed while it was removed");
  }
  auto const rest = groups_of(db::run(on, of_.sql.sum_rows, {parent})).front();
  base::rows sums;
  sums.begin();
  if (of_.number_parents) {
    sums.add(std::get<std::int64_t>(parent));
  } else {
    sums.add(std::string_view(out.parent));
  }
  sums.add(rest.count);
  for (auto const& one : rest.amounts) {
    auto const sum = narrowed(one.sum);
    if (!sum) {
      out.how = settling::differs;
      return out;
    }
    sums.add(*sum);
  }
  auto const text = sums.text();
  if (db::run(on, of_.sql.replace, {std::string_view(text)}).affected != 1) {
    again("a parent that was locked was changed");
  }
  follow(on, text);
  out.rows = 1;
  out.detail = "row " + std::string(row);
  return out;
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
