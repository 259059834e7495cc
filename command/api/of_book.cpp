// The book at a glance: what moved, what is wrong, who works, what people changed.
#include "api/handlers.hpp"
#include "api/pulse.hpp"
#include "cli/format.hpp"
#include "cli/numbers.hpp"
#include "wire/book.hpp"

#include <daybook/words.hpp>

#include <string>
#include <utility>
#include <vector>

namespace command::api {

namespace {

using json = nlohmann::ordered_json;

/// "run P K" as the parts of an address: both may have blanks, so the book says which is which.
json run_page(daybook::book const& book, std::string const& words) {
  for (auto at = words.find(' '); at != std::string::npos; at = words.find(' ', at + 1)) {
    auto const process = words.substr(0, at);
    auto const key = words.substr(at + 1);
    try {
      if (book.find(daybook::process(process), daybook::key(key))) return {"runs", process, key};
    } catch (daybook::error const& e) {
      if (e.kind() != daybook::error_code::bad_argument) throw;
    }
  }
  return {"runs", words, "-"};
}

json page_of(daybook::book const& book, std::string const& subject) {
  auto const blank = subject.find(' ');
  if (blank == std::string::npos) return nullptr;
  auto const kind = subject.substr(0, blank);
  auto const rest = subject.substr(blank + 1);
  if (kind == "queue") return {"queues", rest};
  if (kind == "schedule") return {"schedules", rest};
  if (kind == "plan") return {"plans", rest};
  if (kind == "process") return {"processes"};
  return kind == "run" ? run_page(book, rest) : json(nullptr);
}

/// As the page and problems say it: "queue stock", "run nightly 2026-11-21".
std::string subject_of(daybook::change_info const& one) {
  std::string out;
  if (one.process.starts_with("queue:")) {
    out = "queue " + one.process.substr(6);
  } else if (one.process.starts_with("plan ") || one.process == "tokens") {
    out = one.process;
  } else {
    out = "run " + one.process;
  }
  return one.key.empty() || one.key == "-" ? out : out + " " + one.key;
}

/// The other way round: which process its changes are written under.
std::string process_of(std::string const& subject) {
  if (subject.starts_with("queue ")) return "queue:" + subject.substr(6);
  if (subject.starts_with("run ") || subject.starts_with("schedule ")) {
    auto const rest = subject.substr(subject.find(' ') + 1);
    return rest.substr(0, rest.find(' '));
  }
  return subject;
}

}  // namespace

reply get_pulse(call& asked) { return {.body = revisions_of(asked.book())}; }

reply get_status(call& asked) {
  return {.body = json_of(glance_at(asked.book(), daybook::status_depth::newest))};
}

reply get_problems(call& asked) {
  auto const found = asked.book().problems();
  auto items = json_of(found);
  for (auto& one : items) {
    auto page = page_of(asked.book(), one["subject"].get<std::string>());
    if (!page.is_null()) one["page"] = std::move(page);
  }
  return list_of(std::move(items));
}

reply get_processes(call& asked) {
  auto items = json::array();
  for (auto const& one : asked.book().holders()) items.push_back(json_of(one));
  return list_of(std::move(items));
}

reply get_doctor(call& asked) {
  auto items = json::array();
  for (auto const& one : asked.book().doctor()) items.push_back(json_of(one));
  return list_of(std::move(items));
}

reply get_changes(call& asked) {
  daybook::changes_query query;
  query.actor = asked.text("actor");
  query.action = asked.text("action");
  query.since = asked.since("since");
  query.limit = asked.number("limit", 100);
  if (auto const subject = asked.text("subject"); !subject.empty()) {
    query.process = process_of(subject);
  }
  if (auto const after = asked.after(); !after.empty()) {
    query.before = whole_number(after).value_or(1);
  }
  auto items = json::array();
  auto const found = asked.book().changes(query);
  for (auto const& one : found) {
    items.push_back({{"id", one.id},
                     {"at", iso(one.at)},
                     {"actor", one.actor},
                     {"action", one.action},
                     {"subject", subject_of(one)},
                     {"reason", one.reason},
                     {"detail", one.detail}});
  }
  bool const is_full = std::cmp_equal(found.size(), query.limit);
  return list_of(std::move(items),
                 next_after(is_full, is_full ? std::to_string(found.back().id) : ""));
}

}  // namespace command::api
