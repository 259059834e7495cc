#include "api/access.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <utility>

namespace command {

namespace {

constexpr std::chrono::hours session_length{12};
constexpr std::string_view secure_cookie = "__Host-daybook";
constexpr std::string_view plain_cookie = "daybook";

std::string lower(std::string_view text) {
  std::string out(text);
  for (auto& one : out) one = static_cast<char>(std::tolower(static_cast<unsigned char>(one)));
  return out;
}

std::string_view trimmed(std::string_view text) {
  auto const first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Without its port.
std::string name_of_host(std::string_view host) {
  if (host.starts_with('[')) return lower(host.substr(0, host.find(']') + 1));
  return lower(host.substr(0, host.find(':')));
}

visitor visitor_of(daybook::token_info const& token) {
  bool const session = token.kind == daybook::token_kind::session;
  return {token.name, token.role, session ? visitor::proof::session : visitor::proof::bearer,
          token.id, token.expires};
}

}  // namespace

bool allows(daybook::role given, permission wanted) noexcept {
  switch (wanted) {
    case permission::open:
    case permission::any: return true;
    case permission::metrics: return given != daybook::role::work;
    case permission::read:
      return given == daybook::role::read || given == daybook::role::operate ||
             given == daybook::role::admin;
    case permission::work: return given == daybook::role::work || given == daybook::role::admin;
    case permission::see_payload:
    case permission::operate:
      return given == daybook::role::operate || given == daybook::role::admin;
    case permission::admin: return given == daybook::role::admin;
  }
  return false;
}

std::string_view least_role(permission wanted) noexcept {
  switch (wanted) {
    case permission::open:
    case permission::any:
    case permission::metrics: return "metrics";
    case permission::read: return "read";
    case permission::work: return "work";
    case permission::see_payload:
    case permission::operate: return "operate";
    case permission::admin: break;
  }
  return "admin";
}

void access::check_host(http_request const& request) const {
  auto const host = request.header("host");
  auto const name = name_of_host(host.value_or(""));
  if (name == "localhost" || name == "127.0.0.1" || name == "[::1]") return;
  bool const ours = std::any_of(options_.hosts.begin(), options_.hosts.end(),
                                [&](std::string const& one) { return lower(one) == name; });
  if (ours) return;
  throw refusal(421, "wrong-host",
                "The request is for another host. If the name is this server's, start it with "
                "--host NAME.");
}

bool access::is_from_proxy(http_request const& request) const {
  auto const peer = ip_from(request.peer);
  return peer && std::any_of(options_.proxies.begin(), options_.proxies.end(),
                             [&](ip_block const& one) { return one.has(*peer); });
}

bool access::is_secure(http_request const& request) const {
  return request.is_tls ||
         (is_from_proxy(request) && request.header("x-forwarded-proto") == "https");
}

std::string access::client_of(http_request const& request) const {
  if (!is_from_proxy(request)) return request.peer;
  auto const said = request.header("x-forwarded-for");
  if (!said) return request.peer;
  // The last one is what our proxy saw; what stands before it may be anything.
  auto const comma = said->rfind(',');
  auto const last = trimmed(comma == std::string_view::npos ? *said : said->substr(comma + 1));
  return ip_from(last) ? std::string(last) : request.peer;
}

std::optional<std::string> access::cookie_in(http_request const& request) const {
  auto const wanted = is_secure(request) ? secure_cookie : plain_cookie;
  std::optional<std::string> out;
  for (auto const& [name, value] : request.headers) {
    if (name != "cookie") continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      auto const end = rest.find(';');
      auto const one = trimmed(rest.substr(0, end));
      auto const equals = one.find('=');
      if (equals != std::string_view::npos && one.substr(0, equals) == wanted) {
        if (out) throw refusal(400, "bad-request", "There are two cookies of this server.");
        out = one.substr(equals + 1);
      }
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  }
  return out;
}

visitor access::must_check(http_request const& request, std::string_view text,
                           daybook::token_kind kind) {
  auto const client = client_of(request);
  if (guesses_.too_many(client)) {
    throw refusal(429, "too-many",
                  "There were too many wrong tokens from your address. Wait for a minute.");
  }
  auto const found = book_.check_token(text, kind);
  if (found) return visitor_of(*found);
  guesses_.wrong(client);
  throw refusal(401, "who",
                kind == daybook::token_kind::code
                    ? "The link is used or over. `daybook tokens link` prints a new one."
                    : "The token or session is not known, or is over.");
}

std::optional<visitor> access::user_of_proxy(http_request const& request) const {
  if (options_.user_header.empty() || !is_from_proxy(request)) return std::nullopt;
  auto const user = request.header(options_.user_header);
  if (!user || user->empty()) return std::nullopt;
  auto role = options_.user_role;
  auto groups = options_.groups_header.empty()
                    ? std::string_view()
                    : request.header(options_.groups_header).value_or("");
  while (!groups.empty()) {
    auto const end = groups.find(',');
    auto const found = options_.groups.find(std::string(trimmed(groups.substr(0, end))));
    if (found != options_.groups.end() && (!role || *role < found->second)) role = found->second;
    groups.remove_prefix(end == std::string_view::npos ? groups.size() : end + 1);
  }
  if (!role) {
    throw refusal(403, "not-permitted",
                  "None of your groups has a role here: see --group and --user-role.");
  }
  return visitor{std::string(*user), *role, visitor::proof::proxy, {}, {}};
}

std::optional<visitor> access::who_asks(http_request const& request) {
  auto const bearer = request.header("authorization");
  auto const cookie = cookie_in(request);
  if (bearer && cookie) {
    throw refusal(400, "bad-request", "The request has a token and a session: send one of them.");
  }
  if (bearer) {
    constexpr std::string_view scheme = "bearer ";
    if (lower(bearer->substr(0, scheme.size())) != scheme) {
      throw refusal(401, "who", "Authorization must be: Bearer TOKEN.");
    }
    return must_check(request, trimmed(bearer->substr(scheme.size())), daybook::token_kind::token);
  }
  if (cookie) {
    // A session that is over is no guess: browsers send it until they are told otherwise.
    auto const found = book_.check_token(*cookie, daybook::token_kind::session);
    if (found) return visitor_of(*found);
  }
  return user_of_proxy(request);
}

void access::check_same_site(http_request const& request) const {
  if (auto const site = request.header("sec-fetch-site")) {
    if (*site == "same-origin") return;
    throw refusal(403, "cross-site", "Another site had your browser send this.");
  }
  auto const origin = request.header("origin");
  auto const host = std::string(request.header("host").value_or(""));
  if (origin && (*origin == "http://" + host || *origin == "https://" + host)) return;
  throw refusal(403, "cross-site",
                "Neither Sec-Fetch-Site nor Origin says that this page sent it. Programs use a "
                "token: Authorization: Bearer TOKEN.");
}

namespace {

std::string cookie_of(bool secure, std::string_view value, std::chrono::seconds age) {
  std::string out(secure ? secure_cookie : plain_cookie);
  out.append("=").append(value).append("; Path=/; HttpOnly; SameSite=Strict; Max-Age=");
  out.append(std::to_string(age.count()));
  if (secure) out.append("; Secure");
  return out;
}

}  // namespace

std::string access::log_in(http_request const& request, std::string const& token,
                           std::string const& code) {
  bool const by_code = !code.empty();
  if (by_code == !token.empty()) {
    throw refusal(400, "bad-argument", "Send a code or a token, one of them.");
  }
  auto const who = must_check(request, by_code ? code : token,
                              by_code ? daybook::token_kind::code : daybook::token_kind::token);
  auto length = std::chrono::milliseconds(session_length);
  if (!by_code && who.expires) {
    auto const left = std::chrono::floor<std::chrono::milliseconds>(
        *who.expires - std::chrono::system_clock::now());
    length = std::clamp(left, std::chrono::milliseconds{1000}, length);
  }
  // Made by the token's id: when that is revoked its sessions are over, too.
  auto const cookie = book_.make_token({.name = who.name,
                                        .role = who.role,
                                        .kind = daybook::token_kind::session,
                                        .lifetime = length},
                                       {.actor = (by_code ? "code:" : "token:") + who.id,
                                        .reason = "login from " + client_of(request)});
  return cookie_of(is_secure(request), cookie,
                   std::chrono::duration_cast<std::chrono::seconds>(length));
}

std::string access::cookie_of_nobody(http_request const& request) const {
  return cookie_of(is_secure(request), "", std::chrono::seconds{0});
}

}  // namespace command
