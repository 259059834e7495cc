// daybook queues import: many keys at once, from a file, from stdin, from a query.
#include "cli/dates.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/key_lines.hpp"
#include "cli/progress_bar.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "verbs/queues/queue_verbs.hpp"
#include "wire/queues.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>

namespace command {

namespace {

struct import_request {
  std::string name;
  std::string file;
  std::optional<std::string> query;
  line_form form = line_form::key;
  daybook::task_options how;
  bool as_json = false;
  database_options where;
};

import_request read_import(arguments const& given) {
  import_request out;
  std::string at;
  CLI::App app{"Adds many keys to a queue. Those that are there already stay as they are.",
               "daybook queues import"};
  app.footer(
      "\nOne key a line; with --json-lines {\"key\": \"k1\", \"payload\": \"text\"}, the payload "
      "as you\nlike. Of a query the first column is the key, the second, if any, the payload; "
      "nothing "
      "but\na query is executed. Committed in pieces: what was imported before a mistake stays, "
      "and the\nwhole may be imported again.\n"
      "\nExit codes: 65 a line or row that is no key, or no query; 66 no such queue or file.");
  app.add_option("NAME", out.name, "The queue")->required();
  auto* const file = app.add_option("FILE", out.file, "The keys; -: from stdin");
  auto* const lines = app.add_flag_function(
      "--json-lines", [&](std::int64_t) { out.form = line_form::json; },
      "Each line is an object in JSON");
  app.add_option("--query", out.query,
                 "Instead of FILE: what the book's "
                 "database answers to it")
      ->type_name("SQL")
      ->excludes(file)
      ->excludes(lines);
  app.add_option("--at", at, "Not before this instant (at once)")->type_name("INSTANT");
  app.add_option("--priority", out.how.priority, "0 (first) to 9 (5)")
      ->type_name("N")
      ->check(CLI::Range(0, 9));
  app.add_flag("--json", out.as_json, "How many, as one object");
  add_database_options(app, out.where);
  parse(app, given, "NAME FILE|-|--query SQL [options]");
  if (file->count() == 0 && !out.query) {
    throw complaint(exit_code::usage, "queues import: say from where: FILE, - or --query SQL");
  }
  if (app.count("--at") > 0) out.how.at = instant_from(at);
  return out;
}

std::ifstream opened(std::string const& file) {
  std::error_code unknown;
  std::ifstream out(file, std::ios::binary);
  if (!out || std::filesystem::is_directory(file, unknown)) {
    throw complaint(out ? exit_code::bad_data : exit_code::missing,
                    fmt::format("{}: {}", printable(file),
                                out ? "a folder, no file of keys" : std::strerror(errno)));
  }
  return out;
}

/// Empty where nobody knows before the end.
std::optional<double> size_of(std::string const& file) {
  std::error_code unknown;
  if (file == "-" || !std::filesystem::is_regular_file(file, unknown)) return {};
  auto const size = std::filesystem::file_size(file, unknown);
  if (unknown || size == 0) return {};
  return static_cast<double>(size);
}

void tell(import_request const& request, daybook::import_report const& done,
          progress_bar const& bar) {
  if (request.as_json) print_json(json_of(done));
  say(fmt::format("{}: {} added, {} there already; {}", printable(request.name), done.added,
                  done.present, bar.pace(done.added + done.present)));
}

std::string what_stays(std::string const& why) {
  return why + "; what stands before it is imported";
}

/// `wrong`, of both, is what ended it, if anything did.
daybook::import_report import_query(import_request const& request, daybook::queue& queue,
                                    progress_bar& bar, std::optional<complaint>& wrong) {
  daybook::import_report so_far;
  try {
    return queue.import_query(*request.query, request.how, [&](daybook::import_report const& far) {
      so_far = far;
      bar.at(far.added + far.present);
      return true;
    });
  } catch (daybook::error const& e) {
    if (e.kind() != daybook::error_code::bad_argument || so_far.added + so_far.present == 0) throw;
    wrong.emplace(exit_code::bad_data, what_stays(printable(e.what())));
  }
  return so_far;
}

daybook::import_report import_lines(import_request const& request, daybook::queue& queue,
                                    progress_bar& bar, std::optional<complaint>& wrong) {
  bool const from_stdin = request.file == "-";
  std::ifstream file;
  if (!from_stdin) file = opened(request.file);
  key_lines lines(from_stdin ? "stdin" : request.file, from_stdin ? std::cin : file, request.form);
  auto const size = size_of(request.file);
  std::int64_t count = 0;
  auto const next = [&] {
    auto one = lines.next();
    if (one) ++count;
    bar.at(count, size ? std::optional(static_cast<double>(lines.bytes()) / *size) : std::nullopt);
    return one;
  };
  auto const done = queue.import(next, request.how);
  if (auto const& found = lines.failure()) {
    wrong.emplace(found->code, what_stays(found->text));
  }
  return done;
}

}  // namespace

int queues_import(arguments const& given) {
  auto const what = read_import(given);
  auto book = open_book(resolve(what.where));
  auto queue = must_have_queue(book, what.name);
  progress_bar bar(printable(what.name));
  std::optional<complaint> wrong;
  auto const done =
      what.query ? import_query(what, queue, bar, wrong) : import_lines(what, queue, bar, wrong);
  bar.wipe();
  tell(what, done, bar);
  if (wrong) throw complaint(*wrong);
  return exit_code::done;
}

}  // namespace command
