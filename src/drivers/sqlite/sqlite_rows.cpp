#include "drivers/sqlite/sqlite_rows.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <sqlite3.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

constexpr std::size_t widest = 10;
constexpr int text_column = widest;  ///< hidden: what the table is of

/// Takes a text apart row by row.
class reader {
 public:
  struct value {
    enum class kind : std::uint8_t { null, number, text, escaped };
    kind is = kind::null;
    std::int64_t number = 0;
    std::string_view text;  ///< between its quotes
  };

  /// `text` must outlive it.
  void start(std::string_view text) {
    at_ = text.data();
    end_ = at_ + text.size();
    row_ = -1;
    over_ = false;
    bad_ = !take('[');
    next();
  }
  void next() {
    ++row_;
    over_ = bad_ || !read_row();
  }
  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] bool bad() const { return bad_; }
  [[nodiscard]] std::int64_t row() const { return row_; }
  [[nodiscard]] value column(std::size_t index) const {
    return index < width_ ? values_[index] : value();
  }

 private:
  bool take(char byte) {
    if (at_ == end_ || *at_ != byte) return false;
    ++at_;
    return true;
  }
  /// False at the end of all, or where the text is bad.
  bool read_row() {
    width_ = 0;
    if (take(']')) return false;
    bad_ = (row_ > 0 && !take(',')) || !take('[');
    while (!bad_ && !take(']')) {
      bad_ = width_ == widest || (width_ > 0 && !take(',')) || !read_value(values_[width_]);
      ++width_;
    }
    return !bad_;
  }
  bool read_value(value& value) {
    constexpr std::string_view null = "null";
    if (at_ == end_) return false;
    if (*at_ == '"') return read_text(value);
    if (std::string_view(at_, end_).starts_with(null)) {
      at_ += null.size();
      value.is = value::kind::null;
      return true;
    }
    auto const [next, failed] = std::from_chars(at_, end_, value.number);
    value.is = value::kind::number;
    at_ = next;
    return failed == std::errc();
  }
  bool read_text(value& value) {
    auto const* const start = ++at_;
    value.is = value::kind::text;
    for (; at_ != end_ && *at_ != '"'; ++at_) {
      if (*at_ != '\\') continue;
      value.is = value::kind::escaped;
      if (++at_ == end_) return false;
    }
    value.text = {start, at_};
    return take('"');
  }

  char const* at_ = nullptr;
  char const* end_ = nullptr;
  std::array<value, widest> values_;
  std::size_t width_ = 0;
  std::int64_t row_ = 0;
  bool over_ = true;
  bool bad_ = false;
};

/// A quote, a backslash, or a control character as \u00XX: nothing else is ever escaped. Empty:
/// something else is.
std::optional<std::string> unescaped(std::string_view text) {
  constexpr std::string_view unicode = "u00";
  std::string out;
  while (!text.empty()) {
    auto const plain = std::min(text.find('\\'), text.size());
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    text.remove_prefix(1);
    if (text.starts_with(unicode) && text.size() >= 5) {
      unsigned code = 0;
      auto const* const end = text.data() + 5;
      if (std::from_chars(text.data() + 3, end, code, 16).ptr != end) return std::nullopt;
      out.push_back(static_cast<char>(code));
      text.remove_prefix(5);
    } else if (text.starts_with('"') || text.starts_with('\\')) {
      out.push_back(text.front());
      text.remove_prefix(1);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

struct cursor {
  ::sqlite3_vtab_cursor base{};  // first: SQLite sees this only
  std::string text;
  reader rows;
};

cursor& in(::sqlite3_vtab_cursor* opened) { return *reinterpret_cast<cursor*>(opened); }

int status(reader const& reader) { return reader.bad() ? SQLITE_MISMATCH : SQLITE_OK; }

int connect(::sqlite3* handle, void*, int, char const* const*, ::sqlite3_vtab** out, char**) {
  ::sqlite3_vtab_config(handle, SQLITE_VTAB_INNOCUOUS);
  int const code = ::sqlite3_declare_vtab(
      handle, "create table x(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, text hidden)");
  if (code != SQLITE_OK) return code;
  *out = new (std::nothrow)::sqlite3_vtab{};
  return *out == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

int disconnect(::sqlite3_vtab* virtual_table) {
  delete virtual_table;
  return SQLITE_OK;
}

/// One way to read it: whole, of a text that is known by then.
int best_index(::sqlite3_vtab*, ::sqlite3_index_info* plan) {
  for (int i = 0; i < plan->nConstraint; ++i) {
    auto const& one = plan->aConstraint[i];
    if (one.iColumn != text_column || one.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (one.usable == 0) return SQLITE_CONSTRAINT;
    plan->aConstraintUsage[i].argvIndex = 1;
    plan->aConstraintUsage[i].omit = 1;
    plan->estimatedCost = 1;
    return SQLITE_OK;
  }
  return SQLITE_CONSTRAINT;
}

int open(::sqlite3_vtab*, ::sqlite3_vtab_cursor** out) {
  auto* const made = new (std::nothrow) cursor;
  if (made == nullptr) return SQLITE_NOMEM;
  *out = &made->base;
  return SQLITE_OK;
}

int close(::sqlite3_vtab_cursor* cursor) {
  delete &in(cursor);
  return SQLITE_OK;
}

int filter(::sqlite3_vtab_cursor* cursor, int, char const*, int, ::sqlite3_value** values) {
  auto& to = in(cursor);
  auto const* const text = reinterpret_cast<char const*>(::sqlite3_value_text(values[0]));
  try {
    to.text.assign(text == nullptr ? "" : text,
                   static_cast<std::size_t>(::sqlite3_value_bytes(values[0])));
  } catch (std::bad_alloc const&) {
    return SQLITE_NOMEM;
  }
  to.rows.start(to.text);
  return status(to.rows);
}

int next(::sqlite3_vtab_cursor* cursor) {
  in(cursor).rows.next();
  return status(in(cursor).rows);
}

int eof(::sqlite3_vtab_cursor* cursor) { return in(cursor).rows.over() ? 1 : 0; }

int row_id(::sqlite3_vtab_cursor* cursor, ::sqlite3_int64* out) {
  *out = in(cursor).rows.row();
  return SQLITE_OK;
}

void give(::sqlite3_context* sql_context, std::string_view text) {
  ::sqlite3_result_text64(sql_context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

int column(::sqlite3_vtab_cursor* cursor, ::sqlite3_context* sql_context, int index) try {
  auto const value = in(cursor).rows.column(static_cast<std::size_t>(index));
  switch (value.is) {
    case reader::value::kind::null: break;
    case reader::value::kind::number: ::sqlite3_result_int64(sql_context, value.number); break;
    case reader::value::kind::text: give(sql_context, value.text); break;
    case reader::value::kind::escaped: {
      auto const plain = unescaped(value.text);
      if (!plain) return SQLITE_MISMATCH;
      give(sql_context, *plain);
      break;
    }
  }
  return SQLITE_OK;
} catch (std::bad_alloc const&) {
  return SQLITE_NOMEM;
}

// Without xCreate: a table that is there without being created, as json_each is.
constexpr ::sqlite3_module module = [] {
  ::sqlite3_module out{};
  out.xConnect = connect;
  out.xDisconnect = disconnect;
  out.xBestIndex = best_index;
  out.xOpen = open;
  out.xClose = close;
  out.xFilter = filter;
  out.xNext = next;
  out.xEof = eof;
  out.xColumn = column;
  out.xRowid = row_id;
  return out;
}();

int make_known(::sqlite3& handle, ::sqlite3_module const* module) noexcept {
  return ::sqlite3_create_module_v2(&handle, "daybook_rows", module, nullptr, nullptr);
}

/// How many use it on a connection: a joined session may be beside a borrowed one.
struct uses {
  std::mutex guard;
  std::map<::sqlite3*, int> of;
};
uses& known() {
  static auto* const all = new uses;  // never destroyed: a session may outlive what is static
  return *all;
}

}  // namespace

int rows_table::add(::sqlite3& handle) {
  auto& all = known();
  std::lock_guard const lock(all.guard);
  auto& count = all.of[&handle];
  if (count == 0) {
    if (int const code = make_known(handle, &module); code != SQLITE_OK) {
      all.of.erase(&handle);
      return code;
    }
  }
  ++count;
  handle_ = &handle;
  return SQLITE_OK;
}

rows_table::~rows_table() {
  if (handle_ == nullptr) return;
  auto& all = known();
  std::lock_guard const lock(all.guard);
  auto const found = all.of.find(handle_);
  if (--found->second > 0) return;
  all.of.erase(found);
  make_known(*handle_, nullptr);
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
