#include "aggregation/pass.hpp"

#include "aggregation/amounts.hpp"
#include "aggregation/store.hpp"
#include "core/tx/transact.hpp"

namespace daybook {
inline namespace v1 {
namespace aggregations {

void pass::begin(db::session& session, std::int64_t number, position const& start) {
  auto const last = db::run(session, definition_.sql.last_key, {});
  position until;
  if (last.size() > 0) {
    until = text_in(last.row(0)[0]);
    check(*until, last.row(0)[1]);
  }
  number_ = number;
  start_ = start;
  until_ = until;
}

void pass::check(std::string_view key, cell const& kind) const {
  auto const& column = *definition_.source.find(definition_.options.source.key);
  auto const where = ", and its column '" + column.name + "' is of type " + column.type + ": ";
  if (text_in(kind) == "blob") {
    bad(definition_.name, "'" + definition_.source.name + "' has a key that is a blob" + where +
                              "write it as a text, or as an integer where it is one");
  }
  if (!store::key_value(key, definition_.number_keys)) {
    bad(definition_.name, "'" + definition_.source.name + "' has the key '" + std::string(key) +
                              "'" + where + "an integer is needed");
  }
}

pass::stretch pass::look(db::session& session, position const& after,
                         std::string const& bound) const {
  std::int64_t const limit = definition_.options.chunk;
  auto const up_to = store::key_value(bound, definition_.number_keys).value();
  auto const from = after ? store::key_value(*after, definition_.number_keys) : std::nullopt;
  auto const rows = from ? db::run(session, definition_.sql.range_next, {*from, up_to, limit})
                         : db::run(session, definition_.sql.range_first, {up_to, limit});
  auto const row = rows.row(0);
  if (number_in(row[2]) != 0) {
    check(text_in(row[0]), row[4]);
    check(text_in(row[1]), row[4]);
  }
  return {{row[0], row[1], number_in(row[2]).value()}, number_in(row[3]) == 1};
}

std::optional<range> pass::next_shared(db::session& session) {
  auto const turn = db::run(session, context_.sql["aggregation.turn"], {definition_.id});
  auto number = number_in(turn.row(0)[0]).value();
  position at;
  decode(turn.row(0)[1], at);
  now_us_ = number_in(turn.row(0)[2]).value();
  if (!number_) {
    began_us_ = now_us_;
    begin(session, number, at);
  }
  shares_ = false;
  rest_.reset();
  if (!until_) return std::nullopt;
  while (number <= *number_ + (start_ ? 1 : 0)) {
    bool const first = number == *number_;
    auto const found = look(session, at, first ? *until_ : *start_);
    if (found.next.count == 0) {
      at.reset();
      db::run(session, context_.sql["aggregation.advance"], {definition_.id, ++number, nullptr});
    } else if (found.within) {
      auto const last = text_in(found.next.last);
      db::run(session, context_.sql["aggregation.advance"],
              {definition_.id, number, std::string_view(last)});
      shares_ = true;
      return found.next;
    } else {
      // The others are busy with what came later: the pass is not over.
      if (first) rest_ = start_;
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<range> pass::next_of_rest() {
  if (!rest_) return std::nullopt;
  stretch out;
  core::read(context_, [&](db::session& session) { out = look(session, alone_, *rest_); });
  if (!out.within) return std::nullopt;
  alone_ = text_in(out.next.last);
  return out.next;
}

std::optional<range> pass::next() {
  std::optional<range> out;
  try {
    auto const body = [&](db::session& session) {
      out = next_shared(session);
      return core::decision::commit;
    };
    if (shares_) core::transact(context_, {.name = "aggregate_range"}, body);
  } catch (core::lost_reply const&) {
    // Whether the others know of it or not: the range is one of free rows.
  }
  return out ? out : next_of_rest();
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
