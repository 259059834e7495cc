// Sends one HTTP request with a body, by libcurl: by https, or by http to this host. It follows no
// redirect, uses no proxy, takes 5 s at most and reads 64 KiB of the answer.
// Thread safety: any thread.
//
//   post({.url = url, .headers = {"content-type: application/json"}, .body = text}, {});
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

/// Returns when the answer's status is 2xx. On failure: std::runtime_error. Its text says why, and
/// has the host of the URL alone, for the rest may be a secret. A request that failed may have
/// arrived all the same.
void post(web_request const& request, std::stop_token const& stop);

/// "https://hooks.example.net/...": the URL without its secrets.
[[nodiscard]] std::string shown_url(std::string const& url);

}  // namespace command
