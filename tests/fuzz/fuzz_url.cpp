// Any text as a URL: taken apart or refused with daybook::error, and never a password shown.
#include "db/url.hpp"

#include <daybook/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

/// The password as it stands in a URL of the usual form, found without our parser.
std::string_view written_password(std::string_view text) {
  auto const start = text.find("//");
  if (start == std::string_view::npos) return {};
  auto const rest = text.substr(start + 2);
  auto const at = rest.find('@');
  auto const colon = rest.find(':');
  if (at == std::string_view::npos || colon == std::string_view::npos || colon > at) return {};
  return rest.substr(colon + 1, at - colon - 1);
}

/// A canary, so that finding it is no accident.
constexpr std::string_view canary = "Zq7canaryX";

void check(std::string const& shown, std::string_view secret) {
  if (!secret.empty() && shown.find(secret) != std::string::npos) std::abort();
}

void parse(std::string const& text, std::string_view secret) {
  using daybook::db::parse_url;
  try {
    auto const url = parse_url(text);
    check(url.shown, secret);
    check(daybook::db::without_password("cannot use " + text, url), secret);
    // Stars are what a password is masked with.
    bool const stars = url.password.find_first_not_of('*') == std::string::npos;
    if (url.scheme != daybook::db::scheme::sqlite && !stars) {
      check(daybook::db::without_password("no: " + url.password, url), url.password);
    }
  } catch (daybook::error const& e) {
    if (e.kind() != daybook::error_code::bad_argument) std::abort();
    check(e.what(), secret);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text(reinterpret_cast<char const*>(data), size);
  // The fuzzer learns the canary; one that it wrote itself elsewhere proves nothing.
  if (text.find(canary) != std::string::npos) return 0;
  parse(text, {});
  // The same with a password we would know again.
  if (auto const password = written_password(text); !password.empty()) {
    auto const at = static_cast<std::size_t>(password.data() - text.data());
    auto with_canary = text;
    with_canary.replace(at, password.size(), canary);
    if (!text.starts_with("sqlite")) parse(with_canary, canary);
  }
  parse("postgresql://user:" + std::string(canary) + "@" + text, canary);
  parse("mysql://h/d?password=" + std::string(canary) + "&" + text, canary);
  // A host that was forgotten, and a parameter that nobody knows.
  parse("postgresql://user:" + std::string(canary) + text, canary);
  parse("mysql://user:" + std::string(canary) + text, canary);
  if (text.find('&') == std::string::npos) {
    parse("postgresql://h/d?x" + text + "=" + std::string(canary), canary);
  }
  return 0;
}
