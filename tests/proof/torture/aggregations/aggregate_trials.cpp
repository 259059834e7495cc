#include "proof/torture/aggregations/aggregate_trials.hpp"

#include "proof/torture/job.hpp"

#include <chrono>
#include <csignal>
#include <limits>
#include <thread>

namespace torture {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 150s;
/// Shorter than a verb is patient with its database: the stopped one shall succeed.
constexpr std::chrono::milliseconds heirs_patience = 4s;
/// Of workers that are stopped: so long, too, their open transactions keep locks.
constexpr char const* short_lease = "1000";

constexpr int workers = 7;
constexpr int moves = 60;  ///< in one trial: several chunks of what the worker takes at once

/// Whose sum has no room, what is free of his parent's, and what is too much.
constexpr int heavy = 1;
constexpr int room = 600;
constexpr int too_much = 1'000;

/// The most that the parent's column holds; SQLite knows no `int`.
std::int64_t most_of(std::string_view dialect) {
  return dialect == "sqlite" ? std::numeric_limits<std::int64_t>::max()
                             : std::numeric_limits<std::int32_t>::max();
}

}  // namespace

std::vector<std::string> aggregate_failpoints(std::string_view dialect) {
  std::vector<std::string> out;
  for (auto const name :
       daybook::testing::failpoints(daybook::testing::failpoint_room::aggregations)) {
    // With one writer, a range is given out in the transaction that takes it.
    if (dialect == "sqlite" && name.starts_with("aggregate_range.")) continue;
    out.emplace_back(name);
  }
  return out;
}

aggregate_lane::aggregate_lane(support::engine const& on, std::string worker, aggregate_report& to)
    : worker_(std::move(worker)),
      report_(&to),
      database_(on),
      book_(database_.open()),
      dialect_(book_.dialect()),
      checker_((bricks::make_tables(database_, dialect_), database_.url()), dialect_) {}

std::vector<std::string> aggregate_lane::words(std::vector<std::string> const& more) const {
  std::vector<std::string> out{worker_, database_.url()};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

void aggregate_lane::fail(std::string const& name, std::string const& what, child const& who) {
  report_->failure(name + ": " + what + "; it said: " + who.words());
}

void aggregate_lane::move_brick(int worker, std::int64_t number) {
  database_.execute("insert into t_move_brick (move_no, worker_id, move_num, status) values ('M" +
                    std::to_string(++moves_) + "', " + std::to_string(worker) + ", " +
                    std::to_string(number) + ", 1)");
}

void aggregate_lane::move_bricks(int first_worker, int how_many, int all, std::minstd_rand& dice) {
  std::string text = "insert into t_move_brick (move_no, worker_id, move_num, status) values ";
  for (int at = 0; at < all; ++at) {
    auto const worker = first_worker + at % how_many;
    auto const number = 1 + static_cast<int>(dice() % 100);
    text += (at == 0 ? "('M" : ", ('M") + std::to_string(++moves_) + "', " +
            std::to_string(worker) + ", " + std::to_string(number) + ", 1)";
    carried_[worker] += number;
  }
  database_.execute(text);
}

aggregate_lane::prepared aggregate_lane::prepare(aggregate_trial const& of,
                                                 std::minstd_rand& dice) {
  auto const room_of = of.failpoint.substr(0, of.failpoint.find('.'));
  // Declared once; else not only at the first chunk, or parent, of several.
  bool const declares = room_of == "declare";
  bool const many = !declares && room_of != "remove_row";
  auto const skip = of.skip >= 0 ? static_cast<unsigned>(of.skip) : many ? dice() % 3 : 0;
  auto const what = of.failpoint + "=" + of.action + ":" + std::to_string(skip);
  prepared out{std::to_string(++number_) + " " + what, {{"DAYBOOK_FAILPOINT", what}}, {"--script"}};
  if (declares) out.way = {"--declare", "another " + std::to_string(number_)};
  return out;
}

bool aggregate_lane::acted(aggregate_trial const& of, std::string const& name, child& who) {
  auto const came = who.wait(patience);
  bool well = came.is(ending::finished);  // a lost connection is the library's business
  if (of.action == "kill") well = came.what == child::state::killed && came.code == SIGKILL;
  if (of.action == "stop") well = came.what == child::state::stopped;
  if (of.action == "fail") well = came.is(ending::error);
  if (well) {
    report_->hit(of.failpoint, of.action);
  } else {
    fail(name, "the worker " + came.text(), who);
  }
  return came.what == child::state::stopped;
}

/// Somebody comes beside it and does what can be done; then the stopped one goes on, now and then
/// when its locks were taken from it.
void aggregate_lane::stopped(aggregate_trial const& of, prepared const& with, child& who,
                             std::minstd_rand& dice) {
  auto const& name = with.name;
  bool const declares = with.way.front() == "--declare";
  child heir(words(declares ? with.way : std::vector<std::string>{"--drain", "--beside"}));
  // In SQLite nothing takes the lock of a process that is stopped within a transaction.
  bool const waits = dialect_ == "sqlite" && !of.failpoint.ends_with(".committed");
  auto const time =
      waits || dice() % 3 == 0 ? std::chrono::milliseconds(20 + dice() % 200) : heirs_patience;
  auto beside = heir.wait(time);
  who.go_on();
  if (auto const came = who.wait(patience); !came.is(ending::finished)) {
    fail(name, "the stopped one " + came.text(), who);
  }
  if (beside.what == child::state::silent) beside = heir.wait(patience);
  if (!beside.is(ending::finished)) fail(name, "the heir " + beside.text(), heir);
}

void aggregate_lane::drain(std::string const& name, std::vector<std::string> const& how) {
  auto const clean = run_unharmed([&] { return std::make_unique<child>(words(how)); }, patience);
  if (clean.came.is(ending::finished)) return;
  fail(name, "a clean worker " + clean.came.text(), *clean.who);
}

void aggregate_lane::one(aggregate_trial const& of, std::minstd_rand& dice) {
  auto const with = prepare(of, dice);
  move_bricks(1, workers, moves, dice);
  auto how = with.way;
  if (of.action == "stop") how.insert(how.end(), {"--beside", "--lease", short_lease});
  child worker(words(how), with.armed);
  bool const is_stopped = acted(of, with.name, worker);
  report_->add(checker_.look(), with.name);
  if (is_stopped) {
    stopped(of, with, worker, dice);
    report_->add(checker_.look(), with.name);
  }
  drain(with.name, {"--drain"});
  report_->add(checker_.look_at_the_end(carried_), with.name);
  report_->trial(of.action);
}

/// Everything about the heavy worker, as text.
std::string aggregate_lane::untouched() {
  auto const who = std::to_string(heavy);
  auto const both = [&](char const* table, char const* columns) {
    bool const my = dialect_ == "mysql";
    std::string const row = my ? "concat_ws(' ', " + std::string(columns) + ")" : columns;
    return database_.query(
        dialect_ == "postgres"
            ? "select coalesce(string_agg(t::text, ';' order by t.id), '') from (select " +
                  std::string("id, ") + columns + " from " + table + " where worker_id = " + who +
                  ") t"
            : "select coalesce(group_concat(" + row + (my ? " separator ';'" : "") +
                  "), '') from (select * from " + table + " where worker_id = " + who +
                  " order by id) t");
  };
  return both("t_move_brick", dialect_ == "sqlite" ? "move_no || ' ' || pay_no || ' ' || status"
                                                   : "move_no, pay_no, status") +
         "|" +
         both("t_move_pay", dialect_ == "sqlite"
                                ? "pay_no || ' ' || move_count || ' ' || move_sum || ' ' || status"
                                : "pay_no, move_count, move_sum, status");
}

void aggregate_lane::overflow(aggregate_trial const& of, std::minstd_rand& dice) {
  auto const with = prepare(of, dice);
  if (no_room_ == 0) {
    move_brick(heavy, most_of(dialect_) - room);
    drain(with.name, {"--plain", "--gather"});
  }
  move_brick(heavy, too_much);
  ++no_room_;
  auto const before = untouched();
  move_bricks(heavy + 1, workers, moves, dice);
  child worker(words({"--plain", "--gather", "--lease", short_lease}), with.armed);
  if (acted(of, with.name, worker)) {
    worker.go_on();
    if (auto const came = worker.wait(patience); !came.is(ending::finished)) {
      fail(with.name, "the stopped one " + came.text(), worker);
    }
  }
  drain(with.name, {"--plain", "--gather"});
  bricks::findings found;
  if (auto const after = untouched(); after != before) {
    found.add(bricks::flaw::overflow, before + " became " + after);
  }
  auto const free = database_.query("select count(*) from t_move_brick where status = 1");
  if (free != std::to_string(no_room_)) found.add(bricks::flaw::overflow, free + " are free");
  std::int64_t all = 0;
  for (auto const& [who, number] : carried_) all += number;
  auto const sums = database_.query("select sum(move_sum) from t_move_pay where worker_id <> " +
                                    std::to_string(heavy));
  if (sums != std::to_string(all)) found.add(bricks::flaw::unpaid, "the others: " + sums);
  report_->add(found, with.name);
  report_->trial("overflow");
}

}  // namespace torture
