// Who is logged in, and which tokens and sessions there are.
#include "api/handlers.hpp"
#include "cli/format.hpp"

#include <string>
#include <utility>

namespace command::api {

namespace {

using json = nlohmann::ordered_json;

json json_of_token(daybook::token_info const& one) {
  return {{"id", one.id},
          {"kind", daybook::word_of(one.kind)},
          {"name", one.name},
          {"role", daybook::word_of(one.role)},
          {"only", json::array()},
          {"made_by", one.made_by},
          {"created", iso(one.created)},
          {"expires", command::json_of(one.expires)},
          {"used", command::json_of(one.used)}};
}

reply list_kind(call const& asked, daybook::token_kind kind) {
  auto items = json::array();
  for (auto const& one : asked.book().tokens()) {
    if (one.kind == kind) items.push_back(json_of_token(one));
  }
  return list_of(std::move(items));
}

}  // namespace

reply get_session(call& asked) {
  json out{{"actor", asked.who->name},
           {"role", daybook::word_of(asked.who->role)},
           {"book", asked.in.book_name()},
           {"read_only", asked.in.read_only()}};
  if (asked.who->expires) out["expires"] = iso(*asked.who->expires);
  return {.body = std::move(out)};
}

reply log_in(call& asked) {
  auto& access = asked.in.access();
  auto cookie = access.log_in(asked.request, asked.field("token"), asked.field("code"));
  reply out;
  out.headers.emplace_back("Set-Cookie", std::move(cookie));
  return out;
}

reply log_out(call& asked) {
  if (asked.who->by == visitor::proof::session) {
    asked.book().revoke_token(asked.who->id, {.actor = asked.who->name, .reason = "logged out"});
  }
  reply out;
  out.headers.emplace_back("Set-Cookie", asked.in.access().cookie_of_nobody(asked.request));
  return out;
}

reply get_tokens(call& asked) { return list_kind(asked, daybook::token_kind::token); }

reply get_sessions(call& asked) { return list_kind(asked, daybook::token_kind::session); }

reply revoke_token(call& asked) {
  if (!asked.book().revoke_token(asked.name("id"), asked.note())) {
    missing("There is no token or session " + asked.name("id") + " that is valid.");
  }
  return told("It is refused from now on.");
}

}  // namespace command::api
