// Our SQL, by name: the text of one dialect with its tables' names and its clock filled in.
// The files under sql/ are the source; the build embeds them. sql/common/ declares each statement
// and has its text where that is the same everywhere; a block of sql/<dialect>/ with the same name
// has the text for that dialect, and no declaration. In a file of sql/common/ a block starts
//   -- name: run.start
//   -- in: process, key, ...          (the values, in the order the caller gives them)
//   -- out: run_no, attempt           (the columns that come back; absent: none)
// and may have parts: `-- then` runs the next part in any case, `-- else` only when the part
// before it changed no row and returned none; the rows are those of all parts run, the count is
// that of the last.
// A block with a line
//   -- holes: source, state         (what the caller fills in: names and expressions of tables)
// is a shape: made a statement by made(), with `{source}` as the caller says.
// `{run}` is the qualified table, `{now}` the clock, `{fence}` what only the current acquisition
// satisfies, `{prefix}` and `{schema}` themselves; `{{` and `}}` are braces. A word that engines
// write in different ways is a block of sql/<dialect>/words.sql: `{least}`, `{for_update}`,
// `{::bigint}` (a cast where the engine needs one).
// Thread safety: immutable after construction.
#pragma once

#include "db/session.hpp"
#include "db/statement.hpp"

#include <daybook/sql.hpp>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace db {

/// The folder of what is the same in every dialect.
inline constexpr std::string_view common_dialect = "common";

/// One embedded file: sql/<dialect>/<room>.sql
struct sql_file {
  std::string_view dialect;  ///< or common_dialect
  std::string_view room;
  std::string_view text;
};
/// All of them; defined by generated code.
[[nodiscard]] std::span<sql_file const> embedded_sql();

enum class when : std::uint8_t { always, if_nothing_happened };

struct part {
  when run = when::always;
  statement what;
};

struct entry {
  std::vector<part> parts;
  std::vector<std::string> outputs;
  // All parts as one, for session::takes_compounds().
  std::optional<statement> together;  ///< as a transaction
  std::optional<statement> within;    ///< in one that is open; where all parts run
};

enum class clock_kind : std::uint8_t { real, movable };

struct catalogue_options {
  std::string_view dialect;
  placeholder style{};
  std::string_view real_clock;  ///< the driver's dialect::real_clock
  std::string schema;
  std::string prefix;
  clock_kind clock = clock_kind::real;
  bool compounds = false;  ///< the driver's dialect::compounds
};

/// What stands in a shape's holes: SQL, put in as it is.
using holes = std::map<std::string, std::string, std::less<>>;

/// A block of a file as it was read.
struct block {
  std::string name;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> holes;
  std::vector<std::pair<when, std::string>> parts;
  bool by_index = false;  ///< see statement

  [[nodiscard]] bool has_text() const { return parts.size() > 1 || !parts.front().second.empty(); }
};

/// The blocks of a file, in their order. On failure: daybook::error (error_code::internal) that
/// names the file and the line.
[[nodiscard]] std::vector<block> blocks_of(sql_file const& file);

class catalogue {
 public:
  /// On failure: daybook::error (error_code::internal) that names the file and the line.
  explicit catalogue(catalogue_options const& options,
                     std::span<sql_file const> files = embedded_sql());

  /// An unknown name is daybook::error (error_code::internal).
  [[nodiscard]] entry const& operator[](std::string_view name) const;
  [[nodiscard]] std::map<std::string, entry, std::less<>> const& all() const noexcept {
    return entries_;
  }
  /// The statement that a shape makes. On failure: daybook::error (error_code::internal) where
  /// there is none of that name, or a hole is not filled; error_code::bad_argument where what fills
  /// one names a parameter, as in `:name`.
  [[nodiscard]] entry made(std::string_view shape, holes const& placeholders) const;
  /// `{...}` filled in; for migrations and triggers, which are printed as well as run.
  [[nodiscard]] std::string fill(std::string_view text, holes const& placeholders = {}) const;
  /// A shape's text without the semicolon at the end of each part: a piece of another statement, or
  /// what is printed as well as run.
  [[nodiscard]] std::string text_of(std::string_view shape, holes const& placeholders) const;
  /// By name, for tests.
  [[nodiscard]] std::map<std::string, block, std::less<>> const& shapes() const noexcept {
    return shapes_;
  }
  /// sql/<dialect>/migrations.sql as it stands.
  [[nodiscard]] std::string_view migrations_text() const noexcept { return migrations_; }
  [[nodiscard]] std::string const& prefix() const { return words_.find("prefix")->second; }

 private:
  [[nodiscard]] entry made(block const& block, holes const& placeholders) const;
  [[nodiscard]] block const& shape(std::string_view name) const;

  placeholder style_;
  bool compounds_;
  std::map<std::string, std::string, std::less<>> words_;
  std::string table_prefix_;
  std::string_view migrations_;
  std::map<std::string, entry, std::less<>> entries_;
  std::map<std::string, block, std::less<>> shapes_;
};

/// Runs an entry's parts on a session.
table run(session& session, entry const& entry, std::initializer_list<value> values);

/// Adds an entry's parts, for session::together(), which is asked for the answer of the last. The
/// entry and what the values view are borrowed until then. On failure: daybook::error
/// (error_code::internal) for a part with `-- else`, which would have to wait for the answer of the
/// part before it.
void add_calls(std::vector<call>& calls, entry const& entry, std::initializer_list<value> values);

/// The answer of an entry, from those of its calls.
[[nodiscard]] table gathered(std::span<table> answers);

/// Whether it is worth while to run the entry outside begin(): this session takes it as one
/// statement, which commits by itself, and its database is not in this process.
[[nodiscard]] bool stands_alone(session const& session, entry const& entry) noexcept;
/// Runs such an entry. On failure: as session::run outside begin().
table run_alone(session& session, entry const& entry, std::initializer_list<value> values);

}  // namespace db
}  // namespace v1
}  // namespace daybook
