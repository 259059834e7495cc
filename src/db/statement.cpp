#include "db/statement.hpp"

#include <daybook/error.hpp>
#include <daybook/detail/sql_parameters.hpp>
#include <daybook/detail/transaction_control.hpp>

#include <algorithm>
#include <array>
#include <cctype>

namespace daybook {
inline namespace v1 {
namespace db {

namespace {

std::size_t index_of(std::vector<std::string>& inputs, std::string_view parameter, bool may_add,
                     std::string_view statement_name) {
  auto const found = std::find(inputs.begin(), inputs.end(), parameter);
  if (found != inputs.end()) return static_cast<std::size_t>(found - inputs.begin());
  if (!may_add) {
    throw error({.kind = error_code::internal, .statement = std::string(statement_name)},
                "statement " + std::string(statement_name) + " uses :" + std::string(parameter) +
                    ", which its 'in:' line does not name");
  }
  inputs.emplace_back(parameter);
  return inputs.size() - 1;
}

std::string_view word_at(std::string_view text, std::size_t offset) {
  auto end = offset;
  while (end < text.size() && sql_parameters::in_word(text[end])) ++end;
  return text.substr(offset, end - offset);
}

/// Of our SQL, in small letters. What begins with `with` may go on to write, in any of its parts;
/// a word of that kind in a string or a name makes it a write at worst.
bool reads_only(std::string_view text) {
  auto const first = word_at(text, 0);
  if (first != "with") return first == "select";
  for (std::size_t at = 0; at < text.size();) {
    auto const word = word_at(text, at);
    if (word == "insert" || word == "update" || word == "delete" || word == "replace") return false;
    at += std::max<std::size_t>(word.size(), 1);
  }
  return true;
}

/// Of a user's statement. A function or a trigger that it calls may still change a setting: for
/// that, each driver has a guard of its own.
bool changes_session(std::string_view text) {
  constexpr std::array<std::string_view, 8> plain{"select",  "insert", "update", "delete",
                                                  "replace", "with",   "values", "merge"};
  auto const first = statement_words(text).next();
  if (std::none_of(plain.begin(), plain.end(),
                   [&](auto verb) { return statement_words::same(first, verb); })) {
    return true;
  }
  // Set settings, keep locks or make tables that outlive the transaction. In a string or a name
  // such a word costs a little time.
  constexpr std::array<std::string_view, 4> lasting{"set_config", "advisory", "temp", "get_lock"};
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(lasting.begin(), lasting.end(),
                     [&](auto word) { return small.find(word) != std::string::npos; });
}

void check_no_control(std::string_view text) {
  if (!controls_transaction(text)) return;
  throw error({.kind = error_code::bad_argument, .statement = "user"},
              "a statement begins or ends the transaction that it is part of: leave that to the "
              "library, which commits when the body returns and rolls back when it throws");
}

}  // namespace

statement rewrite(std::string_view name, std::string_view text, placeholder style,
                  std::vector<std::string> inputs) {
  statement out{.name = std::string(name), .text = {}, .inputs = std::move(inputs)};
  bool const may_add = out.inputs.empty();
  std::size_t copied = 0;
  auto const quoting =
      style == placeholder::question ? sql_quoting::mariadb : sql_quoting::standard;
  for (sql_parameters found(text, quoting); found.next(); copied = found.end()) {
    out.text.append(text.substr(copied, found.begin() - copied));
    auto const index = index_of(out.inputs, found.name(), may_add, name);
    out.order.push_back(index);
    switch (style) {
      case placeholder::dollar: out.text += "$" + std::to_string(index + 1); break;
      case placeholder::question_digit: out.text += "?" + std::to_string(index + 1); break;
      case placeholder::question: out.text += "?"; break;
    }
  }
  out.text.append(text.substr(copied));
  out.takes_its_time = name == "user";
  if (out.takes_its_time) {
    check_no_control(text);
    out.changes_session = changes_session(text);
  }
  out.only_reads = !out.takes_its_time && reads_only(out.text);
  return out;
}

statement const& user_statements::of(std::string_view literal) {
  std::lock_guard const lock(guard_);
  auto const found = known_.find(literal);
  if (found != known_.end()) return found->second;
  return known_.emplace(literal, rewrite("user", literal, style_)).first->second;
}

}  // namespace db
}  // namespace v1
}  // namespace daybook
