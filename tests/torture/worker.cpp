// A worker under torture: opens a book and does the job under one key, or many jobs until it is
// asked to end. The driver kills and stops it; DAYBOOK_FAILPOINT says where it does so itself.
//
//   torture_worker URL KEY [--prefix P] [--lease MS] [--real-clock] [--migrate] [--reverse]
//                          [--again] [--wait MS] [--step-ms MS] [--loop SEED KEYS TALLY]
#include "base/failpoint.hpp"
#include "torture/job.hpp"

#include <daybook/daybook.hpp>
#include <daybook/testing.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

using std::chrono::milliseconds;
using torture::ending;
using torture::tally;

struct settings {
  std::string url;
  std::string key;
  std::string prefix = "daybook_";
  milliseconds lease{1000};
  milliseconds wait{0};  ///< for a key that is held elsewhere
  milliseconds step{0};  ///< how long an effect takes
  bool real_clock = false;
  bool migrate = false;
  bool reverse = false;
  bool again = false;  ///< also where the key has succeeded before
  bool loop = false;
  unsigned seed = 0;
  int keys = 0;
  std::string tally_file;
};

[[noreturn]] void usage() {
  std::fputs("torture_worker: see the head of worker.cpp\n", stderr);
  std::exit(static_cast<int>(ending::usage));
}

int number(std::string_view text) {
  int out = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (problem != std::errc{} || end != text.data() + text.size()) usage();
  return out;
}

settings parse(std::vector<std::string> const& words) {
  if (words.size() < 2) usage();
  settings out;
  out.url = words[0];
  out.key = words[1];
  for (std::size_t at = 2; at < words.size(); ++at) {
    auto const& word = words[at];
    auto const next = [&]() -> std::string const& {
      if (++at >= words.size()) usage();
      return words[at];
    };
    if (word == "--prefix") {
      out.prefix = next();
    } else if (word == "--lease") {
      out.lease = milliseconds(number(next()));
    } else if (word == "--wait") {
      out.wait = milliseconds(number(next()));
    } else if (word == "--step-ms") {
      out.step = milliseconds(number(next()));
    } else if (word == "--real-clock") {
      out.real_clock = true;
    } else if (word == "--migrate") {
      out.migrate = true;
    } else if (word == "--reverse") {
      out.reverse = true;
    } else if (word == "--again") {
      out.again = true;
    } else if (word == "--loop") {
      out.loop = true;
      out.seed = static_cast<unsigned>(number(next()));
      out.keys = number(next());
      out.tally_file = next();
    } else {
      usage();
    }
  }
  return out;
}

/// As the background does: a renewal that failed is tried again. A process that was declared
/// dead goes on here, for what it writes then is what the fence is for.
void renew(daybook::book& book) {
  for (int tries = 0;; ++tries) {
    try {
      static_cast<void>(daybook::testing::renew(book));
      return;
    } catch (daybook::error const& e) {
      bool const passing = e.retryable() || e.breaks_connection() || e.in_doubt();
      if (tries == 5 || !passing) throw;
    }
  }
}

bool effect(daybook::run& run, int index, milliseconds length) {
  auto const name = torture::step_name(index);
  // Both places of the fence, so that each failpoint meets both.
  daybook::step_options const options{.fence = index % 2 == 0 ? daybook::fence_position::first
                                                              : daybook::fence_position::last};
  return static_cast<bool>(run.step(name, options, [&](daybook::transaction& tx) {
    tx.exec(
        "insert into effect(process, run_key, run_no, step, epoch, attempt, pid) "
        "values (:process, :run_key, :run_no, :step, :epoch, :attempt, :pid)",
        run.process_name().str(), run.run_key().str(), run.number(), name, run.epoch(),
        run.attempt(), std::int64_t{::getpid()});
    std::this_thread::sleep_for(length);
  }));
}

std::vector<int> order(bool reverse) {
  std::vector<int> out;
  for (int at = 1; at <= torture::effect_steps; ++at) out.push_back(at);
  if (reverse) std::reverse(out.begin(), out.end());
  return out;
}

/// False: lost.
bool all_steps(daybook::book& book, daybook::run& run, settings const& how) {
  int done = 0;
  for (int const index : order(how.reverse)) {
    if (!effect(run, index, how.step)) return false;
    if (++done == 1 && !how.real_clock) renew(book);
    if (done == 2 && !run.record(torture::recorded_step)) return false;
  }
  return true;
}

ending one_job(settings const& how) {
  daybook::book book(how.url, {.prefix = how.prefix,
                               .lease = how.lease,
                               .renew_in_background = how.real_clock,
                               .movable_clock = !how.real_clock});
  if (how.migrate) book.migrate();
  auto const until = std::chrono::steady_clock::now() + how.wait;
  for (;;) {
    auto attempt = book.start(daybook::process{torture::process_name}, daybook::key{how.key},
                              {.once = !how.again});
    if (attempt) {
      auto run = std::move(attempt).take();
      if (!all_steps(book, run, how)) return ending::lost;
      return std::move(run).finish() ? ending::finished : ending::lost;
    }
    if (attempt.why() == daybook::refusal::done_before) return ending::done_before;
    if (std::chrono::steady_clock::now() >= until) return ending::busy;
    std::this_thread::sleep_for(milliseconds(10));
  }
}

std::atomic<bool> asked_to_end = false;

tally one_of_many(daybook::book& book, daybook::key const& piece, std::minstd_rand& dice) {
  auto const up_to = [&](int most) { return std::uniform_int_distribution<int>(0, most)(dice); };
  auto attempt = book.start(daybook::process{torture::process_name}, piece);
  if (!attempt) {
    std::this_thread::sleep_for(milliseconds(1 + up_to(5)));
    return tally::busy;
  }
  auto run = std::move(attempt).take();
  for (int const index : order(up_to(1) == 1)) {
    if (!effect(run, index, milliseconds(up_to(3)))) return tally::lost;
    if (up_to(3) == 0) renew(book);
    std::this_thread::sleep_for(milliseconds(up_to(5)));
    if (up_to(30) == 0) return tally::given_back;  // dropped: somebody resumes it
  }
  if (!run.record(torture::recorded_step)) return tally::lost;
  int const how = up_to(9);
  if (how == 0) return std::move(run).fail("on purpose") ? tally::given_back : tally::lost;
  if (how == 1) return std::move(run).release("on purpose") ? tally::given_back : tally::lost;
  return std::move(run).finish() ? tally::finished : tally::lost;
}

void append(int file, tally what) {
  auto const letter = static_cast<char>(what);
  if (::write(file, &letter, 1) != 1) std::abort();
}

ending many_jobs(settings const& how) {
  std::signal(SIGTERM, [](int) { asked_to_end = true; });
  int const file = ::open(how.tally_file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) usage();
  daybook::book book(how.url, {.prefix = how.prefix,
                               .lease = how.lease,
                               .renew_in_background = false,
                               .movable_clock = true});
  std::minstd_rand dice(how.seed);
  while (!asked_to_end) {
    daybook::key const piece(how.key + std::to_string(dice() % static_cast<unsigned>(how.keys)));
    try {
      append(file, one_of_many(book, piece, dice));
    } catch (daybook::error const& e) {
      // Under faults a call may give up; what it leaves behind is checked in the ledger.
      append(file, tally::error);
      std::fprintf(stderr, "%s: %s\n", e.statement().c_str(), e.what());
    }
  }
  ::close(file);
  return ending::finished;
}

}  // namespace

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto const how = parse({argv + 1, argv + argc});
  try {
    daybook::testing::arm_from_environment();
    auto const came = how.loop ? many_jobs(how) : one_job(how);
    bool const left = daybook::base::failpoint_armed || std::getenv(torture::then_variable);
    // In a mix a failpoint is one fault among others; it may lie on a path not taken.
    return static_cast<int>(left && !how.loop ? ending::not_reached : came);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    bool const left = daybook::base::failpoint_armed || std::getenv(torture::then_variable);
    return static_cast<int>(left ? ending::not_reached : ending::error);
  }
}
