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
  void operator()(::MYSQL_RES* handle) const noexcept { ::mysql_free_result(handle); }
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

::MYSQL_BIND bind_slot(slot& slot, ::MYSQL_FIELD const& field) {
  ::MYSQL_BIND out{};
  out.length = &slot.length;
  out.is_null = &slot.is_null;
  out.error = &slot.cut;
  switch (slot.as) {
    case shape::integer:
      out.buffer_type = MYSQL_TYPE_LONGLONG;
      out.buffer = &slot.integer;
      out.is_unsigned = (field.flags & UNSIGNED_FLAG) != 0 ? 1 : 0;
      break;
    case shape::real:
      out.buffer_type = MYSQL_TYPE_DOUBLE;
      out.buffer = &slot.real;
      break;
    case shape::bytes:
      out.buffer_type = MYSQL_TYPE_STRING;
      out.buffer = slot.bytes.data();
      out.buffer_length = slot::usual;
      break;
  }
  return out;
}

std::string fetch_bytes(::MYSQL_STMT& statement, unsigned column, slot const& slot) {
  if (slot.length <= slot::usual) return {slot.bytes.data(), slot.length};
  std::string out(slot.length, '\0');
  unsigned long length = 0;
  ::my_bool is_null = 0;
  ::my_bool cut = 0;
  ::MYSQL_BIND whole{};
  whole.buffer_type = MYSQL_TYPE_STRING;
  whole.buffer = out.data();
  whole.buffer_length = slot.length;
  whole.length = &length;
  whole.is_null = &is_null;
  whole.error = &cut;
  if (::mysql_stmt_fetch_column(&statement, &whole, column, 0) != 0) {
    throw mysql_failure{problem_of(statement)};
  }
  return out;
}

cell take(::MYSQL_STMT& prepared, unsigned column, slot const& slot, ::MYSQL_FIELD const& field,
          std::string_view statement) {
  if (slot.is_null != 0) return nullptr;
  switch (slot.as) {
    case shape::integer:
      if ((field.flags & UNSIGNED_FLAG) != 0 && slot.integer < 0) no_such_integer(field, statement);
      return slot.integer;
    case shape::real: return slot.real;
    case shape::bytes: return fetch_bytes(prepared, column, slot);
  }
  return nullptr;
}

/// About the columns of the result in hand.
result columns_of(::MYSQL_STMT& statement) {
  result about(::mysql_stmt_result_metadata(&statement));
  if (!about) throw mysql_failure{problem_of(statement)};
  return about;
}

/// An error of the server comes now, not between two rows. After one the library (10.11) still
/// counts rows as on their way: executed again, it would wait for them before it sends anything,
/// with our transaction open. A reset tells it that there are none.
void store_rows(::MYSQL_STMT& statement) {
  if (::mysql_stmt_store_result(&statement) == 0) return;
  mysql_failure const failure{problem_of(statement)};
  ::mysql_stmt_reset(&statement);
  throw failure;
}

void read_rows(::MYSQL_STMT& prepared, ::MYSQL_RES& about, db::table& table,
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
  if (::mysql_stmt_bind_result(&prepared, binds.data()) != 0)
    throw mysql_failure{problem_of(prepared)};
  store_rows(prepared);
  table.width = width;
  auto const rows = static_cast<std::size_t>(::mysql_stmt_num_rows(&prepared));
  table.cells.reserve(table.cells.size() + rows * width);
  for (;;) {
    int const code = ::mysql_stmt_fetch(&prepared);
    if (code == MYSQL_NO_DATA) return;
    if (code != 0 && code != MYSQL_DATA_TRUNCATED) throw mysql_failure{problem_of(prepared)};
    for (unsigned at = 0; at < width; ++at) {
      table.cells.push_back(take(prepared, at, slots[at], fields[at], statement));
    }
  }
}

::MYSQL_BIND bind_value(value const& value) {
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
      value);
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

void read_text_rows(::MYSQL_RES& result, db::table& table, std::string_view statement) {
  auto const width = ::mysql_num_fields(&result);
  std::span const fields(::mysql_fetch_fields(&result), width);
  table.width = width;
  while (auto* const row = ::mysql_fetch_row(&result)) {
    auto const* const lengths = ::mysql_fetch_lengths(&result);
    for (unsigned at = 0; at < width; ++at) {
      table.cells.push_back(text_cell(row[at], lengths[at], fields[at], statement));
    }
  }
}

std::int64_t changed(std::uint64_t count) {
  // The library's mark for "an error or a result with rows".
  constexpr auto none = static_cast<std::uint64_t>(-1);
  return count == none ? 0 : static_cast<std::int64_t>(count);
}

/// Leaves the result in hand; whether there is another.
bool next_result(::MYSQL_STMT& statement) {
  ::mysql_stmt_free_result(&statement);
  if (::mysql_stmt_more_results(&statement) == 0) return false;
  if (::mysql_stmt_next_result(&statement) > 0) throw mysql_failure{problem_of(statement)};
  return true;
}

/// However the reading ends, the connection is free for the next statement.
class results_of {
 public:
  explicit results_of(::MYSQL_STMT& statement) : statement_(statement) {}
  results_of(results_of const&) = delete;
  results_of& operator=(results_of const&) = delete;
  ~results_of() {
    ::mysql_stmt_free_result(&statement_);
    while (::mysql_stmt_more_results(&statement_) != 0) {
      if (::mysql_stmt_next_result(&statement_) != 0) break;
      ::mysql_stmt_free_result(&statement_);
    }
  }

 private:
  ::MYSQL_STMT& statement_;
};

}  // namespace

void check_mysql_count(db::statement const& statement, std::span<value const> values) {
  if (values.size() == statement.inputs.size()) return;
  throw error({.kind = error_code::bad_argument, .statement = statement.name},
              "a statement has " + std::to_string(statement.inputs.size()) + " parameters, and " +
                  std::to_string(values.size()) + " values were given");
}

void execute_mysql(::MYSQL_STMT& statement, db::statement const& layout,
                   std::span<value const> values) {
  std::vector<::MYSQL_BIND> binds;
  binds.reserve(layout.order.size());
  for (auto const index : layout.order) binds.push_back(bind_value(values[index]));
  if (!binds.empty() && ::mysql_stmt_bind_param(&statement, binds.data()) != 0) {
    throw mysql_failure{problem_of(statement)};
  }
  if (::mysql_stmt_execute(&statement) != 0) throw mysql_failure{problem_of(statement)};
}

db::table read_mysql(::MYSQL_STMT& prepared, std::string_view statement,
                     mysql_results mysql_results) {
  db::table out;
  results_of const all(prepared);
  if (::mysql_stmt_field_count(&prepared) == 0) {
    out.affected = changed(::mysql_stmt_affected_rows(&prepared));
  } else {
    read_rows(prepared, *columns_of(prepared), out, statement);
  }
  while (next_result(prepared)) {
    bool const has_rows = ::mysql_stmt_field_count(&prepared) != 0;
    if (has_rows && mysql_results == mysql_results::all) {
      read_rows(prepared, *columns_of(prepared), out, statement);
    }
  }
  return out;
}

void read_mysql_answers(::MYSQL_STMT& statement, std::span<db::call const> calls,
                        std::vector<db::table>& tables) {
  results_of const all(statement);
  db::table now;
  do {
    if (::mysql_stmt_field_count(&statement) == 0) continue;  // the end of the compound itself
    while (!calls[tables.size()].asked) tables.emplace_back();
    auto const& name = calls[tables.size()].what->name;
    auto const columns = columns_of(statement);
    if (db::count_column != ::mysql_fetch_field_direct(columns.get(), 0)->name) {
      read_rows(statement, *columns, now, name);
      continue;
    }
    db::table count;
    read_rows(statement, *columns, count, name);
    decode(count.cells.at(0), now.affected);
    now.affected = std::max<std::int64_t>(now.affected, 0);  // below it: there were rows
    tables.push_back(std::exchange(now, {}));
  } while (next_result(statement));
  tables.resize(calls.size());
}

db::table read_mysql_text(::MYSQL& connection, std::string_view statement) {
  db::table out;
  result const rows(::mysql_store_result(&connection));
  if (rows) {
    read_text_rows(*rows, out, statement);
  } else if (::mysql_field_count(&connection) != 0) {
    throw mysql_failure{problem_of(connection)};
  } else {
    out.affected = changed(::mysql_affected_rows(&connection));
  }
  while (::mysql_more_results(&connection) != 0) {
    if (::mysql_next_result(&connection) > 0) throw mysql_failure{problem_of(connection)};
    result const dropped(::mysql_store_result(&connection));
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
