#include "drivers/mysql/mysql_rows.hpp"

#include "drivers/mysql/mysql_statement.hpp"

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

/// The values of a column, each kind in its own array.
class column {
 public:
  void add(value const& value) {
    bool const null = std::holds_alternative<std::nullptr_t>(value);
    nulls_.push_back(null ? STMT_INDICATOR_NULL : STMT_INDICATOR_NONE);
    integers_.push_back(0);
    small_.push_back(0);
    reals_.push_back(0);
    texts_.push_back(&empty);
    lengths_.push_back(0);
    std::visit([this](auto const& v) { put(v); }, value);
  }

  [[nodiscard]] ::MYSQL_BIND bind() {
    ::MYSQL_BIND out{};
    out.u.indicator = nulls_.data();
    out.length = lengths_.data();
    out.buffer_type = type_;
    switch (type_) {
      case MYSQL_TYPE_TINY: out.buffer = small_.data(); break;
      case MYSQL_TYPE_DOUBLE: out.buffer = reals_.data(); break;
      case MYSQL_TYPE_LONGLONG: out.buffer = integers_.data(); break;
      default: out.buffer = texts_.data(); break;
    }
    return out;
  }

 private:
  static inline char empty = 0;

  template <class T>
  void put(T const& value) {
    if constexpr (std::is_same_v<T, bool>) {
      type_ = MYSQL_TYPE_TINY;
      small_.back() = value ? 1 : 0;
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      type_ = MYSQL_TYPE_LONGLONG;
      integers_.back() = value;
    } else if constexpr (std::is_same_v<T, double>) {
      type_ = MYSQL_TYPE_DOUBLE;
      reals_.back() = value;
    } else if constexpr (requires { value.size(); }) {
      type_ = std::is_same_v<T, std::string_view> ? MYSQL_TYPE_STRING : MYSQL_TYPE_BLOB;
      // The library reads through a pointer that is not const.
      auto const* const bytes = reinterpret_cast<char const*>(value.data());
      if (!value.empty()) texts_.back() = const_cast<char*>(bytes);
      lengths_.back() = value.size();
    }
  }

  ::enum_field_types type_ = MYSQL_TYPE_LONGLONG;  ///< where all are null, too
  std::vector<char> nulls_;
  std::vector<std::int64_t> integers_;
  std::vector<signed char> small_;
  std::vector<double> reals_;
  std::vector<char*> texts_;
  std::vector<unsigned long> lengths_;
};

/// The statement is for one row again afterwards.
class array_of {
 public:
  array_of(::MYSQL_STMT& statement, std::size_t rows) : statement_(statement) {
    set(static_cast<unsigned>(rows));
  }
  array_of(array_of const&) = delete;
  array_of& operator=(array_of const&) = delete;
  ~array_of() { set(0); }

 private:
  void set(unsigned rows) { ::mysql_stmt_attr_set(&statement_, STMT_ATTR_ARRAY_SIZE, &rows); }

  ::MYSQL_STMT& statement_;
};

}  // namespace

bool takes_mysql_rows(::MYSQL_STMT& statement, std::span<value const> cells) {
  // The library's own macro for this needs a header that it does not install.
  unsigned long extended = 0;
  ::mariadb_get_infov(statement.mysql, MARIADB_CONNECTION_EXTENDED_SERVER_CAPABILITIES, &extended);
  bool const has_arrays = (extended & (MARIADB_CLIENT_STMT_BULK_OPERATIONS >> 32U)) != 0;
  if (!has_arrays || kind_of(*statement.mysql) != mysql_kind::mariadb) return false;
  auto const width = ::mysql_stmt_param_count(&statement);
  constexpr std::size_t null = 0;  // of a value's alternatives
  std::vector<std::size_t> types(width, null);
  for (std::size_t at = 0; at < cells.size(); ++at) {
    auto const found = cells[at].index();
    auto& known = types[at % width];
    if (found == null) continue;
    if (known != null && known != found) return false;
    known = found;
  }
  return true;
}

std::int64_t execute_mysql_rows(::MYSQL_STMT& statement, std::span<value const> cells) {
  auto const width = ::mysql_stmt_param_count(&statement);
  std::vector<column> columns(width);
  for (std::size_t at = 0; at < cells.size(); ++at) columns[at % width].add(cells[at]);
  std::vector<::MYSQL_BIND> binds;
  binds.reserve(width);
  for (auto& one : columns) binds.push_back(one.bind());
  array_of const rows(statement, cells.size() / width);
  if (::mysql_stmt_bind_param(&statement, binds.data()) != 0 ||
      ::mysql_stmt_execute(&statement) != 0) {
    throw mysql_failure{problem_of(statement)};
  }
  return static_cast<std::int64_t>(::mysql_stmt_affected_rows(&statement));
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
