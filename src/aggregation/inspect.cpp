// What is there: parents, their rows, what was done, what would be.
#include "aggregation/chunk.hpp"
#include "aggregation/store.hpp"

#include "base/limits.hpp"
#include "base/rows.hpp"
#include "core/tx/transact.hpp"

#include <daybook/error.hpp>

#include <limits>
#include <map>

namespace daybook {
inline namespace v1 {
namespace aggregations {

namespace {

timestamp instant(cell const& cell) {
  return timestamp(std::chrono::microseconds(number_in(cell).value_or(0)));
}

void check_limit(std::string_view name, int limit) {
  base::limits("aggregation", name).between("the limit", limit, 1, 10'000);
}

/// From the columns state, count and sums.
void read_values(parent_info& info, std::span<cell const> row) {
  info.state = text_in(row[0]);
  info.count = number_in(row[1]);
  for (auto const& one : row.subspan(2)) info.sums.push_back(text_in(one));
}

}  // namespace

/// `parent`: its key, whether it is there, its state, count and sums; empty: one is made.
group_preview store::previewed(group_rows const& group, std::span<cell const> parent) const {
  group_preview out{shown(group.group), group.count, {}, {}, why_not(definition_, group)};
  auto const& sums = definition_.options.sums;
  for (std::size_t i = 0; i < sums.size(); ++i) out.sums.push_back(text_of(group.amounts[i].sum));
  if (!parent.empty()) out.parent = text_in(parent[0]);
  if (!out.refused.empty()) return out;
  std::vector<cell> now{text_of(definition_.options.parent.open)};
  now.resize(2 + sums.size(), std::int64_t{0});
  if (!parent.empty()) now.assign(parent.begin() + 2, parent.end());
  if (!parent.empty() && number_in(parent[1]) == 0) now.clear();
  out.refused = why_not_added(definition_, group, out.parent.value_or(""), now);
  return out;
}

std::vector<group_preview> store::preview(int limit) const {
  check_limit(definition_.name, limit);
  std::vector<group_preview> out;
  core::read(context_, [&](db::session& session) {
    out.clear();
    auto const found = groups_of(db::run(session, definition_.sql.preview, {std::int64_t{limit}}));
    base::rows groups;
    for (auto const& one : found) {
      if (one.group) groups.begin().add(std::string_view(*one.group));
    }
    auto const text = groups.text();
    auto const open =
        db::run(session, definition_.sql.open_values, {definition_.id, std::string_view(text)});
    std::map<std::string, std::span<cell const>> parents;
    for (std::size_t i = 0; i < open.size(); ++i) {
      parents.emplace(text_in(open.row(i)[0]), open.row(i));
    }
    for (auto const& one : found) {
      auto const parent = parents.find(one.group.value_or(""));
      out.push_back(previewed(
          one, parent == parents.end() ? std::span<cell const>() : parent->second.subspan(1)));
    }
  });
  return out;
}

std::optional<parent_info> store::find(std::string_view parent) const {
  auto const key = key_value(parent, definition_.number_parents);
  if (!key) return std::nullopt;
  std::optional<parent_info> out;
  core::read(context_, [&](db::session& session) {
    out.reset();
    auto const ours =
        db::run(session, context_.sql["aggregation.parent_of_ours"], {definition_.id, parent});
    auto const found = db::run(session, definition_.sql.parent, {*key});
    if (ours.size() == 0 || found.size() == 0) return;
    out.emplace();
    out->key = parent;
    out->group = shown(text_in(ours.row(0)[0]));
    out->opened = instant(ours.row(0)[1]);
    read_values(*out, found.row(0));
  });
  return out;
}

std::vector<parent_info> store::parents(parents_query const& query) const {
  check_limit(definition_.name, query.limit);
  auto const filtered =
      query.state ? parents_in(context_, definition_.options, definition_.sql, *query.state)
                  : db::entry{};
  auto const& statement = query.state ? filtered : definition_.sql.parents;
  std::vector<parent_info> out;
  core::read(context_, [&](db::session& session) {
    auto const found =
        db::run(session, statement,
                {std::string_view(query.after), std::int64_t{query.limit}, definition_.id});
    out.assign(found.size(), {});
    for (std::size_t i = 0; i < out.size(); ++i) {
      auto const row = found.row(i);
      out[i].key = text_in(row[0]);
      out[i].group = shown(text_in(row[1]));
      out[i].opened = instant(row[2]);
      read_values(out[i], row.subspan(3));
    }
  });
  return out;
}

std::vector<aggregated_row> store::rows(std::string_view parent, std::string_view after,
                                        int limit) const {
  check_limit(definition_.name, limit);
  auto const key = key_value(parent, definition_.number_parents);
  auto const from = key_value(after, definition_.number_keys);
  if (!key || (!after.empty() && !from)) return {};
  std::vector<aggregated_row> out;
  core::read(context_, [&](db::session& session) {
    auto const found =
        after.empty()
            ? db::run(session, definition_.sql.rows_first, {*key, std::int64_t{limit}})
            : db::run(session, definition_.sql.rows_next, {*key, *from, std::int64_t{limit}});
    out.assign(found.size(), {});
    for (std::size_t i = 0; i < out.size(); ++i) {
      auto const row = found.row(i);
      out[i].key = text_in(row[0]);
      out[i].state = text_in(row[1]);
      for (auto const& one : row.subspan(2)) {
        bool const null = std::holds_alternative<std::nullptr_t>(one);
        out[i].amounts.push_back(null ? std::nullopt : std::optional(text_in(one)));
      }
    }
  });
  return out;
}

std::optional<std::string> store::parent_of(std::string_view row) const {
  auto const key = key_value(row, definition_.number_keys);
  if (!key) return std::nullopt;
  std::optional<std::string> out;
  core::read(context_, [&](db::session& session) {
    out.reset();
    auto const found = db::run(session, definition_.sql.link_of, {*key});
    if (found.size() > 0 && number_in(found.row(0)[1]) == 1) out = text_in(found.row(0)[0]);
  });
  return out;
}

std::vector<aggregation_event> store::history(std::string_view parent, int limit,
                                              std::int64_t before) const {
  check_limit(definition_.name, limit);
  if (before == 0) before = std::numeric_limits<std::int64_t>::max();
  std::vector<aggregation_event> out;
  core::read(context_, [&](db::session& session) {
    auto const found = db::run(session, context_.sql["aggregation.history"],
                               {definition_.id, parent, before, std::int64_t{limit}});
    out.assign(found.size(), {});
    for (std::size_t i = 0; i < out.size(); ++i) {
      auto const row = found.row(i);
      out[i] = {number_in(row[0]).value_or(0),
                instant(row[1]),
                static_cast<aggregation_event::kind>(number_in(row[2]).value_or(1)),
                text_in(row[3]),
                number_in(row[4]).value_or(0),
                text_in(row[5]),
                text_in(row[6]),
                text_in(row[7])};
    }
  });
  return out;
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
