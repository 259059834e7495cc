#include "planner/definition.hpp"

#include "base/limits.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"

#include <daybook/error.hpp>
#include <daybook/names.hpp>

#include <array>
#include <initializer_list>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace planners {

namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char between_columns = '\x1f';
constexpr std::size_t longest_text = 1 << 20;
constexpr hours longest_again{24 * 3660};

void check_strategy(std::string_view name, query_strategy const& of) {
  if (of.query.empty()) bad(name, "it has no query");
  base::limits const in("plan", name);
  in.length("the query", of.query, longest_text);
  in.between("the query's timeout", of.timeout, seconds{1}, hours{24});
}

void check_strategy(std::string_view name, inbox_strategy const& of) {
  if (of.from.empty()) bad(name, "it does not say which queue has its events (from)");
}

void check_strategy(std::string_view name, window_strategy const& of) {
  using unit = window_strategy::unit;
  base::limits const in("plan", name);
  in.between("the number of periods a pass launches (most)", of.most, 1, 100'000);
  in.between("again_after", of.retry_after, seconds{0}, longest_again);
  if (of.each != unit::minute) {
    in.between("the number of units in a period", of.count, 1, 1);
  } else if (of.count < 1 || of.count > 720 || 1440 % of.count != 0) {
    bad(name, "periods of " + std::to_string(of.count) +
                  " minutes: a day must be a multiple of them, as of 5, 15 or 60");
  }
}

void check_strategy(std::string_view name, sweep_strategy const& of) {
  if (of.table.empty()) bad(name, "it names no table");
  base::limits const in("plan", name);
  in.between("the rows of a page", of.page, 1, 10'000);
  in.between("the rows that are held in memory (few)", of.few, 1, 1'000'000);
  if (of.in_memory && !of.created.empty()) bad(name, "keys held in memory need no order (created)");
  if (of.in_memory && of.few / of.page > 10'000) {
    bad(name,
        "its rows are cut at once, and would be more than 10000 pages: larger pages, or fewer "
        "rows (few)");
  }
  in.between("the number of comparisons", of.comparisons, 0, 1000);
  in.between("the time to the next sweep (again)", of.again, seconds{0}, longest_again);
  in.length("the name of a sweep's plan", name, longest_sweeper);  // its tasks: NAME/SWEEP/PAGE
}

/// What the strategies keep in their common row.
struct columns {
  std::int64_t timeout_us = 0;
  std::int64_t since_us = 0;
  std::int64_t again_us = 0;
  std::int64_t few = 0;
  std::int64_t most = 0;
  std::int64_t count = 0;
  std::int64_t unit = 0;
  bool newest_first = false;
  bool in_memory = false;
  std::string source = {};
  std::string key_columns = {};
  std::string created = {};
};

columns columns_of(query_strategy const& of) {
  return {.timeout_us = microseconds(of.timeout).count(), .source = of.query};
}

columns columns_of(inbox_strategy const& of) { return {.source = of.from}; }

columns columns_of(window_strategy const& of) {
  return {.since_us = db::us_of(of.since),
          .again_us = microseconds(of.retry_after).count(),
          .most = of.most,
          .count = of.count,
          .unit = static_cast<std::int64_t>(of.each),
          .newest_first = of.newest_first,
          .source = of.zone};
}

columns columns_of(sweep_strategy const& of) {
  std::string names;
  for (auto const& one : of.key) {
    if (!names.empty()) names.push_back(between_columns);
    names += one;
  }
  return {.again_us = microseconds(of.again).count(),
          .few = of.few,
          .most = of.comparisons,
          .count = of.page,
          .in_memory = of.in_memory,
          .source = of.table,
          .key_columns = std::move(names),
          .created = of.created};
}

columns columns_of(planner_options const& of) {
  return std::visit([](auto const& strategy) { return columns_of(strategy); }, of.strategy);
}

/// For planner.make and planner.change.
template <class Execute>
void with_row(std::string_view name, planner_options const& of, queues::store const& into,
              Execute const& execute) {
  auto const own = columns_of(of);
  execute({name,
           std::int64_t{microseconds(of.every).count()},
           own.timeout_us,
           own.since_us,
           own.again_us,
           own.few,
           into.present().id,
           std::int64_t{of.page},
           own.most,
           own.count,
           static_cast<std::int64_t>(of.strategy.index()),
           static_cast<std::int64_t>(rule_of(of)),
           std::int64_t{of.priority},
           own.unit,
           std::int64_t{own.newest_first ? 1 : 0},
           std::int64_t{own.in_memory ? 1 : 0},
           std::string_view(own.source),
           std::string_view(own.key_columns),
           std::string_view(own.created),
           std::string_view(of.check)});
}

void put_strategy(planner_options& to, std::int64_t strategy, columns from) {
  switch (strategy) {
    case 0:
      to.strategy =
          query_strategy{std::move(from.source),
                         std::chrono::duration_cast<milliseconds>(microseconds(from.timeout_us))};
      return;
    case 1: to.strategy = inbox_strategy{std::move(from.source)}; return;
    case 2:
      to.strategy =
          window_strategy{static_cast<window_strategy::unit>(from.unit),
                          static_cast<int>(from.count),
                          std::move(from.source),
                          timestamp(microseconds(from.since_us)),
                          from.newest_first,
                          static_cast<int>(from.most),
                          std::chrono::duration_cast<seconds>(microseconds(from.again_us))};
      return;
    default: break;
  }
  sweep_strategy out{.table = std::move(from.source),
                     .key = {},
                     .created = std::move(from.created),
                     .in_memory = from.in_memory,
                     .few = from.few,
                     .page = static_cast<int>(from.count),
                     .comparisons = static_cast<int>(from.most),
                     .again = std::chrono::duration_cast<seconds>(microseconds(from.again_us))};
  for (std::size_t at = 0; at < from.key_columns.size();) {
    auto const end = std::min(from.key_columns.find(between_columns, at), from.key_columns.size());
    out.key.push_back(from.key_columns.substr(at, end - at));
    at = end + 1;
  }
  to.strategy = std::move(out);
}

}  // namespace

void bad(std::string_view planner, std::string const& what) {
  throw error({.kind = error_code::bad_argument}, "plan '" + std::string(planner) + "': " + what);
}

void check(std::string_view name, planner_options const& of) {
  check_name("plan name", name);
  base::limits const in("plan", name);
  in.length("its name", name, longest_name - 5);  // its passes are runs of process "plan NAME"
  if (of.queue.empty()) bad(name, "it does not say in which queue its tasks are (queue)");
  std::visit([&](auto const& strategy) { check_strategy(name, strategy); }, of.strategy);
  in.length("the check", of.check, longest_text);
  in.between("the time between passes (every)", of.every, milliseconds{100}, hours{24 * 366});
  in.between("the priority", of.priority, 0, 9);
  in.between("the page", of.page, 1, 10'000);
}

bool write(core::context const& with, std::string_view name, planner_options const& of,
           queues::store const& into) {
  for (auto const* const statement : {"planner.make", "planner.change"}) {
    bool written = false;
    with_row(name, of, into, [&](std::initializer_list<value> values) {
      written = core::insist([&] {
        return core::write(with, {.name = "planner"}, with.sql[statement], values).affected > 0;
      });
    });
    if (written) return true;
  }
  return false;
}

void turn(db::session& on, core::context const& with, std::string_view name,
          planner_options const& of, queues::store const& into) {
  auto const own = columns_of(of);
  db::run(on, with.sql["planner.turn"],
          {name, into.present().id, static_cast<std::int64_t>(of.strategy.index()),
           std::string_view(own.source), std::string_view(own.key_columns),
           std::string_view(own.created)});
  with_row(name, of, into, [&](std::initializer_list<value> values) {
    db::run(on, with.sql["planner.change"], values);
  });
}

std::optional<definition> look(core::context const& with, std::string_view name) {
  std::optional<definition> out;
  core::read(with, [&](db::session& on) {
    out.reset();
    auto const found = db::run(on, with.sql["planner.look"], {name});
    if (found.size() == 0) return;
    auto const row = found.row(0);
    out.emplace();
    auto const number = [&](std::size_t at) {
      std::int64_t n = 0;
      decode(row[at], n);
      return n;
    };
    out->id = number(0);
    out->name = name;
    out->next_us = number(1);
    decode(row[2], out->ended_us);
    out->passes = number(3);
    out->launched = number(4);
    out->paused = number(5) != 0;
    decode(row[6], out->error);
    auto& to = out->options;
    to.every = std::chrono::duration_cast<milliseconds>(microseconds(number(7)));
    columns own{.timeout_us = number(8),
                .since_us = number(9),
                .again_us = number(10),
                .few = number(11),
                .most = number(14),
                .count = number(15),
                .unit = number(19),
                .newest_first = number(20) != 0,
                .in_memory = number(21) != 0};
    decode(row[12], to.queue);
    to.page = static_cast<int>(number(13));
    to.rule = static_cast<launch_rule>(number(17));
    to.priority = static_cast<int>(number(18));
    decode(row[22], own.source);
    decode(row[23], own.key_columns);
    decode(row[24], own.created);
    decode(row[25], to.check);
    out->now_us = number(26);
    put_strategy(to, number(16), std::move(own));
  });
  return out;
}

std::vector<std::string> names(core::context const& with) {
  std::vector<std::string> out;
  core::read(with, [&](db::session& on) {
    out.clear();
    auto const found = db::run(on, with.sql["planner.names"], {});
    for (std::size_t i = 0; i < found.size(); ++i) decode(found.row(i)[0], out.emplace_back());
  });
  return out;
}

launch_rule rule_of(planner_options const& of) noexcept {
  bool const window = std::holds_alternative<window_strategy>(of.strategy);
  return of.rule.value_or(window ? launch_rule::after_failure : launch_rule::once);
}

std::string_view word_of(planner_options const& of) noexcept {
  static constexpr std::array<std::string_view, 4> words{"query", "inbox", "window", "sweep"};
  return words.at(of.strategy.index());
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
