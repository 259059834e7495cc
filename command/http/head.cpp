#include "http/head.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace command {

namespace {

[[noreturn]] void bad(std::string const& why) { throw refusal(400, "bad-request", why); }

std::string lower(std::string_view text) {
  std::string out(text);
  for (auto& one : out) one = static_cast<char>(std::tolower(static_cast<unsigned char>(one)));
  return out;
}

bool is_token(std::string_view text) {
  constexpr std::string_view signs = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char one) {
    return std::isalnum(static_cast<unsigned char>(one)) != 0 ||
           signs.find(one) != std::string_view::npos;
  });
}

std::string_view trimmed(std::string_view text) {
  auto const first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

void check_bytes(std::string_view head) {
  for (std::size_t at = 0; at < head.size(); ++at) {
    auto const one = static_cast<unsigned char>(head[at]);
    if (one == '\r') {
      if (at + 1 >= head.size() || head[at + 1] != '\n') bad("A CR has no LF after it.");
    } else if (one == '\n') {
      if (at == 0 || head[at - 1] != '\r') bad("An LF has no CR before it.");
    } else if ((one < 0x20 && one != '\t') || one >= 0x7f) {
      bad("The head has a byte that is not printable ASCII.");
    }
  }
}

void check_target(std::string_view target) {
  if (!target.starts_with('/')) bad("The target of the request must begin with a slash.");
  auto const path = lower(target.substr(0, target.find('?')));
  for (std::string_view const part : {"//", "..", "\\", "%2f", "%5c", "%00", "%2e", ";", "#"}) {
    if (path.find(part) != std::string::npos) {
      bad("The path of the request has " + std::string(part) + ", which is not taken.");
    }
  }
  if (target.find('#') != std::string_view::npos) bad("The target has a fragment.");
}

std::string_view next_line(std::string_view& rest) {
  auto const end = rest.find("\r\n");
  auto const line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
  return line;
}

void read_first_line(std::string_view line, http_request& into) {
  auto const first = line.find(' ');
  auto const last = line.rfind(' ');
  if (first == std::string_view::npos || last == first)
    bad("The first line is not of three words.");
  auto const target = line.substr(first + 1, last - first - 1);
  auto const version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") bad("Only HTTP/1.1 is spoken here.");
  if (target.find_first_of(" \t") != std::string_view::npos) bad("The target has a blank.");
  into.method = line.substr(0, first);
  if (!is_token(into.method)) bad("The method is no word.");
  check_target(target);
  into.target = target;
}

/// Of these two would be read in two ways.
void check_once(http_request const& of) {
  constexpr std::array<std::string_view, 9> once{
      "host",   "content-length", "transfer-encoding", "content-type", "authorization",
      "origin", "sec-fetch-site", "idempotency-key",   "if-none-match"};
  for (auto const name : once) {
    auto const count = std::count_if(of.headers.begin(), of.headers.end(),
                                     [&](auto const& one) { return one.first == name; });
    if (count > 1) bad("There are two headers " + std::string(name) + ".");
  }
  if (!of.header("host")) bad("There is no header Host.");
  auto const coding = of.header("transfer-encoding");
  if (coding && lower(*coding) != "chunked") bad("Only chunked is taken as Transfer-Encoding.");
  if (coding && of.header("content-length")) bad("It has Content-Length and Transfer-Encoding.");
  auto const length = of.header("content-length");
  if (length &&
      (length->empty() || length->find_first_not_of("0123456789") != std::string_view::npos)) {
    bad("Content-Length is no number.");
  }
}

}  // namespace

http_request read_head(std::string_view head) {
  if (head.size() > longest_head) {
    throw refusal(431, "too-large", "The headers are longer than 8 KiB.");
  }
  check_bytes(head);
  http_request out;
  auto rest = head;
  read_first_line(next_line(rest), out);
  for (auto line = next_line(rest); !line.empty(); line = next_line(rest)) {
    if (line.front() == ' ' || line.front() == '\t') bad("A header is folded over two lines.");
    auto const colon = line.find(':');
    if (colon == std::string_view::npos) bad("A header has no colon.");
    auto const name = line.substr(0, colon);
    if (!is_token(name)) bad("The name of a header is no word.");
    if (out.headers.size() == most_headers) {
      throw refusal(431, "too-large", "There are more than 64 headers.");
    }
    out.headers.emplace_back(lower(name), trimmed(line.substr(colon + 1)));
  }
  check_once(out);
  return out;
}

}  // namespace command
