#include "daemon/children/launch.hpp"

#include "attempt/attempt.hpp"
#include "attempt/step_log.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "output/capture.hpp"
#include "output/output_log.hpp"
#include "process/attend.hpp"
#include "process/child.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

namespace command {

namespace {

using json = nlohmann::ordered_json;

program program_of(declared_schedule const& declared, daybook::tick& tick, database const& where) {
  std::array<std::string, tick_places.size()> const known{
      instant(tick.at()), instant(tick.window().from), instant(tick.window().to),
      tick.run().run_key().str(), declared.name};
  auto out = program_for(tick.run(), {}, where, filled(declared.command, known));
  out.environment.insert(out.environment.end(), {{"DAYBOOK_TICK", known[0]},
                                                 {"DAYBOOK_WINDOW_START", known[1]},
                                                 {"DAYBOOK_WINDOW_END", known[2]}});
  out.environment.insert(out.environment.end(), declared.environment.begin(),
                         declared.environment.end());
  if (!declared.database_url) {
    std::erase_if(out.environment, [](auto const& one) { return one.first == url_variable; });
    out.hidden.emplace_back(url_variable);
  }
  out.alone = true;
  return out;
}

limits limits_of(declared_schedule const& declared, daybook::tick& tick, launch_site const& site) {
  return {.timeout = declared.timeout,
          .lost = tick.run().stop(),
          .stopping = tick.stopping(),
          .kill = site.kill,
          .grace = site.grace,
          .grace_when_lost = site.grace_when_lost};
}

/// `step`: which one failed, or was in hand, as it is told with the end.
attended run_child(declared_schedule const& declared, daybook::tick& tick, launch_site const& site,
                   std::string& step) {
  auto how = program_of(declared, tick, site.where);
  step_log const steps(tick.run().token());
  how.environment.push_back(steps.variable());
  output_log told(site.log, {{"schedule", declared.name}, {"key", tick.run().run_key().str()}},
                  site.output_limit);
  capture output([&](printed_line const& one) { told.take(one); });
  how.output = output.out();
  how.errors = output.err();
  child job(how);
  output.started();
  auto within = limits_of(declared, tick, site);
  within.meanwhile = [&] { tick.run().step_in_hand(steps.in_hand()); };
  auto const end = attend(job, output, within);
  tick.run().step_in_hand(steps.step());
  step = steps.text();
  told.finish();
  tick.run().keep(end.status.code(), output.end());
  return end;
}

std::string_view word_of(ended_by why) noexcept {
  switch (why) {
    case ended_by::itself: break;
    case ended_by::timeout: return "timeout";
    case ended_by::loss: return "lost";
    case ended_by::stop: return "stopping";
  }
  return "itself";
}

}  // namespace

void launch(declared_schedule const& declared, daybook::tick& tick, launch_site const& site) {
  auto& run = tick.run();
  json const who{{"schedule", declared.name}, {"key", run.run_key().str()}};
  auto const with = [&who](json const& more) {
    auto out = who;
    out.update(more);
    return out;
  };
  site.log.info("started", with({{"window_start", instant(tick.window().from)},
                                 {"window_end", instant(tick.window().to)},
                                 {"attempt", run.attempt()},
                                 {"failures", tick.facts().failures},
                                 {"crashes", tick.facts().crashes}}));
  attended end;
  std::string step;
  try {
    end = run_child(declared, tick, site, step);
  } catch (complaint const& e) {
    run.keep(e.code(), {});
    throw;
  }
  auto const how = end.status.text() + step;
  site.log.info("ended",
                with({{"why", word_of(end.why)}, {"code", end.status.code()}, {"text", how}}));
  switch (end.why) {
    case ended_by::loss:
      // Nothing to record, unless nobody has taken it after all.
      tick.hand_back();
      return;
    case ended_by::stop:
      if (!end.status.success()) tick.hand_back();
      return;
    case ended_by::timeout:
      throw std::runtime_error(
          fmt::format("timed out after {}: {}", text_of(*declared.timeout), how));
    case ended_by::itself: break;
  }
  if (!end.status.success()) throw std::runtime_error(how);
}

}  // namespace command
