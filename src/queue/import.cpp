// A query's rows become members. They are read on one connection and written on another, in pieces:
// a table of the connection's own holds them meanwhile, or a cursor, so that the query is executed
// once, and nothing is locked.
#include "queue/import.hpp"

#include "core/transact.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

constexpr std::int64_t first_page = 100;
constexpr std::int64_t largest_page = 10'000;
constexpr std::int64_t page_bytes = 4 << 20;

std::string text_in(cell const& from) {
  std::string out;
  decode(from, out);
  return out;
}

class rows_of_query {
 public:
  /// Whatever it throws, and that need not be of the database: what it has begun is ended.
  rows_of_query(store const& of, std::string_view query) : rows_of_query(of) {
    auto const& with = of.with();
    db::holes how{{"staged", with.sql.prefix() + "import"}, {"query", std::string(query)}};
    bool const in_transaction = with.sql.text_of("import.needs", how) == "transaction";
    // On one handle of the application's there is no other connection to write on.
    if (!with.borrowed) held_.emplace(with.sessions.lend(patience));
    try {
      run([&](db::session& on) { add_columns(on, how); });
      how["hold"] = in_transaction && with.borrowed ? "with hold" : "";
      if (held_ && in_transaction) {
        (*held_)->begin(isolation::read_committed);
        begun_ = true;
        (*held_)->run({"user", "set transaction read only", {}, {}}, {});
      }
      close_ = made("import.close", how);
      run([&](db::session& on) { db::run(on, made("import.open", how), {}); });
    } catch (error const& e) {
      if (e.kind() != fault::statement && e.kind() != fault::bad_argument) throw;
      throw error({.kind = fault::bad_argument, .native_code = e.native_code()},
                  "queue '" + of.name() + "': the query to import from: " + e.what());
    }
    staged_ = how["staged"];
  }
  rows_of_query(rows_of_query const&) = delete;
  rows_of_query& operator=(rows_of_query const&) = delete;
  ~rows_of_query() {
    if (of_.with().forked()) return;
    try {
      if (begun_) {
        (*held_)->rollback();
      } else if (close_) {
        run([&](db::session& on) { db::run(on, *close_, {}); });
      }
    } catch (std::exception const&) {
      return;  // it goes with the connection
    }
  }

  std::optional<entry> next() {
    if (at_ == page_.size()) turn_page();
    if (page_.size() == 0) return std::nullopt;
    auto const row = page_.row(at_++);
    decode(row[0], number_);
    entry out;
    if (std::holds_alternative<std::nullptr_t>(row[1])) refuse("its key is null");
    try {
      out.key = key(text_in(row[1]));
    } catch (error const& e) {
      refuse(e.what());
    }
    decode(row[2], out.payload);
    return out;
  }

 private:
  /// That is all there is of it: should the rest fail, its destructor runs.
  explicit rows_of_query(store const& of) : of_(of) {}

  template <class F>
  void run(F const& body) {
    if (held_) {
      body(**held_);
    } else {
      core::read(of_.with(), patience, body);
    }
  }

  /// What may take as long as the query does has no limit of time: "user".
  [[nodiscard]] db::entry made(std::string_view shape, db::holes const& how) const {
    auto out = of_.with().sql.made(shape, how);
    for (auto& one : out.parts) one.what.name = "user";
    out.within.reset();
    return out;
  }

  void add_columns(db::session& on, db::holes& how) const {
    auto const width = db::run(on, made("import.probe", how), {}).width;
    if (width != 1 && width != 2) {
      throw error({.kind = fault::bad_argument}, "it has " + std::to_string(width) +
                                                     " columns: it must have one, the key, or two, "
                                                     "the key and the payload");
    }
    how["columns"] = width == 1 ? "k" : "k, p";
    how["payload"] = width == 1 ? "null" : "q.p";
  }

  /// So many rows that a page is about as large as a piece of an import.
  void turn_page() {
    std::int64_t rows = first_page;
    if (page_.size() > 0) {
      std::int64_t bytes = 1;
      for (auto const& one : page_.cells) {
        if (auto const* text = std::get_if<std::string>(&one)) {
          bytes += static_cast<std::int64_t>(text->size());
        }
      }
      auto const each = bytes / static_cast<std::int64_t>(page_.size()) + 1;
      rows = std::clamp<std::int64_t>(page_bytes / each, 1, largest_page);
      rows = rows < first_page ? rows : rows / first_page * first_page;  // few texts to prepare
    }
    auto const page = made("import.page", {{"staged", staged_}, {"count", std::to_string(rows)}});
    run([&](db::session& on) { page_ = db::run(on, page, {number_}); });
    at_ = 0;
  }

  [[noreturn]] void refuse(std::string const& why) const {
    throw error({.kind = fault::bad_argument}, "queue '" + of_.name() + "': row " +
                                                   std::to_string(number_) +
                                                   " of the query to import from: " + why);
  }

  store const& of_;
  std::optional<db::lent> held_;
  bool begun_ = false;
  std::optional<db::entry> close_;
  std::string staged_;
  db::table page_;
  std::size_t at_ = 0;
  std::int64_t number_ = 0;
};

}  // namespace

imported import_query(store& to, std::string_view query, task_options const& how,
                      std::function<bool(imported const&)> const& told) {
  to.with().check_process();
  rows_of_query rows(to, query);
  return to.import([&] { return rows.next(); }, how, told);
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
