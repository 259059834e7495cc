// From a request to its answer: the order of the checks is here, and nowhere else.
//   400 what may be read in two ways, 421 the host, 404 and 405 the route, 401 and 429 who, 403 the
//   role, another site, read only; 415, 400 and 428 the body; then the route's handler.
// Thread safety: any thread.
#pragma once

#include "api/call.hpp"
#include "api/pulse.hpp"
#include "api/requests.hpp"
#include "api/route.hpp"
#include "http/listener.hpp"
#include "http/pool.hpp"
#include "http/target.hpp"
#include "output/journal.hpp"

#include <mutex>
#include <string>

namespace command {

class api_server {
 public:
  api_server(services& shared, journal& log) : in_(shared), log_(log), pool_(4, 100) {}

  /// As request_handler: it does not block. Files of the page are answered at once, all else by a
  /// thread of the pool.
  void take(http_request request, answer_callback done);
  /// Never throws.
  [[nodiscard]] http_answer answer(http_request const& request) noexcept;

 private:
  [[nodiscard]] http_answer checked(http_request const& request);
  [[nodiscard]] http_answer answer_route(http_request const& request, route const& row,
                                         http_target const& target);
  [[nodiscard]] http_answer do_act(call& asked, route const& row);
  [[nodiscard]] http_answer do_once(call& asked, route const& row, std::string const& name);
  [[nodiscard]] http_answer read(call& asked, route const& row);
  void heed(nlohmann::ordered_json const& pulse);
  [[nodiscard]] http_answer metrics(http_request const& request);
  [[nodiscard]] visitor must_be(http_request const& request, permission wanted);
  void log_refusal(http_request const& request, refusal const& refused) noexcept;

  services& in_;
  journal& log_;
  kept_answers kept_;
  named_requests requests_;
  std::mutex guard_;
  nlohmann::ordered_json last_pulse_;
  pool pool_;
};

}  // namespace command
