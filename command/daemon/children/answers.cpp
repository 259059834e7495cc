#include "daemon/children/answers.hpp"

#include "config/options.hpp"
#include "daemon/children/queue_child.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace command {

namespace {

using json = nlohmann::ordered_json;

struct answer {
  std::string key;
  daybook::result how;
};

[[noreturn]] void wrong(std::string const& what) { throw std::invalid_argument(what); }

std::string text_in(json const& of, char const* name, std::optional<std::string> otherwise = {}) {
  auto const found = of.find(name);
  if (found == of.end() && otherwise) return *otherwise;
  if (found == of.end()) wrong(fmt::format("it has no '{}'", name));
  if (!found->is_string()) wrong(fmt::format("'{}' is no text", name));
  return found->get<std::string>();
}

daybook::result result_in(json const& of) {
  auto const word = text_in(of, "result");
  auto remark = text_in(of, "remark", "");
  if (word == "success") return daybook::result::success(std::move(remark));
  if (word == "failure") return daybook::result::failure(std::move(remark));
  if (word == "cancel") return daybook::result::cancel(std::move(remark));
  if (word == "unknown") return daybook::result::unknown(std::move(remark));
  if (word != "snooze") {
    wrong(fmt::format("'{}' is no result; there are success, failure, snooze, cancel, unknown",
                      word));
  }
  auto const length = duration_from(text_in(of, "for"));
  if (!length) wrong("'for' is no length of time: \"500ms\", \"30s\", \"10m\", \"2h\" or \"1d\"");
  return daybook::result::snooze(*length, std::move(remark));
}

/// On failure: throws std::exception, with why it is none.
answer read_answer(std::string_view line) {
  auto const of = json::parse(line, nullptr, false);
  if (!of.is_object()) wrong("it is no JSON object");
  return {text_in(of, "key"), result_in(of)};
}

}  // namespace

answers::answers(declared_queue const& what, daybook::job_batch& of,
                 std::span<std::size_t const> given, journal& log, output_log& told)
    : what_(what), of_(of), log_(log), told_(told) {
  for (auto const at : given) at_.emplace(of.task(at).key, at);
}

void answers::take(printed_line const& one) {
  try {
    if (!one.whole) wrong("the line is too long");
    read(one.text);
  } catch (std::exception const& e) {
    told_.warn("no_answer", one.text, e.what());
  }
}

void answers::read(std::string_view line) {
  auto got = read_answer(line);
  auto const found = at_.find(got.key);
  if (found == at_.end()) wrong("it was not asked for this key, or has answered");
  auto const at = found->second;
  at_.erase(found);
  tell(what_, of_.task(at), got.how, log_);
  of_.finish(at, std::move(got.how));
}

std::vector<std::size_t> answers::open() const {
  std::vector<std::size_t> out;
  for (auto const& [key, at] : at_) out.push_back(at);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace command
