#include "proof/torture/planners/plans_trials.hpp"

#include "proof/torture/job.hpp"
#include "proof/torture/mixing.hpp"

#include <daybook/testing.hpp>
#include <daybook/transaction.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>

#include <unistd.h>

namespace torture {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 150s;
constexpr auto a_lease_and_more = 12s;
/// While it is stopped: the heir's work, or that it waits for a lock of the stopped one.
constexpr std::chrono::milliseconds heirs_patience = 4s;

}  // namespace

plans_lane::plans_lane(support::engine const& on, std::string worker, std::string plans,
                       plans_report& to)
    : worker_(std::move(worker)),
      plans_(std::move(plans)),
      report_(&to),
      database_(on),
      book_(database_.open()),
      dialect_(book_.dialect()),
      passed_file_(std::filesystem::temp_directory_path() /
                   ("torture_plans_" + std::to_string(::getpid()) + "_" +
                    std::to_string(reinterpret_cast<std::uintptr_t>(this)))) {
  make_plan_tables(database_, dialect_);
  // So that what is passed is the same, and as often, in each trial.
  daybook::testing::manual_clock clock(book_);
  clock.stop_at(clock.now());
}

plans_lane::~plans_lane() { std::filesystem::remove(passed_file_); }

std::unique_ptr<child> plans_lane::script(environment const& more) {
  return std::make_unique<child>(
      std::vector<std::string>{worker_, database_.url(), trial_, plans_, "script"}, more);
}

void plans_lane::fail(std::string const& name, std::string const& what, child const& who) {
  report_->failure(name + ": " + what + "; it said: " + who.words());
}

void plans_lane::past_the_lease() {
  daybook::testing::manual_clock(book_).advance(a_lease_and_more);
}

void plans_lane::prepare() {
  trial_ = std::to_string(++number_);
  std::filesystem::remove(passed_file_);
  empty_customers(database_);
  auto const now = daybook::testing::manual_clock(book_).now();
  make_plans(book_, trial_, {}, now - 5min);
  auto events = book_.queue(events_of(trial_)).value();
  book_.transact([&](daybook::transaction& tx) {
    for (int id = 10; id < 100; id += 10) tx.exec("insert into customer(id) values (:id)", id);
    for (int at = 0; at < 9; ++at) {
      tx.exec("insert into orders(trial, state) values (:trial, :state)", trial_,
              at == 3 ? "new" : "paid");
    }
    for (auto const* const kind : {good_sale, good_sale, refused_sale, good_sale, broken_sale,
                                   good_sale, good_sale, good_sale}) {
      auto const id = tx.rows<std::int64_t>(
          "insert into sale(trial, kind) values (:trial, :kind) returning id", trial_, kind);
      events.add(tx, daybook::key(std::to_string(id.front())), {.payload = kind});
    }
  });
}

bool plans_passed::only_skipped(plans_fault const& one) const {
  auto const found = before.find(one.failpoint);
  return acted == 0 && found != before.end() && found->second <= one.skip;
}

plans_passed plans_lane::passed() {
  plans_passed out;
  std::ifstream in(passed_file_);
  for (std::string name; std::getline(in, name);) {
    if (name == acted_word) {
      ++out.acted;
    } else if (out.acted > 0) {
      out.after.insert(name);
    } else {
      ++out.before[name];
    }
  }
  return out;
}

plans_passed plans_lane::look() {
  prepare();
  auto const who =
      script({{"DAYBOOK_FAILPOINT", std::string(never_acts) + "=fail:" +
                                        std::to_string(std::numeric_limits<std::int32_t>::max())},
              {passed_variable, passed_file_}});
  expect_finished("without a fault", *who);
  report_->add(check_plans(book_, trial_, plans_in(plans_)), "without a fault");
  return passed();
}

void plans_lane::expect_finished(std::string const& name, child& who) {
  if (auto const came = who.wait(patience); !came.is(ending::finished)) {
    fail(name, came.text(), who);
  }
}

/// Somebody else goes on with it, beside one that is stopped, and then after it.
void plans_lane::recover(plans_trial const& of, child::change came, child& who,
                         std::minstd_rand& dice) {
  if (came.what == child::state::exited) return;  // it has done everything itself
  // Stopped, it may hold the lock that the clock needs; then it goes on.
  jump_among([&](auto const& body) { body(who); }, [&] { past_the_lease(); });
  auto const heir = script();
  if (came.what == child::state::stopped) {
    // In SQLite nothing takes the lock of a process that is stopped within a transaction.
    bool const waits = dialect_ == "sqlite" || dice() % 3 == 0;
    static_cast<void>(
        heir->wait(waits ? std::chrono::milliseconds(20 + dice() % 200) : heirs_patience));
    who.go_on();
    expect_finished(of.armed() + ", the stopped one", who);
  }
  expect_finished(of.armed() + ", the heir", *heir);
}

plans_passed plans_lane::one(plans_trial& of, std::minstd_rand& dice) {
  auto out = once(of, dice);
  for (int tries = 0; out.only_skipped(of.first()) && tries < 3; ++tries) {
    plans_fault& first = of.source ? *of.source : of;
    first.skip = static_cast<unsigned>(dice()) % out.before.at(first.failpoint);
    out = once(of, dice);
  }
  if (out.only_skipped(of.first())) report_->failure(of.name() + ": passed less often each time");
  return out;
}

plans_passed plans_lane::once(plans_trial const& of, std::minstd_rand& dice) {
  prepare();
  environment armed{{passed_variable, passed_file_}};
  armed.emplace_back("DAYBOOK_FAILPOINT", of.first().armed());
  if (of.source) armed.emplace_back(then_variable, of.armed());
  auto const who = script(armed);
  auto const came = who->wait(patience);
  auto out = passed();
  bool well = came.is(ending::finished) && out.acted == (of.source ? 2 : 1);
  if (of.action == "kill") well = came.what == child::state::killed && came.code == SIGKILL;
  if (of.action == "stop") well = came.what == child::state::stopped;
  if (well) {
    report_->hit(of.failpoint, of.action);
  } else if (!came.is(ending::finished) || !out.only_skipped(of.first())) {
    fail(of.name(), "the worker " + came.text(), *who);
  }
  recover(of, came, *who, dice);
  report_->add(check_plans(book_, trial_, plans_in(plans_)), of.name());
  if (!out.only_skipped(of.first())) report_->trial(of.action);
  return out;
}

}  // namespace torture
