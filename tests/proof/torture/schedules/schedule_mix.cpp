#include "proof/torture/schedules/schedule_mix.hpp"

#include "proof/torture/mixing.hpp"
#include "proof/torture/schedules/schedule_job.hpp"

#include <daybook/error.hpp>
#include <daybook/testing.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace torture {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr auto mix_patience = 90s;
daybook::audit_note const somebody{.actor = "torture", .reason = "at random"};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;  // its runtime must be the first library of all
#else
constexpr bool sanitized = false;
#endif

/// Seconds, minutes and hours; a node goes by the database's clock.
constexpr std::array clocks{"+17s", "-3h", "+75m", "-288s", "+26h", "-2s", "-40d"};

std::string fake_clock_library() {
  for (auto const* const at : {"/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
                               "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1"}) {
    if (std::filesystem::exists(at)) return at;
  }
  throw std::runtime_error("libfaketime is not there: tools/install-packages test");
}

}  // namespace

schedule_mix::schedule_mix(schedule_mix_settings how, support::engine const& on,
                           support::private_server const* server, unsigned seed,
                           schedule_report& to)
    : how_(std::move(how)),
      server_(server),
      report_(&to),
      dice_(seed),
      database_(on),
      book_(database_.open({.lease = node_lease, .connections = 2})),
      dialect_(book_.dialect()),
      nodes_(static_cast<std::size_t>(how_.nodes)) {
  make_tick_ledger(database_, dialect_);
  if (server != nullptr) hurts_ = std::make_unique<server_faults>(on, *server);
}

void schedule_mix::run() {
  make_schedules();
  for (std::size_t at = 0; at < nodes_.size(); ++at) start(at, false);
  auto const timed = [&](char const* what, auto const& body) {
    auto const from = steady_clock::now();
    body();
    auto const took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - from);
    report_->note(std::string(what) + ": " + std::to_string(took.count()) + " ms");
  };
  strike_for(how_.seconds);
  timed("outage", [&] { outage(); });
  timed("until every schedule went on", [&] { expect_ticks(); });
  timed("until nothing was left", [&] {
    heal();
    end_expressions();
    drain();
  });
  check();
  std::string said;
  for (auto const& [what, count] : beside_) {
    said += (said.empty() ? "" : ", ") + what + " " + std::to_string(count);
  }
  report_->note("beside them: " + said);
}

std::int64_t schedule_mix::now_us() const {
  return daybook::timestamp(
             std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()))
      .time_since_epoch()
      .count();
}

void schedule_mix::make_schedules() {
  auto const now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  for (int number = 0; number < how_.schedules; ++number) {
    auto one = schedule_of(number);
    // Some have a past: more than a hundred ticks that were missed.
    if (one.pruned || number % 5 == 4) one.options.since = now - 110s;
    auto const made =
        book_.make_schedule(one.name, daybook::cron::parse(one.cron), one.options).info();
    since_[one.name] = made.window;
  }
}

environment schedule_mix::any_failpoint() {
  if (up_to(dice_, 2) == 0) return {};
  using daybook::testing::failpoint_room;
  auto const names = daybook::testing::failpoints(up_to(dice_, 2) == 0 ? failpoint_room::runs
                                                                       : failpoint_room::schedules);
  auto const name =
      names[static_cast<std::size_t>(up_to(dice_, static_cast<int>(names.size()) - 1))];
  static constexpr std::array actions{"kill", "stop", "cut", "fail"};
  auto const* const action = actions.at(static_cast<std::size_t>(up_to(dice_, 3)));
  beside(std::string("armed ") + action);
  return {{"DAYBOOK_FAILPOINT",
           std::string(name) + "=" + action + ":" + std::to_string(up_to(dice_, 20))}};
}

environment schedule_mix::any_clock() {
  // SQLite's clock is that of the process.
  if (sanitized || dialect_ == "sqlite" || up_to(dice_, 1) == 0) return {};
  auto const* const by = clocks.at(next_clock_++ % clocks.size());
  report_->trial(std::string("clock ") + by);
  return {{"LD_PRELOAD", fake_clock_library()},
          {"FAKETIME", by},
          {"FAKETIME_DONT_FAKE_MONOTONIC", "1"},
          {"DONT_FAKE_MONOTONIC", "1"}};
}

void schedule_mix::start(std::size_t at, bool healthy) {
  auto with = any_clock();
  if (!healthy) {
    for (auto const& one : any_failpoint()) with.push_back(one);
  }
  nodes_[at].wakes.reset();
  nodes_[at].who = std::make_unique<child>(
      std::vector<std::string>{how_.worker, database_.url(), "-", "--lease",
                               std::to_string(node_lease.count()), "--node",
                               "node" + std::to_string(at), std::to_string(how_.schedules),
                               std::to_string(dice_())},
      with);
}

milliseconds schedule_mix::some_leases(int most) {
  return milliseconds(up_to(dice_, static_cast<int>(node_lease.count()) * most));
}

void schedule_mix::strike_for(milliseconds how_long) {
  for (auto const until = steady_clock::now() + how_long; steady_clock::now() < until;) {
    std::this_thread::sleep_for(milliseconds(10 + up_to(dice_, 200)));
    tend();
    strike();
  }
}

void schedule_mix::strike() {
  auto const victim = static_cast<std::size_t>(up_to(dice_, how_.nodes - 1));
  auto& its = nodes_[victim];
  switch (up_to(dice_, hurts_ ? 8 : 7)) {
    case 0:
    case 1: report_->trial("killed"); return start(victim, false);
    case 2:
    case 3:
    case 4:
      if (its.wakes) return;
      report_->trial("stopped");
      its.who->send(SIGSTOP);
      its.wakes = steady_clock::now() + some_leases(3);
      return;
    case 5:
    case 6: return interfere();
    case 8: {
      auto const past_the_lease = [] { std::this_thread::sleep_for(node_lease * 3 / 2); };
      return report_->trial(hurts_->one(dice_, past_the_lease));
    }
    default: return;
  }
}

template <class F>
void schedule_mix::persistently(F const& what) {
  for (auto const until = steady_clock::now() + mix_patience;;) {
    try {
      return what();
    } catch (daybook::error const&) {
      if (steady_clock::now() > until) throw;
      std::this_thread::sleep_for(50ms);
    }
  }
}

void schedule_mix::interfere() {
  try {
    auto of = book_.schedule(name_of_schedule(up_to(dice_, how_.schedules - 1))).value();
    switch (up_to(dice_, 2)) {
      case 0: static_cast<void>(of.trigger(somebody)); return beside("trigger");
      case 1: {
        auto const failed = of.ticks({.state = daybook::tick_state::failed, .limit = 1});
        if (!failed.empty() && of.retry(failed[0].at, somebody)) beside("retry");
        return;
      }
      default:
        beside("pause");
        // Until somebody has a look at it again.
        if (!of.pause(somebody)) of.resume(somebody);
    }
  } catch (daybook::error const&) {
    beside("gave up");  // the server is away, or whoever has the lock is stopped
  }
}

void schedule_mix::tend() {
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    auto& its = nodes_[at];
    auto const now = its.who->wait(0ms);
    if (now.what == child::state::stopped && !its.wakes) {
      report_->trial("struck stop");
      its.wakes = steady_clock::now() + some_leases(3);
    }
    if (its.wakes && steady_clock::now() > *its.wakes) {
      its.who->go_on();
      its.wakes.reset();
    }
    bool const killed = now.what == child::state::killed;
    if (!killed && now.what != child::state::exited) continue;
    if (killed && now.code == SIGKILL) {
      report_->trial("struck kill");
    } else {
      report_->failure("node" + std::to_string(at) + " " + now.text() + ": " + its.who->words());
    }
    start(at, false);
  }
}

/// Ten leases long nobody can write: the server is dead, or stopped; in SQLite somebody has the
/// lock.
void schedule_mix::outage() {
  auto const wait = [&] {
    auto const until = steady_clock::now() + 10 * node_lease;
    while (steady_clock::now() < until) {
      std::this_thread::sleep_for(50ms);
      tend();
    }
  };
  if (server_ == nullptr) {
    support::raw_connection other(database_.url());
    for (bool locked = false; !locked;) {
      tend();  // whoever has the lock may be stopped
      try {
        other.execute("begin exclusive");
        locked = true;
      } catch (std::runtime_error const&) {
        std::this_thread::sleep_for(10ms);
      }
    }
    wait();
    other.execute("rollback");
    report_->trial("outage: locked");
  } else if (up_to(dice_, 1) == 0) {
    ::kill(server_->process(), SIGKILL);
    wait();
    server_->restart();
    report_->trial("outage: killed");
  } else {
    {
      auto const first = server_->process();
      std::vector<pid_t> whole{first};
      for (auto const one : support::children_of(first)) whole.push_back(one);
      support::stopped const asleep(whole);
      wait();
    }
    report_->trial("outage: stopped");
  }
}

bool schedule_mix::comes_to_none(std::string const& statement) {
  for (auto const until = steady_clock::now() + mix_patience; steady_clock::now() < until;) {
    tend();
    try {
      if (database_.query(statement) == "0") return true;
    } catch (std::runtime_error const&) {
      // Not yet there again.
    }
    std::this_thread::sleep_for(100ms);
  }
  return false;
}

/// Every schedule goes on, with no help but that nobody keeps it paused.
void schedule_mix::expect_ticks() {
  auto const from = now_us();
  for (int number = 0; number < how_.schedules; ++number) {
    persistently([&] {
      book_.schedule(name_of_schedule(number)).value().resume(somebody);
      tend();
    });
  }
  auto const idle =
      " from daybook_schedule s where not exists (select 1 from daybook_tick t where"
      " t.schedule = s.name and t.launched_us > " +
      std::to_string(from) + ")";
  if (comes_to_none("select count(*)" + idle)) return;
  schedule_findings found;
  found.add(schedule_flaw::stuck,
            database_.query("select min(name)" + idle) + " since " + std::to_string(from));
  report_->add(found, "mix");
}

void schedule_mix::heal() {
  for (std::size_t at = 0; at < nodes_.size(); ++at) start(at, true);
}

/// No more instants: what is due is skipped, what was launched goes on to its end.
void schedule_mix::end_expressions() {
  for (int number = 0; number < how_.schedules; ++number) {
    auto const one = schedule_of(number);
    persistently([&] { book_.make_schedule(one.name, "0 0 29 2 *", one.options); });
  }
}

void schedule_mix::drain() {
  static_cast<void>(
      comes_to_none("select (select count(*) from daybook_tick where state in (0, 1))"
                    " + (select count(*) from daybook_schedule where running_us is not null)"));
  end_all(
      [&](auto const& body) {
        for (auto& one : nodes_) body(*one.who);
      },
      [&](child& one) { report_->failure("a node does not end: " + one.words()); });
}

void schedule_mix::check() {
  for (int number = 0; number < how_.schedules; ++number) {
    auto const one = schedule_of(number);
    report_->add(check_schedule(database_, dialect_,
                                {.name = one.name,
                                 .cron = one.cron,
                                 .zone = one.options.zone,
                                 .since = since_.at(one.name),
                                 .keep = one.options.keep}),
                 "mix");
  }
}

}  // namespace torture
