// What the user wrote: flags, lengths of time, and which database is meant.
// Flags beat the environment, which beats the file. Thread safety: the main thread.
//
//   CLI::App app{"Shows one run", "daybook runs show"};
//   database_options where;
//   add_database_options(app, where);
//   parse(app, given);
//   daybook::book book = open_book(where);
#pragma once

#include "cli/verbs.hpp"
#include "cli/words.hpp"

#include <daybook/book.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace CLI {
class App;
}  // namespace CLI

namespace command {

/// --help was asked for and is printed.
struct help_shown {};

/// As given; empty: not given.
struct database_options {
  std::optional<std::string> url;
  std::optional<std::string> schema;
  std::optional<std::string> prefix;
};

/// The same with the environment and the defaults.
struct database {
  std::string url;  ///< a relative SQLite path made absolute, so that children find it
  std::string schema;
  std::string prefix;
};

/// Where commands that we start find the database, and we as well.
inline constexpr char const* url_variable = "DAYBOOK_DATABASE_URL";

/// `look`: nothing is kept, so it may be a book in memory.
enum class when_missing { refuse, create, look };

void add_database_options(CLI::App& app, database_options& options);
void add_duration(CLI::App& app, std::string const& flag, std::chrono::milliseconds& option,
                  std::string const& help);
/// --json: one object per line.
void add_json(CLI::App& app, bool& json);
/// --limit, of a list; `limit` has its default. `noun`: what is counted.
void add_limit(CLI::App& app, int& limit, std::string_view noun = {}, int most = 10'000);
/// --limit and --after; `name` is what the last one of a page is called.
void add_page(CLI::App& app, std::string& after, int& limit, std::string const& name);
/// One word of a few; `take` says whether it is one.
void add_choice(CLI::App& app, std::string const& flag, std::function<bool(std::string_view)> take,
                std::string const& help);
template <class T, std::size_t N>
void add_word(CLI::App& app, std::string const& flag, T& option, words_for<T, N> const& words,
              std::string const& help);

/// `usage` is for the help: what follows the verb. On failure: complaint (64). After --help:
/// help_shown.
void parse(CLI::App& app, arguments const& given, std::string const& usage = "[options]");

/// On failure: complaint (64): it is not from 1s to 1d. `verb` is whose --lease it is.
void check_lease(std::string_view verb, std::chrono::milliseconds lease);

/// "500ms", "30s", "10m", "2h", "1d": digits and a unit. Empty: anything else, or over 100 years.
[[nodiscard]] std::optional<std::chrono::milliseconds> duration_from(std::string_view text);
/// The shortest of those forms.
[[nodiscard]] std::string text_of(std::chrono::milliseconds length);

/// In units of that size. Empty: it is no whole number of them.
template <class Unit>
[[nodiscard]] constexpr std::optional<Unit> whole(std::chrono::milliseconds length) noexcept {
  if (length % Unit{1} != std::chrono::milliseconds{0}) return std::nullopt;
  return std::chrono::duration_cast<Unit>(length);
}

template <class Unit>
inline constexpr std::string_view name_of_unit =
    std::is_same_v<Unit, std::chrono::hours> ? "hours" : "seconds";

/// What stands before the first "--", and after it. Empty second: there is no "--".
struct split_arguments {
  arguments before;
  std::optional<arguments> after;
};
[[nodiscard]] split_arguments at_double_dash(arguments const& given);

/// --db, else DAYBOOK_DATABASE_URL, else DATABASE_URL, else `database` in daybook.toml, else
/// sqlite:daybook.db. On failure: complaint, from daybook.toml.
[[nodiscard]] database resolve(database_options const& given);
/// The same with `database` of a file that was read before.
[[nodiscard]] database resolve(database_options const& given,
                               std::optional<std::string> const& in_file);

/// `more` has the lease and the like; schema and prefix are set here.
/// On failure: complaint (64: the URL, or a book in memory, 78: no such SQLite file) or
/// daybook::error.
[[nodiscard]] daybook::book open_book(database const& where, daybook::book_options more = {},
                                      when_missing missing = when_missing::refuse);
[[nodiscard]] bool file_missing(database const& where);

/// `text` with what looks like a password in a URL masked.
[[nodiscard]] std::string without_passwords(std::string text);
/// Overwrites database URLs in the program's own argv, for `ps` shows that to everybody.
/// What stands behind "--" belongs to the child and is left alone.
void hide_urls(int count, char** argv) noexcept;

// --- Inline implementations ---

template <class T, std::size_t N>
void add_word(CLI::App& app, std::string const& flag, T& option, words_for<T, N> const& words,
              std::string const& help) {
  auto const take = [&option, &words](std::string_view given) {
    auto const meant = value_in(words, given);
    if (meant) option = *meant;
    return meant.has_value();
  };
  add_choice(app, flag, take, help);
}

}  // namespace command
