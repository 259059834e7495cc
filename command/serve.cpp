#include "serve.hpp"

#include "aggregate_ticks.hpp"
#include "aggregate_verbs.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace command {

void served::obey(settings const& file) {
  // First, so that tables that are not as declared leave everything as it was.
  auto const aggregates = made(file);
  for (auto const& one : file.schedules) book_.make_schedule(one.name, one.cron, one.options);
  std::set<std::string> now;
  for (auto const& one : file.schedules) {
    auto const what = std::make_shared<declared_schedule const>(one);
    node_.serve(one.name, [what, &at = at_](daybook::tick& tick) { launch(*what, tick, at); });
    now.insert(one.name);
  }
  for (auto const& one : aggregates) now.insert(serve(one));
  for (auto const& name : names_) {
    if (!now.contains(name)) node_.serve(name, {});
  }
  names_ = std::move(now);
  node_.wake();
}

std::vector<served::aggregate> served::made(settings const& file) {
  std::vector<aggregate> out;
  for (auto const& one : file.aggregates) {
    if (one.cron) out.push_back({one, make(book_, one)});
  }
  return out;
}

std::string served::serve(aggregate const& one) {
  auto name = one.what.schedule();
  book_.make_schedule(name, *one.what.cron, {.zone = one.what.zone});
  auto const what = std::make_shared<aggregate const>(one);
  node_.serve(
      name, [what, &at = at_](daybook::tick& tick) { gather(what->what, what->of, tick, at.log); });
  return name;
}

}  // namespace command
