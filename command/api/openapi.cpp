// The table of routes as OpenAPI 3.1: made of the table, so that neither can lack what the other
// has.
#include "api/handlers.hpp"
#include "api/route.hpp"

#include <daybook/version.hpp>

#include <string>
#include <string_view>

namespace command::api {

namespace {

using json = nlohmann::ordered_json;

json schema_of(parameter const& one) {
  switch (one.is) {
    case parameter::kind::number:
      return {{"type", "integer"}, {"minimum", one.least}, {"maximum", one.most}};
    case parameter::kind::word: {
      auto words = json::array();
      auto rest = one.words;
      while (!rest.empty()) {
        auto const end = rest.find('|');
        words.push_back(rest.substr(0, end));
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      }
      return {{"enum", std::move(words)}};
    }
    case parameter::kind::since:
    case parameter::kind::text: break;
  }
  return {{"type", "string"}, {"minLength", one.least}, {"maxLength", one.most}};
}

json parameters_of(route const& row) {
  auto out = json::array();
  auto rest = row.pattern;
  for (auto at = rest.find('{'); at != std::string_view::npos; at = rest.find('{')) {
    auto const end = rest.find('}');
    out.push_back(
        {{"name", rest.substr(at + 1, end - at - 1)},
         {"in", "path"},
         {"required", true},
         {"schema",
          {{"type", "string"}, {"pattern", "^([A-Za-z0-9_-][A-Za-z0-9._-]*|~[A-Za-z0-9_-]+)$"}}}});
    rest.remove_prefix(end + 1);
  }
  for (auto const& one : row.query) {
    out.push_back({{"name", one.name}, {"in", "query"}, {"schema", schema_of(one)}});
  }
  if (row.is_act()) {
    out.push_back({{"name", "Idempotency-Key"},
                   {"in", "header"},
                   {"schema", {{"type", "string"}, {"minLength", 1}, {"maxLength", 64}}}});
  }
  return out;
}

json body_of(route const& row) {
  auto properties = json::object();
  for (auto const& one : row.body) properties[std::string(one.name)] = schema_of(one);
  if (row.reason != reasons::none) {
    properties["reason"] = {{"type", "string"}, {"maxLength", 255}};
  }
  json schema{
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (row.reason == reasons::needed) schema["required"] = json::array({"reason"});
  return {{"content", {{"application/json", {{"schema", std::move(schema)}}}}}};
}

json operation_of(route const& row) {
  auto const ref = [](std::string_view name) {
    return json{{"$ref", "#/components/responses/" + std::string(name)}};
  };
  json out{{"x-role", row.takes == permission::open  ? std::string_view("nothing")
                      : row.takes == permission::any ? std::string_view("any")
                                                     : least_role(row.takes)},
           {"parameters", parameters_of(row)}};
  if (row.takes == permission::open) out["security"] = json::array();
  if (row.is_act()) out["requestBody"] = body_of(row);
  out["responses"] = {{"2XX", ref("answer")}, {"4XX", ref("problem")}, {"5XX", ref("problem")}};
  return out;
}

std::string method_of(route const& row) {
  std::string out(row.method);
  for (auto& one : out) one = static_cast<char>(one - 'A' + 'a');
  return out;
}

}  // namespace

reply get_openapi(call&) {
  auto paths = json::object();
  for (auto const& row : routes()) {
    paths["/" + std::string(row.pattern)][method_of(row)] = operation_of(row);
  }
  json const problem{{"type", "object"},
                     {"properties",
                      {{"type", {{"type", "string"}}},
                       {"title", {{"type", "string"}}},
                       {"status", {{"type", "integer"}}},
                       {"detail", {{"type", "string"}}},
                       {"code", {{"type", "string"}}}}},
                     {"required", json::array({"type", "title", "status", "detail", "code"})}};
  return {.body = {
              {"openapi", "3.1.0"},
              {"info", {{"title", "Daybook"}, {"version", DAYBOOK_VERSION}}},
              {"servers", json::array({{{"url", "/api/v1"}}})},
              {"security", json::array({{{"token", json::array()}}, {{"session", json::array()}}})},
              {"paths", std::move(paths)},
              {"components",
               {{"securitySchemes",
                 {{"token", {{"type", "http"}, {"scheme", "bearer"}}},
                  {"session", {{"type", "apiKey"}, {"in", "cookie"}, {"name", "daybook"}}}}},
                {"responses",
                 {{"answer",
                   {{"description", "As docs/reference/http.md says."},
                    {"content", {{"application/json", json::object()}}}}},
                  {"problem",
                   {{"description", "Nothing was done."},
                    {"content", {{"application/problem+json", {{"schema", problem}}}}}}}}}}}}};
}

}  // namespace command::api
