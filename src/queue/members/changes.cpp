#include "queue/members/changes.hpp"

#include "base/rows.hpp"
#include "queue/members/import.hpp"

namespace daybook {
inline namespace v1 {
namespace queues {

void set_payloads_in(store const& queue, db::session& session, std::span<entry const> all) {
  if (all.empty()) return;
  base::rows rows;
  for (auto const& one : all) {
    check_payload(queue.name(), one.key, one.payload);
    rows.begin().add(std::string_view(one.key.str())).add(one.payload);
  }
  db::run(session, queue.with().sql["member.set_payloads"], {queue.present().id, rows.text()});
}

void remove_all_in(store const& queue, db::session& session, std::span<key const> all) {
  if (all.empty()) return;
  base::rows rows;
  for (auto const& one : all) rows.begin().add(std::string_view(one.str()));
  db::run(session, queue.with().sql["member.remove_all"], {queue.present().id, rows.text()});
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
