// Who has what in hand, read from the tables. Thread-safe.
#pragma once

#include "core/tx/context.hpp"

#include <daybook/holders.hpp>
#include <daybook/outcome.hpp>
#include <daybook/time.hpp>

#include <optional>
#include <string>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace core {

/// A run that a holder has, or whose outcome is unknown.
struct open_run {
  std::string process;
  std::string key;
  run_state state{};
  timestamp since{};  ///< the attempt's start
  std::optional<timestamp> ended;
  std::string holder;
  std::optional<timestamp> deadline;

  [[nodiscard]] bool held() const noexcept {
    return state == run_state::ready || state == run_state::running;
  }
};

struct work_in_hand {
  timestamp now{};
  std::vector<holder_info> holders;  ///< with all that still have something
  std::vector<open_run> runs;
};

enum class ended_holders : bool { left_out, included };

/// Reads all runs where no index tells which of them are open. On failure: throws daybook::error.
[[nodiscard]] work_in_hand look_at_work(context const& book, ended_holders ended);

}  // namespace core
}  // namespace v1
}  // namespace daybook
