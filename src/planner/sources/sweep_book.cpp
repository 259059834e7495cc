#include "planner/sources/sweep_book.hpp"

#include "core/tx/transact.hpp"
#include "db/cells.hpp"
#include "planner/sources/keys_coded.hpp"

#include <daybook/error.hpp>

#include <span>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace planners {

namespace {

constexpr std::int64_t pruned_at_once = 1000;

std::string bytes_of(place const& place) { return place.empty() ? std::string() : coded({place}); }

place place_in(cell const& cell) {
  auto const bytes = db::get<std::optional<std::string>>(cell);
  if (!bytes || bytes->empty()) return {};
  return decoded(*bytes).at(0);
}

/// Borrows the bytes; none is null.
value value_of(std::string const& bytes) {
  if (bytes.empty()) return nullptr;
  return std::as_bytes(std::span(bytes));
}

}  // namespace

key key_of_page(std::string_view planner, std::int64_t sweep, std::int64_t page) {
  return key(std::string(planner) + "/" + std::to_string(sweep) + "/" + std::to_string(page));
}

key key_of_end(std::string_view planner, std::int64_t sweep) {
  return key(std::string(planner) + "/" + std::to_string(sweep) + "/done");
}

std::optional<sweep_record> last_sweep(core::context const& context, std::int64_t planner) {
  std::optional<sweep_record> out;
  core::read(context, [&](db::session& session) {
    out.reset();
    auto const found = db::run(session, context.sql["sweep.look"], {planner});
    if (found.size() == 0) return;
    auto const row = found.row(0);
    out = {.number = db::get<std::int64_t>(row[0]),
           .state = static_cast<sweep_state>(db::get<std::int64_t>(row[1])),
           .end = place_in(row[2]),
           .pages = db::get<std::int64_t>(row[3]),
           .rows = db::get<std::int64_t>(row[4]),
           .late = db::get<std::int64_t>(row[5]),
           .found = db::get<std::int64_t>(row[6]),
           .compared = db::get<std::int64_t>(row[7]),
           .comparisons = db::get<std::int64_t>(row[8]),
           .ended_us = db::get<std::optional<std::int64_t>>(row[9]),
           .now_us = db::get<std::int64_t>(row[10])};
  });
  return out;
}

std::vector<open_page> open_pages(store const& store, std::int64_t sweep, std::int64_t limit) {
  std::vector<open_page> out;
  core::read(store.with(), [&](db::session& session) {
    out.clear();
    auto const found =
        db::run(session, store.with().sql["sweep.open_pages"], {store.declared().id, sweep, limit});
    for (std::size_t i = 0; i < found.size(); ++i) {
      out.push_back({db::get<std::int64_t>(found.row(i)[0]),
                     static_cast<page_state>(db::get<std::int64_t>(found.row(i)[1]))});
    }
  });
  return out;
}

std::optional<page_record> page_of(store const& store, std::int64_t sweep, std::int64_t number) {
  std::optional<page_record> out;
  core::read(store.with(), [&](db::session& session) {
    out.reset();
    auto const found =
        db::run(session, store.with().sql["sweep.page"], {store.declared().id, sweep, number});
    if (found.size() == 0) return;
    auto const row = found.row(0);
    out = {.number = number,
           .base = db::get<std::int64_t>(row[1]),
           .state = static_cast<page_state>(db::get<std::int64_t>(row[0])),
           .low = place_in(row[2]),
           .high = place_in(row[3]),
           .keys = decoded(db::get<std::string>(row[4]))};
  });
  return out;
}

std::vector<page_record> bases_after(store const& store, std::int64_t sweep, std::int64_t after,
                                     std::int64_t limit) {
  std::vector<page_record> out;
  core::read(store.with(), [&](db::session& session) {
    out.clear();
    auto const found = db::run(session, store.with().sql["sweep.bases"],
                               {store.declared().id, sweep, after, limit});
    for (std::size_t i = 0; i < found.size(); ++i) {
      auto const row = found.row(i);
      auto& one = out.emplace_back();
      one.number = one.base = db::get<std::int64_t>(row[0]);
      one.low = place_in(row[1]);
      one.high = place_in(row[2]);
    }
  });
  return out;
}

std::vector<row_key> seen_in(store const& store, std::int64_t sweep, std::int64_t base) {
  std::vector<row_key> out;
  core::read(store.with(), [&](db::session& session) {
    out.clear();
    auto const found =
        db::run(session, store.with().sql["sweep.seen"], {store.declared().id, sweep, base});
    for (std::size_t i = 0; i < found.size(); ++i) {
      auto keys = decoded(db::get<std::string>(found.row(i)[0]));
      out.insert(out.end(), std::make_move_iterator(keys.begin()),
                 std::make_move_iterator(keys.end()));
    }
  });
  return out;
}

std::optional<std::int64_t> outlived_sweep(store const& store) {
  std::optional<std::int64_t> out;
  std::chrono::microseconds const keep = store.into().present().options.retention;
  core::read(store.with(), [&](db::session& session) {
    auto const found =
        db::run(session, store.with().sql["sweep.oldest"], {store.declared().id, keep.count()});
    out = found.size() == 0 ? std::nullopt : db::get<std::optional<std::int64_t>>(found.row(0)[0]);
  });
  return out;
}

void prune(store const& store, db::session& session, std::int64_t sweep) {
  auto const& sql = store.with().sql;
  auto const planner = store.declared().id;
  // The keys of its tasks, and no others: those that begin so.
  auto const one = key_of_end(store.declared().name, sweep).str();
  auto const first = one.substr(0, one.rfind('/') + 1);
  auto const beyond = one.substr(0, one.rfind('/')) + static_cast<char>('/' + 1);
  auto const pages = db::run(session, sql["sweep.prune_pages"], {planner, sweep, pruned_at_once});
  auto const keys =
      db::run(session, sql["planned.prune"],
              {planner, std::string_view(first), std::string_view(beyond), pruned_at_once});
  if (pages.affected < pruned_at_once && keys.affected < pruned_at_once) {
    db::run(session, sql["sweep.prune"], {planner, sweep});
  }
}

bool begin_sweep(store const& store, db::session& session) {
  return db::run(session, store.with().sql["sweep.begin"], {store.declared().id}).affected > 0;
}

void write(store const& store, db::session& session, sweep_record const& now) {
  auto const& sql = store.with().sql;
  if (now.state == sweep_state::over) {
    db::run(session, sql["sweep.end"], {store.declared().id, now.number, now.comparisons});
    return;
  }
  auto const end = bytes_of(now.end);
  db::run(session, sql["sweep.advance"],
          {store.declared().id, now.number, static_cast<std::int64_t>(now.state), value_of(end),
           now.pages, now.rows, now.late, now.found, now.compared, now.comparisons});
}

void add(store const& store, db::session& session, std::int64_t sweep, page_record const& page) {
  auto const low = bytes_of(page.low);
  auto const high = bytes_of(page.high);
  auto const keys = coded(page.keys);
  db::run(session, store.with().sql["sweep.add_page"],
          {store.declared().id, sweep, page.number, page.base,
           static_cast<std::int64_t>(page.keys.size()), static_cast<std::int64_t>(page.state),
           value_of(low), value_of(high), value_of(keys)});
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
