// Keeps the house: which room may include which, where the drivers' headers may be seen, and the
// sizes that are signs to look. Prints FILE:LINE: what is wrong; exit 1 when anything is.
//   tidy SOURCE_FOLDER
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// A room, and the rooms whose headers it may include. Arrows point downwards.
std::map<std::string, std::set<std::string>> const floors{
    {"base", {"base"}},
    {"calendar", {"calendar", "base"}},
    {"db", {"db", "base"}},
    {"drivers", {"drivers", "db", "base"}},
    {"core", {"core", "db", "base"}},
    {"tables", {"tables", "core", "db", "base"}},
    {"queue", {"queue", "tables", "core", "db", "base"}},
    {"schedule", {"schedule", "core", "db", "base"}},
    {"aggregation", {"aggregation", "tables", "core", "db", "base"}},
    {"planner", {"planner", "queue", "tables", "core", "calendar", "db", "base"}},
    {"work", {"work", "planner", "schedule", "queue", "core", "db", "base"}},
    // The composition root, and what only tests may do: the two files above the rooms.
    {"book.cpp",
     {"work", "planner", "aggregation", "schedule", "queue", "core", "drivers", "db", "base"}},
    {"testing.cpp", {"work", "queue", "core", "db", "base"}},
};

std::set<std::string> const driver_headers{"libpq-fe.h", "sqlite3.h", "mysql.h", "mysqld_error.h",
                                           "errmsg.h"};

constexpr std::size_t longest_line = 100;
constexpr int longest_header = 200;
constexpr int longest_source = 500;
constexpr int longest_function = 70;

class report {
 public:
  void add(fs::path const& file, int line, std::string const& what) {
    std::cout << file.string() << ':' << line << ": " << what << '\n';
    ++count_;
  }
  [[nodiscard]] int count() const { return count_; }

 private:
  int count_ = 0;
};

std::vector<std::string> lines_of(fs::path const& file) {
  std::ifstream in(file);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

bool is_code(fs::path const& file) {
  return file.extension() == ".cpp" || file.extension() == ".hpp";
}

/// "src/core/run.cpp" -> "core"; "src/book.cpp" -> "book.cpp"; elsewhere its first folder.
std::string room_of(fs::path const& relative) {
  auto part = relative.begin();
  if (*part == "src") ++part;
  return part->string();
}

void check_include(report& into, fs::path const& relative, int line, std::string const& text) {
  static std::regex const include(R"(^#include ([<"])([^>"]+)[>"])");
  std::smatch found;
  if (!std::regex_search(text, found, include)) return;
  auto const what = found[2].str();
  bool const quoted = found[1] == "\"";
  auto const room = room_of(relative);
  if (driver_headers.contains(what) && room != "drivers" && room != "tests" && room != "examples") {
    into.add(relative, line, "only src/drivers, tests and examples may see " + what);
  }
  if (!quoted) return;
  auto const slash = what.find('/');
  if (relative.string().starts_with("src/")) {
    auto const allowed = floors.find(room);
    if (allowed == floors.end()) {
      into.add(relative, line, "the room '" + room + "' stands on no floor: name it in tidy.cpp");
    } else if (relative.string().ends_with("_test.cpp") &&
               (what == "drivers/drivers.hpp" || what.starts_with("support/"))) {
      return;  // a unit test may make a session, and use what tests share
    } else if (!allowed->second.contains(what.substr(0, slash))) {
      into.add(relative, line, room + " may not include " + what + ": floors point downwards");
    }
  } else if (room == "include") {
    into.add(relative, line, "a public header includes public headers only, with <>");
  } else if ((room == "command" || room == "examples") && slash != std::string::npos) {
    into.add(relative, line, room + " sees the public headers only");
  }
}

void check_lines(report& into, fs::path const& relative, std::vector<std::string> const& lines) {
  bool const header = relative.extension() == ".hpp";
  bool const test = relative.string().find("test") != std::string::npos;
  auto const limit = header ? longest_header : longest_source;
  // The one header of the verbs that users call most is allowed to be whole.
  if (static_cast<int>(lines.size()) > limit && !(test && header) &&
      relative != "include/daybook/run.hpp") {
    into.add(relative, limit, "longer than " + std::to_string(limit) + " lines: two concepts?");
  }
  for (std::size_t at = 0; at < lines.size(); ++at) {
    auto const& line = lines[at];
    int const number = static_cast<int>(at) + 1;
    auto const columns = std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    });
    if (static_cast<std::size_t>(columns) > longest_line) {
      into.add(relative, number, "over 100 columns");
    }
    if (line.find('\t') != std::string::npos && line.find("\"") == std::string::npos) {
      into.add(relative, number, "a tab");
    }
    if (!line.empty() && (line.back() == ' ' || line.back() == '\t')) {
      into.add(relative, number, "blanks at the end");
    }
    if (header && line.find("using namespace") != std::string::npos) {
      into.add(relative, number, "'using namespace' in a header");
    }
    check_include(into, relative, number, line);
  }
  if (header && std::find(lines.begin(), lines.end(), "#pragma once") == lines.end()) {
    into.add(relative, 1, "no '#pragma once'");
  }
}

/// In formatted code a body ends with a brace in the column where its head begins.
void check_functions(report& into, fs::path const& relative,
                     std::vector<std::string> const& lines) {
  static std::regex const other(
      R"(^\s*(namespace|inline namespace|class|struct|enum|union|extern|template|TEST))");
  for (std::size_t at = 0; at < lines.size(); ++at) {
    auto const& line = lines[at];
    if (!line.ends_with('{') || std::regex_search(line, other)) continue;
    auto const indent = line.find_first_not_of(' ');
    if (indent > 2 || line.find('(') == std::string::npos) continue;
    auto const end = std::string(indent, ' ') + "}";
    for (auto close = at + 1; close < lines.size(); ++close) {
      if (!lines[close].starts_with(end)) continue;
      if (static_cast<int>(close - at) > longest_function) {
        into.add(relative, static_cast<int>(at) + 1, "a function of more than 70 lines");
      }
      break;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: tidy SOURCE_FOLDER\n";
    return 64;
  }
  fs::path const root = argv[1];
  report found;
  int files = 0;
  for (auto const* folder : {"include", "src", "command", "examples", "tests"}) {
    for (auto const& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file() || !is_code(entry.path())) continue;
      auto const relative = fs::relative(entry.path(), root);
      if (relative.string().starts_with("tests/tidy/bad/")) continue;
      auto const lines = lines_of(entry.path());
      check_lines(found, relative, lines);
      check_functions(found, relative, lines);
      ++files;
    }
  }
  std::cout << files << " files, " << found.count() << " complaints\n";
  return found.count() == 0 && files > 20 ? 0 : 1;
}
