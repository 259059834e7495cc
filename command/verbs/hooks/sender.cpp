#include "verbs/hooks/sender.hpp"

#include "cli/format.hpp"
#include "verbs/hooks/address.hpp"

#include <daybook/version.hpp>

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string_view>

#ifdef DAYBOOK_HOOKS
#include <curl/curl.h>

#include <fcntl.h>
#include <sys/socket.h>
#endif

namespace command {

std::string shown_url(std::string const& url) {
  auto const host = url.find("://");
  if (host == std::string::npos) return "?";
  auto const begin = host + 3;
  auto const end = url.find_first_of("/?#", begin);
  auto const at = url.substr(0, end).rfind('@');
  auto const from = at == std::string::npos ? begin : at + 1;
  return printable(url.substr(0, begin) +
                   url.substr(from, end == std::string::npos ? end : end - from)) +
         (end == std::string::npos ? "" : "/...");
}

#ifdef DAYBOOK_HOOKS

bool can_post() noexcept { return true; }

namespace {

constexpr long longest_ms = 5000;
constexpr std::size_t most_read = std::size_t{64} << 10U;

struct exchange {
  reach allowed = reach::encrypted;
  std::string refused;  ///< why an address was not connected to
  std::string answer;   ///< the beginning
  std::stop_token stop;
};

curl_socket_t open_socket(void* context, curlsocktype /*purpose*/, curl_sockaddr* address) {
  auto& request = *static_cast<exchange*>(context);
  request.refused = why_not_sent_to(address->addr, request.allowed);
  if (!request.refused.empty()) return CURL_SOCKET_BAD;
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/// Fewer than were given: libcurl ends the request.
std::size_t keep_answer(char const* data, std::size_t /*one*/, std::size_t size, void* context) {
  auto& answer = static_cast<exchange*>(context)->answer;
  auto const room = most_read - answer.size();
  answer.append(data, std::min(size, room));
  return std::min(size, room);
}

int look_at_stop(void* context, curl_off_t /*unused*/, curl_off_t /*unused*/, curl_off_t /*unused*/,
                 curl_off_t /*unused*/) {
  return static_cast<exchange*>(context)->stop.stop_requested() ? 1 : 0;
}

using handle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using list = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

handle new_handle() {
  static bool const ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  handle out(ready ? curl_easy_init() : nullptr, curl_easy_cleanup);
  if (!out) throw std::runtime_error("libcurl cannot be used");
  return out;
}

void set_up(CURL* curl, web_request const& request, exchange& context, curl_slist* headers) {
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, longest_ms);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "daybook/" DAYBOOK_VERSION);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
  curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, &context);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep_answer);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &context);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_at_stop);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &context);
}

}  // namespace

void post(web_request const& request, std::stop_token const& stop) {
  auto const fail = [&](std::string const& why) {
    throw std::runtime_error(shown_url(request.url) + ": " + why);
  };
  auto const curl = new_handle();
  exchange context;
  context.stop = stop;
  // libcurl takes a scheme in any case, and so does this: all but https stays on this host.
  bool const encrypted = std::string_view(request.url).starts_with("https://");
  context.allowed = encrypted ? reach::encrypted : reach::this_host;
  list headers(nullptr, curl_slist_free_all);
  for (auto const& one : request.headers) {
    auto* const longer = curl_slist_append(headers.get(), one.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(headers.release());
    headers.reset(longer);
  }
  set_up(curl.get(), request, context, headers.get());
  auto const code = curl_easy_perform(curl.get());
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (!context.refused.empty()) fail(context.refused);
  bool const cut = code == CURLE_WRITE_ERROR && context.answer.size() == most_read;
  if (code != CURLE_OK && !cut) fail(curl_easy_strerror(code));
  if (status >= 200 && status < 300) return;
  if (status >= 300 && status < 400) {
    fail(fmt::format("it answers {}, a redirect, which is not followed: name where it leads to",
                     status));
  }
  fail(fmt::format("it answers {}: {}", status, shortened(context.answer, 200)));
}

#else

bool can_post() noexcept { return false; }

void post(web_request const& request, std::stop_token const& /*stop*/) {
  throw std::runtime_error(shown_url(request.url) +
                           ": this daybook was built without DAYBOOK_BUILD_HOOKS");
}

#endif

}  // namespace command
