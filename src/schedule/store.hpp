// One schedule of a book: what people ask of it.
// Thread-safe.
#pragma once

#include "core/tx/context.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"
#include "schedule/decide.hpp"
#include "schedule/definition.hpp"

#include <daybook/schedule.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace schedules {

class store {
 public:
  store(core::context const& context, std::string name)
      : context_(context), name_(std::move(name)) {}

  [[nodiscard]] std::string const& name() const noexcept { return name_; }
  /// On failure: daybook::error (error_code::bad_argument) where it was never made.
  [[nodiscard]] definition look() const;
  [[nodiscard]] schedule_info info() const;

  // As schedule's verbs.
  timestamp trigger(audit_note const& note) const;
  bool retry(timestamp tick, audit_note const& note) const;
  bool pause(audit_note const& note) const;
  bool resume(audit_note const& note) const;
  bool remove(audit_note const& note) const;
  [[nodiscard]] std::vector<tick_info> ticks(ticks_query const& query) const;
  [[nodiscard]] std::optional<tick_info> find(timestamp tick) const;

 private:
  void tell_who_runs(tick_info& tick) const;
  /// To `state`, where it is not so already and `check` agrees.
  bool set(schedule_state state, std::string_view action, std::string const& why_skipped,
           audit_note const& note, std::function<bool(schedule_state)> const& check) const;

  core::context context_;
  std::string name_;
};

/// Makes the schedule, or changes it to this. On failure: daybook::error.
std::shared_ptr<store> make(core::context const& context, std::string_view name, cron const& when,
                            schedule_options const& options);
/// Empty: there is none of that name.
[[nodiscard]] std::optional<definition> look(core::context const& context, std::string_view name,
                                             zones& all);
[[nodiscard]] std::optional<tick_info> find(core::context const& context, std::string_view name,
                                            timestamp tick);
/// All but those that were removed and of which nothing runs.
[[nodiscard]] std::vector<definition> all(core::context const& context, zones& zones);
[[nodiscard]] schedule_info info_of(definition const& schedule);

/// Within a transaction: says of ticks that they are skipped.
void write_skipped(db::session& session, core::context const& context, definition const& schedule,
                   skipped const& skipped);

/// Values of statements.
using db::us_of;

}  // namespace schedules
}  // namespace v1
}  // namespace daybook
