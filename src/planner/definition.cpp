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

void check_strategy(std::string_view name, query_strategy const& strategy) {
  if (strategy.query.empty()) bad(name, "it has no query");
  base::limits const limits("plan", name);
  limits.length("the query", strategy.query, longest_text);
  limits.between("the query's timeout", strategy.timeout, seconds{1}, hours{24});
}

void check_strategy(std::string_view name, inbox_strategy const& strategy) {
  if (strategy.from.empty()) bad(name, "it does not say which queue has its events (from)");
}

void check_strategy(std::string_view name, window_strategy const& strategy) {
  using unit = window_strategy::unit;
  base::limits const limits("plan", name);
  limits.between("the number of periods a pass launches (most)", strategy.max_periods, 1, 100'000);
  limits.between("again_after", strategy.retry_after, seconds{0}, longest_again);
  if (strategy.each != unit::minute) {
    limits.between("the number of units in a period", strategy.count, 1, 1);
  } else if (strategy.count < 1 || strategy.count > 720 || 1440 % strategy.count != 0) {
    bad(name, "periods of " + std::to_string(strategy.count) +
                  " minutes: a day must be a multiple of them, as of 5, 15 or 60");
  }
}

void check_strategy(std::string_view name, sweep_strategy const& strategy) {
  if (strategy.table.empty()) bad(name, "it names no table");
  base::limits const limits("plan", name);
  limits.between("the rows of a page", strategy.page, 1, 10'000);
  limits.between("the rows that are held in memory (few)", strategy.max_rows, 1, 1'000'000);
  if (strategy.in_memory && !strategy.created.empty())
    bad(name, "keys held in memory need no order (created)");
  if (strategy.in_memory && strategy.max_rows / strategy.page > 10'000) {
    bad(name,
        "its rows are cut at once, and would be more than 10000 pages: larger pages, or fewer "
        "rows (few)");
  }
  limits.between("the number of comparisons", strategy.comparisons, 0, 1000);
  limits.between("the time to the next sweep (again)", strategy.repeat_after, seconds{0},
                 longest_again);
  limits.length("the name of a sweep's plan", name, longest_sweeper);  // its tasks: NAME/SWEEP/PAGE
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

columns columns_of(query_strategy const& strategy) {
  return {.timeout_us = microseconds(strategy.timeout).count(), .source = strategy.query};
}

columns columns_of(inbox_strategy const& strategy) { return {.source = strategy.from}; }

columns columns_of(window_strategy const& strategy) {
  return {.since_us = db::us_of(strategy.since),
          .again_us = microseconds(strategy.retry_after).count(),
          .most = strategy.max_periods,
          .count = strategy.count,
          .unit = static_cast<std::int64_t>(strategy.each),
          .newest_first = strategy.newest_first,
          .source = strategy.zone};
}

columns columns_of(sweep_strategy const& strategy) {
  std::string names;
  for (auto const& one : strategy.key) {
    if (!names.empty()) names.push_back(between_columns);
    names += one;
  }
  return {.again_us = microseconds(strategy.repeat_after).count(),
          .few = strategy.max_rows,
          .most = strategy.comparisons,
          .count = strategy.page,
          .in_memory = strategy.in_memory,
          .source = strategy.table,
          .key_columns = std::move(names),
          .created = strategy.created};
}

columns columns_of(planner_options const& options) {
  return std::visit([](auto const& strategy) { return columns_of(strategy); }, options.strategy);
}

/// For planner.make and planner.change.
template <class Execute>
void with_row(std::string_view name, planner_options const& options, queues::store const& store,
              Execute const& execute) {
  auto const own = columns_of(options);
  execute({name,
           std::int64_t{microseconds(options.every).count()},
           own.timeout_us,
           own.since_us,
           own.again_us,
           own.few,
           store.present().id,
           std::int64_t{options.page},
           own.most,
           own.count,
           static_cast<std::int64_t>(options.strategy.index()),
           static_cast<std::int64_t>(rule_of(options)),
           std::int64_t{options.priority},
           own.unit,
           std::int64_t{own.newest_first ? 1 : 0},
           std::int64_t{own.in_memory ? 1 : 0},
           std::string_view(own.source),
           std::string_view(own.key_columns),
           std::string_view(own.created),
           std::string_view(options.check)});
}

void put_strategy(planner_options& options, std::int64_t strategy, columns columns) {
  switch (strategy) {
    case 0:
      options.strategy = query_strategy{
          std::move(columns.source),
          std::chrono::duration_cast<milliseconds>(microseconds(columns.timeout_us))};
      return;
    case 1: options.strategy = inbox_strategy{std::move(columns.source)}; return;
    case 2:
      options.strategy =
          window_strategy{static_cast<window_strategy::unit>(columns.unit),
                          static_cast<int>(columns.count),
                          std::move(columns.source),
                          timestamp(microseconds(columns.since_us)),
                          columns.newest_first,
                          static_cast<int>(columns.most),
                          std::chrono::duration_cast<seconds>(microseconds(columns.again_us))};
      return;
    default: break;
  }
  sweep_strategy out{
      .table = std::move(columns.source),
      .key = {},
      .created = std::move(columns.created),
      .in_memory = columns.in_memory,
      .max_rows = columns.few,
      .page = static_cast<int>(columns.count),
      .comparisons = static_cast<int>(columns.most),
      .repeat_after = std::chrono::duration_cast<seconds>(microseconds(columns.again_us))};
  for (std::size_t at = 0; at < columns.key_columns.size();) {
    auto const end =
        std::min(columns.key_columns.find(between_columns, at), columns.key_columns.size());
    out.key.push_back(columns.key_columns.substr(at, end - at));
    at = end + 1;
  }
  options.strategy = std::move(out);
}

}  // namespace

void bad(std::string_view planner, std::string const& reason) {
  throw error({.kind = error_code::bad_argument}, "plan '" + std::string(planner) + "': " + reason);
}

void check(std::string_view name, planner_options const& options) {
  check_name("plan name", name);
  base::limits const limits("plan", name);
  limits.length("its name", name, longest_name - 5);  // its passes are runs of process "plan NAME"
  if (options.queue.empty()) bad(name, "it does not say in which queue its tasks are (queue)");
  std::visit([&](auto const& strategy) { check_strategy(name, strategy); }, options.strategy);
  limits.length("the check", options.check, longest_text);
  limits.between("the time between passes (every)", options.every, milliseconds{100},
                 hours{24 * 366});
  limits.between("the priority", options.priority, 0, 9);
  limits.between("the page", options.page, 1, 10'000);
}

bool write(core::context const& context, std::string_view name, planner_options const& options,
           queues::store const& store) {
  for (auto const* const statement : {"planner.make", "planner.change"}) {
    bool written = false;
    with_row(name, options, store, [&](std::initializer_list<value> values) {
      written = core::insist([&] {
        return core::write(context, {.name = "planner"}, context.sql[statement], values).affected >
               0;
      });
    });
    if (written) return true;
  }
  return false;
}

void turn(db::session& session, core::context const& context, std::string_view name,
          planner_options const& options, queues::store const& store) {
  auto const own = columns_of(options);
  db::run(session, context.sql["planner.turn"],
          {name, store.present().id, static_cast<std::int64_t>(options.strategy.index()),
           std::string_view(own.source), std::string_view(own.key_columns),
           std::string_view(own.created)});
  with_row(name, options, store, [&](std::initializer_list<value> values) {
    db::run(session, context.sql["planner.change"], values);
  });
}

std::optional<definition> look(core::context const& context, std::string_view name) {
  std::optional<definition> out;
  core::read(context, [&](db::session& session) {
    out.reset();
    auto const found = db::run(session, context.sql["planner.look"], {name});
    if (found.size() == 0) return;
    auto const row = found.row(0);
    out.emplace();
    auto const number = [&](std::size_t index) {
      std::int64_t n = 0;
      decode(row[index], n);
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

std::vector<std::string> names(core::context const& context) {
  std::vector<std::string> out;
  core::read(context, [&](db::session& session) {
    out.clear();
    auto const found = db::run(session, context.sql["planner.names"], {});
    for (std::size_t i = 0; i < found.size(); ++i) decode(found.row(i)[0], out.emplace_back());
  });
  return out;
}

launch_rule rule_of(planner_options const& options) noexcept {
  bool const window = std::holds_alternative<window_strategy>(options.strategy);
  return options.rule.value_or(window ? launch_rule::after_failure : launch_rule::once);
}

std::string_view word_of(planner_options const& options) noexcept {
  static constexpr std::array<std::string_view, 4> words{"query", "inbox", "window", "sweep"};
  return words.at(options.strategy.index());
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
