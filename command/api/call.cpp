#include "api/call.hpp"

#include "api/access.hpp"
#include "cli/dates.hpp"
#include "cli/exit.hpp"
#include "config/options.hpp"
#include "http/target.hpp"
#include "verbs/aggregates/aggregate_verbs.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace command {

using json = nlohmann::ordered_json;

made_aggregation services::aggregation(std::string const& name) {
  std::lock_guard const locked(guard_);
  auto const known = aggregations_.find(name);
  if (known != aggregations_.end()) return known->second;
  auto const declared =
      std::find_if(file_.aggregates.begin(), file_.aggregates.end(),
                   [&](declared_aggregate const& one) { return one.name == name; });
  if (declared == file_.aggregates.end()) {
    missing("The file of this server (--config) declares no aggregation " + name + ".");
  }
  made_aggregation one{*declared, make(book_, *declared)};
  return aggregations_.emplace(name, std::move(one)).first->second;
}

std::string const& call::name(std::string_view part) const { return names.find(part)->second; }

std::string call::text(std::string_view parameter) const {
  auto const found = query.find(parameter);
  return found == query.end() ? std::string() : found->second;
}

int call::number(std::string_view parameter, int usual) const {
  auto const found = query.find(parameter);
  return found == query.end() || found->second.empty() ? usual : std::stoi(found->second);
}

std::string call::field(std::string_view name) const {
  auto const found = body.find(std::string(name));
  if (found == body.end()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::optional<daybook::timestamp> call::since(std::string_view parameter) const {
  auto const given = text(parameter);
  if (given.empty()) return std::nullopt;
  if (auto const length = duration_from(given)) {
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()) -
           *length;
  }
  try {
    return instant_from(given.size() == 10 ? given + "T00:00:00Z" : given);
  } catch (complaint const&) {
    throw refusal(400, "bad-argument",
                  "The " + std::string(parameter) +
                      " is neither an instant (2026-11-21T09:00:00Z) nor a length of time (2h).");
  }
}

std::string call::after() const {
  auto const given = text("after");
  if (given.empty()) return {};
  auto const place = from_base64url(given);
  if (!place) throw refusal(400, "bad-argument", "after is not what `next` of a page was.");
  return *place;
}

daybook::audit_note call::note() const {
  auto const request_name = request.header("idempotency-key");
  return {who->name, field("reason"), request_name ? std::string(*request_name) : std::string()};
}

bool call::sees_payloads() const noexcept {
  return who && allows(who->role, permission::see_payload);
}

reply list_of(json items, json next) {
  return {.body = {{"items", std::move(items)}, {"next", std::move(next)}}};
}

json next_after(bool is_full, std::string const& place) {
  return is_full ? json(to_base64url(place)) : json(nullptr);
}

reply told(std::string const& text) { return {.body = {{"text", text}}}; }

void missing(std::string const& detail) { throw refusal(404, "missing", detail); }

void not_in_that_state(std::string const& detail) {
  throw refusal(409, "not-in-that-state", detail);
}

void write_ids_as_texts(json& body) {
  if (body.is_array()) {
    for (auto& one : body) write_ids_as_texts(one);
  }
  if (!body.is_object()) return;
  constexpr std::array<std::string_view, 3> names{"id", "run_no", "epoch"};
  for (auto const& [name, value] : body.items()) {
    bool const is_id = std::find(names.begin(), names.end(), name) != names.end();
    if (is_id && value.is_number_integer()) {
      value = std::to_string(value.get<std::int64_t>());
    } else {
      write_ids_as_texts(value);
    }
  }
}

}  // namespace command
