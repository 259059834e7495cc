// The table of routes: one row each, with the permission it takes, the bounds of every parameter,
// and whether it takes a reason. A row without a permission does not compile, and what is in no row
// is refused.
// Thread safety: values that never change.
#pragma once

#include "api/access.hpp"
#include "api/call.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace command {

struct parameter {
  enum class kind : std::uint8_t { text, number, word, since };
  std::string_view name;
  kind is = kind::text;
  std::int64_t least = 0;  ///< of a number; of a text: bytes
  std::int64_t most = 255;
  std::string_view words = {};  ///< of a word: "a|b|c"
};

enum class reasons : std::uint8_t { none, asked, needed };

using route_handler = reply (*)(call&);

struct route {
  // Spelt out, so that none of them has a default.
  constexpr route(std::string_view method_, std::string_view pattern_, permission takes_,
                  route_handler handler_, std::vector<parameter> query_ = {},
                  std::vector<parameter> body_ = {}, reasons reason_ = reasons::none)
      : method(method_),
        pattern(pattern_),
        takes(takes_),
        handler(handler_),
        query(std::move(query_)),
        body(std::move(body_)),
        reason(reason_) {}

  std::string_view method;   ///< GET, POST, DELETE
  std::string_view pattern;  ///< "queues/{queue}/tasks"
  permission takes;
  route_handler handler;
  std::vector<parameter> query;
  std::vector<parameter> body;
  reasons reason;
  [[nodiscard]] bool is_act() const noexcept { return method != "GET"; }
};

/// All of them, below /api/v1/.
[[nodiscard]] std::vector<route> const& routes();

/// The rows whose pattern fits; their methods differ.
[[nodiscard]] std::vector<route const*> routes_at(std::span<std::string const> parts,
                                                  std::vector<bool> const& coded);
/// The values of the pattern's names.
[[nodiscard]] std::map<std::string, std::string, std::less<>> names_in(
    route const& row, std::span<std::string const> parts);

/// The query as the row allows it. On failure: refusal (400), which names the parameter.
[[nodiscard]] std::map<std::string, std::string, std::less<>> checked_query(
    route const& row, std::vector<std::pair<std::string, std::string>> const& given);
/// The body likewise, of JSON at most 32 deep; empty: an object without fields. On failure: refusal
/// (400, 415, 428).
[[nodiscard]] nlohmann::ordered_json checked_body(route const& row, http_request const& request);

}  // namespace command
