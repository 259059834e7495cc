// Imports a Debian package catalogue into tables of its own, in five steps, each done once.
// Kill it anywhere and start it again: it resumes after the last finished step.
//
//   package_catalogue [--book URL] [--lease SECONDS] [--restart] [--hold STEP] FILE
//
// FILE is plain text as in /var/lib/dpkg/status. The book is where the environment says, as for
// the command ($DAYBOOK_DATABASE_URL, $DAYBOOK_SCHEMA), else in sqlite:catalogue.db. If there is no
// book, it is made. SQLite and PostgreSQL only: the first step makes tables, which MariaDB cannot
// do inside a transaction. --hold does the named step's work and then waits with its transaction
// open, so that somebody can kill this process in the middle.
#include <daybook/daybook.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using daybook::transaction;

namespace exit_code {
constexpr int done = 0;
constexpr int usage = 64;
constexpr int no_input = 66;
constexpr int unreachable = 69;  // the database, or a lock in it: try again later
constexpr int fault = 70;
constexpr int busy = 75;  // another process has the import in hand: try again later
constexpr int lost = 79;  // another process has taken it over
}  // namespace exit_code

int code_of(daybook::error const& e) {
  switch (e.kind()) {
    case daybook::error_code::bad_argument: return exit_code::usage;
    case daybook::error_code::unreachable:
    case daybook::error_code::conflict: return exit_code::unreachable;
    default: return exit_code::fault;
  }
}

// --- The command line ---

constexpr std::array<std::string_view, 5> steps{"tables", "maintainers", "packages", "sections",
                                                "totals"};

struct options {
  std::string book = "sqlite:catalogue.db";
  std::chrono::seconds lease{30};
  bool restart = false;
  std::string hold;
  std::string file;
};

struct bad_usage : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct bad_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::optional<std::int64_t> to_number(std::string_view text) {
  std::int64_t number = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

options read_options(std::span<char*> given) {
  options out;
  if (char const* const book = std::getenv("DAYBOOK_DATABASE_URL")) out.book = book;
  for (std::size_t at = 1; at < given.size(); ++at) {
    std::string_view const word = given[at];
    auto const argument = [&]() -> std::string {
      if (++at == given.size()) throw bad_usage(std::string(word) + " needs a value");
      return given[at];
    };
    if (word == "--book") {
      out.book = argument();
    } else if (word == "--lease") {
      auto const seconds = to_number(argument());
      if (!seconds) throw bad_usage("--lease takes a number of seconds");
      out.lease = std::chrono::seconds(*seconds);
    } else if (word == "--restart") {
      out.restart = true;
    } else if (word == "--hold") {
      out.hold = argument();
      if (std::find(steps.begin(), steps.end(), out.hold) == steps.end()) {
        throw bad_usage("--hold " + out.hold + ": there is no such step");
      }
    } else if (word.starts_with('-') || !out.file.empty()) {
      throw bad_usage("not understood: " + std::string(word));
    } else {
      out.file = word;
    }
  }
  if (out.file.empty()) throw bad_usage("which file?");
  return out;
}

// --- The input ---

struct package {
  std::string name;
  std::string version;
  std::string architecture;
  std::string section = "unknown";
  std::string maintainer = "unknown";
  std::optional<std::int64_t> installed_kb;
};

struct catalogue {
  std::vector<package> packages;
  std::int64_t nameless = 0;  // paragraphs without a package's name
  std::string fingerprint;    // of every byte that was read
};

std::string_view trimmed(std::string_view text) {
  auto const blank = " \t\r";
  auto const first = text.find_first_not_of(blank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// A paragraph of a control file, line by line: "Field: value", folded lines indented.
class paragraph {
 public:
  void add(std::string_view line) {
    any_ = true;
    if (line.front() == ' ' || line.front() == '\t') {
      if (field_ != nullptr) field_->append(" ").append(trimmed(line));
      return;
    }
    auto const colon = line.find(':');
    field_ = colon == line.npos ? nullptr : find(lower(line.substr(0, colon)));
    if (field_ != nullptr) *field_ = trimmed(line.substr(colon + 1));
  }
  void end(catalogue& into) {
    if (!any_) return;
    if (now_.name.empty()) {
      ++into.nameless;
    } else {
      now_.installed_kb = to_number(installed_);
      into.packages.push_back(std::move(now_));
    }
    *this = {};
  }

 private:
  std::string* find(std::string_view field) {
    if (field == "package") return &now_.name;
    if (field == "version") return &now_.version;
    if (field == "architecture") return &now_.architecture;
    if (field == "section") return &now_.section;
    if (field == "maintainer") return &now_.maintainer;
    if (field == "installed-size") return &installed_;
    return nullptr;
  }

  package now_;
  std::string installed_;
  std::string* field_ = nullptr;  // the one that a folded line goes on with
  bool any_ = false;
};

catalogue read_catalogue(std::string const& path) {
  std::ifstream file(path);
  if (!file) throw bad_input(path + " cannot be read");
  catalogue out;
  paragraph now;
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (std::string line; std::getline(file, line); line.clear()) {
    line.push_back('\n');
    for (char const c : line) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    line.pop_back();
    if (trimmed(line).empty()) {
      now.end(out);
    } else if (line.front() != '#') {
      now.add(line);
    }
  }
  if (file.bad()) throw bad_input(path + " cannot be read to its end");
  now.end(out);
  if (out.packages.empty()) throw bad_input(path + " names no package");
  std::ostringstream hexadecimal;
  hexadecimal << std::hex << std::setfill('0') << std::setw(16) << hash;
  out.fingerprint = hexadecimal.str();
  return out;
}

// --- The five steps: each is one transaction ---

std::string make_tables(transaction& tx, catalogue const& from) {
  tx.exec("create table if not exists maintainer(name text primary key)");
  tx.exec(
      // The code is that of the package's file: name_version_architecture. The last two columns are
      // for the aggregation in examples/quickstart/daybook.toml: no package is gathered yet.
      "create table if not exists package(code text not null primary key, name text not null, "
      "version text not null, architecture text not null, section text not null, "
      "maintainer text not null references maintainer, installed_kb bigint, "
      "state int not null default 1, holding text not null default '')");
  tx.exec("create index if not exists package_holding on package(holding)");
  tx.exec("create table if not exists section(name text primary key, packages bigint not null)");
  tx.exec(
      "create table if not exists totals(packages bigint not null, "
      "maintainers bigint not null, sections bigint not null, installed_kb bigint not null)");
  tx.exec("delete from package");
  tx.exec("delete from maintainer");
  tx.exec("delete from section");
  tx.exec("delete from totals");
  return from.fingerprint;
}

std::int64_t add_maintainers(transaction& tx, catalogue const& from) {
  std::set<std::string_view> names;
  for (auto const& one : from.packages) names.insert(one.maintainer);
  for (auto const& name : names) tx.exec("insert into maintainer(name) values (:name)", name);
  return static_cast<std::int64_t>(names.size());
}

/// A package that two archives offer counts once.
std::int64_t add_packages(transaction& tx, catalogue const& from) {
  std::int64_t added = 0;
  for (auto const& one : from.packages) {
    added += tx.exec(
        "insert into package(code, name, version, architecture, section, maintainer, installed_kb) "
        "values (:code, :name, :version, :architecture, :section, :maintainer, :installed) "
        "on conflict do nothing",
        one.name + '_' + one.version + '_' + one.architecture, one.name, one.version,
        one.architecture, one.section, one.maintainer, one.installed_kb);
  }
  return added;
}

std::int64_t count_sections(transaction& tx) {
  return tx.exec(
      "insert into section(name, packages) select section, count(*) from package group by section");
}

std::int64_t count_totals(transaction& tx) {
  return tx.exec(
      "insert into totals(packages, maintainers, sections, installed_kb) "
      "select count(*), count(distinct maintainer), count(distinct section), "
      "coalesce(sum(installed_kb), 0) from package");
}

// --- The import ---

[[noreturn]] void wait_to_be_killed(std::string_view step) {
  std::cerr << "holding in step " << step << ": the work is done, the transaction still open"
            << std::endl;
  for (;;) std::this_thread::sleep_for(std::chrono::hours{1});
}

int tell_busy(daybook::start_result const& attempt) {
  std::cerr << "another process has this import in hand";
  if (auto const& who = attempt.holder()) {
    auto const left =
        std::chrono::ceil<std::chrono::seconds>(who->until - std::chrono::system_clock::now());
    std::cerr << ": process " << who->pid << " on " << who->node << ", presumed alive for another "
              << std::max<std::int64_t>(left.count(), 0) << " s unless it renews";
  }
  std::cerr << '\n';
  return exit_code::busy;
}

int tell_lost() {
  std::cerr << "another process has taken the import over; nothing more was written here\n";
  return exit_code::lost;
}

int import(daybook::book& book, options const& wanted, catalogue const& from) {
  auto attempt = book.start(daybook::process{"package-catalogue"}, daybook::key{},
                            {.once = false, .restart = wanted.restart});
  if (!attempt) return tell_busy(attempt);
  auto run = std::move(attempt).take();
  std::cerr << "run " << run.number() << ", attempt " << run.attempt() << '\n';

  auto const step = [&](std::string_view name, auto const& work) {
    auto answer = run.step(name, [&](transaction& tx) {
      auto value = work(tx);
      if (name == wanted.hold) wait_to_be_killed(name);
      return value;
    });
    if (answer) {
      bool const now = answer.what() == daybook::outcome::done;
      std::cerr << "  " << name << (now ? ": done, " : ": skipped, done before, ") << answer.value()
                << '\n';
    }
    return answer;
  };

  auto const tables = step("tables", [&](auto& tx) { return make_tables(tx, from); });
  if (!tables) return tell_lost();
  // A value from the attempt that did the step. If this attempt has another input, the tables would
  // hold half of each.
  if (tables.value() != from.fingerprint) {
    static_cast<void>(std::move(run).release("the input has changed"));
    throw bad_input(wanted.file + " has changed since this run began: use --restart");
  }
  if (!step("maintainers", [&](auto& tx) { return add_maintainers(tx, from); })) return tell_lost();
  if (!step("packages", [&](auto& tx) { return add_packages(tx, from); })) return tell_lost();
  if (!step("sections", [](auto& tx) { return count_sections(tx); })) return tell_lost();
  if (!step("totals", [](auto& tx) { return count_totals(tx); })) return tell_lost();
  return std::move(run).finish() ? exit_code::done : tell_lost();
}

void print_report(daybook::book& book) {
  book.transact([](transaction& tx) {
    using four_numbers = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
    for (auto const& [packages, maintainers, sections, installed] : tx.rows<four_numbers>(
             "select packages, maintainers, sections, installed_kb from totals")) {
      std::cout << "packages " << packages << "\nmaintainers " << maintainers << "\nsections "
                << sections << "\ninstalled_kb " << installed << '\n';
    }
    for (auto const& [name, packages] : tx.rows<std::tuple<std::string, std::int64_t>>(
             "select name, packages from section order by packages desc, name limit 5")) {
      std::cout << "section " << name << ' ' << packages << '\n';
    }
  });
}

int serve(options const& wanted) {
  auto const from = read_catalogue(wanted.file);
  std::cerr << from.packages.size() << " packages in " << wanted.file;
  if (from.nameless > 0) std::cerr << ", " << from.nameless << " paragraphs without a name";
  std::cerr << '\n';

  daybook::book_options how;
  how.lease = wanted.lease;
  if (char const* const named = std::getenv("DAYBOOK_SCHEMA")) how.schema = named;
  daybook::book book(wanted.book, how);
  if (book.dialect() == "mysql") throw bad_usage("--book: an SQLite or a PostgreSQL database");
  book.migrate();
  int const code = import(book, wanted, from);
  if (code == exit_code::done) print_report(book);
  return code;
}

}  // namespace

int main(int count, char** words) {
  try {
    return serve(read_options(std::span(words, static_cast<std::size_t>(count))));
  } catch (bad_usage const& e) {
    std::cerr << "package_catalogue: " << e.what()
              << "\nusage: package_catalogue [--book URL] [--lease SECONDS] [--restart] "
                 "[--hold STEP] FILE\n";
    return exit_code::usage;
  } catch (bad_input const& e) {
    std::cerr << "package_catalogue: " << e.what() << '\n';
    return exit_code::no_input;
  } catch (daybook::error const& e) {
    std::cerr << "package_catalogue: " << e.what() << '\n';
    return code_of(e);
  }
}
