// The rows of a query of the application's, page by page: a key, and a payload where there is a
// second column. A table of the connection's own holds them meanwhile, or a cursor, so that the
// query is executed once, and nothing is locked.
// Thread safety: one thread.
#pragma once

#include "core/tx/context.hpp"
#include "db/catalogue.hpp"
#include "db/pool.hpp"

#include <daybook/queue_options.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace queues {

/// What is made of the query where its columns are known ("k", or "k, p"); it must be a query, too.
using around_query = std::function<std::string(std::string const& columns)>;

struct query_reading {
  around_query around = {};
  /// A statement of it that takes longer ends it; 0: none does. On MariaDB and SQLite that is the
  /// whole query, on PostgreSQL what a page takes.
  std::chrono::milliseconds timeout{0};
  /// Ends what is executed then; not on a handle of the application's, where it is heeded after
  /// the statement.
  std::stop_token stop = {};
};

/// Thrown where query_reading::stop has ended it.
struct reading_stopped {};

/// On failure: daybook::error (error_code::bad_argument) where the text is no query of one or two
/// columns. It is not executed, but for what MariaDB evaluates while it plans.
void check_query(core::context const& context, std::string const& subject, std::string_view query);

class rows_of_query {
 public:
  /// `subject` names it in errors: "queue 'stock': the query to import from". On failure:
  /// daybook::error, error_code::bad_argument where the text is no query of one or two columns;
  /// reading_stopped.
  rows_of_query(core::context const& context, std::string subject, std::string_view query,
                query_reading mode = {});
  rows_of_query(rows_of_query const&) = delete;
  rows_of_query& operator=(rows_of_query const&) = delete;
  ~rows_of_query() { end(); }

  /// Empty: there are no more. On failure: daybook::error (error_code::bad_argument) for a key that
  /// can be none; reading_stopped.
  std::optional<entry> next();

 private:
  template <class F>
  void run(F const& body);
  void open(std::string_view query);
  void turn_page();
  [[noreturn]] void refuse(std::string const& why) const;
  void end() noexcept;

  core::context context_;
  std::string subject_;
  query_reading mode_;
  std::optional<db::from_pool> held_;
  bool begun_ = false;
  std::optional<db::entry> close_;
  std::string staged_;
  db::table page_;
  std::size_t next_row_ = 0;
  std::int64_t number_ = 0;
};

}  // namespace queues
}  // namespace v1
}  // namespace daybook
