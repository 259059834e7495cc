#include "api/server.hpp"

#include "api/handlers.hpp"
#include "api/pages.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "http/target.hpp"
#include "verbs/metrics/book_metrics.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <span>
#include <utility>

namespace command {

namespace {

using json = nlohmann::ordered_json;

std::string etag_of(std::string const& body) {
  return fmt::format("\"{:016x}\"", std::hash<std::string>{}(body));
}

http_answer json_answer(int status, json const& body) {
  return {.status = status,
          .body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

/// With an ETag, and 304 where the asker has it.
http_answer conditional(http_request const& request, http_answer answer, std::string const& etag) {
  answer.headers.emplace_back("ETag", etag);
  if (request.header("if-none-match") == etag) {
    answer.status = 304;
    answer.body.clear();
  }
  return answer;
}

http_answer page_answer(http_request const& request, page_file const& file) {
  http_answer out{.type = std::string(file.type), .body = std::string(file.bytes)};
  out.headers.emplace_back("Cache-Control", "no-cache");
  return conditional(request, std::move(out), file.etag);
}

http_answer text_answer(std::string text) {
  return {.type = "text/plain; charset=utf-8", .body = std::move(text)};
}

[[noreturn]] void no_method(http_request const& request, std::string const& allowed) {
  throw refusal(405, "no-such-method", "Not by " + request.method + ", but by: " + allowed + ".");
}

bool reads(http_request const& request) {
  return request.method == "GET" || request.method == "HEAD";
}

std::string allowed_methods(std::vector<route const*> const& rows) {
  std::string out = "OPTIONS";
  for (auto const* row : rows) {
    out += fmt::format(", {}", row->method);
    if (row->method == "GET") out += ", HEAD";
  }
  return out;
}

/// What the database says goes to the log; the asker learns what to do.
refusal refusal_of(daybook::error const& fault) {
  using daybook::error_code;
  switch (fault.kind()) {
    case error_code::bad_argument: return {400, "bad-argument", fault.what()};
    case error_code::unreachable:
    case error_code::conflict:
    case error_code::closed:
      return {503, "database-away", "The database does not answer. Ask again in a while."};
    case error_code::read_only: return {403, "read-only", "The database takes no changes."};
    case error_code::full: return {507, "full", "The database has no room left."};
    case error_code::configuration: return {409, "configuration", fault.what()};
    case error_code::not_permitted:
    case error_code::io:
    case error_code::constraint:
    case error_code::statement:
    case error_code::forked:
    case error_code::internal: break;
  }
  return {500, "defect", "The log of the server says what went wrong."};
}

}  // namespace

void api_server::take(http_request request, answer_callback done) {
  // The line is for what asks the database.
  auto const path = std::string_view(request.target).substr(0, request.target.find('?'));
  if (!path.starts_with("/api/") && path != "/metrics") return done(answer(request));
  auto const shared = std::make_shared<std::pair<http_request, answer_callback>>(std::move(request),
                                                                                 std::move(done));
  bool const fits = pool_.put([this, shared] { shared->second(answer(shared->first)); });
  if (fits) return;
  shared->second(answer_of(
      refusal(503, "busy", "A hundred requests wait for the database already. Ask again.")));
}

http_answer api_server::answer(http_request const& request) noexcept {
  try {
    return checked(request);
  } catch (refusal const& refused) {
    log_refusal(request, refused);
    return answer_of(refused);
  } catch (daybook::error const& fault) {
    auto const refused = refusal_of(fault);
    if (refused.status() >= 500) {
      log_.error("failed", {{"method", request.method}, {"error", printable(fault.what())}});
    }
    return answer_of(refused);
  } catch (complaint const& fault) {
    return answer_of(refusal(409, "configuration", fault.what()));
  } catch (std::exception const& fault) {
    log_.error("failed", {{"method", request.method}, {"error", printable(fault.what())}});
    return answer_of(refusal(500, "defect", "The log of the server says what went wrong."));
  }
}

http_answer api_server::checked(http_request const& request) {
  in_.access().check_host(request);
  auto const target = read_target(request.target);
  auto const& parts = target.parts;
  if (parts.size() >= 2 && parts[0] == "api" && parts[1] == "v1" && !target.coded[0] &&
      !target.coded[1]) {
    auto const rest = std::span(parts).subspan(2);
    auto const rows = routes_at(rest, {target.coded.begin() + 2, target.coded.end()});
    if (rows.empty()) missing("This server has nothing at that address.");
    if (request.method == "OPTIONS") {
      return {.status = 204, .headers = {{"Allow", allowed_methods(rows)}}};
    }
    auto const method = reads(request) ? std::string_view("GET") : request.method;
    for (auto const* row : rows) {
      if (row->method == method) return answer_route(request, *row, target);
    }
    no_method(request, allowed_methods(rows));
  }
  if (request.method == "OPTIONS") return {.status = 204, .headers = {{"Allow", "GET, HEAD"}}};
  if (parts.size() == 1 && parts[0] == "metrics" && !target.coded[0]) return metrics(request);
  if (!reads(request)) no_method(request, "GET, HEAD");
  if (parts.size() == 1 && parts[0] == "livez" && !target.coded[0]) return text_answer("ok\n");
  if (parts.size() == 2 && parts[0] == "problems" && !target.coded[0]) {
    return text_answer(parts[1] + ": " + std::string(title_of(parts[1])) + "\n");
  }
  auto const* const file =
      parts.size() <= 1 && (parts.empty() || !target.coded[0])
          ? find_page(parts.empty() ? std::string_view() : std::string_view(parts[0]))
          : nullptr;
  if (file != nullptr) return page_answer(request, *file);
  missing("This server has nothing at that address.");
}

visitor api_server::must_be(http_request const& request, permission wanted) {
  auto who = in_.access().who_asks(request);
  if (!who) {
    throw refusal(401, "who",
                  "Open the link that `daybook serve` prints, or send a token: Authorization: "
                  "Bearer TOKEN.");
  }
  if (!allows(who->role, wanted)) {
    throw refusal(403, "not-permitted",
                  fmt::format("It takes the role {}; yours is {}.", least_role(wanted),
                              daybook::word_of(who->role)));
  }
  return std::move(*who);
}

http_answer api_server::answer_route(http_request const& request, route const& row,
                                     http_target const& target) {
  std::optional<visitor> who;
  if (row.takes != permission::open) who = must_be(request, row.takes);
  bool const by_browser = !who || who->by != visitor::proof::bearer;
  if (row.is_act() && by_browser) in_.access().check_same_site(request);
  bool const of_sessions = row.pattern == "session";
  if (row.is_act() && in_.read_only() && !of_sessions) {
    throw refusal(403, "read-only", "The server was started with --read-only.");
  }
  call asked{in_,
             request,
             std::move(who),
             names_in(row, std::span(target.parts).subspan(2)),
             checked_query(row, target.query),
             row.is_act() ? checked_body(row, request) : json::object()};
  return row.is_act() ? do_act(asked, row) : read(asked, row);
}

http_answer api_server::read(call& asked, route const& row) {
  json body;
  if (row.takes == permission::read) {
    auto const key = asked.request.target + (asked.sees_payloads() ? " all" : " some");
    body = kept_.get(key, [&] { return row.handler(asked).body; });
    if (row.handler == &api::get_pulse) heed(body);
  } else {
    body = row.handler(asked).body;
  }
  write_ids_as_texts(body);
  auto out = json_answer(200, body);
  auto const etag = etag_of(out.body);
  return conditional(asked.request, std::move(out), etag);
}

/// Who hears that something has moved asks what it is now, and must not be given what it was.
void api_server::heed(json const& pulse) {
  std::lock_guard const locked(guard_);
  if (pulse == last_pulse_) return;
  last_pulse_ = pulse;
  kept_.forget();
}

http_answer api_server::do_act(call& asked, route const& row) {
  if (row.pattern == "session") {
    auto const done = row.handler(asked);
    auto out = json_answer(done.status, done.body);
    out.headers = done.headers;
    return out;
  }
  auto const name = asked.request.header("idempotency-key");
  if (name && (name->empty() || name->size() > 64)) {
    throw refusal(400, "bad-argument", "Idempotency-Key must have 1 to 64 bytes.");
  }
  if (name) return do_once(asked, row, std::string(*name));
  auto const done = row.handler(asked);
  kept_.forget();
  return json_answer(done.status, done.body);
}

http_answer api_server::do_once(call& asked, route const& row, std::string const& name) {
  auto const print = asked.who->name + '\n' + asked.request.method + ' ' + asked.request.target +
                     '\n' + asked.request.body;
  if (auto known = requests_.begin(name, print)) return std::move(*known);
  http_answer out;
  try {
    // Another server, or this one before it was started anew, may have done it.
    bool const before =
        !asked.book().changes(daybook::changes_query{.request = name, .limit = 1}).empty();
    auto const done = before ? told("It was done before.") : row.handler(asked);
    out = json_answer(done.status, done.body);
  } catch (daybook::error const& fault) {
    requests_.give_up(name);
    if (fault.kind() != daybook::error_code::constraint) throw;
    out = json_answer(200, told("It was done before.").body);
  } catch (...) {
    requests_.give_up(name);
    throw;
  }
  requests_.end(name, out);
  kept_.forget();
  return out;
}

http_answer api_server::metrics(http_request const& request) {
  if (!reads(request)) no_method(request, "GET, HEAD");
  static_cast<void>(must_be(request, permission::metrics));
  auto const text =
      kept_.get("metrics", [this] { return json(prometheus_text(metrics_of(in_.book()))); });
  return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = text.get<std::string>()};
}

/// Without the query: what is in it is nobody's business.
void api_server::log_refusal(http_request const& request, refusal const& refused) noexcept {
  auto const status = refused.status();
  if (status != 401 && status != 403 && status != 421 && status != 429) return;
  try {
    log_.warning("refused",
                 {{"status", status},
                  {"code", refused.code()},
                  {"method", request.method},
                  {"path", printable(request.target.substr(0, request.target.find('?')))},
                  {"from", in_.access().client_of(request)}});
  } catch (std::exception const&) {
    // The answer matters more than its line.
  }
}

}  // namespace command
