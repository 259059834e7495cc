#include "queue/members/import.hpp"

#include "queue/members/rows_of_query.hpp"

#include <daybook/error.hpp>

#include <exception>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

import_report import_query(store& store, std::string_view query, task_options const& options,
                           std::function<bool(import_report const&)> const& on_progress) {
  store.with().check_process();
  rows_of_query rows(store.with(), "queue '" + store.name() + "': the query to import from", query);
  // A row that cannot be is an end: what stands before it in its piece is imported first.
  std::exception_ptr wrong;
  auto const next = [&]() -> std::optional<entry> {
    try {
      auto one = rows.next();
      if (one) check_payload(store.name(), one->key, one->payload);
      return one;
    } catch (error const& e) {
      if (e.kind() != error_code::bad_argument) throw;
      wrong = std::current_exception();
      return std::nullopt;
    }
  };
  auto const out = store.import(next, options, on_progress);
  if (wrong) std::rethrow_exception(wrong);
  return out;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
