#include "proof/torture/schedules/schedule_trials.hpp"

#include "proof/torture/job.hpp"
#include "proof/torture/schedules/schedule_job.hpp"

#include <daybook/testing.hpp>

#include <csignal>

namespace torture {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds patience = 120s;
/// Of workers that are stopped: so long, too, their open transactions keep locks.
constexpr char const* short_lease = "1000";
constexpr char const* usual_lease = "10000";
/// More than a lease, and with ticks in it.
constexpr std::chrono::microseconds a_jump = 5min;
constexpr daybook::timestamp noon = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + 12h;

std::string room_of(std::string const& failpoint) {
  return failpoint.substr(0, failpoint.find('.'));
}

/// What is thrown there is the handler's own, or its run's: its node goes on.
bool is_of_a_run(std::string const& failpoint) {
  return room_of(failpoint) == "step" || room_of(failpoint) == "end";
}

}  // namespace

std::vector<schedule_place> schedule_places() {
  std::vector<schedule_place> out;
  for (auto const name :
       daybook::testing::failpoints(daybook::testing::failpoint_room::schedules)) {
    out.push_back({std::string(name)});
  }
  for (auto const* const name :
       {"step.begun", "step.effect_done", "step.before_commit", "step.committed", "end.begun",
        "end.before_commit", "end.committed"}) {
    out.push_back({name});
  }
  return out;
}

schedule_lane::schedule_lane(support::engine const& on, std::string worker, schedule_report& to)
    : worker_(std::move(worker)),
      report_(&to),
      database_(on),
      book_(database_.open()),
      dialect_(book_.dialect()) {
  make_tick_ledger(database_, dialect_);
  daybook::testing::manual_clock(book_).stop_at(noon);
}

std::vector<std::string> schedule_lane::words(std::string const& schedule,
                                              std::vector<std::string> const& more) const {
  std::vector<std::string> out{worker_, database_.url(), schedule};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

void schedule_lane::fail(trial const& of, std::string const& what, child const& who) {
  report_->failure(of.name + ": " + what + "; it said: " + who.words());
}

/// SQLite has one writer: stopped there, it stops everybody.
bool schedule_lane::writes_alone(std::string const& failpoint) const {
  return dialect_ == "sqlite" && !failpoint.ends_with(".committed");
}

void schedule_lane::past_the_lease() { daybook::testing::manual_clock(book_).advance(a_jump); }

void schedule_lane::one(schedule_place const& at, std::string const& action,
                        std::minstd_rand& dice) {
  trial of;
  of.schedule = "t" + std::to_string(++number_);
  of.failpoint = at.failpoint;
  of.action = action;
  // A change of a schedule is what a room of that name does second.
  auto const hits = room_of(at.failpoint) == "schedule" ? 3U
                    : room_of(at.failpoint) == "tick"   ? 1U
                                                        : 6U;
  auto const what =
      at.failpoint + "=" + action + ":" + std::to_string(at.skip.value_or(dice() % hits));
  of.name = of.schedule + " " + what;
  bool const brief = action == "stop" && dialect_ != "sqlite";
  child worker(words(of.schedule, {"--script", "--lease", brief ? short_lease : usual_lease}),
               {{"DAYBOOK_FAILPOINT", what}});
  auto const came = worker.wait(patience);
  bool acted = false;
  if (action == "kill") {
    acted = came.what == child::state::killed && came.code == SIGKILL;
  } else if (action == "stop") {
    acted = came.what == child::state::stopped;
  } else if (action == "fail" && !is_of_a_run(of.failpoint)) {
    acted = came.is(ending::error);
  } else {
    acted = came.is(ending::finished);
  }
  if (acted) {
    report_->hit(of.failpoint, action);
  } else {
    fail(of, "the worker " + came.text(), worker);
  }
  if (came.what == child::state::stopped) stopped(of, worker, dice);
  if (came.what != child::state::exited) past_the_lease();
  settle(of, {"--script"});
  look(of, false);
  report_->trial(action);
}

/// An heir comes when the lease is over, and does what it can; then the stopped one goes on.
void schedule_lane::stopped(trial const& of, child& worker, std::minstd_rand& dice) {
  bool const alone = writes_alone(of.failpoint);
  if (!alone) past_the_lease();
  child heir(words(of.schedule, {"--drain", "--lease", "60000"}));
  auto const beside = heir.wait(alone ? milliseconds(20 + dice() % 100) : patience);
  bool const waits = beside.what == child::state::silent;
  if (!waits && !beside.is(ending::finished)) fail(of, "the heir " + beside.text(), heir);
  worker.go_on();
  auto const came = worker.wait(patience);
  if (!came.is(ending::finished)) fail(of, "the stopped one " + came.text(), worker);
  if (!waits) return;
  auto const last = heir.wait(patience);
  if (!last.is(ending::finished)) fail(of, "the heir " + last.text(), heir);
}

/// Healed: a clean worker does what is left, and everything must be right.
void schedule_lane::settle(trial const& of, std::vector<std::string> const& more) {
  past_the_lease();
  auto switches = more;
  switches.emplace_back("--settle");
  auto const how = words(of.schedule, switches);
  auto const clean = run_unharmed([&] { return std::make_unique<child>(how); }, patience);
  if (clean.came.is(ending::finished)) return;
  fail(of, "a clean worker " + clean.came.text(), *clean.who);
}

void schedule_lane::look(trial const& of, bool pruned) {
  auto const check = [&](std::string const& name) {
    expectation wanted{.name = name, .cron = minutely};
    if (pruned) wanted.keep = pruned_keep;
    report_->add(check_schedule(database_, dialect_, wanted), of.name);
  };
  check(of.schedule);
  if (!pruned) check(brief_name(of.schedule));
}

void schedule_lane::prune(int kills, std::minstd_rand& dice) {
  trial of;
  of.schedule = of.name = "p" + std::to_string(++number_);
  for (int at = 0; at < kills; ++at) {
    auto const places = schedule_places();
    auto const& place = places[3 + dice() % (places.size() - 3)];  // not those of its making
    child worker(words(of.schedule, {"--pruned"}),
                 {{"DAYBOOK_FAILPOINT", place.failpoint + "=kill:" + std::to_string(dice() % 90)}});
    static_cast<void>(worker.wait(patience));
    // The clock is set back, too: what is forgotten does not come again.
    auto const by = at % 2 == 0 ? a_jump : -std::chrono::minutes{1 + dice() % 90};
    daybook::testing::manual_clock(book_).advance(by);
    report_->trial("prune");
  }
  settle(of, {"--pruned"});
  look(of, true);
  auto const kept = std::stoi(
      database_.query("select count(*) from daybook_tick where schedule = '" + of.schedule + "'"));
  // Pruned at every thirty-second launch.
  if (kept > pruned_keep + 2 * 32)
    report_->failure(of.name + ": " + std::to_string(kept) + " are kept");
}

}  // namespace torture
