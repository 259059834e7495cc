#include "drivers/mysql/mysql_statement.hpp"

#include "db/compound.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

struct free_result {
  void operator()(::MYSQL_RES* what) const noexcept { ::mysql_free_result(what); }
};
using result = std::unique_ptr<::MYSQL_RES, free_result>;

enum class shape : std::uint8_t { integer, real, bytes };

shape shape_of(::MYSQL_FIELD const& field) {
  switch (field.type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_YEAR: return shape::integer;
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE: return shape::real;
    default: return shape::bytes;
  }
}

[[noreturn]] void no_such_integer(::MYSQL_FIELD const& field, std::string_view statement) {
  throw error({.kind = error_code::statement, .statement = std::string(statement)},
              "the column '" + std::string(field.name) +
                  "' holds a number beyond 9223372036854775807: cast it to char or to signed");
}

/// Where a column's value of the row in hand is put.
struct slot {
  // Longer values are fetched again, by their length.
  static constexpr std::size_t usual = 256;

  shape as{};
  std::int64_t integer = 0;
  double real = 0;
  std::array<char, usual> bytes{};
  unsigned long length = 0;
  ::my_bool is_null = 0;
  ::my_bool cut = 0;
};

::MYSQL_BIND bind_slot(slot& to, ::MYSQL_FIELD const& field) {
  ::MYSQL_BIND out{};
  out.length = &to.length;
  out.is_null = &to.is_null;
  out.error = &to.cut;
  switch (to.as) {
    case shape::integer:
      out.buffer_type = MYSQL_TYPE_LONGLONG;
      out.buffer = &to.integer;
      out.is_unsigned = (field.flags & UNSIGNED_FLAG) != 0 ? 1 : 0;
      break;
    case shape::real:
      out.buffer_type = MYSQL_TYPE_DOUBLE;
      out.buffer = &to.real;
      break;
    case shape::bytes:
      out.buffer_type = MYSQL_TYPE_STRING;
      out.buffer = to.bytes.data();
      out.buffer_length = slot::usual;
      break;
  }
  return out;
}

std::string fetch_bytes(::MYSQL_STMT& from, unsigned column, slot const& in) {
  if (in.length <= slot::usual) return {in.bytes.data(), in.length};
  std::string out(in.length, '\0');
  unsigned long length = 0;
  ::my_bool is_null = 0;
  ::my_bool cut = 0;
  ::MYSQL_BIND whole{};
  whole.buffer_type = MYSQL_TYPE_STRING;
  whole.buffer = out.data();
  whole.buffer_length = in.length;
  whole.length = &length;
  whole.is_null = &is_null;
  whole.error = &cut;
  if (::mysql_stmt_fetch_column(&from, &whole, column, 0) != 0) {
    throw mysql_failure{problem_of(from)};
  }
  return out;
}

cell take(::MYSQL_STMT& from, unsigned column, slot const& in, ::MYSQL_FIELD const& field,
          std::string_view statement) {
  if (in.is_null != 0) return nullptr;
  switch (in.as) {
    case shape::integer:
      if ((field.flags & UNSIGNED_FLAG) != 0 && in.integer < 0) no_such_integer(field, statement);
      return in.integer;
    case shape::real: return in.real;
    case shape::bytes: return fetch_bytes(from, column, in);
  }
  return nullptr;
}

/// About the columns of the result in hand.
result columns_of(::MYSQL_STMT& from) {
  result about(::mysql_stmt_result_metadata(&from));
  if (!about) throw mysql_failure{problem_of(from)};
  return about;
}

/// An error of the server comes now, not between two rows. After one the library (10.11) still
/// counts rows as on their way: executed again, it would wait for them before it sends anything,
/// with our transaction open. A reset tells it that there are none.
void store_rows(::MYSQL_STMT& from) {
  if (::mysql_stmt_store_result(&from) == 0) return;
  mysql_failure const failure{problem_of(from)};
  ::mysql_stmt_reset(&from);
  throw failure;
}

void read_rows(::MYSQL_STMT& from, ::MYSQL_RES& about, db::table& into,
               std::string_view statement) {
  auto const width = ::mysql_num_fields(&about);
  std::span const fields(::mysql_fetch_fields(&about), width);
  std::vector<slot> slots(width);
  std::vector<::MYSQL_BIND> binds;
  binds.reserve(width);
  for (unsigned at = 0; at < width; ++at) {
    slots[at].as = shape_of(fields[at]);
    binds.push_back(bind_slot(slots[at], fields[at]));
  }
  if (::mysql_stmt_bind_result(&from, binds.data()) != 0) throw mysql_failure{problem_of(from)};
  store_rows(from);
  into.width = width;
  auto const rows = static_cast<std::size_t>(::mysql_stmt_num_rows(&from));
  into.cells.reserve(into.cells.size() + rows * width);
  for (;;) {
    int const code = ::mysql_stmt_fetch(&from);
    if (code == MYSQL_NO_DATA) return;
    if (code != 0 && code != MYSQL_DATA_TRUNCATED) throw mysql_failure{problem_of(from)};
    for (unsigned at = 0; at < width; ++at) {
      into.cells.push_back(take(from, at, slots[at], fields[at], statement));
    }
  }
}

::MYSQL_BIND bind_value(value const& what) {
  static char empty[] = "";
  ::MYSQL_BIND out{};
  std::visit(
      [&](auto const& v) {
        using kind = std::decay_t<decltype(v)>;
        // The library reads through a pointer that is not const.
        if constexpr (std::is_same_v<kind, std::nullptr_t>) {
          out.buffer_type = MYSQL_TYPE_NULL;
        } else if constexpr (std::is_same_v<kind, bool>) {
          out.buffer_type = MYSQL_TYPE_TINY;
          out.buffer = const_cast<bool*>(&v);
        } else if constexpr (std::is_same_v<kind, std::int64_t>) {
          out.buffer_type = MYSQL_TYPE_LONGLONG;
          out.buffer = const_cast<std::int64_t*>(&v);
        } else if constexpr (std::is_same_v<kind, double>) {
          out.buffer_type = MYSQL_TYPE_DOUBLE;
          out.buffer = const_cast<double*>(&v);
        } else {
          constexpr bool text = std::is_same_v<kind, std::string_view>;
          out.buffer_type = text ? MYSQL_TYPE_STRING : MYSQL_TYPE_BLOB;
          out.buffer = empty;
          if constexpr (text) {
            if (!v.empty()) out.buffer = const_cast<char*>(v.data());
          } else {
            if (!v.empty()) out.buffer = const_cast<std::byte*>(v.data());
          }
          out.buffer_length = v.size();
        }
      },
      what);
  return out;
}

cell text_cell(char const* text, unsigned long length, ::MYSQL_FIELD const& field,
               std::string_view statement) {
  if (text == nullptr) return nullptr;
  auto const* const end = text + length;
  switch (shape_of(field)) {
    case shape::integer: {
      std::int64_t out = 0;
      if (std::from_chars(text, end, out).ec != std::errc{}) no_such_integer(field, statement);
      return out;
    }
    case shape::real: {
      double out = 0;
      std::from_chars(text, end, out);
      return out;
    }
    case shape::bytes: return std::string(text, length);
  }
  return nullptr;
}

void read_text_rows(::MYSQL_RES& from, db::table& into, std::string_view statement) {
  auto const width = ::mysql_num_fields(&from);
  std::span const fields(::mysql_fetch_fields(&from), width);
  into.width = width;
  while (auto* const row = ::mysql_fetch_row(&from)) {
    auto const* const lengths = ::mysql_fetch_lengths(&from);
    for (unsigned at = 0; at < width; ++at) {
      into.cells.push_back(text_cell(row[at], lengths[at], fields[at], statement));
    }
  }
}

std::int64_t changed(std::uint64_t count) {
  // The library's mark for "an error or a result with rows".
  constexpr auto none = static_cast<std::uint64_t>(-1);
  return count == none ? 0 : static_cast<std::int64_t>(count);
}

/// Leaves the result in hand; whether there is another.
bool next_result(::MYSQL_STMT& from) {
  ::mysql_stmt_free_result(&from);
  if (::mysql_stmt_more_results(&from) == 0) return false;
  if (::mysql_stmt_next_result(&from) > 0) throw mysql_failure{problem_of(from)};
  return true;
}

/// However the reading ends, the connection is free for the next statement.
class results_of {
 public:
  explicit results_of(::MYSQL_STMT& of) : of_(of) {}
  results_of(results_of const&) = delete;
  results_of& operator=(results_of const&) = delete;
  ~results_of() {
    ::mysql_stmt_free_result(&of_);
    while (::mysql_stmt_more_results(&of_) != 0) {
      if (::mysql_stmt_next_result(&of_) != 0) break;
      ::mysql_stmt_free_result(&of_);
    }
  }

 private:
  ::MYSQL_STMT& of_;
};

}  // namespace

void check_mysql_count(db::statement const& what, std::span<value const> values) {
  if (values.size() == what.inputs.size()) return;
  throw error({.kind = error_code::bad_argument, .statement = what.name},
              "a statement has " + std::to_string(what.inputs.size()) + " parameters, and " +
                  std::to_string(values.size()) + " values were given");
}

void execute_mysql(::MYSQL_STMT& what, db::statement const& layout, std::span<value const> values) {
  std::vector<::MYSQL_BIND> binds;
  binds.reserve(layout.order.size());
  for (auto const index : layout.order) binds.push_back(bind_value(values[index]));
  if (!binds.empty() && ::mysql_stmt_bind_param(&what, binds.data()) != 0) {
    throw mysql_failure{problem_of(what)};
  }
  if (::mysql_stmt_execute(&what) != 0) throw mysql_failure{problem_of(what)};
}

db::table read_mysql(::MYSQL_STMT& from, std::string_view statement, mysql_results which) {
  db::table out;
  results_of const all(from);
  if (::mysql_stmt_field_count(&from) == 0) {
    out.affected = changed(::mysql_stmt_affected_rows(&from));
  } else {
    read_rows(from, *columns_of(from), out, statement);
  }
  while (next_result(from)) {
    bool const has_rows = ::mysql_stmt_field_count(&from) != 0;
    if (has_rows && which == mysql_results::all) {
      read_rows(from, *columns_of(from), out, statement);
    }
  }
  return out;
}

void read_mysql_answers(::MYSQL_STMT& from, std::span<db::call const> calls,
                        std::vector<db::table>& to) {
  results_of const all(from);
  db::table now;
  do {
    if (::mysql_stmt_field_count(&from) == 0) continue;  // the end of the compound itself
    while (!calls[to.size()].asked) to.emplace_back();
    auto const& name = calls[to.size()].what->name;
    auto const columns = columns_of(from);
    if (db::count_column != ::mysql_fetch_field_direct(columns.get(), 0)->name) {
      read_rows(from, *columns, now, name);
      continue;
    }
    db::table count;
    read_rows(from, *columns, count, name);
    decode(count.cells.at(0), now.affected);
    now.affected = std::max<std::int64_t>(now.affected, 0);  // below it: there were rows
    to.push_back(std::exchange(now, {}));
  } while (next_result(from));
  to.resize(calls.size());
}

db::table read_mysql_text(::MYSQL& from, std::string_view statement) {
  db::table out;
  result const rows(::mysql_store_result(&from));
  if (rows) {
    read_text_rows(*rows, out, statement);
  } else if (::mysql_field_count(&from) != 0) {
    throw mysql_failure{problem_of(from)};
  } else {
    out.affected = changed(::mysql_affected_rows(&from));
  }
  while (::mysql_more_results(&from) != 0) {
    if (::mysql_next_result(&from) > 0) throw mysql_failure{problem_of(from)};
    result const dropped(::mysql_store_result(&from));
  }
  return out;
}

std::string read_server_identity(::MYSQL& connection) {
  constexpr std::string_view text = "select concat_ws(' ', @@hostname, @@port, @@server_id)";
  if (::mysql_real_query(&connection, text.data(), text.size()) != 0) {
    throw mysql_failure{problem_of(connection)};
  }
  auto const found = read_mysql_text(connection, "identity");
  auto const* const name = std::get_if<std::string>(&found.cells.at(0));
  return name == nullptr ? std::string() : *name;
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
