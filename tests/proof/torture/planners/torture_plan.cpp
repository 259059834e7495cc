// A planner of a query beside sixteen writers that take an id, sleep, commit late, abort or die;
// its passes are made by three processes, at whose failpoints things go wrong, and which are killed
// and stopped past their lease besides. At the end every order that is there and paid has exactly
// one instance, and no instance is of an order that was never committed. How many of them a cursor
// that remembers an id would have missed is printed beside it.
//   torture_plan --engine NAME [--seconds 8] [--seed N] [--only FAILPOINT] [--worker NAME]
//                [--expect missed]
// Exit code: 0 good, 1 not.
#include "proof/torture/child.hpp"
#include "proof/torture/driver.hpp"
#include "support/engines.hpp"

#include <daybook/book.hpp>
#include <daybook/planner.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using torture::child;

struct settings {
  std::string engine = "sqlite";
  int seconds = 8;
  unsigned seed = std::random_device{}();
  std::string worker = "plan_worker";
  std::string only = {};       ///< a failpoint, at each pass
  bool expect_missed = false;  ///< of a library that leaves out a rule
};

class trial {
 public:
  explicit trial(settings how)
      : how_(std::move(how)),
        dice_(how_.seed),
        on_sqlite_(how_.engine == "sqlite"),
        database_(torture::find_engine(how_.engine)),
        book_(database_.url(), {.lease = 5s}) {
    book_.migrate();
    std::string const id = on_sqlite_                         ? "integer primary key autoincrement"
                           : how_.engine.starts_with("maria") ? "bigint primary key auto_increment"
                                                              : "bigserial primary key";
    database_.execute("create table orders(id " + id + ", state varchar(8) not null, " +
                      "created bigint not null)");
    database_.execute("create index orders_state on orders(state)");
    database_.execute("create table gone(id bigint primary key)");
    database_.execute("create table visited(id bigint primary key)");
    book_.make_queue("ship");
    book_.make_planner("orders",
                       {.queue = "ship",
                        .strategy = daybook::query_strategy{"select id from orders where state = "
                                                            "'paid'"},
                        .page = 40});
  }

  int run() {
    // One writer at a time on SQLite: a sleep there keeps everybody from writing.
    int const writers = on_sqlite_ ? 4 : 16;
    for (int i = 0; i < writers; ++i) start("write");
    for (int i = 0; i < 3; ++i) start("plan");
    start("cursor");
    auto const end = clock::now() + std::chrono::seconds(how_.seconds);
    while (clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(up_to(80)));
      tend();
      // With a failpoint of its own each pass fails by that alone: struck from outside as well, on
      // a slow machine none would come so far.
      if (how_.only.empty()) strike();
    }
    for (auto& one : crew_) finish(one);
    catch_up();
    return judge();
  }

 private:
  struct place {
    std::string role;
    std::unique_ptr<child> who;
    clock::time_point wakes = clock::time_point::max();
  };

  int up_to(int most) { return std::uniform_int_distribution<int>(0, most)(dice_); }

  std::unique_ptr<child> worker(std::string const& role) {
    return std::make_unique<child>(std::vector<std::string>{
        torture::worker_path(how_.worker), database_.url(), role, std::to_string(up_to(1'000'000)),
        on_sqlite_ ? "3" : "250", how_.only});
  }
  void start(std::string const& role) { crew_.push_back({role, worker(role)}); }

  /// Who died is replaced, who was stopped goes on.
  void tend() {
    for (auto& one : crew_) {
      if (one.wakes < clock::now()) {
        one.who->go_on();
        one.wakes = clock::time_point::max();
      }
      auto const now = one.who->wait(0ms);
      if (now.what != child::state::exited && now.what != child::state::killed) continue;
      if (now.what == child::state::exited) wrong("a " + one.role + " ended: " + one.who->words());
      ++faults_[one.role + " died"];
      one.who = worker(one.role);
      one.wakes = clock::time_point::max();
    }
  }

  /// A planner, from outside: killed, or stopped for longer than its lease.
  void strike() {
    auto& one = crew_[crew_.size() - 2 - static_cast<std::size_t>(up_to(2))];
    if (one.wakes != clock::time_point::max() || up_to(5) > 0) return;
    if (up_to(1) == 0) {
      one.who->send(SIGKILL);
    } else if (!on_sqlite_) {  // stopped with the only write lock it would stop everybody
      one.who->send(SIGSTOP);
      one.wakes = clock::now() + 2500ms;
      ++faults_["plan stopped past its lease"];
    }
  }

  void finish(place& one) {
    one.who->go_on();
    one.who->send(SIGTERM);
    for (int i = 0; i < 3; ++i) {
      auto const now = one.who->wait(60s);
      if (now.what == child::state::exited || now.what == child::state::killed) return;
      one.who->go_on();
    }
    wrong("a " + one.role + " does not end");
  }

  /// Passes until one finds nothing; the one that died last may have to be waited for.
  void catch_up() {
    auto plan = book_.planner("orders").value();
    for (auto const end = clock::now() + 120s; clock::now() < end;) {
      auto const sum = plan.pass();
      if (sum.ran) ++last_passes_;
      if (sum.ran && sum.launched == 0) return;
      if (!sum.ran) std::this_thread::sleep_for(100ms);
    }
    wrong("there is no end of passes");
  }

  void wrong(std::string const& what) {
    ++wrong_;
    std::printf("wrong: %s\n", what.c_str());
  }

  [[nodiscard]] long long number(std::string const& query) const {
    auto const text = database_.query(query);
    return text.empty() ? 0 : std::stoll(text);
  }

  int judge() {
    std::string const key =
        how_.engine.starts_with("maria") ? "cast(o.id as char)" : "cast(o.id as varchar)";
    std::string const paid = "from orders o where o.state = 'paid'";
    auto const orders = number("select count(*) " + paid);
    auto const launched = number("select count(*) from daybook_planned");
    auto const missed = number("select count(*) " + paid +
                               " and not exists (select 1 from daybook_member m "
                               "where m.member_key = " +
                               key + ")");
    auto const doubled = number("select count(*) from daybook_planned where launches <> 1");
    auto const apart = number(
                           "select count(*) from daybook_member m where not exists "
                           "(select 1 from daybook_planned p where p.planned_key = m.member_key)") +
                       launched - number("select count(*) from daybook_member");
    auto const of_none = number(
        "select count(*) from daybook_planned p where not exists (select 1 from orders o "
        "where " +
        key + " = p.planned_key) and not exists (select 1 from gone o where " + key +
        " = p.planned_key)");
    auto const naive = number("select count(*) " + paid +
                              " and not exists (select 1 from visited v where v.id = o.id)");
    std::printf("engine %s  seed %u\n", how_.engine.c_str(), how_.seed);
    for (auto const& [what, count] : faults_) std::printf("  %s %lld\n", what.c_str(), count);
    std::printf("  passes %lld, %d of them after the last writer\n",
                number("select passes from daybook_planner"), last_passes_);
    std::printf("  orders paid %lld, launched %lld, deleted %lld\n", orders, launched,
                number("select count(*) from gone"));
    std::printf("  missed %lld, doubled %lld, of none %lld, apart %lld\n", missed, doubled, of_none,
                apart);
    std::printf("  a cursor would have missed %lld\n", naive);
    std::printf("  violations %lld / %lld orders\n", missed + doubled + of_none + apart, orders);
    if (how_.expect_missed) return missed > 0 ? 0 : 1;
    if (missed + doubled + of_none + apart != 0) wrong("the counts");
    if (launched < 50) wrong("there was nothing to see");
    return wrong_ == 0 ? 0 : 1;
  }

  settings how_;
  std::minstd_rand dice_;
  bool on_sqlite_;
  support::fresh_database database_;
  daybook::book book_;
  std::vector<place> crew_;
  std::map<std::string, long long> faults_;
  int last_passes_ = 0;
  int wrong_ = 0;
};

}  // namespace

int main(int count, char** words) try {
  settings how;
  for (int at = 1; at + 1 < count; at += 2) {
    std::string const name = words[at];
    if (name == "--engine") how.engine = words[at + 1];
    if (name == "--seconds") how.seconds = std::stoi(words[at + 1]);
    if (name == "--only") how.only = words[at + 1];
    if (name == "--worker") how.worker = words[at + 1];
    if (name == "--expect") how.expect_missed = std::string("missed") == words[at + 1];
    if (name == "--seed") how.seed = static_cast<unsigned>(std::stoul(words[at + 1]));
  }
  return trial(std::move(how)).run();
} catch (std::exception const& e) {
  std::fprintf(stderr, "torture_plan: %s\n", e.what());
  return 1;
}
