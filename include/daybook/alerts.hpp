// Telling people of problems: a problem that stands for some looks is told once, again after some
// hours, and once more when it has ended. The book remembers what was told, for all processes.
// book::look_for_alerts() is one look: for one process of a book at a time, each half minute, say.
// On failure it throws daybook::error, and a later look tells what this one did not.
// Thread safety: values.
//
//   book.look_for_alerts({}, [&](daybook::transaction& tx, daybook::alert const& one) {
//     mails.add(tx, daybook::key(one.print + "/" + text_of(one.at)), {.payload = text_of(one)});
//   });
#pragma once

#include <daybook/problems.hpp>
#include <daybook/time.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace daybook {
inline namespace v1 {

class transaction;

enum class alert_state : std::uint8_t { stands, ended };

/// What people are told of a problem.
struct alert {
  daybook::problem problem;
  alert_state state{};
  std::string print;  ///< of its kind and subject: the same each time, 52 letters and digits
  timestamp since{};  ///< since when it stands; where the book does not say, when it was seen first
  timestamp at{};     ///< of the look
};

struct alert_options {
  problem_options problems = {};
  /// A problem is told when so many looks have found it, and has ended when so many have not. 1 to
  /// 100.
  int looks = 2;
  /// A problem that stands for so long after it was told is told again. A minute to a year.
  std::chrono::milliseconds repeat_after = std::chrono::hours{4};
};

/// Writes down what is to be told, in the transaction that remembers it: both are done, or neither.
/// It may be called again where the transaction is run again, so it does nothing else.
using alert_writer = std::function<void(transaction&, alert const&)>;

}  // namespace v1
}  // namespace daybook
