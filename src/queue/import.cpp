#include "queue/import.hpp"

#include "queue/rows_of_query.hpp"

#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

imported import_query(store& to, std::string_view query, task_options const& how,
                      std::function<bool(imported const&)> const& told) {
  to.with().check_process();
  rows_of_query rows(to.with(), "queue '" + to.name() + "': the query to import from", query);
  return to.import([&] { return rows.next(); }, how, told);
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
