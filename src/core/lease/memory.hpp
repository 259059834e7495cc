// What a run in hand is, and what its earlier attempts left to this one.
// Thread safety: values.
#pragma once

#include "core/lease/in_hand.hpp"

#include <daybook/names.hpp>
#include <daybook/outcome.hpp>
#include <daybook/sql.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace core {

/// What identifies a run in hand, and what it was started with.
struct run_identity {
  daybook::process process;
  daybook::key key;
  std::int64_t number = 0;
  std::int64_t attempt = 0;
  std::optional<std::chrono::year_month_day> date = {};
  std::optional<std::chrono::microseconds> time_left = {};
};

/// What earlier attempts at a run did, began and carried; and then this one.
struct memory {
  struct step {
    std::string value;
    step_mode mode{};
  };
  std::map<std::string, step, std::less<>> steps;
  std::set<std::string, std::less<>> intents;  ///< begun, and no outcome recorded
  std::map<std::string, std::string, std::less<>> carried;
};

/// A step that was done, as it is recorded.
struct finished_step {
  std::string_view name;
  step_mode mode{};
  std::optional<std::chrono::microseconds> took;
};

/// A step that is there when the application commits.
struct pending_step {
  std::string name;
  std::string value;
  std::int64_t stamp = 0;  ///< of its write
};

/// Why a fenced write found nothing, where the run is still ours in name.
struct standing {
  bool deadline_over = false;
  bool intents = false;
  bool unknown = false;
};

/// Progress as statements take it: three nulls when there is none.
struct progress_values {
  explicit progress_values(std::optional<progress> progress) : what(std::move(progress)) {}
  [[nodiscard]] value done() const { return what ? value(what->done) : value(nullptr); }
  [[nodiscard]] value total() const { return what ? value(what->total) : value(nullptr); }
  [[nodiscard]] value note() const {
    return what ? value(std::string_view(what->note)) : value(nullptr);
  }
  std::optional<progress> what;
};

/// Throws daybook::error (error_code::bad_argument) unless every engine can store the text, and
/// give it back to the same bytes. `subject` begins the message.
void check_text(std::string const& subject, std::string_view text);

}  // namespace core
}  // namespace v1
}  // namespace daybook
