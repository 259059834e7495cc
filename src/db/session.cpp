// What a driver need not do itself: it may know a faster way.
#include "db/session.hpp"

#include "base/text.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace daybook {
inline namespace v1 {
namespace db {

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20U;

std::size_t bytes_of(value const& value) {
  return std::visit(
      [](auto const& v) -> std::size_t {
        if constexpr (requires { v.size(); }) {
          return v.size();
        } else {
          return sizeof v;
        }
      },
      value);
}

}  // namespace

void session::after_commit(sequel const& callback) {
  // A million adds are followed by one.
  if (after_commit_.empty() || after_commit_.back() != callback) after_commit_.push_back(callback);
}

void session::ended(bool committed) noexcept {
  auto const known = std::exchange(after_commit_, {});
  if (!committed) return;
  for (auto const& one : known) one.call(one.of, one.what);
}

std::size_t rows_of(load_target const& target, std::span<value const> cells) {
  auto const width = target.columns.size();
  if (width > 0 && cells.size() % width == 0) return cells.size() / width;
  throw error({.kind = error_code::internal, .statement = "load"},
              "rows of " + std::to_string(width) + " columns are loaded into " + target.table +
                  ", and " + std::to_string(cells.size()) + " values were given");
}

std::size_t rows_at_once(load_target const& target, std::span<value const> cells,
                         std::size_t most) {
  auto const width = target.columns.size();
  auto const rows = std::min(cells.size() / width, most);
  std::size_t bytes = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    for (auto const& one : cells.subspan(row * width, width)) bytes += bytes_of(one);
    if (bytes > most_bytes) return row + 1;
  }
  return rows;
}

statement insert_rows(load_target const& target, std::size_t rows) {
  auto const columns = target.columns.size();
  auto const row = "(" + base::listed(std::vector<std::string>(columns, "?")) + ")";
  statement out{"load",
                "insert into " + target.table + " (" + base::listed(target.columns) + ") values " +
                    base::listed(std::vector(rows, row)),
                {},
                {}};
  auto const values = rows * columns;
  out.inputs.resize(values);
  for (std::size_t at = 0; at < values; ++at) out.order.push_back(at);
  return out;
}

std::vector<table> session::together(std::span<call const> calls) {
  std::vector<table> out;
  if (calls.empty()) return out;
  out.reserve(calls.size());
  begin(isolation::read_committed);
  try {
    for (auto const& one : calls) out.push_back(run(*one.what, one.values));
    commit();
  } catch (...) {
    rollback();
    throw;
  }
  return out;
}

bool session::share(std::function<bool(session&)> const& body) {
  begin(isolation::read_committed);
  try {
    bool const keep = body(*this);
    keep ? commit() : rollback();
    return keep;
  } catch (error const& e) {
    if (!e.in_doubt()) rollback();  // else there may be nothing to roll back
    throw;
  } catch (...) {
    rollback();
    throw;
  }
}

std::int64_t session::load(load_target const& target, std::span<value const> cells) {
  // Longer statements are not faster, and SQLite takes 32766 values at most.
  constexpr std::size_t rows_together = 100;
  if (rows_of(target, cells) == 0) return 0;
  auto const width = target.columns.size();
  auto const one = insert_rows(target, 1);
  auto const many = insert_rows(target, rows_together);
  std::int64_t out = 0;
  while (!cells.empty()) {
    bool const whole = rows_at_once(target, cells, rows_together) == rows_together;
    auto const size = whole ? rows_together * width : width;
    out += run(whole ? many : one, cells.first(size)).affected;
    cells = cells.subspan(size);
  }
  return out;
}

}  // namespace db
}  // namespace v1
}  // namespace daybook
