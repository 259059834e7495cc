// The library beside other cron libraries (tests/calendar/peers): for each line
//   EXPRESSION|ZONE|SECONDS|COUNT
// so many ticks after that instant, as seconds since 1970, or "refused" and why.
#include <daybook/cron.hpp>
#include <daybook/error.hpp>

#include <chrono>
#include <iostream>
#include <sstream>
#include <string>

namespace {

std::string answer(std::string const& line) {
  std::istringstream in(line);
  std::string expression;
  std::string zone;
  std::string number;
  std::getline(in, expression, '|');
  std::getline(in, zone, '|');
  std::getline(in, number, '|');
  int count = 0;
  in >> count;
  try {
    auto const of = daybook::cron::parse(expression);
    daybook::zone const place(zone);
    std::string ticks;
    daybook::timestamp last{std::chrono::seconds{std::stoll(number)}};
    for (int i = 0; i < count; ++i) {
      auto const tick = of.next(last, place);
      if (!tick) break;
      last = *tick;
      auto const second = std::chrono::floor<std::chrono::seconds>(last);
      ticks += (i == 0 ? "" : " ") + std::to_string(second.time_since_epoch().count());
    }
    return ticks;
  } catch (daybook::error const& e) {
    return std::string("refused ") + e.what();
  }
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) std::cout << answer(line) << '\n';
  return 0;
}
