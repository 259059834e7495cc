// The statements of a run as one would write them by hand, in two forms, for each engine.
// Thread safety: values; a hand_written is one thread's.
#pragma once

#include "benchmarks/bare.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Columns of the statements' parameters.
enum class what : std::uint8_t { key, epoch, acquisition, holder, step_name, step_number };

struct fixed_statement {
  char const* text;
  std::vector<what> uses;  ///< in the order of the placeholders
  bool counts_row = true;  ///< that it changed one row is checked here, not on the server
};
/// Statements that are sent one after the other.
using phase = std::vector<fixed_statement>;

struct form {
  phase start;  ///< its first statement with a number gives the epoch
  phase step;
  phase finish;
};

/// `control`: one row, changed by a compare-and-swap seven times; nothing else is kept.
/// `ledger`: what Daybook keeps: the run's row, a row for each step, one for the attempt.
enum class keeps : std::uint8_t { control, ledger };

form const& form_of(std::string_view dialect, keeps which);
/// Tables and rows for both; those of the ledger are made by Daybook, with the prefix "bare_".
std::vector<std::string> set_up(std::string_view dialect, std::string const& key);

/// A connection that does runs of one key.
class hand_written {
 public:
  hand_written(std::string const& url, form const& of, std::string key);
  /// start, `steps` steps, finish.
  void run(int steps);

 private:
  struct ready {
    int number;
    fixed_statement const* what;
  };
  std::vector<ready> prepared(phase const& from);
  /// On failure: std::runtime_error, also where no row was changed.
  void send(std::vector<ready> const& all, bool starts);

  std::unique_ptr<bare> on_;
  std::string key_;
  std::string acquisition_ = "6f1d0c1e-3f0a-4b5e-9d43-5f0c0e6b7a11";
  std::string step_name_;
  std::int64_t step_number_ = 0;
  std::int64_t epoch_ = 0;
  std::vector<ready> start_;
  std::vector<ready> step_;
  std::vector<ready> finish_;
};

}  // namespace bench
