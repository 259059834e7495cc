// What an argument may be, and the words of the error where it is something else.
// Thread-safe.
//
//   base::limits const in("queue", name);
//   in.between("the segment", of.segment, 1, 1000);
//   in.between("the lease", of.lease, 1s, 24h);
//   // queue 'emails': the segment is 0: it must be between 1 and 1000
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <string>
#include <string_view>
#include <type_traits>

namespace daybook {
inline namespace v1 {
namespace base {

/// Throws daybook::error (error_code::bad_argument) with this text.
[[noreturn]] void refuse_argument(std::string const& text);

/// All of its verbs throw daybook::error (error_code::bad_argument) where the argument does not
/// fit.
class limits {
 public:
  /// Whose argument it is; borrowed. Some have no name.
  explicit limits(std::string_view kind, std::string_view name = {}) : kind_(kind), name_(name) {}

  template <std::integral Number>
  void between(std::string_view subject, Number value, std::type_identity_t<Number> least,
               std::type_identity_t<Number> most) const {
    if (value >= least && value <= most) return;
    refuse(subject, std::to_string(value), std::to_string(least), std::to_string(most));
  }

  /// Lengths of time are shown in the largest unit in which they are whole: "90 seconds", "2
  /// hours".
  template <class Period>
  void between(std::string_view subject, std::chrono::duration<std::int64_t, Period> value,
               std::type_identity_t<std::chrono::duration<std::int64_t, Period>> least,
               std::type_identity_t<std::chrono::duration<std::int64_t, Period>> most) const {
    if (value >= least && value <= most) return;
    refuse_length(subject, value.count(), least.count(), most.count(), unit_of<Period>());
  }

  /// A text of so many bytes at most.
  void length(std::string_view subject, std::string_view text, std::size_t most) const;

  /// "queue 'emails': WHY".
  [[noreturn]] void refuse(std::string_view why) const;

 private:
  enum class unit : std::uint8_t { us, ms, second, minute, hour, day };

  template <class Period>
  static consteval unit unit_of() {
    if (std::ratio_equal_v<Period, std::micro>) return unit::us;
    if (std::ratio_equal_v<Period, std::milli>) return unit::ms;
    if (std::ratio_equal_v<Period, std::ratio<60>>) return unit::minute;
    if (std::ratio_equal_v<Period, std::ratio<3600>>) return unit::hour;
    static_assert(Period::num <= 3600 && Period::den <= 1'000'000, "name its unit");
    return unit::second;
  }

  [[noreturn]] void refuse(std::string_view reason, std::string const& value,
                           std::string const& least, std::string const& most) const;
  [[noreturn]] void refuse_length(std::string_view subject, std::int64_t value, std::int64_t least,
                                  std::int64_t most, unit unit) const;

  std::string_view kind_;
  std::string_view name_;
};

}  // namespace base
}  // namespace v1
}  // namespace daybook
