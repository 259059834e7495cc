#include "proof/torture/planners/plans_mix.hpp"

#include "proof/torture/job.hpp"
#include "proof/torture/mixing.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <csignal>
#include <thread>

namespace torture {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr char const* trial = "";
/// The consumers' lease is two seconds.
constexpr milliseconds past_the_lease = 2500ms;
constexpr int consumers = 3;

}  // namespace

plans_mix::plans_mix(plans_mix_settings how, support::engine const& on,
                     support::private_server const* server, unsigned seed, plans_report& to)
    : how_(std::move(how)),
      report_(&to),
      dice_(seed),
      database_(on),
      book_(database_.open({.connections = 2})),
      dialect_(book_.dialect()) {
  make_plan_tables(database_, dialect_);
  auto const now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  make_plans(book_, trial, {.page = 40, .again = 1s, .comparisons = 3}, now - 3h);
  if (server != nullptr) hurts_ = std::make_unique<server_faults>(on, *server);
}

std::unique_ptr<child> plans_mix::start(std::string const& role) {
  // One writer at a time on SQLite: who sleeps or is stopped there keeps everybody from writing.
  bool const alone = dialect_ == "sqlite";
  std::string const number = role == "produce" ? (alone ? "3" : "250") : (alone ? "3" : "4");
  return std::make_unique<child>(std::vector<std::string>{
      how_.worker, database_.url(), trial, how_.plans, role, std::to_string(dice_()), number});
}

/// Who died is replaced, who was stopped goes on.
void plans_mix::tend() {
  auto const each = [&](place& one) {
    if (one.wakes && *one.wakes < steady_clock::now()) {
      one.who->go_on();
      one.wakes.reset();
    }
    auto const now = one.who->wait(0ms);
    if (now.what == child::state::stopped && !one.wakes) {
      report_->trial(one.role + " stopped");
      one.wakes = steady_clock::now() + past_the_lease;
    }
    bool const killed = now.what == child::state::killed && now.code == SIGKILL;
    if (!killed && now.what != child::state::exited && now.what != child::state::killed) return;
    if (killed) {
      report_->trial(one.role + " died");
    } else {
      report_->failure(one.role + " " + now.text() + ": " + one.who->words());
    }
    one = {one.role, start(one.role)};
  };
  for (auto& one : producers_) each(one);
  for (auto& one : consumers_) each(one);
}

/// A consumer, from outside.
void plans_mix::strike() {
  auto& one = consumers_[static_cast<std::size_t>(up_to(consumers - 1))];
  if (one.wakes || up_to(7) > 0) return;
  if (dialect_ == "sqlite" || up_to(1) == 0) {
    one.who->send(SIGKILL);
  } else {
    one.who->send(SIGSTOP);
  }
}

/// While all of these are away, whoever comes late has come.
void plans_mix::sweep_once_more() {
  make_plans(book_, trial, {.page = 40},
             book_.planner(name_of(plan::minutes, trial)).value().grid({.limit = 1}).front().from);
  drain();
  auto sweep = book_.planner(name_of(plan::customers, trial)).value();
  sweep.sweep_now({.actor = "torture", .reason = "the last one"});
}

void plans_mix::drain() {
  auto const clean = run_unharmed([&] { return start("drain"); }, 120s);
  if (clean.came.is(ending::finished)) return;
  report_->failure("a clean worker " + clean.came.text() + ": " + clean.who->words());
}

void plans_mix::run() {
  int const producers = dialect_ == "sqlite" ? 4 : 12;
  for (int i = 0; i < producers; ++i) producers_.push_back({"produce", start("produce")});
  for (int i = 0; i < consumers; ++i) consumers_.push_back({"serve", start("serve")});
  auto const end = steady_clock::now() + how_.seconds;
  for (int left = how_.server_faults; left > 0 || steady_clock::now() < end;) {
    auto const next = steady_clock::now() + milliseconds(left > 0 ? 600 + up_to(600) : 400);
    while (steady_clock::now() < next) {
      std::this_thread::sleep_for(milliseconds(up_to(60)));
      tend();
      strike();
    }
    if (left <= 0) continue;
    report_->trial(hurts_->one(dice_, [] { std::this_thread::sleep_for(past_the_lease); }));
    --left;
  }
  for (auto* const crew : {&producers_, &consumers_}) {
    end_all(
        [&](auto const& body) {
          for (auto& one : *crew) body(*one.who);
        },
        [&](child& one) { report_->failure("one does not end: " + one.words()); });
  }
  sweep_once_more();
  drain();
  report_->add(check_plans(book_, trial, plans_in(how_.plans)), "mix");
  if (hurts_ && !hurts_->complete()) report_->note("not every kind of fault struck the server");
}

}  // namespace torture
