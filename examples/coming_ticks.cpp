// Prints the next ticks of a cron expression, in UTC and in local time.
//   coming_ticks "30 2 * * *" Europe/Berlin
#include <daybook/daybook.hpp>

#include <chrono>
#include <ctime>
#include <iomanip>
#include <iostream>

namespace {

constexpr daybook::cron nightly("30 2 * * *");  // one that is wrong would not compile

/// "2027-03-28 01:00:00".
auto text(std::chrono::microseconds since_1970) {
  auto const seconds = std::chrono::floor<std::chrono::seconds>(since_1970).count();
  return std::put_time(std::gmtime(&seconds), "%F %T");
}

}  // namespace

int main(int argc, char** argv) try {
  auto const when = argc > 1 ? daybook::cron::parse(argv[1]) : nightly;
  daybook::zone const zone(argc > 2 ? argv[2] : "Europe/Berlin");
  auto const now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  auto tick = when.next(now, zone);
  for (int i = 0; tick && i < 5; ++i, tick = when.next(*tick, zone)) {
    auto const wall = zone.to_local(*tick);
    std::cout << text(tick->time_since_epoch()) << " UTC  ";
    std::cout << text(wall.time.time_since_epoch()) << ' ' << wall.abbreviation << '\n';
  }
} catch (std::exception const& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
