// A cron expression: five fields, or six with seconds in front. docs/reference/cron.md has the
// grammar. A literal that is wrong does not compile.
// Thread safety: values.
//
//   constexpr daybook::cron nightly("30 2 * * MON-FRI");
//   auto const tick = nightly.next(now, daybook::zone("Europe/Prague"));
#pragma once

#include <daybook/detail/cron_fields.hpp>
#include <daybook/detail/cron_error.hpp>
#include <daybook/detail/cron_reader.hpp>
#include <daybook/detail/export.hpp>
#include <daybook/time.hpp>
#include <daybook/zone.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace daybook {
inline namespace v1 {

class DAYBOOK_EXPORT cron {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a literal converts by itself, as SQL does.
  consteval cron(char const* literal) : cron(std::string_view(literal), cron_seed({})) {}
  /// On failure: throws daybook::error (error_code::bad_argument) with field, place and remedy.
  [[nodiscard]] static cron parse(std::string_view text);

  /// The same, with every `H` drawn from `name`: schedules of different names do not meet, and each
  /// keeps its times for ever. Until then they are drawn from the empty name.
  /// On failure: throws daybook::error (error_code::bad_argument) where what is drawn is in no
  /// year, as 31 April may be for `0 0 H(30-31) 4 *`.
  [[nodiscard]] cron hashed(std::string_view name) const;

  /// As it was written. Lifetime: that of this object.
  [[nodiscard]] constexpr std::string_view text() const noexcept { return {text_.data(), size_}; }
  [[nodiscard]] constexpr cron_fields const& fields() const noexcept { return fields_; }

  // Ticks are whole seconds of the years 1 to 9999; empty: there is none left in them. The work is
  // in the number of fields, at most forty years of months (29 February on a Monday), and never in
  // the length of time.
  /// The first tick after an instant, not at it.
  [[nodiscard]] std::optional<timestamp> next(timestamp after, zone const& zone = {},
                                              clock_changes changes = {}) const;
  /// The last tick before an instant, not at it.
  [[nodiscard]] std::optional<timestamp> previous(timestamp before, zone const& zone = {},
                                                  clock_changes changes = {}) const;

  friend bool operator==(cron const&, cron const&) = default;

 private:
  constexpr cron(std::string_view text, std::uint64_t seed) {
    cron_reader reader(text, seed);
    if (!reader.read()) require_right_cron(reader.mistake().what);
    fields_ = reader.fields();
    size_ = static_cast<std::uint8_t>(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) text_[at] = text[at];
  }

  cron_fields fields_;
  std::uint8_t size_ = 0;
  std::array<char, longest_cron> text_{};
};

}  // namespace v1
}  // namespace daybook
