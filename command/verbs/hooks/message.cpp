#include "verbs/hooks/message.hpp"

#include "cli/format.hpp"
#include "config/read_hook.hpp"
#include "verbs/hooks/sign.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>

namespace command {

namespace {

using json = nlohmann::ordered_json;

/// Alertmanager's webhook, version 4: one alert in a group of its own.
json alertmanager_body(declared_hook const& hook, json const& problem) {
  bool const ended = problem["status"] == "resolved";
  json const labels{{"alertname", problem["kind"]},
                    {"severity", problem["severity"]},
                    {"subject", problem["subject"]},
                    {"book", problem["book"]}};
  json const notes{
      {"summary", problem["subject"].get<std::string>() + ": " + problem["why"].get<std::string>()},
      {"description", problem["why"]},
      {"remedy", problem["remedy"]}};
  json const alert{{"status", problem["status"]},
                   {"labels", labels},
                   {"annotations", notes},
                   {"startsAt", problem["since"]},
                   {"endsAt", ended ? problem["at"] : json("0001-01-01T00:00:00Z")},
                   {"generatorURL", ""},
                   {"fingerprint", problem["fingerprint"]}};
  return {{"version", "4"},
          {"groupKey", fmt::format("{{}}:{{fingerprint={}}}", json(problem["fingerprint"]).dump())},
          {"truncatedAlerts", 0},
          {"status", problem["status"]},
          {"receiver", hook.name},
          {"groupLabels", {{"alertname", problem["kind"]}}},
          {"commonLabels", labels},
          {"commonAnnotations", notes},
          {"externalURL", ""},
          {"alerts", json::array({alert})}};
}

json slack_body(json const& problem) {
  auto const text = [&](char const* name) { return problem[name].get<std::string>(); };
  if (problem["status"] == "resolved") {
    return {{"text", fmt::format("ended: {}", text("subject"))}};
  }
  return {{"text", fmt::format("{}: {}: {}, since {}\n{}", text("severity"), text("subject"),
                               text("why"), text("since"), text("remedy"))}};
}

std::string body_of(declared_hook const& hook, json const& problem) {
  auto const written = [](json const& one) {
    return one.dump(-1, ' ', false, json::error_handler_t::replace);
  };
  switch (hook.form) {
    case hook_form::alertmanager: return written(alertmanager_body(hook, problem));
    case hook_form::slack: return written(slack_body(problem));
    case hook_form::plain: break;
  }
  return written(problem);
}

}  // namespace

json json_of(daybook::alert const& one, std::string_view book) {
  auto const& problem = one.problem;
  return {{"status", one.state == daybook::alert_state::ended ? "resolved" : "firing"},
          {"kind", daybook::word_of(problem.kind)},
          {"severity", word_in(severity_words, problem.urgency)},
          {"subject", problem.subject},
          {"since", instant(one.since)},
          {"why", problem.why},
          {"remedy", problem.remedy},
          {"book", book},
          {"fingerprint", one.print.substr(0, 16)},
          {"at", instant(one.at)}};
}

json test_message(std::string_view name, std::string_view book, daybook::timestamp now) {
  return {{"status", "firing"},
          {"kind", "test"},
          {"severity", word_in(severity_words, daybook::urgency::look_today)},
          {"subject", fmt::format("hook {}", name)},
          {"since", instant(now)},
          {"why", "this is a test: a person has asked for it with daybook hooks test"},
          {"remedy", "nothing is wrong"},
          {"book", book},
          {"fingerprint", "test"},
          {"at", instant(now)}};
}

web_request request_of(declared_hook const& hook, json const& problem, std::string const& id) {
  web_request out;
  out.url = url_of(hook);
  out.body = body_of(hook, problem);
  out.headers = {"content-type: application/json", "webhook-id: " + id};
  if (hook.secret_file.empty()) return out;
  using std::chrono::system_clock;
  auto const seconds = std::to_string(
      std::chrono::floor<std::chrono::seconds>(system_clock::now()).time_since_epoch().count());
  out.headers.push_back("webhook-timestamp: " + seconds);
  out.headers.push_back("webhook-signature: " +
                        signature_of(read_secret(hook.secret_file), id, seconds, out.body));
  return out;
}

}  // namespace command
