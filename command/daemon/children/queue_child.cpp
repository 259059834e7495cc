#include "daemon/children/queue_child.hpp"

#include "attempt/attempt.hpp"
#include "cli/exit.hpp"
#include "output/output_tail.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <string_view>

namespace command {

namespace {

// A remark is kept to 2000 bytes.
constexpr std::size_t longest_errors = 1200;
constexpr std::size_t longest_printed = 600;

/// The last lines, as one of at most `size` bytes: whole ones, where one fits.
std::string last_lines(output_tail const& tail, std::size_t size) {
  constexpr std::string_view between = " | ";
  auto text = tail.text();
  auto const last = text.find_last_not_of("\r\n ");
  text.resize(last == std::string::npos ? 0 : last + 1);
  std::string out;
  for (char const c : text) c == '\n' ? out += between : out += c;
  if (out.size() <= size) return out;
  auto const cut = out.size() - size;
  auto const line = out.find(between, cut);
  out.erase(0, line == std::string::npos ? cut : line + between.size());
  return out;
}

/// "timed out after 30s: killed by signal 15 (SIGTERM): the end of what it printed on stderr"
std::string remark_of(declared_queue const& declared, attended const& end,
                      output_tail const& errors) {
  auto out = end.status.text();
  if (end.why == ended_by::timeout) {
    out = fmt::format("timed out after {}: {}", text_of(*declared.timeout), out);
  }
  if (end.why == ended_by::stop) out = "ended because the daemon stops: " + out;
  auto const said = last_lines(errors, longest_errors);
  return said.empty() ? out : out + ": " + said;
}

daybook::result later(declared_queue const& declared, std::string const& remark) {
  constexpr std::chrono::milliseconds least = std::chrono::seconds{1};
  return daybook::result::snooze(std::max(declared.options.backoff, least), remark);
}

}  // namespace

program program_for(declared_queue const& declared, std::span<std::string const> places,
                    database const& where) {
  program out{.words = filled(declared.command, places),
              .environment = {{token_variable, ""},  // it is in no run
                              {"DAYBOOK_QUEUE", declared.name},
                              {"DAYBOOK_SCHEMA", where.schema},
                              {"DAYBOOK_PREFIX", where.prefix}},
              .alone = true};
  if (declared.database_url) {
    out.environment.emplace_back(url_variable, where.url);
  } else {
    out.hidden.emplace_back(url_variable);
  }
  out.environment.insert(out.environment.end(), declared.environment.begin(),
                         declared.environment.end());
  return out;
}

command_end run_command(declared_queue const& declared, limits const& within, program program,
                        output_log& told, capture::line_reader const& said,
                        std::size_t longest_line) {
  output_tail errors;
  capture output(
      [&](printed_line const& one) {
        if (one.stream == "stdout") return said(one);
        told.take(one);
        errors.add(one.text.data(), one.text.size());
        errors.add("\n", 1);
      },
      longest_line);
  program.output = output.out();
  program.errors = output.err();
  child one(program);
  output.started();
  auto const end = attend(one, output, within);
  told.finish();
  return {end, remark_of(declared, end, errors)};
}

std::string with_stdout(std::string remark, output_tail const& printed) {
  auto const last = last_lines(printed, longest_printed);
  return last.empty() ? remark : remark + "; stdout: " + last;
}

bool asks_for_later(attended const& end) noexcept {
  return !end.status.by_signal && end.status.number == exit_code::busy;
}

std::optional<daybook::result> judged(declared_queue const& declared, attended const& end,
                                      std::string const& remark) {
  bool const undone = asks_for_later(end);
  bool const may_repeat = declared.options.mode != daybook::step_mode::at_most_once;
  if (end.why == ended_by::loss) return std::nullopt;
  if (end.why == ended_by::stop && (undone || may_repeat)) return std::nullopt;
  if (undone && end.why == ended_by::itself) return later(declared, remark);
  return undone || may_repeat ? daybook::result::failure(remark) : daybook::result::unknown(remark);
}

void tell(declared_queue const& declared, daybook::task const& task, daybook::result const& result,
          journal& log) {
  // An unknown outcome is logged once the book has it, as all last failures are (log_observer).
  if (result.what() != daybook::result::kind::failure) return;
  log.warning("failed", {{"queue", declared.name},
                         {"key", task.key},
                         {"attempt", task.attempt},
                         {"text", without_passwords(result.remark())}});
}

void tell_lost(declared_queue const& declared, std::size_t tasks, journal& log) {
  log.warning("lost", {{"queue", declared.name}, {"tasks", tasks}});
}

}  // namespace command
