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

settling store::change(aggregation_event::kind kind, std::string_view name, std::string_view parent,
                       audit_note const& note, body const& does) const {
  auto const call = base::new_uuid();
  step last;
  for (;;) {
    try {
      core::transact(context_, {.name = name}, [&](db::session& session) {
        if (was_done(session, context_, definition_.id, kind, call, parent, note))
          return core::decision::rollback;
        hold(session);
        last = does(session);
        if (last.how != settling::done) return core::decision::rollback;
        write_done(session, context_, call, last.parent, last.rows, last.detail);
        return core::decision::commit;
      });
      return last.how;
    } catch (core::lost_reply const&) {
      continue;
    }
  }
}

settling store::standing(db::session& session, std::string_view parent) const {
  auto const key = key_value(parent, definition_.number_parents);
  if (!key) return settling::none;
  auto const found = db::run(session, definition_.sql.parent, {*key});
  if (found.size() == 0) return settling::none;
  auto const& p = definition_.options.parent;
  auto const state = text_in(found.row(0)[0]);
  auto const is = [&](state_value const& one) { return state == text_of(one); };
  if (is(p.open)) return settling::open;
  if (is(p.closed)) return settling::closed;
  if (is(p.settled)) return settling::settled;
  return is(p.voided) ? settling::voided : settling::differs;
}

settling store::close(std::string_view parent, audit_note const& note) const {
  return change(aggregation_event::kind::close, "close", parent, note, [&](db::session& session) {
    step out{.parent = std::string(parent)};
    auto const ours =
        db::run(session, context_.sql["aggregation.parent_of_ours"], {definition_.id, parent});
    if (!shut(session, parent, false)) {
      out.how = settling::none;
    } else if (db::run(session, definition_.sql.close, {std::string_view(one_parent(parent))})
                   .affected == 0) {
      // One that somebody has changed by hand makes way for another of its group.
      bool const was_open = number_in(ours.row(0)[2]) == 1;
      if (!was_open) out.how = standing(session, parent);
      if (out.how == settling::closed) out.how = settling::before;
      out.detail = "it was changed by hand";
    }
    return out;
  });
}

void store::close_within(db::session& session, std::string_view parent,
                         audit_note const& note) const {
  if (!shut(session, parent, false) ||
      db::run(session, definition_.sql.close, {std::string_view(one_parent(parent))}).affected ==
          0) {
    again("a parent was closed by another");
  }
  auto const call = base::new_uuid();
  static_cast<void>(was_done(session, context_, definition_.id, aggregation_event::kind::close,
                             call, parent, note));
}

std::int64_t store::close_all(audit_note const& note) const {
  std::vector<std::string> open;
  core::read(context_, [&](db::session& session) {
    auto const found = db::run(session, context_.sql["aggregation.open_parents"], {definition_.id});
    open.clear();
    for (std::size_t i = 0; i < found.size(); ++i) open.push_back(text_in(found.row(i)[0]));
  });
  std::int64_t closed = 0;
  for (auto const& one : open) closed += close(one, note) == settling::done ? 1 : 0;
  return closed;
}

std::optional<group_rows> store::move_rows(db::session& session, std::string_view parent,
                                           db::entry const& entry, db::entry const& left) const {
  auto const key = key_value(parent, definition_.number_parents).value();
  auto const was = groups_of(db::run(session, definition_.sql.sum_rows, {key}));
  auto const found = db::run(session, entry, {key});
  if (definition_.triggers && number_in(db::run(session, left, {key}).row(0)[0]) != 0)
    return std::nullopt;
  if (found.width == 0) {
    if (found.affected != was.front().count) return std::nullopt;
    return was.front();
  }
  auto moved = groups_of(found);
  if (moved.front().strays != 0) return std::nullopt;
  return std::move(moved.front());
}

settling store::settle(std::string_view parent, audit_note const& note) const {
  return change(aggregation_event::kind::settle, "settle", parent, note,
                [&](db::session& session) { return settle_in(session, parent); });
}

step store::settle_in(db::session& session, std::string_view parent) const {
  step out{.parent = std::string(parent)};
  if (!shut(session, parent, true)) {
    out.how = settling::none;
    return out;
  }
  auto const rows = one_parent(parent);
  if (db::run(session, definition_.sql.settle, {std::string_view(rows)}).affected == 0) {
    out.how = standing(session, parent);
    if (out.how == settling::settled) out.how = settling::before;
    if (out.how == settling::closed) again("a parent that was not closed is now");
    return out;
  }
  auto const key = key_value(parent, definition_.number_parents).value();
  auto const says = db::run(session, definition_.sql.parent, {key});
  auto const moved =
      move_rows(session, parent, definition_.sql.settle_rows, definition_.sql.not_settled);
  auto const row = says.row(0);
  bool same = moved.has_value();
  if (same && !definition_.options.parent.count.empty()) same = number_in(row[1]) == moved->count;
  for (std::size_t i = 0; same && i < definition_.options.sums.size(); ++i) {
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

settling store::revert(std::string_view parent, audit_note const& note) const {
  return change(aggregation_event::kind::revert, "revert", parent, note,
                [&](db::session& session) { return revert_in(session, parent); });
}

step store::revert_in(db::session& session, std::string_view parent) const {
  step out{.parent = std::string(parent)};
  if (!shut(session, parent, true)) {
    out.how = settling::none;
    return out;
  }
  auto const key = key_value(parent, definition_.number_parents).value();
  auto const says = db::run(session, definition_.sql.parent_locked, {key});
  auto const now_is = standing(session, parent);
  if (now_is != settling::open && now_is != settling::closed) {
    out.how = now_is == settling::voided ? settling::before : now_is;
    return out;
  }
  auto const moved =
      move_rows(session, parent, definition_.sql.free_rows, definition_.sql.not_freed);
  auto const row = says.row(0);
  auto const& count = definition_.options.parent.count;
  if (!moved || (!count.empty() && number_in(row[1]) != moved->count)) {
    out.how = settling::differs;
    return out;
  }
  if (!count.empty()) out.detail = count + " " + text_in(row[1]);
  for (std::size_t i = 0; i < definition_.options.sums.size(); ++i) {
    out.detail += (out.detail.empty() ? "" : ", ") + definition_.options.sums[i].into + " " +
                  text_in(row[2 + i]);
  }
  auto const rows = one_parent(parent);
  if (db::run(session, definition_.sql.clear, {std::string_view(rows)}).affected != 1) {
    again("a parent that was locked was changed");
  }
  follow(session, rows);
  out.rows = moved->count;
  return out;
}

settling store::remove(std::string_view row, audit_note const& note) const {
  return change(aggregation_event::kind::remove, "remove_row", {}, note,
                [&](db::session& session) { return remove_in(session, row); });
}

step store::remove_in(db::session& session, std::string_view row) const {
  step out;
  auto const key = key_value(row, definition_.number_keys);
  auto const found = key ? db::run(session, definition_.sql.link_of, {*key}) : db::table{};
  if (found.size() == 0 || number_in(found.row(0)[1]) == 0) {
    out.how = found.size() == 0 ? settling::none : settling::before;
    return out;
  }
  out.parent = text_in(found.row(0)[0]);
  auto const parent = key_value(out.parent, definition_.number_parents).value();
  db::run(session, definition_.sql.parent_locked, {parent});
  if (auto const now_is = standing(session, out.parent); now_is != settling::open) {
    out.how = now_is;
    return out;
  }
  if (db::run(session, definition_.sql.free_row, {*key, parent}).affected != 1) {
    again("a row was changed while it was removed");
  }
  auto const rest = groups_of(db::run(session, definition_.sql.sum_rows, {parent})).front();
  base::rows sums;
  sums.begin();
  if (definition_.number_parents) {
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
  if (db::run(session, definition_.sql.replace, {std::string_view(text)}).affected != 1) {
    again("a parent that was locked was changed");
  }
  follow(session, text);
  out.rows = 1;
  out.detail = "row " + std::string(row);
  return out;
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
