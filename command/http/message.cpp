#include "http/message.hpp"

#include <nlohmann/json.hpp>

#include <array>

namespace command {

namespace {

struct titled {
  std::string_view code;
  std::string_view title;
};

constexpr std::array<titled, 22> titles{{
    {"bad-argument", "The request is not as it must be"},
    {"bad-request", "This is not HTTP as we take it"},
    {"who", "Nobody is logged in"},
    {"not-permitted", "Not permitted"},
    {"cross-site", "The request comes from another site"},
    {"read-only", "This server makes no changes"},
    {"missing", "There is no such thing"},
    {"no-such-method", "That cannot be done with it"},
    {"too-slow", "The request did not come in time"},
    {"held-elsewhere", "Somebody has it in hand"},
    {"not-in-that-state", "It is not in that state"},
    {"in-progress", "The same request is under way"},
    {"changed-since", "It has changed since you looked"},
    {"too-large", "The request is too large"},
    {"not-json", "The body is not JSON"},
    {"wrong-host", "The server does not have this name"},
    {"other-body", "Another request had this key"},
    {"reason-needed", "It takes a reason"},
    {"too-many", "Too many attempts"},
    {"busy", "The server has too much to do"},
    {"database-away", "The database does not answer"},
    {"full", "The database is full"},
}};

}  // namespace

std::optional<std::string_view> http_request::header(std::string_view name) const noexcept {
  for (auto const& [one, value] : headers) {
    if (one == name) return value;
  }
  return std::nullopt;
}

std::string_view title_of(std::string_view code) noexcept {
  for (auto const& one : titles) {
    if (one.code == code) return one.title;
  }
  return "A defect of this program";
}

http_answer answer_of(refusal const& refused) {
  nlohmann::ordered_json const body{{"type", "/problems/" + refused.code()},
                                    {"title", title_of(refused.code())},
                                    {"status", refused.status()},
                                    {"detail", refused.what()},
                                    {"code", refused.code()}};
  http_answer out{.status = refused.status(),
                  .type = "application/problem+json",
                  .body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
  if (refused.status() == 401) out.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (refused.status() == 429) out.headers.emplace_back("Retry-After", "60");
  if (refused.status() == 503) out.headers.emplace_back("Retry-After", "2");
  return out;
}

}  // namespace command
