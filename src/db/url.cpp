#include "db/url.hpp"

#include "base/numbers.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace db {

namespace {

constexpr std::string_view forms =
    "sqlite:PATH, postgresql://USER@HOST/DATABASE or mysql://USER@HOST/DATABASE";

[[noreturn]] void bad(std::string const& reason) {
  throw error({.kind = error_code::bad_argument}, "database URL: " + reason);
}

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text, std::string_view part) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out.push_back(text[at]);
      continue;
    }
    int const high = at + 2 < text.size() ? hex(text[at + 1]) : -1;
    int const low = at + 2 < text.size() ? hex(text[at + 2]) : -1;
    if (high < 0 || low < 0 || (high == 0 && low == 0)) {
      bad("a '%' in the " + std::string(part) +
          " is not followed by two hexadecimal digits (write a percent sign itself as %25)");
    }
    out.push_back(static_cast<char>(high * 16 + low));
    at += 2;
  }
  return out;
}

/// Whose values may be shown: a secret's name may be misspelt, or one that a later libpq knows. Not
/// here: `options`, which may set anything, and `sslkey`, where an engine's key may have its PIN.
constexpr std::array<std::string_view, 45> harmless{
    "application_name",
    "channel_binding",
    "client_encoding",
    "connect_timeout",
    "dbname",
    "fallback_application_name",
    "gssdelegation",
    "gssencmode",
    "gsslib",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "krbsrvname",
    "load_balance_hosts",
    "max_protocol_version",
    "min_protocol_version",
    "passfile",
    "port",
    "replication",
    "require_auth",
    "requirepeer",
    "service",
    "socket",
    "ssl",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "ssl_max_protocol_version",
    "ssl_min_protocol_version",
    "sslcert",
    "sslcertmode",
    "sslcompression",
    "sslcrl",
    "sslcrldir",
    "sslmode",
    "sslnegotiation",
    "sslrootcert",
    "sslsni",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
};

bool is_harmless(std::string_view parameter) {
  return std::find(harmless.begin(), harmless.end(), parameter) != harmless.end();
}

/// `?a=b&c=d`, decoded; and the same text with what may be secret masked.
std::string read_parameters(std::string_view query, url& url) {
  std::string shown;
  while (!query.empty()) {
    auto const end = query.find('&');
    auto const pair = query.substr(0, end);
    auto const equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      bad("a parameter after '?' is not NAME=VALUE");
    }
    auto name = decoded(pair.substr(0, equals), "parameters");
    shown += (shown.empty() ? "?" : "&");
    shown += is_harmless(name) ? std::string(pair) : std::string(pair.substr(0, equals)) + "=***";
    url.parameters[std::move(name)] = decoded(pair.substr(equals + 1), "parameters");
    query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
  }
  return shown;
}

void read_host(std::string_view host, url& url) {
  auto port = std::string_view{};
  if (host.starts_with('[')) {
    auto const close = host.find(']');
    if (close == std::string_view::npos) bad("'[' of an IPv6 address without ']'");
    if (close + 1 < host.size() && host[close + 1] != ':') bad("text after ']' of the address");
    port = close + 1 < host.size() ? host.substr(close + 2) : std::string_view{};
    url.host = host.substr(1, close - 1);
  } else {
    auto const colon = host.find(':');
    port = colon == std::string_view::npos ? std::string_view{} : host.substr(colon + 1);
    url.host = decoded(host.substr(0, colon), "host");
  }
  if (port.empty()) return;
  url.port = base::number_of<std::uint16_t>(port).value_or(0);
  if (url.port == 0) {
    // Not a word of it: it is the password where the host is forgotten.
    bad("the port is not a number from 1 to 65535 (a user's name and password stand before the "
        "host, as in //USER:PASSWORD@HOST/DATABASE; special characters in a password are written "
        "%XX, for example %3A for ':' and %40 for '@')");
  }
}

/// libpq reads the hosts itself. That they can be hosts is looked at here, before they are shown.
void check_hosts(std::string_view hosts) {
  for (;;) {
    auto const comma = hosts.find(',');
    url unused;
    read_host(hosts.substr(0, comma), unused);
    if (comma == std::string_view::npos) return;
    hosts.remove_prefix(comma + 1);
  }
}

/// //user:password@host:port/path?parameters
void read_server(std::string_view rest, std::string_view scheme_text, url& url) {
  if (!rest.starts_with("//")) {
    bad("'" + std::string(scheme_text) + ":' must be followed by //HOST/DATABASE");
  }
  rest.remove_prefix(2);
  auto const whole = rest;
  auto const question = rest.find('?');
  auto const shown_parameters =
      question == std::string_view::npos ? "" : read_parameters(rest.substr(question + 1), url);
  rest = rest.substr(0, question);
  auto const slash = rest.find('/');
  auto authority = rest.substr(0, slash);
  auto const path = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
  // libpq takes the first '@'; so do we: what follows a second one would be a host with an '@'.
  auto const at = authority.find('@');
  std::string shown_user;
  if (at != std::string_view::npos) {
    if (authority.find('@', at + 1) != std::string_view::npos || path.find('@') != path.npos) {
      bad("more than one '@' (write one inside a user name or a password as %40, and '/' as %2F)");
    }
    auto const user_part = authority.substr(0, at);
    auto const colon = user_part.find(':');
    url.user = decoded(user_part.substr(0, colon), "user name");
    shown_user = user_part.substr(0, colon);
    if (colon != std::string_view::npos) {
      url.password = decoded(user_part.substr(colon + 1), "password");
      shown_user += ":***";
    }
    shown_user += "@";
    authority = authority.substr(at + 1);
  } else if (question != std::string_view::npos && whole.find('@', question) != whole.npos) {
    bad("an '@' after a '?' (write '?' inside a password as %3F, and '@' as %40)");
  } else if (path.find('@') != path.npos) {
    bad("an '@' after a '/' (write '/' inside a password as %2F and '@' as %40)");
  }
  if (url.scheme == scheme::mysql) {
    read_host(authority, url);
  } else {
    check_hosts(authority);
  }
  url.path = decoded(path, "database name");
  url.shown = std::string(scheme_text) + "://" + shown_user + std::string(authority) +
              (slash == std::string_view::npos ? "" : "/" + std::string(path)) + shown_parameters;
}

/// sqlite:rel, sqlite:/abs, sqlite:///rel, sqlite:////abs
void read_file(std::string_view rest, url& url) {
  if (rest.starts_with("///")) {
    rest.remove_prefix(3);
  } else if (rest.starts_with("//")) {
    bad("sqlite:// with two slashes is ambiguous: write sqlite:PATH, sqlite:///relative.db or "
        "sqlite:////absolute.db");
  }
  if (rest.empty()) bad("sqlite: names no file (sqlite:PATH)");
  if (rest.find('?') != std::string_view::npos) {
    bad("a sqlite URL takes no parameters, and no '?' in the file's name");
  }
  url.path = rest;
  url.shown = "sqlite:" + std::string(rest);
}

void check_characters(std::string_view text) {
  if (text.empty()) bad("it is empty; write " + std::string(forms));
  if (text.size() > 4096) bad("it is longer than 4096 bytes");
  auto const control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), control)) {
    bad("it holds a control character (a line's end, perhaps, from the file it came from)");
  }
}

}  // namespace

url parse_url(std::string_view text) {
  check_characters(text);
  auto const colon = text.find(':');
  auto const scheme_text = text.substr(0, colon);
  constexpr std::array<std::pair<std::string_view, scheme>, 6> schemes{{
      {"sqlite", scheme::sqlite},
      {"sqlite3", scheme::sqlite},
      {"postgresql", scheme::postgres},
      {"postgres", scheme::postgres},
      {"mysql", scheme::mysql},
      {"mariadb", scheme::mysql},
  }};
  auto const* const found = std::find_if(schemes.begin(), schemes.end(), [&](auto const& known) {
    return known.first == scheme_text;
  });
  if (colon == std::string_view::npos || found == schemes.end()) {
    // The text itself may hold a password: only a plain word is shown.
    bool const word = std::all_of(scheme_text.begin(), scheme_text.end(),
                                  [](char c) { return (c >= 'a' && c <= 'z') || c == '+'; });
    bool const plain = word && colon >= 1 && colon <= 16;
    bad((plain ? "unknown scheme '" + std::string(scheme_text) + "'" : "it has no known scheme") +
        "; write " + std::string(forms));
  }
  url out;
  out.scheme = found->second;
  out.original = text;
  auto const rest = text.substr(colon + 1);
  if (out.scheme == scheme::sqlite) {
    read_file(rest, out);
  } else {
    read_server(rest, scheme_text, out);
  }
  return out;
}

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether it could stand in a message without being meant: a mask in the place of a word that
/// everybody knows would tell the secret.
bool could_be_a_word(std::string_view secret) {
  return secret.size() < 6 || std::all_of(secret.begin(), secret.end(), is_letter) ||
         std::all_of(secret.begin(), secret.end(), is_digit);
}

/// Whether what stands at `offset` is quoted, or the value of something.
bool is_value(std::string_view text, std::size_t offset, std::size_t size) {
  if (size == text.size()) return true;
  bool const begins =
      offset > 0 && std::string_view("\"'`:=").find(text[offset - 1]) != std::string_view::npos;
  auto const end = offset + size;
  bool const ends =
      end == text.size() || !(is_letter(text[end]) || is_digit(text[end]) || text[end] == '_');
  return begins && ends;
}

void mask(std::string& text, std::string_view secret) {
  if (secret.empty()) return;
  bool const only_values = could_be_a_word(secret);
  std::size_t at = 0;
  while ((at = text.find(secret, at)) != std::string::npos) {
    if (only_values && !is_value(text, at, secret.size())) {
      ++at;
      continue;
    }
    text.replace(at, secret.size(), "***");
    at += 3;
  }
}

}  // namespace

std::string without_password(std::string text, url const& url) {
  mask(text, url.original);
  mask(text, url.password);
  for (auto const& [name, secret] : url.parameters) {
    if (!is_harmless(name)) mask(text, secret);
  }
  // As written, before decoding.
  auto const user_end = url.original.find('@');
  auto const colon = url.original.find(':', url.original.find("//") + 2);
  if (url.scheme != scheme::sqlite && user_end != std::string::npos && colon < user_end) {
    mask(text, std::string_view(url.original).substr(colon + 1, user_end - colon - 1));
  }
  return text;
}

}  // namespace db
}  // namespace v1
}  // namespace daybook
