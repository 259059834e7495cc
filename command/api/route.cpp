#include "api/route.hpp"

#include "cli/numbers.hpp"
#include "http/target.hpp"

#include <algorithm>
#include <set>

namespace command {

namespace {

using json = nlohmann::ordered_json;

[[noreturn]] void bad(std::string const& why) { throw refusal(400, "bad-argument", why); }

std::vector<std::string_view> pieces(std::string_view pattern) {
  std::vector<std::string_view> out;
  for (;;) {
    auto const slash = pattern.find('/');
    out.push_back(pattern.substr(0, slash));
    if (slash == std::string_view::npos) return out;
    pattern.remove_prefix(slash + 1);
  }
}

bool is_name(std::string_view piece) { return piece.starts_with('{'); }

bool is_one_of(std::string_view words, std::string_view given) {
  while (!words.empty()) {
    auto const end = words.find('|');
    if (words.substr(0, end) == given) return true;
    words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  }
  return false;
}

void check(parameter const& of, std::string const& given) {
  std::string const name(of.name);
  switch (of.is) {
    case parameter::kind::number: {
      auto const number = given.size() <= 18 ? whole_number(given) : std::nullopt;
      if (!number || *number < of.least || *number > of.most) {
        bad(name + " must be a whole number from " + std::to_string(of.least) + " to " +
            std::to_string(of.most) + ".");
      }
      return;
    }
    case parameter::kind::word:
      if (!is_one_of(of.words, given))
        bad(name + " must be one of: " + std::string(of.words) + ".");
      return;
    case parameter::kind::since:
    case parameter::kind::text:
      if (given.size() < static_cast<std::size_t>(of.least) ||
          given.size() > static_cast<std::size_t>(of.most)) {
        bad(name + " must have " + std::to_string(of.least) + " to " + std::to_string(of.most) +
            " bytes.");
      }
      return;
  }
}

parameter const* find(std::vector<parameter> const& all, std::string_view name) {
  auto const found =
      std::find_if(all.begin(), all.end(), [&](parameter const& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

constexpr int deepest = 32;

json parsed(std::string const& text) {
  if (!is_text(text)) bad("The body is not UTF-8, or has a NUL.");
  bool too_deep = false;
  bool twice = false;
  std::vector<std::set<std::string>> keys;
  auto const look = [&](int depth, json::parse_event_t event, json& at) {
    if (depth > deepest) too_deep = true;
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key) {
      twice = twice || !keys.back().insert(at.get<std::string>()).second;
    }
    return !too_deep;
  };
  auto out = json::parse(text, look, false);
  if (too_deep) bad("The body is JSON of more than 32 levels.");
  if (out.is_discarded() || !out.is_object()) bad("The body is no JSON object.");
  if (twice) bad("The body has a field twice.");
  return out;
}

void check_field(route const& row, std::string const& name, json const& value) {
  // An escape may stand for a NUL.
  if (value.is_string() && !is_text(value.get_ref<std::string const&>())) {
    bad("The field " + name.substr(0, 40) + " has a NUL.");
  }
  if (name == "reason") {
    if (row.reason == reasons::none) bad("A reason is not taken here.");
    if (!value.is_string()) bad("reason must be a text.");
    check({.name = "reason", .most = 255}, value.get<std::string>());
    return;
  }
  auto const* const known = find(row.body, name);
  if (known == nullptr) bad("The field " + name.substr(0, 40) + " is not known here.");
  bool const is_number = known->is == parameter::kind::number;
  if (value.is_string() || (is_number && value.is_number_unsigned())) {
    check(*known, value.is_string() ? value.get<std::string>() : value.dump());
  } else {
    bad(name + (is_number ? " must be a number." : " must be a text."));
  }
}

}  // namespace

std::vector<route const*> routes_at(std::span<std::string const> parts,
                                    std::vector<bool> const& coded) {
  std::vector<route const*> out;
  for (auto const& one : routes()) {
    auto const all = pieces(one.pattern);
    bool fits = all.size() == parts.size();
    for (std::size_t at = 0; fits && at < all.size(); ++at) {
      // A word of ours is written as it is: each route has one address.
      fits = is_name(all[at]) || (all[at] == parts[at] && !coded.at(at));
    }
    if (fits) out.push_back(&one);
  }
  // Where a word and a name fit, the word is meant: schedules/density.
  auto const names = [](route const* row) {
    return std::count(row->pattern.begin(), row->pattern.end(), '{');
  };
  if (out.empty()) return out;
  auto const least = names(*std::min_element(out.begin(), out.end(),
                                             [&](auto a, auto b) { return names(a) < names(b); }));
  std::erase_if(out, [&](route const* one) { return names(one) != least; });
  return out;
}

std::map<std::string, std::string, std::less<>> names_in(route const& row,
                                                         std::span<std::string const> parts) {
  std::map<std::string, std::string, std::less<>> out;
  auto const all = pieces(row.pattern);
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (is_name(all[at])) out.emplace(all[at].substr(1, all[at].size() - 2), parts[at]);
  }
  return out;
}

std::map<std::string, std::string, std::less<>> checked_query(
    route const& row, std::vector<std::pair<std::string, std::string>> const& given) {
  std::map<std::string, std::string, std::less<>> out;
  for (auto const& [name, value] : given) {
    auto const* const known = find(row.query, name);
    if (known == nullptr) bad("The parameter " + name.substr(0, 40) + " is not known here.");
    if (!value.empty()) check(*known, value);
    if (!out.emplace(name, value).second) bad("The parameter " + name + " is there twice.");
  }
  return out;
}

json checked_body(route const& row, http_request const& request) {
  auto const type = request.header("content-type").value_or("");
  bool const is_json = type == "application/json" || type == "application/json; charset=utf-8" ||
                       type == "application/json;charset=utf-8";
  if (!is_json) {
    throw refusal(415, "not-json", "Content-Type must be application/json.");
  }
  auto out = request.body.empty() ? json::object() : parsed(request.body);
  for (auto const& [name, value] : out.items()) check_field(row, name, value);
  bool const has_reason = out.contains("reason") && !out["reason"].get<std::string>().empty();
  if (row.reason == reasons::needed && !has_reason) {
    throw refusal(428, "reason-needed", "Say why, in the field reason: it is kept in the book.");
  }
  return out;
}

}  // namespace command
