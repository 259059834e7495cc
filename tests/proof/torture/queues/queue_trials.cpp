#include "proof/torture/queues/queue_trials.hpp"

#include "proof/torture/job.hpp"
#include "proof/torture/queues/queue_job.hpp"

#include <csignal>
#include <filesystem>
#include <thread>

#include <unistd.h>

namespace torture {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds patience = 120s;
/// Of workers that are stopped: so long, too, their open transactions keep locks.
constexpr char const* short_lease = "1000";
constexpr char const* usual_lease = "10000";
/// How long an heir waits beside a stopped worker.
constexpr char const* heirs_patience = "300";
constexpr char const* long_patience = "30000";
constexpr std::chrono::microseconds a_jump = 1h;

std::string room_of(std::string const& failpoint) {
  return failpoint.substr(0, failpoint.find('.'));
}
std::string place_of(std::string const& failpoint) {
  return failpoint.substr(failpoint.find('.') + 1);
}

/// Where the doubt comes from that is resolved there: the COMMIT's reply is lost, or the COMMIT.
std::vector<std::string> sources_of(std::string const& failpoint) {
  auto const room = room_of(failpoint);
  if (room == "resolve_task") return {"perform.before_commit", "perform.committed"};
  if (room != "settle_claim") return {""};
  // Only where the claim is not there is anything written.
  if (place_of(failpoint) != "begun") return {"claim.before_commit"};
  return {"claim.before_commit", "claim.committed"};
}

}  // namespace

std::vector<queue_place> queue_places(std::string_view dialect) {
  std::vector<queue_place> out;
  for (auto const name : daybook::testing::failpoints(daybook::testing::failpoint_room::queues)) {
    std::string const failpoint(name);
    // With one writer, ids are given out in the transaction that needs them.
    if (room_of(failpoint) == "block" && dialect == "sqlite") continue;
    for (auto const& source : sources_of(failpoint)) out.push_back({failpoint, source});
  }
  return out;
}

queue_lane::queue_lane(support::engine const& on, std::string worker, queue_report& to)
    : worker_(std::move(worker)),
      report_(&to),
      database_(on),
      book_(database_.open()),
      dialect_(book_.dialect()),
      folder_((std::filesystem::temp_directory_path() /
               ("torture_queue_" + std::to_string(::getpid()) + "_" +
                std::to_string(reinterpret_cast<std::uintptr_t>(this))))
                  .string()) {
  book_.migrate();
  make_task_ledger(database_, dialect_);
  std::filesystem::create_directory(folder_);
}

queue_lane::~queue_lane() { std::filesystem::remove_all(folder_); }

std::string queue_lane::outside_file(std::string const& queue) const {
  return folder_ + "/" + queue;
}

std::vector<std::string> queue_lane::words(std::string const& queue,
                                           std::vector<std::string> const& more) const {
  std::vector<std::string> out{worker_, database_.url(), queue, outside_file(queue)};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

void queue_lane::fail(trial const& of, std::string const& what, child const& who) {
  report_->failure(of.name + ": " + what + "; it said: " + who.words());
}

/// SQLite has one writer: stopped there, it stops everybody.
bool queue_lane::writes_alone(std::string const& failpoint) const {
  auto const place = place_of(failpoint);
  return dialect_ == "sqlite" && place != "committed" && place != "taken";
}

void queue_lane::past_the_lease(std::chrono::microseconds by) {
  daybook::testing::manual_clock(book_).advance(by);
}

queue_lane::trial queue_lane::prepare(queue_place const& at, std::string const& action,
                                      std::minstd_rand& dice) {
  trial out;
  out.failpoint = at.failpoint;
  out.action = action;
  // Now and then with a period, which changes what is written back.
  out.queue = "q" + std::to_string(++number_) + (dice() % 2 == 0 ? "p" : "");
  auto const room = room_of(at.failpoint);
  // Not only at the first task, or claim, of several.
  bool const many = room == "perform" || room == "flush" || room == "claim" || room == "complete";
  auto const skip = at.skip.value_or(at.source.empty() && many ? dice() % 3 : 0);
  auto const what = at.failpoint + "=" + action + ":" + std::to_string(skip);
  if (at.source.empty()) {
    out.armed = {{"DAYBOOK_FAILPOINT", what}};
  } else {
    out.armed = {{"DAYBOOK_FAILPOINT", at.source + "=cut:" + std::to_string(dice() % 2)},
                 {then_variable, what}};
  }
  out.forgets = room == "forget";
  out.twice_in_doubt = !at.source.empty();
  out.gives_up = out.twice_in_doubt && room == "settle_claim" && place_of(at.failpoint) != "begun";
  out.way = {"--script"};
  // A lost reply to a claim is not the caller's business.
  if (action == "cut" && room != "reclaim") out.way.emplace_back("--fresh");
  if (out.forgets) out.way.emplace_back("--later");
  out.name = out.queue + " " + what + (at.source.empty() ? "" : " after " + at.source);
  return out;
}

/// Leaves a claim, and in it a task that is done, to be taken back.
void queue_lane::bury_a_holder(trial const& of) {
  child first(words(of.queue, {"--script", "--lease", usual_lease}),
              {{"DAYBOOK_FAILPOINT", "perform.effect_done=kill:1"}});
  if (auto const came = first.wait(patience); came.what != child::state::killed) {
    fail(of, "the first holder " + came.text(), first);
  }
  past_the_lease(a_jump);
}

void queue_lane::one(queue_place const& at, std::string const& action, std::minstd_rand& dice) {
  auto const of = prepare(at, action, dice);
  if (room_of(of.failpoint) == "reclaim") bury_a_holder(of);
  auto more = of.way;
  // In SQLite nothing keeps a lock for as long as that, but calls are patient for so long, too.
  bool const brief = action == "stop" && dialect_ != "sqlite";
  more.insert(more.end(), {"--lease", brief ? short_lease : usual_lease});
  child worker(words(of.queue, more), of.armed);
  auto const came = worker.wait(patience);
  bool acted = false;
  if (action == "kill") {
    acted = came.what == child::state::killed && came.code == SIGKILL;
  } else if (action == "stop") {
    acted = came.what == child::state::stopped;
  } else if (action == "fail") {
    acted = came.is(ending::error);
  } else {
    // A lost connection is the library's business, where it is not two in a row.
    acted = came.is(ending::finished) || (came.is(ending::error) && of.gives_up);
  }
  if (acted) {
    report_->hit(of.failpoint, action);
  } else {
    fail(of, "the worker " + came.text(), worker);
  }
  if (came.what == child::state::stopped) stopped(of, worker, dice);
  if (came.what != child::state::exited) past_the_lease(a_jump);
  look(of, moment::amid);
  settle(of);
  look(of, moment::at_the_end);
  report_->trial(action);
}

/// An heir comes when the lease is over, and does what it can; then the stopped one goes on.
void queue_lane::stopped(trial const& of, child& worker, std::minstd_rand& dice) {
  bool const alone = writes_alone(of.failpoint);
  if (!alone) past_the_lease(a_jump);
  child heir(words(of.queue, {"--drain", heirs_patience, "--lease", "60000"}));
  auto const beside = heir.wait(alone ? milliseconds(20 + dice() % 100) : patience);
  bool const waits = beside.what == child::state::silent;
  if (waits != alone && !beside.is(ending::finished) && !beside.is(ending::busy)) {
    fail(of, "the heir " + beside.text(), heir);
  }
  worker.go_on();
  auto const came = worker.wait(patience);
  // One whose connection was ended while it was in doubt already may leave it at that.
  bool const gave_up = of.twice_in_doubt && came.is(ending::error);
  if (!came.is(ending::finished) && !gave_up) fail(of, "the stopped one " + came.text(), worker);
  if (!waits) return;
  auto const last = heir.wait(patience);
  if (!last.is(ending::finished) && !last.is(ending::busy)) {
    fail(of, "the heir " + last.text(), heir);
  }
}

/// Healed: a clean worker does what is left, and everything must be right.
void queue_lane::settle(trial const& of) {
  past_the_lease(a_jump);
  auto const how = words(of.queue, {"--script", "--drain", long_patience, "--jump"});
  auto const clean = run_unharmed([&] { return std::make_unique<child>(how); }, patience);
  if (clean.came.is(ending::finished)) return;
  fail(of, "a clean worker " + clean.came.text(), *clean.who);
}

void queue_lane::look(trial const& of, moment when) {
  report_->add(
      check_queue(database_, dialect_, of.queue, outside_file(of.queue), when, !of.forgets),
      of.name);
}

void queue_lane::poison() {
  constexpr int limit = 3;
  trial of;
  of.queue = "poison" + std::to_string(++number_);
  of.name = of.queue;
  {
    child first(words(of.queue, {"--poison"}));
    static_cast<void>(first.wait(patience));
  }
  auto queue = book_.queue(of.queue).value();
  std::vector<daybook::entry> entries;
  for (int at = 0; at < all_keys; ++at) {
    entries.push_back({daybook::key(at == all_keys / 2 ? poison_key : key_of(at, of.queue))});
  }
  // Only a task that is performed can kill: those of the odd ids.
  daybook::key const poison(poison_key);
  queue.import(entries);
  if (!is_performed(queue.find(poison).value().id)) {
    queue.remove(poison);
    while (queue.add(poison), !is_performed(queue.find(poison).value().id)) queue.remove(poison);
  }
  int deaths = 0;
  for (bool over = false; !over && deaths <= limit + 1;) {
    child worker(words(of.queue, {"--poison", "--drain", "10000"}));
    auto const came = worker.wait(patience);
    over = came.what == child::state::exited;
    if (over && !came.is(ending::finished)) fail(of, "a worker " + came.text(), worker);
    if (!over) ++deaths;
    past_the_lease(a_jump);
  }
  auto const stands = queue.find(poison).value();
  queue_findings found;
  bool const well =
      deaths == limit && stands.state == daybook::task_state::dead && stands.crashes == limit;
  if (!well) {
    found.add(queue_flaw::poison);
    report_->note("poison: " + std::to_string(deaths) + " deaths, " +
                  std::string(word_of(stands.state)) + " after " + std::to_string(stands.crashes) +
                  " crashes");
  }
  report_->add(found, of.name);
  look(of, moment::at_the_end);
  report_->trial("poison");
}

}  // namespace torture
