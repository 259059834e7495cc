#include <daybook/cron.hpp>

#include "base/text.hpp"

#include <daybook/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {

namespace {

std::string name_of(cron_field field) {
  constexpr std::array<char const*, 6> names{"second",           "minute", "hour",
                                             "day of the month", "month",  "day of the week"};
  return names[static_cast<std::size_t>(field)];
}

/// The element in which the mistake is, for people to find it.
std::string_view around(std::string_view text, std::size_t offset) {
  constexpr std::string_view ends = " \t,";
  auto const begin = text.find_last_of(ends, offset == 0 ? 0 : offset - 1);
  auto const from = begin == std::string_view::npos ? 0 : begin + 1;
  return text.substr(from, text.find_first_of(ends, offset) - from);
}

std::string out_of_range(std::string_view text, cron_error const& wrong) {
  if (wrong.at > 0 && text[wrong.at - 1] == '#') return "a month has days 1 to 5 of a name, or L";
  if (wrong.at > 0 && text[wrong.at - 1] == '-' && wrong.field == cron_field::day &&
      (text[wrong.at - 2] == 'L' || text[wrong.at - 2] == 'l')) {
    return "L-0 to L-30 are possible";
  }
  auto const [low, high] = range_of(wrong.field);
  return std::to_string(low) + " to " + std::to_string(high) + " are possible";
}

std::string unexpected(std::string_view text, cron_error const& wrong) {
  auto const found = wrong.at < text.size() ? text[wrong.at] : ' ';
  if (found == ' ' || found == '\t') return "something is missing at its end";
  if (found == '~') return "for a number of the schedule's own write H(1-5)";
  if (found == '/') return "a step stands after *, H or a range: 0-30/10";
  return std::string("cannot go on with '") + (found > ' ' && found < 127 ? found : '?') + "'";
}

std::string remedy(std::string_view text, cron_error const& wrong) {
  bool const month = wrong.field == cron_field::month;
  switch (wrong.what) {
    case cron_fault::unexpected: return unexpected(text, wrong);
    case cron_fault::name:
      return month ? "names are JAN to DEC" : "names are SUN to SAT, the last Friday is FRIL";
    case cron_fault::out_of_range: return out_of_range(text, wrong);
    case cron_fault::backwards: return "a range runs upwards; over the end write two, as 22-23,0-2";
    case cron_fault::step: return "a step is at least 1, and not wider than its range";
    case cron_fault::step_of_number: return "a step needs a range: write 5/15 as 5-59/15";
    default: return {};
  }
}

std::string explain(std::string_view text, cron_error const& wrong) {
  constexpr std::size_t shown = 80;
  auto const expression = "cron expression '" + base::bounded(text, shown) + "'";
  switch (wrong.what) {
    case cron_fault::too_long: return expression + ": at most 255 bytes";
    case cron_fault::too_few_fields:
      return expression + ": five fields are needed (minute, hour, day of the month, month, " +
             "day of the week), six with seconds in front, or @daily";
    case cron_fault::too_many_fields:
      return expression + ", character " + std::to_string(wrong.at + 1) +
             ": six fields are the most, there is none for years";
    case cron_fault::nickname:
      return expression +
             ": of its kind there are @yearly, @annually, @monthly, @weekly, @daily, " +
             "@midnight and @hourly; for an interval write */5 * * * *";
    case cron_fault::never: return expression + ": there is no such day in any year";
    default: break;
  }
  return expression + ", character " + std::to_string(wrong.at + 1) + ": " + name_of(wrong.field) +
         " '" + base::bounded(around(text, wrong.at), shown) + "': " + remedy(text, wrong);
}

}  // namespace

cron cron::parse(std::string_view text) {
  cron_reader reader(text, cron_seed({}));
  if (!reader.read()) {
    throw error({.kind = error_code::bad_argument}, explain(text, reader.mistake()));
  }
  return {text, cron_seed({})};
}

cron cron::hashed(std::string_view name) const {
  cron drawn(text(), cron_seed(name));
  if (!drawn.fields_.possible()) {
    throw error({.kind = error_code::bad_argument},
                explain(text(), {.what = cron_fault::never}) + " with the H of '" +
                    base::bounded(name, 255) + "': limit it, as H(1-28)");
  }
  return drawn;
}

}  // namespace v1
}  // namespace daybook
