#include "serve.hpp"

#include <memory>
#include <utility>

namespace command {

void served::obey(settings const& file) {
  for (auto const& one : file.schedules) book_.make_schedule(one.name, one.cron, one.options);
  std::set<std::string> now;
  for (auto const& one : file.schedules) {
    auto const what = std::make_shared<declared_schedule const>(one);
    node_.serve(one.name, [what, &at = at_](daybook::tick& tick) { launch(*what, tick, at); });
    now.insert(one.name);
  }
  for (auto const& name : names_) {
    if (!now.contains(name)) node_.serve(name, {});
  }
  names_ = std::move(now);
  node_.wake();
}

}  // namespace command
