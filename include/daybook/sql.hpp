// SQL that is a literal, the values bound to it, and the cells that come back.
// A statement built at run time does not compile: values go in as parameters, always.
// Thread safety: values.
//
//   tx.exec("insert into invoice(customer, total) values (:customer, :total)", name, cents);
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/detail/sql_parameters.hpp>
#include <daybook/detail/transaction_control.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace daybook {
inline namespace v1 {

/// A literal statement. Parameters are `:name`, the same on every engine; arguments follow the
/// order in which the names first appear. Quoted text, comments and `::` casts are left alone; an
/// array slice `a[1:n]` and PostgreSQL's E'it\'s' are not understood. A literal that begins or ends
/// a transaction does not compile: a body commits by returning and rolls back by throwing.
class sql {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a literal converts by itself, that is the point.
  consteval sql(char const* literal) : text_(literal) {
    if (text_.empty()) throw "an empty statement";
    if (controls_transaction(text_)) {
      throw "the library begins and ends the transaction: return from the body to commit, throw to "
            "roll back";
    }
  }
  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

/// A literal statement for so many arguments: one that names more parameters, or fewer, does not
/// compile. Those of a daybook::sql are counted when it is executed.
template <std::size_t Arguments>
class sql_for {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): as that of sql.
  consteval sql_for(char const* literal) : statement_(literal) {
    auto const named = count_parameters<Arguments + 1>(literal, sql_quoting::standard);
    if (named == Arguments) return;
    // What MariaDB reads in another way may fit there.
    if (count_parameters<Arguments + 1>(literal, sql_quoting::mariadb) == Arguments) return;
    if (named < Arguments) throw "more arguments are given than the statement names parameters";
    throw "the statement names more parameters than arguments are given";
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a statement is one for any number, so far.
  constexpr sql_for(sql statement) : statement_(statement) {}
  [[nodiscard]] constexpr sql statement() const noexcept { return statement_; }

 private:
  sql statement_;
};

/// A value to bind. Views are borrowed for the length of the call.
using value = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string_view,
                           std::span<std::byte const>>;

/// A value that came back; bytes come as a string.
using cell = std::variant<std::nullptr_t, std::int64_t, double, std::string>;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// What may be bound to a parameter.
template <class T>
concept bindable =
    std::integral<T> || std::floating_point<T> || std::convertible_to<T const&, std::string_view> ||
    std::convertible_to<T const&, std::span<std::byte const>> || std::same_as<T, std::nullptr_t> ||
    is_optional<T>;

template <bindable T>
[[nodiscard]] value to_value(T const& given) {
  if constexpr (is_optional<T>) {
    if (!given) return nullptr;
    return to_value(*given);
  } else if constexpr (std::same_as<T, std::nullptr_t>) {
    return nullptr;
  } else if constexpr (std::same_as<T, bool>) {
    return given;
  } else if constexpr (std::integral<T>) {
    static_assert(sizeof(T) < 8 || std::is_signed_v<T>, "SQL has no unsigned 64-bit integer");
    return static_cast<std::int64_t>(given);
  } else if constexpr (std::floating_point<T>) {
    return static_cast<double>(given);
  } else if constexpr (std::convertible_to<T const&, std::string_view>) {
    return std::string_view(given);
  } else {
    return std::span<std::byte const>(given);
  }
}

// Where `decode` is asked for what the cell is not, it throws daybook::error
// (error_code::bad_argument) that names the two.
DAYBOOK_EXPORT void decode(cell const& source, std::int64_t& target);
DAYBOOK_EXPORT void decode(cell const& source, double& target);
DAYBOOK_EXPORT void decode(cell const& source, bool& target);
DAYBOOK_EXPORT void decode(cell const& source, std::string& target);

template <class T>
void decode(cell const& source, std::optional<T>& target) {
  if (std::holds_alternative<std::nullptr_t>(source)) {
    target.reset();
  } else {
    decode(source, target.emplace());
  }
}

template <class T>
inline constexpr bool is_column = requires(cell const& source, T& target) {
  decode(source, target);
};
template <class T>
inline constexpr bool is_column<std::optional<T>> = is_column<T>;

template <class T>
inline constexpr bool is_row = is_column<T>;
template <class... T>
inline constexpr bool is_row<std::tuple<T...>> = sizeof...(T) > 0 && (is_column<T> && ...);
template <class First, class Second>
inline constexpr bool is_row<std::pair<First, Second>> = is_column<First>&& is_column<Second>;
template <class T, std::size_t N>
inline constexpr bool is_row<std::array<T, N>> = N > 0 && is_column<T>;

/// One row as a `Row`: a std::tuple with a member for each column, or the type of its only column.
template <class Row>
[[nodiscard]] Row decode_row(std::span<cell const> cells) {
  Row row{};
  if constexpr (is_column<Row>) {
    decode(cells[0], row);
  } else {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (decode(cells[I], std::get<I>(row)), ...); }
    (std::make_index_sequence<std::tuple_size_v<Row>>{});
  }
  return row;
}

/// How many columns a `Row` takes.
template <class Row>
[[nodiscard]] constexpr std::size_t width_of() {
  if constexpr (is_column<Row>) {
    return 1;
  } else {
    return std::tuple_size_v<Row>;
  }
}

}  // namespace v1
}  // namespace daybook
