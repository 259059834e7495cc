#include "aggregation/pass.hpp"

#include "aggregation/amounts.hpp"
#include "aggregation/store.hpp"
#include "core/transact.hpp"

#include <variant>

namespace daybook {
inline namespace v1 {
namespace aggregations {

value value_of(cell const& key) {
  if (auto const* const number = std::get_if<std::int64_t>(&key)) return *number;
  if (auto const* const text = std::get_if<std::string>(&key)) return std::string_view(*text);
  return nullptr;
}

std::optional<range> pass::next(db::session& on) {
  auto const turn = db::run(on, with_.sql["aggregation.turn"], {of_.id});
  auto number = number_in(turn.row(0)[0]).value();
  std::optional<std::string> position;
  decode(turn.row(0)[1], position);
  if (!goal_) {
    goal_ = number + (position ? 2 : 1);
    began_us_ = number_in(turn.row(0)[2]).value();
  }
  std::int64_t const limit = of_.options.chunk;
  while (number < *goal_) {
    auto const after = position ? store::key_value(*position, of_.number_keys) : std::nullopt;
    auto const found = after ? db::run(on, of_.sql.range_next, {*after, limit})
                             : db::run(on, of_.sql.range_first, {limit});
    range out{found.row(0)[0], found.row(0)[1], number_in(found.row(0)[2]).value()};
    if (out.count > 0) {
      auto const last = text_in(out.last);
      db::run(on, with_.sql["aggregation.advance"], {of_.id, number, std::string_view(last)});
      return out;
    }
    position.reset();
    db::run(on, with_.sql["aggregation.advance"], {of_.id, ++number, nullptr});
  }
  return std::nullopt;
}

std::optional<range> pass::next() {
  std::optional<range> out;
  try {
    core::transact(with_, {.name = "aggregate_range", .patience = patience}, [&](db::session& on) {
      out = next(on);
      return core::decision::commit;
    });
  } catch (core::lost_reply const&) {
    // Whether the others know of it or not: the range is one of free rows.
  }
  return out;
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
