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

[[noreturn]] void wrong(std::string const& reason) { throw std::invalid_argument(reason); }

std::string text_in(json const& json, char const* name, std::optional<std::string> otherwise = {}) {
  auto const found = json.find(name);
  if (found == json.end() && otherwise) return *otherwise;
  if (found == json.end()) wrong(fmt::format("it has no '{}'", name));
  if (!found->is_string()) wrong(fmt::format("'{}' is no text", name));
  return found->get<std::string>();
}

daybook::result result_in(json const& json) {
  auto const word = text_in(json, "result");
  auto remark = text_in(json, "remark", "");
  if (word == "success") return daybook::result::success(std::move(remark));
  if (word == "failure") return daybook::result::failure(std::move(remark));
  if (word == "cancel") return daybook::result::cancel(std::move(remark));
  if (word == "unknown") return daybook::result::unknown(std::move(remark));
  if (word != "snooze") {
    wrong(fmt::format("'{}' is no result; there are success, failure, snooze, cancel, unknown",
                      word));
  }
  auto const length = duration_from(text_in(json, "for"));
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

answers::answers(declared_queue const& declared, daybook::job_batch& batch,
                 std::span<std::size_t const> given, journal& log, output_log& told)
    : declared_(declared), batch_(batch), log_(log), told_(told) {
  for (auto const at : given) unanswered_.emplace(batch.task(at).key, at);
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
  auto const found = unanswered_.find(got.key);
  if (found == unanswered_.end()) wrong("it was not asked for this key, or has answered");
  auto const at = found->second;
  unanswered_.erase(found);
  tell(declared_, batch_.task(at), got.how, log_);
  batch_.finish(at, std::move(got.how));
}

std::vector<std::size_t> answers::open() const {
  std::vector<std::size_t> out;
  for (auto const& [key, at] : unanswered_) out.push_back(at);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace command
