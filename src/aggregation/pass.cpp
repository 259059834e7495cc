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

void pass::begin(db::session& on, std::int64_t number, position const& from) {
  number_ = number;
  from_ = from;
  auto const last = db::run(on, of_.sql.last_key, {});
  if (last.size() > 0) until_ = text_in(last.row(0)[0]);
}

pass::stretch pass::look(db::session& on, position const& after, std::string const& bound) const {
  std::int64_t const limit = of_.options.chunk;
  auto const up_to = store::key_value(bound, of_.number_keys).value();
  auto const from = after ? store::key_value(*after, of_.number_keys) : std::nullopt;
  auto const rows = from ? db::run(on, of_.sql.range_next, {*from, up_to, limit})
                         : db::run(on, of_.sql.range_first, {up_to, limit});
  auto const row = rows.row(0);
  return {{row[0], row[1], number_in(row[2]).value()}, number_in(row[3]) == 1};
}

std::optional<range> pass::next_shared(db::session& on) {
  auto const turn = db::run(on, with_.sql["aggregation.turn"], {of_.id});
  auto number = number_in(turn.row(0)[0]).value();
  position at;
  decode(turn.row(0)[1], at);
  now_us_ = number_in(turn.row(0)[2]).value();
  if (!number_) {
    began_us_ = now_us_;
    begin(on, number, at);
  }
  shares_ = false;
  rest_.reset();
  if (!until_) return std::nullopt;
  while (number <= *number_ + (from_ ? 1 : 0)) {
    bool const first = number == *number_;
    auto const found = look(on, at, first ? *until_ : *from_);
    if (found.next.count == 0) {
      at.reset();
      db::run(on, with_.sql["aggregation.advance"], {of_.id, ++number, nullptr});
    } else if (found.within) {
      auto const last = text_in(found.next.last);
      db::run(on, with_.sql["aggregation.advance"], {of_.id, number, std::string_view(last)});
      shares_ = true;
      return found.next;
    } else {
      // The others are busy with what came later: the pass is not over.
      if (first) rest_ = from_;
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<range> pass::next_of_rest() {
  if (!rest_) return std::nullopt;
  stretch out;
  core::read(with_, patience, [&](db::session& on) { out = look(on, alone_, *rest_); });
  if (!out.within) return std::nullopt;
  alone_ = text_in(out.next.last);
  return out.next;
}

std::optional<range> pass::next() {
  std::optional<range> out;
  try {
    auto const body = [&](db::session& on) {
      out = next_shared(on);
      return core::decision::commit;
    };
    if (shares_) core::transact(with_, {.name = "aggregate_range", .patience = patience}, body);
  } catch (core::lost_reply const&) {
    // Whether the others know of it or not: the range is one of free rows.
  }
  return out ? out : next_of_rest();
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
