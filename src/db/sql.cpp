#include "base/numbers.hpp"

#include <daybook/error.hpp>
#include <daybook/run.hpp>
#include <daybook/sql.hpp>

#include <optional>

namespace daybook {
inline namespace v1 {

namespace {

[[noreturn]] void mismatch(cell const& cell, char const* wanted) {
  constexpr char const* kinds[] = {"NULL", "an integer", "a floating-point number", "text"};
  throw error({.kind = error_code::bad_argument, .statement = "user"},
              std::string("a column holds ") + kinds[cell.index()] + " where the program wants " +
                  wanted + " (std::optional takes a NULL)");
}

/// Of a cell that is text; empty, too, where it is something else.
template <class Number>
std::optional<Number> number_in(cell const& cell) {
  auto const* const text = std::get_if<std::string>(&cell);
  return text == nullptr ? std::nullopt : base::number_of<Number>(*text);
}

}  // namespace

void decode(cell const& cell, std::int64_t& value) {
  if (auto const* number = std::get_if<std::int64_t>(&cell)) {
    value = *number;
    return;
  }
  // Sums come as decimals from PostgreSQL and MariaDB.
  auto const number = number_in<std::int64_t>(cell);
  if (!number) mismatch(cell, "an integer");
  value = *number;
}

void decode(cell const& cell, double& value) {
  if (auto const* number = std::get_if<double>(&cell)) {
    value = *number;
  } else if (auto const* integer = std::get_if<std::int64_t>(&cell)) {
    value = static_cast<double>(*integer);
  } else if (auto const decimal = number_in<double>(cell)) {
    value = *decimal;
  } else {
    mismatch(cell, "a number");
  }
}

void decode(cell const& cell, bool& value) {
  auto const* number = std::get_if<std::int64_t>(&cell);
  if (number == nullptr) mismatch(cell, "a truth value");
  value = *number != 0;
}

void decode(cell const& cell, std::string& value) {
  if (auto const* text = std::get_if<std::string>(&cell)) {
    value = *text;
  } else if (auto const* number = std::get_if<std::int64_t>(&cell)) {
    value = std::to_string(*number);
  } else {
    mismatch(cell, "text");
  }
}

std::string encode_carried(std::int64_t value) { return std::to_string(value); }

void decode_carried(std::string_view text, std::int64_t& value) {
  decode(cell(std::string(text)), value);
}

void complain_of_no_value(outcome instead) {
  auto const why = instead == outcome::unknown ? "the outcome of the step is not known"
                                               : "the step was not done by this attempt";
  throw error({.kind = error_code::bad_argument},
              std::string("there is no value: ") + why + ". Test the answer before value()");
}

}  // namespace v1
}  // namespace daybook
