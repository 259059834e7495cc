// For tests of programs that use Daybook: a book in memory, a clock moved by hand, holders that
// expire at once. No test has to wait for a lease.
// Thread safety: like the book.
//
//   auto book = daybook::testing::open_in_memory();
//   daybook::testing::manual_clock clock{book};
//   auto lost = book.start(daybook::process{"nightly"});
//   clock.advance(1h);                                       // its lease is over: taken over
#pragma once

#include <daybook/book.hpp>
#include <daybook/detail/export.hpp>
#include <daybook/detail/failpoint_types.hpp>
#include <daybook/names.hpp>
#include <daybook/time.hpp>

#include <chrono>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace testing {

/// An empty, migrated SQLite book in memory with a movable clock; gone when the book is.
/// `options.movable_clock` and `renew_in_background` are set for it.
[[nodiscard]] DAYBOOK_EXPORT book open_in_memory(book_options options = {});

/// Moves the clock of a book that was made with `movable_clock`, for every process that uses it.
/// On failure: daybook::error (error_code::configuration) when the book's clock cannot be moved.
class DAYBOOK_EXPORT manual_clock {
 public:
  /// Borrows the book, which must outlive it.
  explicit manual_clock(book& book);
  [[nodiscard]] timestamp now() const;
  /// Backwards too.
  void advance(std::chrono::microseconds amount);
  /// Stops the clock at an instant; advance() moves it from there.
  void stop_at(timestamp instant);

 private:
  book* book_;
};

/// Declares dead whoever holds the run, also this process, as another would have done whose start()
/// found that its lease was over. False: nobody holds it.
DAYBOOK_EXPORT bool expire(book& book, process const& name, key const& run_key = {});

/// Renews this process's lease now, as the background does. As book::renew().
DAYBOOK_EXPORT lease_state renew(book& book);

/// "kill", "stop", "fail", "cut", as DAYBOOK_FAILPOINT has them.
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(failpoint_action action) noexcept;

/// Arms a failpoint: the hit after `skip` others acts; later hits do nothing.
/// On failure: daybook::error (error_code::bad_argument) when there is no such name.
DAYBOOK_EXPORT void arm(std::string_view failpoint, failpoint_action action, unsigned skip = 0);
DAYBOOK_EXPORT void disarm() noexcept;
/// Arms what the environment variable DAYBOOK_FAILPOINT says: NAME=ACTION[:SKIP]. Programs call
/// it only in builds for fault tests.
DAYBOOK_EXPORT void arm_from_environment();

/// Every failpoint of the library.
[[nodiscard]] DAYBOOK_EXPORT std::vector<std::string_view> failpoints();
[[nodiscard]] DAYBOOK_EXPORT std::vector<std::string_view> failpoints(failpoint_room room);

}  // namespace testing
}  // namespace v1
}  // namespace daybook
