#include "base/numbers.hpp"

#include <daybook/error.hpp>
#include <daybook/run.hpp>
#include <daybook/sql.hpp>

#include <optional>

namespace daybook {
inline namespace v1 {

namespace {

[[noreturn]] void mismatch(cell const& from, char const* wanted) {
  constexpr char const* kinds[] = {"NULL", "an integer", "a floating-point number", "text"};
  throw error({.kind = error_code::bad_argument, .statement = "user"},
              std::string("a column holds ") + kinds[from.index()] + " where the program wants " +
                  wanted + " (std::optional takes a NULL)");
}

/// Of a cell that is text; empty, too, where it is something else.
template <class Number>
std::optional<Number> number_in(cell const& from) {
  auto const* const text = std::get_if<std::string>(&from);
  return text == nullptr ? std::nullopt : base::number_of<Number>(*text);
}

}  // namespace

void decode(cell const& from, std::int64_t& to) {
  if (auto const* number = std::get_if<std::int64_t>(&from)) {
    to = *number;
    return;
  }
  // Sums come as decimals from PostgreSQL and MariaDB.
  auto const number = number_in<std::int64_t>(from);
  if (!number) mismatch(from, "an integer");
  to = *number;
}

void decode(cell const& from, double& to) {
  if (auto const* number = std::get_if<double>(&from)) {
    to = *number;
  } else if (auto const* integer = std::get_if<std::int64_t>(&from)) {
    to = static_cast<double>(*integer);
  } else if (auto const decimal = number_in<double>(from)) {
    to = *decimal;
  } else {
    mismatch(from, "a number");
  }
}

void decode(cell const& from, bool& to) {
  auto const* number = std::get_if<std::int64_t>(&from);
  if (number == nullptr) mismatch(from, "a truth value");
  to = *number != 0;
}

void decode(cell const& from, std::string& to) {
  if (auto const* text = std::get_if<std::string>(&from)) {
    to = *text;
  } else if (auto const* number = std::get_if<std::int64_t>(&from)) {
    to = std::to_string(*number);
  } else {
    mismatch(from, "text");
  }
}

std::string encode_carried(std::int64_t from) { return std::to_string(from); }

void decode_carried(std::string_view from, std::int64_t& to) {
  decode(cell(std::string(from)), to);
}

void complain_of_no_value(outcome instead) {
  auto const why = instead == outcome::unknown ? "the outcome of the step is not known"
                                               : "the step was not done by this attempt";
  throw error({.kind = error_code::bad_argument},
              std::string("there is no value: ") + why + ". Test the answer before value()");
}

}  // namespace v1
}  // namespace daybook
