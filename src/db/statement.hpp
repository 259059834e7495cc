// A statement ready for a driver: its text with the engine's placeholders, and how its named
// parameters are laid out. Parsing `:name` is done once, here, for our SQL and the users' alike.
// Thread safety: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace db {

enum class placeholder : std::uint8_t {
  dollar,          ///< $1, $2: PostgreSQL
  question_digit,  ///< ?1, ?2: SQLite
  question,        ///< ?, ?: MariaDB; a value for each occurrence
};

struct statement {
  std::string name;                      ///< "run.start", or "user"
  std::string text;                      ///< with the engine's placeholders
  std::vector<std::string> inputs = {};  ///< parameter names; values come in this order
  std::vector<std::size_t> order = {};   ///< for each placeholder in the text: its input's index
  /// What it costs grows with a whole table: no time of ours bounds its answer.
  bool takes_its_time = false;
  /// A user's, and not plain reading and writing of rows: it may change settings of the session, or
  /// run statements whose errors nobody sees.
  bool changes_session = false;
  /// Run again after a lost reply it does no harm. A user's may call a function that writes.
  bool only_reads = false;
  /// An index finds the rows of each of its tables. PostgreSQL keeps the plan that it made when a
  /// table was small: without this it may read all of the table when it no longer is.
  bool by_index = false;
};

/// Rewrites `:name` to placeholders. Strings, quoted identifiers, dollar quotes, comments and
/// `::` are passed over. With `inputs` empty, they are found in the order of first appearance;
/// else an unknown name is daybook::error (error_code::internal). A statement named "user" takes
/// its time, and is daybook::error (error_code::bad_argument) where it begins or ends a
/// transaction; of another it is seen in the text whether it only reads.
[[nodiscard]] statement rewrite(std::string_view name, std::string_view text, placeholder style,
                                std::vector<std::string> inputs = {});

/// The users' statements, rewritten once per text. Thread-safe. References stay valid.
class user_statements {
 public:
  explicit user_statements(placeholder style) : style_(style) {}
  [[nodiscard]] statement const& of(std::string_view literal);
  [[nodiscard]] placeholder style() const noexcept { return style_; }

 private:
  /// A view finds a string's entry: nothing is copied for what is known.
  struct hash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };

  placeholder style_;
  std::mutex guard_;
  // The key is a copy: a literal is gone when the shared object that it is in is unloaded.
  std::unordered_map<std::string, statement, hash, std::equal_to<>> known_;
};

}  // namespace db
}  // namespace v1
}  // namespace daybook
