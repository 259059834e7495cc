#include "queue/admin/examine.hpp"

#include "core/tx/transact.hpp"
#include "queue/maintenance/watcher.hpp"

#include <daybook/error.hpp>

#include <string>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

/// More are not counted: the remedy is the same.
constexpr std::int64_t counted = 10'000;

std::string number(std::int64_t count, std::string const& unit) {
  return std::to_string(count) + " " + unit;
}

check_result drift_of(watcher const& watcher, std::string const& queue, check_result out) {
  auto const found = watcher.compare(counted);
  if (found.missing == 0 && found.extra == 0) {
    if (found.refused == 0) return out;
    return {out.name, daybook::severity::warning,
            number(found.refused, "rows whose value can be no key"),
            "keys are 1 to 255 bytes of UTF-8 without control characters: these rows have no task"};
  }
  return {out.name, daybook::severity::warning,
          number(found.missing, "rows without a member, ") +
              number(found.extra, "members without a row") + (found.exact ? "" : ", or more"),
          "daybook queues reconcile " + queue};
}

check_result examine_one(watcher const& watcher, std::string const& queue) {
  auto const name = "queue " + queue;
  try {
    auto const here = watcher.info();
    auto const followed = here.table.table + "." + here.table.key;
    auto const drift = drift_of(
        watcher, queue,
        {name, daybook::severity::ok,
         "follows " + followed + (here.installed ? " by triggers" : " when reconciled"), ""});
    if (!watcher.lost_triggers()) return drift;
    return {name, daybook::severity::warning,
            "some triggers on " + followed + " are gone, or disabled",
            "install them again: daybook queues watch " + queue + " --install"};
  } catch (error const& e) {
    if (e.kind() != error_code::bad_argument) throw;
    return {name, daybook::severity::warning, e.what(),
            "another table: daybook queues watch " + queue +
                " --table TABLE --key COLUMN; none: daybook queues unwatch " + queue};
  }
}

}  // namespace

std::vector<check_result> examine(core::context const& context, core::holder& lease) {
  std::vector<std::string> followers;
  core::read(context, [&](db::session& session) {
    auto const found = db::run(session, context.sql["watch.names"], {});
    followers.resize(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) decode(found.row(i)[0], followers[i]);
  });
  std::vector<check_result> out;
  for (auto const& queue : followers) {
    auto of = open(context, lease, queue);
    if (!of) continue;
    if (auto const watch = followed_by(std::move(of))) out.push_back(examine_one(*watch, queue));
  }
  return out;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
