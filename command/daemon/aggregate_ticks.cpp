#include "daemon/aggregate_ticks.hpp"

#include "cli/format.hpp"
#include "cli/operator_input.hpp"
#include "verbs/aggregates/aggregate_verbs.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <stop_token>
#include <string>

namespace command {

namespace {

using json = nlohmann::ordered_json;

/// A group that stays bad is told of at each tick; a log has better things to hold than all of
/// them.
constexpr std::size_t most_told = 10;

daybook::aggregate_report pass(declared_aggregate const& declared,
                               daybook::aggregation& aggregation, daybook::tick& tick,
                               std::string const& actor) {
  std::stop_source enough;
  auto const stop = [&enough] { enough.request_stop(); };
  std::stop_callback const lost(tick.run().stop(), stop);
  std::stop_callback const stopping(tick.stopping(), stop);
  daybook::aggregate_options options;
  options.new_parent = declared.fresh;
  options.actor = actor;
  options.stop = enough.get_token();
  options.on_progress = [&tick](daybook::aggregate_report const& so_far) {
    tick.run().progress(so_far.rows, 0, text_of(so_far));
  };
  return aggregation.aggregate(options);
}

void tell_refused(declared_aggregate const& declared, daybook::aggregate_report const& done,
                  journal& log) {
  auto const told = std::min(done.refused.size(), most_told);
  for (std::size_t i = 0; i < told; ++i) {
    auto const& one = done.refused[i];
    log.warning("refused", {{"schedule", declared.schedule()},
                            {"group", one.group},
                            {"row", one.row},
                            {"text", one.why}});
  }
}

std::string kept(declared_aggregate const& declared, daybook::aggregate_report const& done,
                 std::int64_t closed) {
  auto out = text_of(done);
  if (declared.close) out += fmt::format(", {} closed", closed);
  for (auto const& one : done.refused) out += "\n" + text_of(declared.name, one);
  return out + "\n";
}

}  // namespace

void gather(declared_aggregate const& declared, daybook::aggregation aggregation,
            daybook::tick& tick, journal& log) {
  auto const key = tick.run().run_key().str();
  operator_input const ours{.reason = fmt::format("{}, {}", declared.schedule(), key)};
  auto const by = ours.remark();
  auto const done = pass(declared, aggregation, tick, by.actor);
  std::int64_t closed = 0;
  if (done.complete && declared.close) closed = aggregation.close_all(by);
  tell_refused(declared, done, log);
  log.info("aggregated", {{"schedule", declared.schedule()},
                          {"key", key},
                          {"rows", done.rows},
                          {"parents", done.parents},
                          {"chunks", done.chunks},
                          {"closed", closed},
                          {"refused", done.refused.size()},
                          {"complete", done.complete}});
  tick.run().keep({}, kept(declared, done, closed));
  if (!done.complete) tick.hand_back();
}

}  // namespace command
