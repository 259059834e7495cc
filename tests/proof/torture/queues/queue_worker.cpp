// A worker at queues, one process of the torture.
//   torture_queue_worker URL QUEUE OUTSIDE [switches]
//     --lease MS        of its holder (10000)
//     --script          every verb of a queue once, then all tasks that are due
//     --fresh           in the script: nobody has had these tasks, so that the first claim has some
//     --later           in the script: moves the clock past the retention before the upkeep
//     --drain MS        then goes on until nothing is left, so long at most
//     --jump            moves the clock while it drains: nobody else is at work
//     --poison          performs the poison, too, and that is its end
//     --loop SEED KEYS TALLY   until SIGTERM, at random; one letter for each batch to TALLY
// Exit codes: as those of torture_worker.
#include "base/failpoint.hpp"
#include "proof/torture/job.hpp"
#include "proof/torture/queues/queue_job.hpp"

#include <daybook/book.hpp>
#include <daybook/error.hpp>
#include <daybook/queue.hpp>
#include <daybook/testing.hpp>
#include <daybook/transaction.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using daybook::outcome;
using daybook::result;
using daybook::task_state;
using std::chrono::milliseconds;
using torture::ending;
using torture::tally;

struct settings {
  std::string url;
  std::string queue;
  std::string outside;
  milliseconds lease = 10s;
  bool script = false;
  bool fresh = false;
  bool later = false;
  bool jump = false;
  bool poison = false;
  std::optional<milliseconds> drain;
  std::optional<unsigned> seed;
  int keys = 0;
  std::string tally_file;
};

[[noreturn]] void usage() {
  std::fputs("torture_queue_worker: see the head of queue_worker.cpp\n", stderr);
  std::exit(static_cast<int>(ending::usage));
}

settings parse(std::vector<std::string> const& words) {
  if (words.size() < 3) usage();
  settings out;
  out.url = words[0];
  out.queue = words[1];
  out.outside = words[2];
  for (std::size_t at = 3; at < words.size(); ++at) {
    auto const next = [&]() -> std::string const& {
      if (++at >= words.size()) usage();
      return words[at];
    };
    auto const& word = words[at];
    if (word == "--lease") {
      out.lease = milliseconds(std::stoi(next()));
    } else if (word == "--script") {
      out.script = true;
    } else if (word == "--fresh") {
      out.fresh = true;
    } else if (word == "--later") {
      out.later = true;
    } else if (word == "--jump") {
      out.jump = true;
    } else if (word == "--poison") {
      out.poison = true;
    } else if (word == "--drain") {
      out.drain = milliseconds(std::stoi(next()));
    } else if (word == "--loop") {
      out.seed = static_cast<unsigned>(std::stoul(next()));
      out.keys = std::stoi(next());
      out.tally_file = next();
    } else {
      usage();
    }
  }
  return out;
}

int open_for_lines(std::string const& name) {
  int const file = ::open(name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) usage();
  return file;
}

void append(int file, std::string_view text) {
  if (::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
}

bool is_passing(daybook::error const& e) {
  return e.retryable() || e.breaks_connection() || e.in_doubt();
}

/// As the background does: a renewal that failed is tried again.
void renew(daybook::book& book) {
  for (int tries = 0;; ++tries) {
    try {
      static_cast<void>(daybook::testing::renew(book));
      return;
    } catch (daybook::error const& e) {
      if (tries == 5 || !is_passing(e)) throw;
    }
  }
}

/// Retries are soon, and no fault of others makes a task dead.
daybook::queue_options options_of(settings const& how) {
  daybook::queue_options out;
  out.attempts = 1000;
  out.backoff = 1s;
  out.longest_backoff = 2s;
  out.crash_limit = how.poison ? 3 : 100;
  out.retention = std::chrono::hours(24);
  if (torture::is_periodic(how.queue)) out.period = 1h;
  out.in_order = torture::is_ordered(how.queue);
  return out;
}

class worker {
 public:
  explicit worker(settings how)
      : how_(std::move(how)),
        outside_(open_for_lines(how_.outside)),
        dice_(how_.seed.value_or(1)),
        book_(how_.url, {.lease = how_.lease, .renew_in_background = false, .movable_clock = true}),
        queue_(book_.make_queue(how_.queue, options_of(how_))) {}

  ending run() {
    if (how_.seed) return loop();
    if (how_.script) script();
    return how_.drain ? drain(*how_.drain) : ending::finished;
  }

 private:
  int up_to(int most) { return std::uniform_int_distribution<int>(0, most)(dice_); }

  outcome perform(daybook::claim& batch, daybook::task const& one) {
    return batch.perform(one, [&](daybook::transaction& tx) {
      tx.exec(
          "insert into task_effect(queue, task, turn, claim, pid)"
          " values (:queue, :task, :turn, :claim, :pid)",
          how_.queue, one.id, std::int64_t{one.turn.time_since_epoch().count()}, batch.id(),
          std::int64_t{::getpid()});
      if (one.key == torture::poison_key && how_.poison) std::abort();
      if (how_.seed) std::this_thread::sleep_for(std::chrono::microseconds(up_to(2000)));
    });
  }

  /// Once for each attempt; false: it has an end other than success.
  bool succeeds(daybook::claim& batch, daybook::task const& one, bool settling) {
    int const number = torture::number_of(one.key);
    if (settling) return true;
    bool const fails = how_.seed ? up_to(19) == 0 : number == 6 && one.attempt == 1;
    bool const waits = how_.seed ? up_to(29) == 0 : number == 9 && one.attempt == 1;
    if (fails) batch.finish(one, result::failure("on purpose"));
    if (waits && !fails) batch.finish(one, result::snooze(1s, "later"));
    return !fails && !waits;
  }

  /// Of a batch that is still ours: lost, where it is not.
  outcome finish(daybook::claim& batch, daybook::task const& one) {
    if (torture::is_performed(one.id)) return perform(batch, one);
    append(outside_, std::to_string(one.id) + " " +
                         std::to_string(one.turn.time_since_epoch().count()) + " " + batch.id() +
                         "\n");
    batch.finish(one, result::success());
    // Within the batch, too, and not only at its end.
    bool const now = how_.seed ? up_to(4) == 0 : torture::number_of(one.key) / 2 % 2 == 0;
    return !now || batch.flush() ? outcome::done : outcome::lost;
  }

  outcome all_of(daybook::claim& batch, bool settling) {
    for (auto const& one : batch.tasks()) {
      if (batch.begin(one) == outcome::lost) return outcome::lost;
      if (!succeeds(batch, one, settling)) continue;
      if (auto const what = finish(batch, one); what != outcome::done) return what;
      if (how_.seed && up_to(100) == 0) break;  // the rest is handed back
    }
    return outcome::done;
  }

  tally one_batch(daybook::claim_options how, bool settling = false) {
    if (how_.script || up_to(1) == 0) how.beginning = daybook::beginning::announced;
    auto batch = queue_.claim(how);
    if (!batch) return tally::busy;
    auto what = all_of(*batch, settling);
    if (what == outcome::done) what = std::move(*batch).complete();
    return what == outcome::done ? tally::finished : tally::lost;
  }

  /// One batch after the other, each end with the next claim.
  tally batches(int limit) {
    auto const beginning =
        up_to(1) == 0 ? daybook::beginning::announced : daybook::beginning::with_claim;
    auto batch = queue_.claim({.limit = limit, .beginning = beginning});
    if (!batch) return tally::busy;
    while (batch) {
      if (all_of(*batch, false) != outcome::done) return tally::lost;
      auto next = std::move(*batch).complete_and_claim(limit);
      if (next.ended != outcome::done) return tally::lost;
      batch = std::move(next.next);
      if (how_.seed && up_to(3) == 0) break;  // handed back
    }
    return tally::finished;
  }

  void script() {
    std::vector<daybook::entry> entries;
    for (int at = 0; at < torture::imported_keys; ++at) {
      entries.push_back({daybook::key(torture::key_of(at, how_.queue))});
    }
    queue_.import(entries);
    for (int at = torture::imported_keys; at < torture::all_keys; ++at) {
      queue_.add(daybook::key(torture::key_of(at, how_.queue)));
    }
    daybook::key const first(torture::key_of(0, how_.queue));
    queue_.set_payload(first, "{}");
    queue_.remove(daybook::key(torture::key_of(torture::all_keys - 1, how_.queue)));
    queue_.pause();
    queue_.resume();
    auto rounds = book_.make_queue(how_.queue + ".rounds", {.rounds = true});
    rounds.open_round(daybook::timestamp(std::chrono::seconds(1)));
    queue_.reclaim();
    auto const first_batch = one_batch({.limit = torture::script_batch});
    if (how_.fresh && first_batch == tally::busy) {
      throw std::logic_error("nothing was claimed where all is due");
    }
    while (batches(torture::script_batch) == tally::finished) {
    }
    queue_.run_now(first);
    while (one_batch({.limit = torture::script_batch}) == tally::finished) {
    }
    if (how_.later) {
      daybook::testing::manual_clock(book_).advance(25h);
      renew(book_);
    }
    queue_.upkeep();
  }

  bool nothing_is_left() {
    auto const none = [&](task_state state) {
      auto const some = queue_.tasks({.state = state, .limit = 1});
      return some.empty();
    };
    return none(task_state::running) && none(task_state::quarantined) && none(task_state::waiting);
  }

  ending drain(milliseconds patience) {
    auto const until = std::chrono::steady_clock::now() + patience;
    for (;;) {
      renew(book_);
      queue_.reclaim();
      while (one_batch({.quarantined = true}, true) == tally::finished) {
      }
      while (one_batch({.limit = 1000}, true) == tally::finished) {
      }
      if (nothing_is_left()) return ending::finished;
      if (std::chrono::steady_clock::now() > until) return ending::busy;
      if (how_.jump) daybook::testing::manual_clock(book_).advance(15s);
      std::this_thread::sleep_for(5ms);
    }
  }

  tally something() {
    daybook::key const one(torture::key_of(up_to(how_.keys - 1), how_.queue));
    switch (up_to(11)) {
      case 0: return queue_.run_now(one) ? tally::given_back : tally::busy;
      // In order: who comes again while the clock stands still, came when those before it did.
      case 1:
        if (queue_.options().in_order) return tally::busy;
        return queue_.add(one) ? tally::given_back : tally::busy;
      case 2: return queue_.remove(one) ? tally::given_back : tally::busy;
      case 3: return queue_.reclaim() > 0 ? tally::given_back : tally::busy;
      case 4: return queue_.upkeep().merged > 0 ? tally::given_back : tally::busy;
      case 5: return one_batch({.quarantined = true});
      case 6: return one_batch({.limit = 1});
      case 7: return one_batch({.limit = 1000});
      case 8: renew(book_); return tally::busy;
      case 9: return batches(50);
      default: return one_batch({.limit = 10});
    }
  }

  ending loop();

  settings how_;
  int outside_;
  std::minstd_rand dice_;
  daybook::book book_;
  daybook::queue queue_;
};

std::atomic<bool> asked_to_end = false;

ending worker::loop() {
  std::signal(SIGTERM, [](int) { asked_to_end = true; });
  int const file = open_for_lines(how_.tally_file);
  while (!asked_to_end) {
    try {
      auto const letter = static_cast<char>(something());
      append(file, {&letter, 1});
    } catch (daybook::error const& e) {
      auto const letter = static_cast<char>(tally::error);
      append(file, {&letter, 1});
      std::fprintf(stderr, "%s: %s\n", e.statement().c_str(), e.what());
    }
  }
  return ending::finished;
}

}  // namespace

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto const how = parse({argv + 1, argv + argc});
  auto const left = [&] {
    return !how.seed &&
           (daybook::base::failpoint_armed || std::getenv(torture::then_variable) != nullptr);
  };
  try {
    daybook::testing::arm_from_environment();
    auto const came = worker(how).run();
    return static_cast<int>(left() ? ending::not_reached : came);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return static_cast<int>(left() ? ending::not_reached : ending::error);
  }
}
