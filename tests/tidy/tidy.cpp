// Keeps the house: which room may include which, where the drivers' headers may be seen, the sizes
// that are signs to look, and parameters in headers that are called by no name. Prints FILE:LINE:
// what is wrong; exit 1 when anything is.
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

/// A room, and the rooms whose headers it may include. Arrows point downwards. A name with a slash
/// at its end stands for the folder and all below it.
std::map<std::string, std::set<std::string>> const floors{
    {"base", {"base"}},
    {"calendar", {"calendar", "base"}},
    {"db", {"db", "base"}},
    {"drivers", {"drivers", "db", "base"}},
    {"drivers/sqlite", {"drivers/sqlite", "drivers", "db", "base"}},
    {"drivers/postgres", {"drivers/postgres", "drivers", "db", "base"}},
    {"drivers/mysql", {"drivers/mysql", "drivers", "db", "base"}},
    {"core/tx", {"core/tx", "db", "base"}},
    {"core/lease", {"core/lease", "core/tx", "db", "base"}},
    {"core/run", {"core/run", "core/lease", "core/tx", "db", "base"}},
    {"core/admin", {"core/", "db", "base"}},
    {"tables", {"tables", "core/", "db", "base"}},
    {"queue/model", {"queue/model", "base"}},
    {"queue/members", {"queue/members", "queue/model", "tables", "core/", "db", "base"}},
    {"queue/claims",
     {"queue/claims", "queue/members", "queue/model", "tables", "core/", "db", "base"}},
    {"queue/fetch",
     {"queue/fetch", "queue/claims", "queue/members", "queue/model", "core/", "db", "base"}},
    {"queue/maintenance",
     {"queue/maintenance", "queue/claims", "queue/members", "queue/model", "tables", "core/", "db",
      "base"}},
    {"queue/admin", {"queue/", "tables", "core/", "db", "base"}},
    {"schedule", {"schedule", "core/", "db", "base"}},
    {"aggregation", {"aggregation", "tables", "core/", "db", "base"}},
    {"planner", {"planner", "queue/", "tables", "core/", "calendar", "db", "base"}},
    {"planner/sources", {"planner/", "queue/", "tables", "core/", "calendar", "db", "base"}},
    {"intake", {"intake", "queue/", "core/", "db", "base"}},
    {"service", {"service/", "intake", "planner/", "schedule", "queue/", "core/", "db", "base"}},
    // The composition root, and what only tests may do: the two files above the rooms.
    {"book.cpp",
     {"service/", "intake", "planner/", "aggregation", "schedule", "queue/", "core/", "drivers",
      "db", "base"}},
    {"testing.cpp", {"service", "queue/", "core/", "db", "base"}},
    {"memory_broker.cpp", {}},
    {"command/cli", {"command/cli"}},
    {"command/config", {"command/config", "command/cli"}},
    {"command/http", {"command/http", "command/cli"}},
    {"command/wire", {"command/wire", "command/config", "command/cli"}},
    {"command/output", {"command/output", "command/config", "command/cli"}},
    {"command/process", {"command/process", "command/output", "command/config", "command/cli"}},
    {"command/attempt",
     {"command/attempt", "command/process", "command/output", "command/config", "command/cli"}},
    {"command/verbs",
     {"command/verbs", "command/wire", "command/attempt", "command/process", "command/output",
      "command/config", "command/cli"}},
    {"command/api",
     {"command/api", "command/verbs/", "command/http", "command/wire", "command/process",
      "command/output", "command/config", "command/cli"}},
    {"command/daemon/children",
     {"command/daemon/children", "command/attempt", "command/process", "command/output",
      "command/config", "command/cli"}},
    {"command/daemon",
     {"command/daemon/", "command/verbs/", "command/attempt", "command/process", "command/output",
      "command/config", "command/cli"}},
    {"command", {"command/"}},
};

/// Where the names of a namespace are declared. An include is not the only way to depend on a room:
/// its classes can be declared by hand.
std::map<std::string, std::string> const namespaces{
    {"base", "base"},        {"calendar", "calendar"},  {"db", "db"},
    {"drivers", "drivers"},  {"core", "core"},          {"tables", "tables"},
    {"queues", "queue"},     {"schedules", "schedule"}, {"aggregations", "aggregation"},
    {"planners", "planner"}, {"work", "service"},       {"intakes", "intake"},
};

/// Folders that may have more sources than `largest_folder`: users type the names of public
/// headers, and each program of misuse stands alone.
std::set<std::string> const large_folders{"include/daybook", "tests/misuse"};

std::set<std::string> const driver_headers{"libpq-fe.h", "sqlite3.h", "mysql.h", "mysqld_error.h",
                                           "errmsg.h"};

constexpr std::size_t longest_line = 100;
constexpr int longest_header = 200;
constexpr int longest_source = 500;
constexpr int longest_function = 70;
constexpr int largest_folder = 25;

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

/// "src/core/run/run.cpp" -> "core/run"; "src/book.cpp" -> "book.cpp"; "command/main.cpp" ->
/// "command"; elsewhere its first folder.
std::string room_of(fs::path const& relative) {
  auto const text = relative.string();
  auto const folder = relative.parent_path().string();
  if (text.starts_with("src/")) return folder == "src" ? text.substr(4) : folder.substr(4);
  return text.starts_with("command/") ? folder : relative.begin()->string();
}

/// The floor of a room: its own, or that of the folder it is in.
auto floor_of(std::string room) {
  auto found = floors.find(room);
  while (found == floors.end() && room.find('/') != std::string::npos) {
    room.resize(room.rfind('/'));
    found = floors.find(room);
  }
  return found;
}

/// Whether a room may include the headers of another.
bool may_include(std::string const& room, std::set<std::string> const& allowed,
                 std::string const& other) {
  return room == other || std::any_of(allowed.begin(), allowed.end(), [&](std::string const& name) {
           return name.ends_with('/') ? (other + '/').starts_with(name) : other == name;
         });
}

/// In src and command: an include in quotes goes to no room above or beside.
void check_floor(report& into, std::string const& room, fs::path const& relative, int line,
                 std::string const& what) {
  bool const command = relative.string().starts_with("command/");
  auto const target = (command ? "command/" : "") + fs::path(what).parent_path().string();
  if (command && floor_of(target)->first == "command") {
    into.add(relative, line, "command sees the public headers only");
    return;
  }
  auto const floor = floor_of(room);
  if (floor == floors.end()) {
    into.add(relative, line, "the room '" + room + "' stands on no floor: name it in tidy.cpp");
  } else if (relative.string().ends_with("_test.cpp") &&
             (what == "drivers/drivers.hpp" || what.starts_with("support/"))) {
    return;  // a unit test may make a session, and use what tests share
  } else if (!may_include(room, floor->second, target)) {
    into.add(relative, line, room + " may not include " + what + ": floors point downwards");
  }
}

void check_include(report& into, fs::path const& relative, int line, std::string const& text) {
  static std::regex const include(R"(^#include ([<"])([^>"]+)[>"])");
  std::smatch found;
  if (!std::regex_search(text, found, include)) return;
  auto const what = found[2].str();
  bool const quoted = found[1] == "\"";
  auto const room = room_of(relative);
  if (driver_headers.contains(what) && !room.starts_with("drivers") && room != "tests" &&
      room != "examples" && room != "benchmarks") {
    into.add(relative, line, "only src/drivers, tests and examples may see " + what);
  }
  if (!quoted) return;
  if (relative.string().starts_with("src/") || relative.string().starts_with("command/")) {
    check_floor(into, room, relative, line, what);
  } else if (room == "include") {
    into.add(relative, line, "a public header includes public headers only, with <>");
  } else if (room == "examples" && what.find('/') != std::string::npos) {
    into.add(relative, line, "examples see the public headers only");
  }
}

/// In src: a namespace that a file opens is of its own room or of one below.
void check_namespace(report& into, fs::path const& relative, int line, std::string const& text) {
  static std::regex const opening(R"(^namespace (\w+) \{)");
  std::smatch found;
  if (!relative.string().starts_with("src/") || !std::regex_search(text, found, opening)) return;
  auto const target = namespaces.find(found[1].str());
  auto const room = room_of(relative);
  auto const floor = floor_of(room);
  if (target == namespaces.end() || floor == floors.end()) return;
  auto const top = [](std::string const& name) { return name.substr(0, name.find('/')); };
  if (top(room) == target->second) return;
  for (auto const& allowed : floor->second) {
    if (top(allowed) == target->second) return;
  }
  into.add(relative, line,
           room + " may not declare names of " + target->second + ": floors point downwards");
}

bool is_product(fs::path const& relative) {
  auto const folder = relative.begin()->string();
  return folder == "include" || folder == "src" || folder == "brokers" || folder == "command";
}

/// A parameter is called by what it is. Nobody can ask "what is this?" of an `of` or a `how`.
/// `from`, `to` and `at` may name the ends of a range and an instant.
void check_names(report& into, fs::path const& relative, int line, std::string const& text) {
  static std::regex const texts(R"re("(\\.|[^"\\])*"|//.*$)re");
  static std::regex const parameter(
      R"([\w>&*.]\s+(of|what|by|with|on|how|who|which|these|those|whose|in|into|upon)\s*)"
      R"(([,)=]|$))");
  static std::regex const member(R"(^[^)]*;\s*$)");
  std::smatch found;
  auto const code = std::regex_replace(text, texts, "");
  if (!std::regex_search(code, found, parameter)) return;
  if (std::regex_search(code, member)) return;
  into.add(relative, line, "a parameter called '" + found[1].str() + "': call it what it is");
}

void check_lines(report& into, fs::path const& relative, std::vector<std::string> const& lines) {
  bool const header = relative.extension() == ".hpp";
  bool const test = relative.string().find("test") != std::string::npos;
  auto const limit = header ? longest_header : longest_source;
  // The two headers of the verbs that users call most are allowed to be whole.
  if (static_cast<int>(lines.size()) > limit && !(test && header) &&
      relative != "include/daybook/run.hpp" && relative != "include/daybook/book.hpp") {
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
    if (header && is_product(relative)) check_names(into, relative, number, line);
    check_namespace(into, relative, number, line);
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

/// Unit tests stand beside what they test, and are not counted.
void check_folders(report& into, std::map<std::string, int> const& sources) {
  for (auto const& [folder, count] : sources) {
    if (count > largest_folder && !large_folders.contains(folder)) {
      into.add(folder, count, "a folder with more than 25 sources: two questions?");
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
  std::map<std::string, int> sources;
  for (auto const* folder :
       {"include", "src", "brokers", "command", "examples", "tests", "benchmarks"}) {
    for (auto const& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file() || !is_code(entry.path())) continue;
      auto const relative = fs::relative(entry.path(), root);
      if (relative.string().starts_with("tests/tidy/bad/")) continue;
      auto const lines = lines_of(entry.path());
      check_lines(found, relative, lines);
      check_functions(found, relative, lines);
      bool const unit =
          relative.string().starts_with("src/") && relative.string().ends_with("_test.cpp");
      sources[relative.parent_path().string()] += unit ? 0 : 1;
      ++files;
    }
  }
  check_folders(found, sources);
  std::cout << files << " files, " << found.count() << " complaints\n";
  return found.count() == 0 && files > 20 ? 0 : 1;
}
