// Runs with their steps and attempts, and the results of the doctor, for people to look at.
// Thread safety: values.
//
//   for (auto const& r : book.runs({.process = "nightly"})) std::cout << r.key << '\n';
#pragma once

#include <daybook/run.hpp>
#include <daybook/time.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace daybook {
inline namespace v1 {

/// How far the work is, as told by run::progress().
struct progress_info {
  std::int64_t done = 0;
  std::int64_t total = 0;  ///< 0: not known
  std::string note;
};

struct run_info {
  std::string process;
  std::string key;
  run_state state{};
  std::int64_t number = 0;  ///< run_no
  std::int64_t attempt = 0;
  std::int64_t epoch = 0;
  std::int64_t steps_done = 0;
  timestamp first_started{};  ///< the first run ever under this key
  timestamp started{};        ///< this run
  timestamp attempt_started{};
  std::optional<timestamp> ended;
  std::optional<timestamp> succeeded;  ///< the last success under this key
  std::string error;                   ///< of the last failed or interrupted attempt
  std::optional<lease_holder> holder;  ///< while held, dead or alive
  bool holder_alive = false;
  std::optional<timestamp> abandoned;  ///< in hand, and since when its holder is dead
  std::optional<timestamp> deadline;
  bool deadline_over = false;  ///< it is in hand, and past its deadline: it counts as failed
  std::optional<std::chrono::year_month_day> date;
  std::optional<progress_info> progress;
};

struct step_info {
  std::string name;
  std::int64_t attempt = 0;  ///< the attempt that did it
  std::int64_t epoch = 0;
  timestamp ended{};
  std::optional<std::chrono::microseconds> took;  ///< empty: done by a release that did not say
  step_mode mode{};
  std::string value;
};

/// An at-most-once step that was begun and has no recorded outcome.
struct intent_info {
  std::string name;
  std::int64_t attempt = 0;
  timestamp started{};
  bool unknown = false;  ///< a later look did not find out either: a person decides
};

/// What run::set_value() kept.
struct value_info {
  std::string name;
  std::string value;
  timestamp updated{};
};

struct attempt_info {
  std::int64_t number = 0;  ///< the run's number
  std::int64_t attempt = 0;
  std::int64_t epoch = 0;
  std::string holder;
  std::string node;
  std::int64_t pid = 0;
  timestamp started{};
  timestamp ended{};
  run_state state{};  ///< how it ended
  std::string error;
  std::string in_hand;  ///< the step in hand when it ended, as far as it was known
  std::string output;   ///< as given to run::keep()
  std::optional<int> exit_code;
};

struct run_detail {
  run_info info;
  std::vector<step_info> steps;        ///< of this run, in the order done
  std::vector<intent_info> intents;    ///< of this run
  std::vector<value_info> values;      ///< of this run, by name
  std::vector<attempt_info> attempts;  ///< ended ones of every run under this key, oldest first
};

struct runs_query {
  std::string process = {};             ///< empty: all
  std::optional<run_state> state = {};  ///< empty: all
  std::int64_t limit = 100;             ///< newest attempts first
};

enum class status_depth : std::uint8_t {
  newest,  ///< costs the same however many runs there are
  all,     ///< reads every run
};

/// The book at a glance. Runs in hand and unknown runs are all counted. With status_depth::newest,
/// failed and interrupted runs are counted among the newest 200 attempts of each end, successes
/// among the 200 runs that began last, and due tasks in 1000 segments of each queue.
struct book_status {
  timestamp now{};  ///< by the database's clock
  std::int64_t holders_alive = 0;
  std::int64_t runs_in_hand = 0;    ///< held by a live process, and in time
  std::int64_t runs_abandoned = 0;  ///< in hand of a dead process: the next start takes them over
  std::int64_t runs_overdue = 0;    ///< in hand, and past their deadline
  std::int64_t runs_succeeded = 0;
  std::int64_t runs_failed = 0;  ///< failed, or their deadline passed
  std::int64_t runs_interrupted = 0;
  std::int64_t runs_unknown = 0;  ///< a person decides
  bool runs_capped = false;       ///< there are more ended runs than those that were counted
  std::int64_t queues = 0;
  std::int64_t tasks_due = 0;
  bool tasks_capped = false;  ///< there are more due tasks than those that were counted
  std::int64_t tasks_running = 0;
  std::int64_t tasks_dead = 0;     ///< a person decides
  std::int64_t tasks_unknown = 0;  ///< a person decides
};

/// What a precondition is worth: `failed` (printed "void") means that the guarantees do not hold.
enum class severity : std::uint8_t { ok, warning, failed };

struct check_result {
  std::string name;  ///< "durable commit"
  daybook::severity severity{};
  std::string found;   ///< "synchronous_commit = on"
  std::string remedy;  ///< empty when ok
};

}  // namespace v1
}  // namespace daybook
