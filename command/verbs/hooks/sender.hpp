// One HTTP request with a body, by libcurl: https, or http to this host; no redirect is followed,
// no proxy used, 5 s in all, 64 KiB of the answer read.
// Thread safety: any thread.
//
//   auto const answer = post({.url = url, .headers = {"content-type: application/json"}, ...}, {});
#pragma once

#include <stop_token>
#include <string>
#include <vector>

namespace command {

struct web_request {
  std::string url;
  std::vector<std::string> headers;  ///< "name: value"
  std::string body;
};

/// False: this build has no libcurl, and post() always fails.
[[nodiscard]] bool can_post() noexcept;

/// Returns when it was answered with a status of 2xx. On failure: std::runtime_error, whose text
/// says why and has nothing of the URL but its host, for the rest may be a secret. A request that
/// failed may have arrived all the same.
void post(web_request const& request, std::stop_token const& stop);

/// "https://hooks.example.net/...": what may be shown.
[[nodiscard]] std::string shown_url(std::string const& url);

}  // namespace command
