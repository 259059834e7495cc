// daybook::transaction: the user's statements on a session.
#include "base/text.hpp"
#include "db/session.hpp"
#include "db/statement.hpp"

#include <daybook/adopt.hpp>
#include <daybook/error.hpp>
#include <daybook/transaction.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {

namespace {

constexpr std::size_t longest_shown = 120;

/// In one line, and cut where it is long.
std::string shown(std::string_view statement) {
  std::string out;
  for (char const c : statement) {
    bool const blank = c == ' ' || (c >= '\t' && c <= '\r');
    if (!blank) {
      out.push_back(c);
    } else if (!out.empty() && out.back() != ' ') {
      out.push_back(' ');
    }
  }
  return base::bounded(out, longest_shown);
}

db::table execute(db::session& session, db::statement const& statement,
                  std::initializer_list<value> arguments) {
  if (arguments.size() != statement.inputs.size()) {
    auto const named = statement.inputs.empty()
                           ? std::string()
                           : " (:" + base::listed(statement.inputs, ", :") + ")";
    throw error({.kind = error_code::bad_argument, .statement = "user"},
                "the statement names " + std::to_string(statement.inputs.size()) + " parameters" +
                    named + ", and the program gives " + std::to_string(arguments.size()) +
                    " arguments");
  }
  return session.run(statement, std::span(arguments.begin(), arguments.size()));
}

template <class N>
N* native_of(db::session& session) noexcept {
  auto const handle = session.handle();
  auto* const* found = std::get_if<N*>(&handle);
  return found == nullptr ? nullptr : *found;
}

}  // namespace

void transaction::rethrow(sql text) const {
  try {
    throw;
  } catch (error const& e) {
    throw error(e.facts(),
                (place_.empty() ? "" : place_ + ": ") + e.what() + "; the statement is \"" +
                    shown(text.text()) + "\"",
                e.where());
  }
}

std::int64_t transaction::exec_values(sql text, std::initializer_list<value> arguments) {
  try {
    return execute(*session_, statements_->of(text.text()), arguments).affected;
  } catch (error const&) {
    rethrow(text);
  }
}

std::vector<cell> transaction::query_values(sql text, std::initializer_list<value> arguments,
                                            std::size_t width) {
  try {
    auto found = execute(*session_, statements_->of(text.text()), arguments);
    if (found.width != width) {
      throw error({.kind = error_code::bad_argument, .statement = "user"},
                  "the query gives " + std::to_string(found.width) +
                      " columns where the program wants " + std::to_string(width));
    }
    return std::move(found.cells);
  } catch (error const&) {
    rethrow(text);
  }
}

external_transaction::external_transaction(std::unique_ptr<db::session> session,
                                           db::user_statements& statements, std::string book_id)
    : transaction(*session, statements, "a joined transaction"),
      session_(std::move(session)),
      book_id_(std::move(book_id)) {}

external_transaction::~external_transaction() = default;

template <>
::sqlite3* transaction::as<::sqlite3>() const noexcept {
  return native_of<::sqlite3>(*session_);
}
template <>
::pg_conn* transaction::as<::pg_conn>() const noexcept {
  return native_of<::pg_conn>(*session_);
}
template <>
::st_mysql* transaction::as<::st_mysql>() const noexcept {
  return native_of<::st_mysql>(*session_);
}

}  // namespace v1
}  // namespace daybook
