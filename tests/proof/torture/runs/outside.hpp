// The world outside the database, which no fault touches: a file that is only appended to, one
// write for each line. Order in the file is the order of things.
// It is a receiver as it should be: it can be asked what became of a step, and when it has answered
// "nothing" to one attempt, it refuses what comes later from the attempts before.
// Thread safety: one thread; any number of processes.
#pragma once

#include <daybook/book.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace torture {

struct call {
  std::string step;
  std::string key;
  std::int64_t run_no = 0;
  std::int64_t attempt = 0;
  std::int64_t epoch = 0;
  std::int64_t pid = 0;
  std::string idempotency_key;
  bool refused = false;
};

class outside {
 public:
  explicit outside(std::string file);
  outside(outside const&) = delete;
  outside& operator=(outside const&) = delete;
  ~outside();

  /// False: refused.
  bool accept(call const& what);
  /// Whether a call for the step was accepted. If not, none of attempts before `attempt` will be.
  bool ask(std::string const& step, std::string const& key, std::int64_t run_no,
           std::int64_t attempt);
  /// Every call, in order.
  [[nodiscard]] std::vector<call> calls() const;
  /// How often it was asked.
  [[nodiscard]] std::int64_t questions() const;

 private:
  /// Returns where the file ended when the line was its last.
  std::size_t append(std::string const& line) const;
  [[nodiscard]] std::string text(std::size_t size) const;

  int file_;
};

/// What a person does about a run whose at-most-once step is unknown: asks outside, and says so.
/// False: there was nothing to decide.
bool decide(daybook::book& with, daybook::key const& piece, outside& world);

}  // namespace torture
