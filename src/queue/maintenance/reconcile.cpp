// A table's rows beside the members of the queue that follows it: page by page, both ways. Each
// page is a statement that only reads, and a short transaction where something differs.
#include "base/mutant.hpp"
#include "base/rows.hpp"
#include "db/cells.hpp"
#include "queue/maintenance/watcher.hpp"

#include "core/tx/transact.hpp"

#include <daybook/error.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

constexpr std::int64_t page_size = 10'000;

std::string text_in(cell const& cell) {
  return db::get<std::optional<std::string>>(cell).value_or("");
}

/// Empty: the library takes no such key, as where the database holds bytes that are no UTF-8.
std::optional<key> key_in(std::string text) {
  try {
    return key(std::move(text));
  } catch (error const&) {
    return std::nullopt;
  }
}

}  // namespace

watcher::rows_page watcher::rows_after(followed const& followed, cell const* mark) const {
  auto const& with = store_->with();
  auto const statement = with.sql.made(mark ? "watch.next_rows" : "watch.first_rows", followed.sql);
  rows_page out;
  core::read(with, [&](db::session& session) {
    out = {};
    auto const queue = store_->present().id;
    auto const found = mark ? db::run(session, statement, {queue, page_size, db::value_of(*mark)})
                            : db::run(session, statement, {queue, page_size});
    out.seen = static_cast<std::int64_t>(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      auto const row = found.row(i);
      auto can_be = db::get<std::int64_t>(row[2]) != 0 ? key_in(text_in(row[1])) : std::nullopt;
      if (!can_be) {
        ++out.refused;
        out.example = text_in(row[1]);
      } else if (db::get<std::int64_t>(row[3]) != 0) {
        out.missing.push_back({std::move(*can_be), std::nullopt});
      }
      if (i + 1 == found.size()) out.mark = row[0];
    }
  });
  return out;
}

watcher::members_page watcher::members_after(followed const& followed,
                                             std::string const& last) const {
  auto const& with = store_->with();
  auto const statement = with.sql.made("watch.members", followed.sql);
  members_page out;
  core::read(with, [&](db::session& session) {
    out = {};
    auto const found = db::run(session, statement, {store_->present().id, page_size, last});
    out.seen = static_cast<std::int64_t>(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      auto const row = found.row(i);
      if (db::get<std::int64_t>(row[2]) != 0) out.extra.push_back(db::get<std::int64_t>(row[0]));
      if (i + 1 == found.size()) out.last = text_in(row[1]);
    }
  });
  return out;
}

/// Whether they still have no row is asked again in the statement that removes them.
std::int64_t watcher::drop(followed const& followed, std::vector<std::int64_t> const& ids) const {
  auto const& with = store_->with();
  auto const statement = with.sql.made("watch.drop_members", followed.sql);
  base::rows text;
  for (auto const id : ids) text.begin().add(id);
  try {
    // Once more, those that are gone are not counted.
    return core::insist([&] {
      return core::write(with, {.name = "reconcile"}, statement, {text.text()}).affected;
    });
  } catch (error const& e) {
    // Somebody's long transaction has such a row in hand: it is left for the next time.
    if (e.kind() != error_code::conflict) throw;
    return 0;
  }
}

bool watcher::remove_extra(followed const& followed, reconcile_progress& sum,
                           reconcile_callback const& on_progress) const {
  if (base::left_out("reconcile_both_ways")) return true;
  members_page page;
  do {
    page = members_after(followed, page.last);
    sum.seen += page.seen;
    if (!page.extra.empty()) sum.removed += drop(followed, page.extra);
    if (page.seen > 0 && on_progress && !on_progress(sum)) return false;
  } while (page.seen == page_size);
  return true;
}

bool watcher::add_missing(followed const& followed, reconcile_progress& sum, reconcile_report& out,
                          reconcile_callback const& on_progress) const {
  rows_page page;
  for (bool first = true; first || page.seen == page_size; first = false) {
    page = rows_after(followed, first ? nullptr : &page.mark);
    sum.seen += page.seen;
    out.refused += page.refused;
    if (page.refused > 0) out.example = page.example;
    if (!page.missing.empty()) {
      auto at = page.missing.begin();
      auto const next = [&]() -> std::optional<entry> {
        if (at == page.missing.end()) return std::nullopt;
        return std::move(*at++);
      };
      sum.added += store_->import(next, {}).added;
    }
    if (page.seen > 0 && on_progress && !on_progress(sum)) return false;
  }
  return true;
}

/// What is gone goes first: should a row come back while its member is removed, the second way
/// finds it. A member too many is a task too many; a member too few is a task never done.
reconcile_report watcher::reconcile(reconcile_callback const& on_progress) {
  auto const& with = store_->with();
  with.check_process();
  check_kept(*store_, table_);
  auto const in = look_at(*store_, table_);
  reconcile_progress sum;
  reconcile_report out;
  out.complete = remove_extra(in, sum, on_progress) && add_missing(in, sum, out, on_progress);
  out.added = sum.added;
  out.removed = sum.removed;
  if (!out.complete) return out;
  try {
    core::write(with, {.name = "watch"}, with.sql["watch.set_reconciled"], {store_->present().id});
  } catch (core::lost_reply const&) {
    return out;  // it says when, and nothing goes by it
  }
  return out;
}

table_difference watcher::compare(std::int64_t at_most) const {
  store_->with().check_process();
  auto const in = look_at(*store_, table_);
  table_difference out;
  members_page members;
  do {
    members = members_after(in, members.last);
    out.extra += static_cast<std::int64_t>(members.extra.size());
  } while (members.seen == page_size && out.extra <= at_most);
  rows_page page;
  for (bool first = true; first || (page.seen == page_size && out.missing <= at_most);
       first = false) {
    page = rows_after(in, first ? nullptr : &page.mark);
    out.missing += static_cast<std::int64_t>(page.missing.size());
    out.refused += page.refused;
  }
  out.exact = out.missing <= at_most && out.extra <= at_most;
  out.missing = std::min(out.missing, at_most);
  out.extra = std::min(out.extra, at_most);
  return out;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
