// What people and programs read: tables, JSON, instants; data on stdout, all else on stderr.
// Thread safety: say() from any thread, the rest from the main thread.
#pragma once

#include <daybook/inspect.hpp>
#include <daybook/operate.hpp>
#include <daybook/time.hpp>

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace command {

/// To stdout, as it is. On failure: complaint (74), here or from finish_output().
void print(std::string_view text);
/// One object, on one line of its own. What is not UTF-8 in it is replaced; what printable() would
/// not let through is written as \uNNNN, which is the same to whoever reads JSON.
[[nodiscard]] std::string json_line(nlohmann::ordered_json const& object);
void print_json(nlohmann::ordered_json const& object);
/// On failure: complaint (74): a full disk must not look like an empty list.
void finish_output();
/// "daybook: TEXT" to stderr, in one write.
void say(std::string_view text) noexcept;

/// null where there is none. Not for what people read.
[[nodiscard]] nlohmann::ordered_json json_of(std::optional<daybook::timestamp> const& when);

/// What people changed, for `show`.
[[nodiscard]] nlohmann::ordered_json json_of(std::vector<daybook::change_info> const& changes);
void print_changes(std::vector<daybook::change_info> const& changes);

/// Control characters as \xNN or \uNNNN, so that a name or an error cannot steer the terminal; and
/// so what turns the direction of a text (U+202E), which would let it read as another.
[[nodiscard]] std::string printable(std::string_view text);

/// The same in at most `size` bytes; what is cut ends with dots.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t size = 60);
/// The same, cut in the middle: an error begins with its kind and ends with its cause.
[[nodiscard]] std::string shortened_error(std::string_view text, std::size_t size = 100);

/// 2026-11-21T09:18:25.123456Z: what programs read.
[[nodiscard]] std::string iso(daybook::timestamp when);
/// 2026-11-21T09:18:25Z: what people read.
[[nodiscard]] std::string seconds_of(daybook::timestamp when);
/// The same, or "-".
[[nodiscard]] std::string seconds_of(std::optional<daybook::timestamp> const& when);

/// All of it: 2026-11-21T09:18:25Z, or with six places where the second is not whole. For what is
/// given back to us, and to commands; a tick's key is written so.
[[nodiscard]] std::string instant(daybook::timestamp when);

/// From its word or its number ("failed", "-1").
[[nodiscard]] std::optional<daybook::run_state> state_from(std::string_view text) noexcept;
/// Every word, for help and messages.
[[nodiscard]] std::string state_words();

/// Whoever has mistyped a name is told of those that there are: "there are A, B", and of more than
/// twenty the first; before them the one that is nearest to `given`. Empty: there is none.
[[nodiscard]] std::string there_are(std::vector<std::string> names, std::string_view given);

/// "NAME            VALUE": of one thing that is shown.
void print_field(std::string_view name, std::string_view value);

/// Columns as wide as their widest cell, two spaces between, the last one open.
class table {
 public:
  explicit table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace command
