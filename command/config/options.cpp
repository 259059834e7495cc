#include "config/options.hpp"

#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/nearest.hpp"
#include "cli/numbers.hpp"
#include "config/settings.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

namespace command {

namespace {

using std::chrono::milliseconds;

struct unit {
  std::string_view name;
  milliseconds length;
};
constexpr std::array<unit, 5> units{{
    {"d", std::chrono::hours{24}},
    {"h", std::chrono::hours{1}},
    {"m", std::chrono::minutes{1}},
    {"s", std::chrono::seconds{1}},
    {"ms", milliseconds{1}},
}};
constexpr milliseconds longest = std::chrono::hours{24 * 36525};

constexpr std::string_view default_url = "sqlite:daybook.db";

/// An empty variable counts as not set, but for the prefix, where empty means something.
std::optional<std::string> variable(char const* name, bool empty_counts = false) {
  char const* const text = std::getenv(name);
  if (text == nullptr || (*text == '\0' && !empty_counts)) return {};
  return text;
}

/// What the environment says of the database.
std::optional<std::string> url_around() {
  auto const ours = variable(url_variable);
  return ours ? ours : variable("DATABASE_URL");
}

/// What follows the scheme of an SQLite URL; empty where it is of another kind, or ambiguous.
std::optional<std::string_view> sqlite_place(std::string_view url) {
  for (std::string_view const scheme : {"sqlite:", "sqlite3:"}) {
    if (!url.starts_with(scheme)) continue;
    url.remove_prefix(scheme.size());
    if (url.starts_with("///")) {
      url.remove_prefix(3);
    } else if (url.starts_with("//")) {
      return {};  // the library says so
    }
    return url;
  }
  return {};
}

bool in_memory(std::string_view url) { return sqlite_place(url) == ":memory:"; }

/// The path of an SQLite URL; empty where it is of another kind, no file, or none that is taken.
std::optional<std::string> sqlite_path(std::string_view url) {
  auto const place = sqlite_place(url);
  if (!place || place->empty() || in_memory(url)) return {};
  if (place->find('?') != std::string_view::npos) return {};  // the library says that it takes none
  return std::string(*place);
}

/// CLI11 2.1 knows no "-- COMMAND".
class own_usage final : public CLI::Formatter {
 public:
  explicit own_usage(std::string usage) : usage_(std::move(usage)) {}
  std::string make_usage(CLI::App const* app, std::string /*name*/) const override {
    return "Usage: " + app->get_name() + " " + usage_ + "\n";
  }

 private:
  std::string usage_;
};

std::string with_absolute_path(std::string const& url) {
  auto const path = sqlite_path(url);
  if (!path || path->front() == '/') return url;
  return "sqlite:" + std::filesystem::absolute(*path).string();
}

}  // namespace

void add_database_options(CLI::App& app, database_options& options) {
  app.add_option("--db", options.url,
                 "The database: sqlite:PATH, postgresql://... or mysql://...; else "
                 "DAYBOOK_DATABASE_URL, else DATABASE_URL, else that of daybook.toml, else "
                 "sqlite:daybook.db")
      ->type_name("URL");
  app.add_option("--schema", options.schema,
                 "Where the tables are: a PostgreSQL schema, a MariaDB database "
                 "(or DAYBOOK_SCHEMA)")
      ->type_name("NAME");
  app.add_option("--prefix", options.prefix,
                 "In front of every table's name (or DAYBOOK_PREFIX; else daybook_)")
      ->type_name("TEXT");
}

void add_duration(CLI::App& app, std::string const& flag, milliseconds& option,
                  std::string const& help) {
  app.add_option_function<std::string>(
         flag,
         [&option, flag](std::string const& text) {
           auto const length = duration_from(text);
           if (!length) {
             throw CLI::ValidationError(
                 flag, fmt::format("'{}' is no length of time: write a whole number and a unit, "
                                   "as 500ms, 30s, 10m, 2h or 1d",
                                   printable(text)));
           }
           option = *length;
         },
         help)
      ->type_name("TIME");
}

void add_json(CLI::App& app, bool& json) { app.add_flag("--json", json, "One object per line"); }

void add_limit(CLI::App& app, int& limit, std::string_view noun, int most) {
  app.add_option("--limit", limit,
                 fmt::format("At most so many{}{} ({})", noun.empty() ? "" : " ", noun, limit))
      ->type_name("N")
      ->check(CLI::Range(1, most));
}

void add_page(CLI::App& app, std::string& after, int& limit, std::string const& name) {
  app.add_option("--after", after, "Only those after this one: the next page")->type_name(name);
  add_limit(app, limit);
}

void add_choice(CLI::App& app, std::string const& flag, std::function<bool(std::string_view)> take,
                std::string const& help) {
  app.add_option_function<std::string>(
         flag,
         [flag, take = std::move(take)](std::string const& given) {
           if (take(given)) return;
           throw CLI::ValidationError(flag, fmt::format("'{}' is not known", printable(given)));
         },
         help)
      ->type_name("HOW");
}

namespace {

/// Of the first option that nothing is known of.
std::string option_meant(CLI::App const& app) {
  std::vector<std::string> names;
  for (auto const* const one : app.get_options()) {
    for (auto const& name : one->get_lnames()) names.push_back("--" + name);
  }
  for (auto const& given : app.remaining()) {
    if (given.starts_with("--")) return did_you_mean(given.substr(0, given.find('=')), names);
  }
  return {};
}

}  // namespace

void parse(CLI::App& app, arguments const& given, std::string const& usage) {
  auto formatter = std::make_shared<own_usage>(usage);
  formatter->column_width(20);
  app.formatter(formatter);
  // CLI11 takes them from the back.
  arguments reversed(given.rbegin(), given.rend());
  try {
    app.parse(reversed);
  } catch (CLI::CallForHelp const&) {
    print(app.help());
    throw help_shown{};
  } catch (CLI::ParseError const& e) {
    auto const& name = app.get_name();
    throw complaint(exit_code::usage,
                    fmt::format("{}: {}{} (see {} --help)", name.substr(name.find(' ') + 1),
                                printable(without_passwords(e.what())), option_meant(app), name));
  }
}

void check_lease(std::string_view verb, milliseconds lease) {
  if (lease >= std::chrono::seconds{1} && lease <= std::chrono::hours{24}) return;
  throw complaint(exit_code::usage,
                  fmt::format("{}: --lease {}: from 1s to 1d", verb, text_of(lease)));
}

std::optional<milliseconds> duration_from(std::string_view text) {
  auto const front = number_in_front(text);
  if (!front) return {};
  for (auto const& one : units) {
    if (front->rest != one.name) continue;
    if (front->number > longest / one.length) return {};
    return front->number * one.length;
  }
  return {};
}

std::string text_of(milliseconds length) {
  for (auto const& one : units) {
    if (length.count() != 0 && length % one.length == milliseconds{0}) {
      return fmt::format("{}{}", length / one.length, one.name);
    }
  }
  return "0s";
}

split_arguments at_double_dash(arguments const& given) {
  auto const dashes = std::find(given.begin(), given.end(), "--");
  split_arguments out{{given.begin(), dashes}, {}};
  if (dashes != given.end()) out.after.emplace(dashes + 1, given.end());
  return out;
}

database resolve(database_options const& given) {
  auto known = given;
  if (!known.url) known.url = url_around();
  return resolve(known, known.url ? std::nullopt : read_settings().database);
}

database resolve(database_options const& given, std::optional<std::string> const& in_file) {
  auto url = given.url ? given.url : url_around();
  if (!url) url = in_file;
  auto const schema = given.schema ? given.schema : variable("DAYBOOK_SCHEMA");
  auto const prefix = given.prefix ? given.prefix : variable("DAYBOOK_PREFIX", true);
  return {with_absolute_path(url.value_or(std::string(default_url))), schema.value_or(""),
          prefix.value_or(daybook::book_options{}.prefix)};
}

bool file_missing(database const& where) {
  auto const path = sqlite_path(where.url);
  std::error_code unknown;
  return path &&
         std::filesystem::status(*path, unknown).type() == std::filesystem::file_type::not_found;
}

namespace {

/// For a command of a queue that calls us, and was not told where the book is.
std::string hidden_by_queue() {
  if (!variable("DAYBOOK_QUEUE") || url_around()) return {};
  return "; a [[queue]] tells its commands with: database_url = true";
}

}  // namespace

daybook::book open_book(database const& where, daybook::book_options more, when_missing missing) {
  if (missing != when_missing::look && in_memory(where.url)) {
    throw complaint(exit_code::usage,
                    fmt::format("{}: a book in memory is gone when this command ends: name a file, "
                                "as sqlite:PATH",
                                where.url));
  }
  if (missing == when_missing::refuse && file_missing(where)) {
    throw complaint(
        exit_code::configuration,
        fmt::format("there is no book: no file {}; make it with: daybook migrate up, "
                    "or name another with --db or {}{}",
                    printable(*sqlite_path(where.url)), url_variable, hidden_by_queue()));
  }
  more.schema = where.schema;
  more.prefix = where.prefix;
  try {
    return daybook::book(where.url, more);
  } catch (daybook::error const& e) {
    if (e.kind() != daybook::error_code::bad_argument) throw;
    throw complaint(exit_code::usage, e.what());
  }
}

std::string without_passwords(std::string text) {
  std::size_t from = 0;
  while ((from = text.find("://", from)) != std::string::npos) {
    from += 3;
    auto const end = std::min(text.find_first_of(" \t\n", from), text.size());
    // A password may hold an unquoted '@' or '/': the last '@' of the word counts.
    auto const at = text.rfind('@', end);
    auto const colon = text.find(':', from);
    if (at != std::string::npos && at > from && colon < at) {
      text.replace(colon + 1, at - colon - 1, "***");
    }
  }
  for (from = 0; (from = text.find("password=", from)) != std::string::npos;) {
    from += std::strlen("password=");
    auto const end = std::min(text.find_first_of("& \t\n", from), text.size());
    text.replace(from, end - from, "***");
  }
  return text;
}

void hide_urls(int count, char** argv) noexcept {
  auto const hide = [](char* url) {
    // A file's name is no secret. Of all else only the scheme stays: where in a URL a password
    // may stand is the driver's knowledge.
    if (std::strncmp(url, "sqlite:", 7) == 0 || std::strncmp(url, "sqlite3:", 8) == 0) return;
    char* const colon = std::strstr(url, "://");
    for (char* at = colon == nullptr ? url : colon + 3; *at != '\0'; ++at) *at = '*';
  };
  for (int i = 1; i < count && std::strcmp(argv[i], "--") != 0; ++i) {
    if (std::strcmp(argv[i], "--db") == 0 && i + 1 < count) {
      hide(argv[++i]);
    } else if (std::strncmp(argv[i], "--db=", 5) == 0) {
      hide(argv[i] + 5);
    } else if (std::strstr(argv[i], "://") != nullptr) {
      hide(argv[i]);  // one in the wrong place, too
    }
  }
}

}  // namespace command
