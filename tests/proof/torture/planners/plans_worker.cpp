// A process at work on the plans of torture_plans.
//   plans_worker URL TRIAL PLANS script
//       passes, and their tasks, until nothing is left; by a clock that others move
//   plans_worker URL TRIAL PLANS drain
//       the same by the real clock
//   plans_worker URL TRIAL PLANS serve SEED ACTIONS
//       at random, with faults armed, until SIGTERM
//   plans_worker URL TRIAL PLANS produce SEED LONGEST-SLEEP-MS
//       orders, sales and customers; some die
// Exit codes: as those of torture_worker.
#include "proof/torture/job.hpp"
#include "proof/torture/planners/plans_job.hpp"

#include <daybook/book.hpp>
#include <daybook/error.hpp>
#include <daybook/testing.hpp>
#include <daybook/transaction.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/prctl.h>

namespace {

using namespace std::chrono_literals;
using daybook::outcome;
using daybook::transaction;
using torture::ending;
using torture::plan;
using clock = std::chrono::steady_clock;

volatile std::sig_atomic_t over = 0;

struct settings {
  std::string url;
  std::string trial;
  std::vector<plan> plans;
  std::string role;
  unsigned seed = 1;
  int number = 0;  ///< of the failpoint's actions, or milliseconds
};

struct aborted : std::runtime_error {
  aborted() : std::runtime_error("aborted") {}
};

void say(char const* at, daybook::error const& e) {
  std::fprintf(stderr, "%s: %s\n", at, e.what());
}

daybook::check_decision check(transaction& /*in*/, daybook::candidate& of) {
  if (of.payload == torture::refused_sale) {
    return daybook::check_decision::refuse(torture::refusal_of_sale);
  }
  if (of.payload == torture::broken_sale) throw std::runtime_error(torture::fault_of_sale);
  return daybook::check_decision::launch();
}

daybook::book_options options_of(settings const& how) {
  daybook::book_options out;
  out.lease = how.role == "script" ? 10s : 2s;
  out.renew_in_background = how.role != "script";
  out.movable_clock = how.role == "script";
  return out;
}

class worker {
 public:
  explicit worker(settings how)
      : how_(std::move(how)), dice_(how_.seed), book_(how_.url, options_of(how_)) {}

  ending run() {
    if (how_.role == "serve") return serve();
    if (how_.role == "produce") return produce();
    return work_until_nothing_is_left();
  }

 private:
  int up_to(int most) { return std::uniform_int_distribution<int>(0, most)(dice_); }
  bool one_in(int many) { return up_to(many - 1) == 0; }
  // Kept: they know of claims whose end is in doubt.
  daybook::planner& planner(plan which) {
    auto const found = planners_.find(which);
    if (found != planners_.end()) return found->second;
    auto const name = torture::name_of(which, how_.trial);
    auto const options = book_.planner(name).value().options();
    return planners_.emplace(which, book_.planner(name, options).value()).first->second;
  }
  daybook::queue& queue(plan which) {
    auto const found = queues_.find(which);
    if (found != queues_.end()) return found->second;
    auto const name = torture::queue_of(which, how_.trial);
    return queues_.emplace(which, book_.queue(name).value()).first->second;
  }
  bool serves(plan which) const {
    return std::find(how_.plans.begin(), how_.plans.end(), which) != how_.plans.end();
  }

  /// True: it found nothing to do.
  bool pass(plan which) {
    try {
      auto const sum = planner(which).pass({.check = check, .stop = {}, .on_progress = {}});
      return sum.ran && sum.launched + sum.failed == 0;
    } catch (daybook::error const& e) {
      say("pass", e);
      return false;
    }
  }

  void effect(transaction& tx, plan which, std::string_view task, std::string_view item = {}) {
    tx.exec("insert into effect(queue, task, item) values (:queue, :task, :item)",
            torture::queue_of(which, how_.trial), task, item);
  }

  /// Of the script's: while it is under way somebody comes late, before, amid and after the others,
  /// and somebody goes.
  static void come_and_go(transaction& tx) {
    for (int const id : {15, 45, 1000}) tx.exec("insert into customer(id) values (:id)", id);
    tx.exec("insert into gone(id) values (90)");
    tx.exec("delete from customer where id = 90");
  }

  outcome look_at(daybook::sweep_page const& page, daybook::claim& batch,
                  daybook::task const& one) {
    return page.perform(batch, one,
                        [&](transaction& tx, std::vector<daybook::row_key> const& rows) {
                          auto const sweep = std::to_string(page.sweep());
                          for (auto const& row : rows)
                            effect(tx, plan::customers, sweep, row.front());
                          if (how_.role == "script" && page.sweep() == 1 && page.number() == 2)
                            come_and_go(tx);
                        });
  }

  /// False: the batch is another's.
  bool handle(plan which, daybook::claim& batch, daybook::task const& one) {
    daybook::key const key(one.key);
    if (which == plan::minutes && one.id % 3 == 0 && planner(which).find(key)->launches == 1) {
      batch.finish(one, daybook::result::failure("on purpose"));
      return true;
    }
    if (which == plan::customers) {
      if (auto const page = planner(which).page(key)) {
        return look_at(*page, batch, one) != outcome::lost;
      }
    }
    return batch.perform(one, [&](transaction& tx) { effect(tx, which, one.key); }) !=
           outcome::lost;
  }

  bool work_on(plan which, daybook::claim_options const& how) {
    auto& tasks = queue(which);
    bool idle = true;
    for (bool more = true; more && over == 0;) {
      auto batch = tasks.claim(how);
      if (!batch) break;
      idle = false;
      more = std::all_of(batch->tasks().begin(), batch->tasks().end(),
                         [&](daybook::task const& one) { return handle(which, *batch, one); });
      more = std::move(*batch).complete() == outcome::done && more;
    }
    return idle;
  }

  /// True: there was nothing to do.
  bool work(plan which) {
    try {
      bool const idle = work_on(which, {.limit = 4});
      return work_on(which, {.limit = 1, .quarantined = true}) && idle;
    } catch (daybook::error const& e) {
      say("work", e);
      return false;
    }
  }

  bool nothing_is_left() {
    auto const is_empty = [&](std::string const& queue) {
      auto const now = book_.queue(queue).value().counts();
      return now.waiting + now.running + now.quarantined == 0;
    };
    if (!is_empty(torture::events_of(how_.trial))) return false;
    return std::all_of(how_.plans.begin(), how_.plans.end(), [&](plan which) {
      if (!is_empty(torture::queue_of(which, how_.trial))) return false;
      if (which != plan::customers) return true;
      auto const last = planner(which).sweeps(1);
      return !last.empty() && last.front().state == daybook::sweep_state::over;
    });
  }

  /// False: something is left, or could not be done.
  bool round() {
    if (how_.role == "script") static_cast<void>(daybook::testing::renew(book_));
    bool idle = true;
    for (auto const which : how_.plans) idle = pass(which) && idle;
    for (auto const which : how_.plans) idle = work(which) && idle;
    if (!idle) return false;
    if (nothing_is_left()) return true;
    // What failed is due in the second that comes. Not so often that a lease were over.
    if (how_.role == "script" && seconds_++ < 3) {
      daybook::testing::manual_clock(book_).advance(1s);
    }
    return false;
  }

  ending work_until_nothing_is_left() {
    for (auto const until = clock::now() + 100s; clock::now() < until;) {
      try {
        if (round()) return ending::finished;
      } catch (daybook::error const& e) {
        say("look", e);
      }
      std::this_thread::sleep_for(5ms);
    }
    return ending::busy;
  }

  void arm_something() {
    using daybook::testing::failpoint_action;
    using daybook::testing::failpoint_room;
    static constexpr std::array actions{failpoint_action::kill, failpoint_action::cut,
                                        failpoint_action::fail, failpoint_action::stop};
    auto const names =
        daybook::testing::failpoints(one_in(2) ? failpoint_room::runs : failpoint_room::queues);
    daybook::testing::arm(
        names[static_cast<std::size_t>(up_to(static_cast<int>(names.size()) - 1))],
        actions.at(static_cast<std::size_t>(up_to(how_.number - 1))),
        static_cast<unsigned>(up_to(4)));
  }

  ending serve() {
    while (over == 0) {
      if (one_in(2)) arm_something();
      auto const which =
          how_.plans[static_cast<std::size_t>(up_to(static_cast<int>(how_.plans.size()) - 1))];
      static_cast<void>(one_in(2) ? pass(which) : work(which));
      daybook::testing::disarm();
      std::this_thread::sleep_for(std::chrono::milliseconds(up_to(20)));
    }
    return ending::finished;
  }

  void bring_orders(transaction& tx) {
    for (int left = one_in(10) ? 20 : up_to(2); left > 0; --left) {
      tx.exec("insert into orders(trial, state) values (:trial, :state)", how_.trial,
              one_in(4) ? "new" : "paid");
    }
    if (!one_in(3)) return;
    // One that is old becomes eligible now.
    auto const old = tx.rows<std::optional<std::int64_t>>(
        "select min(id) from orders where trial = :trial and state = 'new'", how_.trial);
    if (!old.empty() && old.front()) {
      tx.exec("update orders set state = 'paid' where id = :id", *old.front());
    }
  }

  void bring_sales(transaction& tx, daybook::queue& events) {
    for (int left = one_in(10) ? 20 : up_to(2); left > 0; --left) {
      auto const* const kind = one_in(12)   ? torture::refused_sale
                               : one_in(30) ? torture::broken_sale
                                            : torture::good_sale;
      auto const id = tx.rows<std::int64_t>(
          "insert into sale(trial, kind) values (:trial, :kind) returning id", how_.trial, kind);
      events.add(tx, daybook::key(std::to_string(id.front())), {.payload = kind});
    }
  }

  void bring_customers(transaction& tx) {
    for (int left = up_to(2); left > 0; --left) {
      tx.exec("insert into customer(id) values (:id)", 1 + up_to(1'000'000'000));
    }
    if (!one_in(8)) return;
    auto const some = tx.rows<std::int64_t>(
        "select id from customer where id > :id order by id limit 1", up_to(1'000'000'000));
    if (some.empty()) return;
    tx.exec("insert into gone(id) values (:id)", some.front());
    tx.exec("delete from customer where id = :id", some.front());
  }

  ending produce() {
    auto events = book_.queue(torture::events_of(how_.trial)).value();
    while (over == 0) {
      try {
        book_.transact([&](transaction& tx) {
          if (serves(plan::orders)) bring_orders(tx);
          if (serves(plan::sales)) bring_sales(tx, events);
          if (serves(plan::customers)) bring_customers(tx);
          std::this_thread::sleep_for(std::chrono::milliseconds(up_to(how_.number)));
          if (one_in(60)) std::raise(SIGKILL);
          if (one_in(5)) throw aborted();
        });
      } catch (aborted const&) {
        continue;
      } catch (daybook::error const& e) {
        say("produce", e);  // two may have met in one row; the reply to a COMMIT may be lost
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(up_to(20)));
    }
    return ending::finished;
  }

  settings how_;
  std::minstd_rand dice_;
  daybook::book book_;
  std::map<plan, daybook::planner> planners_;
  std::map<plan, daybook::queue> queues_;
  int seconds_ = 0;  ///< that the clock was moved by
};

/// Its server may be away just now.
ending run(settings const& how) {
  for (auto const until = clock::now() + 60s;;) {
    try {
      return worker(how).run();
    } catch (daybook::error const& e) {
      if (!e.retryable() || how.role == "script" || clock::now() > until) throw;
    }
    std::this_thread::sleep_for(50ms);
  }
}

}  // namespace

int main(int count, char** words) try {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGTERM, [](int) { over = 1; });
  if (count < 5) return static_cast<int>(ending::usage);
  auto const number = [&](int at) { return count > at ? std::stoi(words[at]) : 0; };
  daybook::testing::arm_from_environment();
  return static_cast<int>(run({.url = words[1],
                               .trial = words[2],
                               .plans = torture::plans_in(words[3]),
                               .role = words[4],
                               .seed = static_cast<unsigned>(number(5)),
                               .number = number(6)}));
} catch (std::exception const& e) {
  std::fprintf(stderr, "plans_worker: %s\n", e.what());
  return static_cast<int>(ending::error);
}
