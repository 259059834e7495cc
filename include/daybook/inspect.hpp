// What people look at: runs with their steps and attempts, and the findings of the doctor.
// Thread safety: values.
//
//   for (auto const& r : book.runs({.process = "nightly"})) std::cout << r.key << '\n';
#pragma once

#include <daybook/run.hpp>
#include <daybook/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace daybook {
inline namespace v1 {

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
  std::optional<occupant> holder;      ///< while held, dead or alive
  bool holder_alive = false;
};

struct step_info {
  std::string name;
  std::int64_t attempt = 0;  ///< the attempt that did it
  std::int64_t epoch = 0;
  timestamp ended{};
  std::string value;
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
};

struct run_detail {
  run_info info;
  std::vector<step_info> steps;        ///< of this run, in the order done
  std::vector<attempt_info> attempts;  ///< ended ones of every run under this key, oldest first
};

struct runs_query {
  std::string process = {};             ///< empty: all
  std::optional<run_state> state = {};  ///< empty: all
  std::int64_t limit = 100;             ///< newest attempts first
};

/// What a precondition is worth: `invalid` (printed "void") means that the guarantees do not hold.
enum class verdict : std::uint8_t { ok, warning, invalid };

struct finding {
  std::string name;  ///< "durable commit"
  verdict worth{};
  std::string found;   ///< "synchronous_commit = on"
  std::string remedy;  ///< empty when ok
};

}  // namespace v1
}  // namespace daybook
