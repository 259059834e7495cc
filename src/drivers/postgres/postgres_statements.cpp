#include "drivers/postgres/postgres_statements.hpp"

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

/// A server keeps each prepared statement's plan for each connection; beyond so many, statements
/// are sent without a name.
constexpr std::size_t most_prepared = 500;

}  // namespace

prepared_statements::prepared const* prepared_statements::find(
    std::string const& text, std::vector<::Oid> const& types) const {
  if (auto const found = known_.find(text); found != known_.end()) {
    auto const same = std::find_if(found->second.begin(), found->second.end(),
                                   [&](prepared const& one) { return one.types == types; });
    if (same != found->second.end()) return &*same;
  }
  auto const same = std::find_if(fresh_.begin(), fresh_.end(), [&](on_its_way const& one) {
    return one.text == text && one.as.types == types;
  });
  return same == fresh_.end() ? nullptr : &same->as;
}

void prepared_statements::send(round_trip& trip, std::string const& text,
                               parameters const& values) {
  auto const* ready = find(text, values.types());
  if (ready == nullptr && names_ < most_prepared) {
    fresh_.push_back({text, {values.types(), "daybook_" + std::to_string(++names_)}, trip.size()});
    ready = &fresh_.back().as;
    trip.prepare(ready->name, text, ready->types);
  }
  if (ready != nullptr) {
    trip.execute(ready->name, values);
  } else {
    trip.query(text, values);
  }
}

void prepared_statements::keep(answer const& came) {
  for (auto& one : fresh_) {
    if (one.at < came.results.size() &&
        ::PQresultStatus(came.results[one.at].get()) == PGRES_COMMAND_OK) {
      known_[one.text].push_back(std::move(one.as));
    }
  }
  fresh_.clear();
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
