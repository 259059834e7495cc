// Every parent against its rows, in one snapshot. Only what differs leaves the database.
#include "aggregation/store.hpp"

#include "base/limits.hpp"
#include "core/tx/transact.hpp"

#include <daybook/error.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {
namespace aggregations {

namespace {

using kind = difference::kind;

/// Gathers at most so many.
class findings {
 public:
  findings(definition const& aggregation, verify_report& report, int limit)
      : definition_(aggregation), report_(report), limit_(limit) {}

  /// One more than fits, so that it is known that there are more.
  [[nodiscard]] std::int64_t room() const {
    return limit_ - static_cast<std::int64_t>(report_.differences.size()) + 1;
  }
  void add(difference difference) {
    if (room() <= 1) {
      report_.complete = false;
    } else {
      report_.differences.push_back(std::move(difference));
    }
  }

  void parent(std::span<cell const> row);
  void gone(std::span<cell const> row) {
    auto const key = text_in(row[0]);
    add({kind::gone,
         key,
         shown(text_in(row[1])),
         definition_.options.parent.key,
         key,
         "not there",
         {}});
  }
  void row(kind kind, std::span<cell const> row);

 private:
  [[nodiscard]] bool is(std::string const& state, state_value const& one) const {
    return state == text_of(one);
  }
  void states(difference const& base, std::string const& state, bool ours_open, std::int64_t rows,
              std::int64_t held);

  definition const& definition_;
  verify_report& report_;
  int limit_;
};

void findings::states(difference const& base, std::string const& state, bool ours_open,
                      std::int64_t rows, std::int64_t held) {
  auto const& p = definition_.options.parent;
  auto const& s = definition_.options.source;
  auto const say = [&](kind kind, std::string column, std::string expected, std::string found) {
    auto one = base;
    one.what = kind;
    one.column = std::move(column);
    one.expected = std::move(expected);
    one.found = std::move(found);
    add(std::move(one));
  };
  bool const open = is(state, p.open);
  bool const live = open || is(state, p.closed);
  if (!live && !is(state, p.settled) && !is(state, p.voided)) {
    say(kind::unknown_state, p.state, "", state);
    return;
  }
  if (open != ours_open) {
    say(kind::two_open, p.state, ours_open ? text_of(p.open) : "not " + text_of(p.open), state);
  }
  auto const counted = [&](std::int64_t how_many) {
    return std::to_string(how_many) + " of " + std::to_string(rows) + " rows";
  };
  if (live && held != rows) say(kind::state, s.state, text_of(s.taken), counted(held));
  if (is(state, p.settled) && held != 0) {
    say(kind::state, s.state, text_of(s.settled), counted(rows - held));
  }
  if (is(state, p.voided) && rows != 0) say(kind::state, s.state, text_of(s.free), counted(0));
}

void findings::parent(std::span<cell const> row) {
  auto const& o = definition_.options;
  auto const sums = o.sums.size();
  std::optional<std::string> group;
  decode(row[1], group);
  difference base{};
  base.parent = text_in(row[0]);
  if (group) base.group = shown(group);
  auto const values = row.subspan(3);            // state, count, sums
  auto const theirs = values.subspan(2 + sums);  // rows, held, sums
  auto const rows = number_in(theirs[0]).value_or(0);
  states(base, text_in(values[0]), number_in(row[2]) == 1, rows, number_in(theirs[1]).value_or(0));
  if (!o.parent.count.empty() && number_in(values[1]) != rows) {
    auto one = base;
    one.what = kind::count;
    one.column = o.parent.count;
    one.expected = std::to_string(rows);
    one.found = text_in(values[1]);
    add(std::move(one));
  }
  for (std::size_t i = 0; i < sums; ++i) {
    auto const expected = text_of(exact_in(text_in(theirs[2 + i])));
    auto const found = text_in(values[2 + i]);
    if (expected == found) continue;
    auto one = base;
    one.what = kind::sum;
    one.column = o.sums[i].into;
    one.expected = expected;
    one.found = found;
    add(std::move(one));
  }
}

void findings::row(kind kind, std::span<cell const> row) {
  auto const& s = definition_.options.source;
  difference one{};
  one.what = kind;
  one.row = text_in(row[0]);
  one.parent = text_in(row[1]);
  std::optional<std::string> group;
  decode(row[3], group);
  one.group = shown(group);
  switch (kind) {
    case kind::group:
      one.expected = shown(text_in(row[4]));
      one.found = one.group;
      break;
    case kind::unknown_state:
      one.column = s.state;
      one.found = text_in(row[2]);
      break;
    case kind::unlinked:
      one.column = s.link;
      one.expected = text_in(row[2]) == text_of(s.free) ? s.unlinked.value_or("null") : "a parent";
      one.found = one.parent;
      break;
    default: one.column = s.link; break;
  }
  add(std::move(one));
}

}  // namespace

verify_report store::verify(int limit) const {
  base::limits("aggregation", definition_.name).between("the limit", limit, 1, 1'000'000);
  verify_report out;
  core::transact(
      context_, {.name = "verify", .level = isolation::repeatable_read}, [&](db::session& session) {
        out = {};
        findings all(definition_, out, limit);
        auto const counts = db::run(session, definition_.sql.verify_counts, {definition_.id});
        out.parents = number_in(counts.row(0)[0]).value_or(0);
        out.rows = number_in(counts.row(0)[1]).value_or(0);
        auto const parents =
            db::run(session, definition_.sql.verify_parents, {definition_.id, all.room()});
        for (std::size_t i = 0; i < parents.size(); ++i) all.parent(parents.row(i));
        auto const gone =
            db::run(session, definition_.sql.verify_gone, {definition_.id, all.room()});
        for (std::size_t i = 0; i < gone.size(); ++i) all.gone(gone.row(i));
        for (auto const& [what, statement] :
             {std::pair{kind::group, &definition_.sql.wrong_group},
              {kind::orphan, &definition_.sql.orphans},
              {kind::unlinked, &definition_.sql.unlinked},
              {kind::unknown_state, &definition_.sql.unknown_state}}) {
          auto const rows = db::run(session, *statement, {definition_.id, all.room()});
          for (std::size_t i = 0; i < rows.size(); ++i) all.row(what, rows.row(i));
        }
        return core::decision::rollback;
      });
  return out;
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
