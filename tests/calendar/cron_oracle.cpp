// The library's ticks beside those of a naive cron, around every change of clocks of every zone
// that the system has; and random expressions, with days of every kind, over years of UTC.
//   cron_oracle [--from YEAR] [--years N] [--every N] [--expressions N] [--seed N]
// --every N: the first change of a zone, and each N-th after it. Exit 1 when anything differs.
#include "calendar/naive.hpp"

#include <daybook/cron.hpp>
#include <daybook/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

struct options {
  int from = 2024;
  int years = 20;
  int every = 1;
  int expressions = 200;
  unsigned seed = 1;
};

std::vector<std::string> const around_changes{"30 2 * * *",       "0 0 * * *",
                                              "15,45 1-3 * * *",  "0 2 * * SUN",
                                              "59 23 L * *",      "0 3 * * MON-FRI",
                                              "5 1 15W * *",      "10 0-23/2 * * *",
                                              "* * * * *",        "*/15 * * * *",
                                              "30 * * * *",       "5 */2 * * *",
                                              "* 2 * * *",        "*/20 1,2 * * SUNL,SUN#2",
                                              "30 0 28-31 3,10 0"};

std::time_t start_of(int year) {
  return std::chrono::sys_seconds{std::chrono::sys_days{std::chrono::year{year} / 1 / 1}}
      .time_since_epoch()
      .count();
}

daybook::timestamp instant(std::time_t at) { return daybook::timestamp{seconds{at}}; }

std::vector<std::time_t> forwards(daybook::cron const& of, daybook::zone const& in,
                                  std::time_t from, std::time_t to) {
  std::vector<std::time_t> found;
  auto at = of.next(instant(from) - std::chrono::microseconds{1}, in);
  for (; at && *at < instant(to); at = of.next(*at, in)) {
    found.push_back(std::chrono::floor<seconds>(*at).time_since_epoch().count());
  }
  return found;
}

std::vector<std::time_t> backwards(daybook::cron const& of, daybook::zone const& in,
                                   std::time_t from, std::time_t to) {
  std::vector<std::time_t> found;
  auto at = of.previous(instant(to), in);
  for (; at && *at >= instant(from); at = of.previous(*at, in)) {
    found.push_back(std::chrono::floor<seconds>(*at).time_since_epoch().count());
  }
  std::reverse(found.begin(), found.end());
  return found;
}

struct tally {
  long zones = 0;
  long changes = 0;
  long expressions = 0;
  long ticks = 0;
  long wrong = 0;
};

void compare(tally& into, std::string const& zone, naive::expression const& job,
             daybook::cron const& ours, daybook::zone const& in, naive::watch const& over) {
  constexpr int shown = 20;
  auto const wanted = naive::debian(job, over);
  auto const from = over.from;
  auto const to = over.start + 60 * static_cast<std::time_t>(over.minutes.size());
  into.ticks += static_cast<long>(wanted.size());
  for (bool const back : {false, true}) {
    auto const found = back ? backwards(ours, in, from, to) : forwards(ours, in, from, to);
    if (found == wanted) continue;
    if (++into.wrong > shown) continue;
    auto const [a, b] = std::mismatch(wanted.begin(), wanted.end(), found.begin(), found.end());
    std::cout << zone << ", '" << job.text() << (back ? "' backwards" : "' forwards") << ": wanted "
              << (a == wanted.end() ? 0 : *a) << ", found " << (b == found.end() ? 0 : *b) << "\n";
  }
}

std::vector<std::string> zones() {
  std::vector<std::string> found;
  fs::path const folder = "/usr/share/zoneinfo";
  for (auto const& entry : fs::recursive_directory_iterator(folder)) {
    auto const name = fs::relative(entry.path(), folder).string();
    if (!entry.is_regular_file() || name.starts_with("right/") || name.starts_with("posix/") ||
        name == "localtime") {
      continue;
    }
    std::ifstream in(entry.path(), std::ios::binary);
    std::string magic(4, ' ');
    if (in.read(magic.data(), 4) && magic == "TZif") found.push_back(name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void around_all_changes(tally& into, options const& how) {
  constexpr std::time_t three_days = 3 * 86400;
  for (auto const& name : zones()) {
    naive::set_zone(name);
    daybook::zone const in(name);
    ++into.zones;
    auto const changes = naive::changes(start_of(how.from), start_of(how.from + how.years));
    for (std::size_t i = 0; i < changes.size(); i += static_cast<std::size_t>(how.every)) {
      ++into.changes;
      // Whole minutes, as cron is awake in them.
      auto const middle = changes[i] / 60 * 60;
      naive::watch const over(middle - three_days, middle + three_days);
      for (auto const& text : around_changes) {
        compare(into, name, naive::expression(text), daybook::cron::parse(text), in, over);
      }
    }
  }
}

class writer {
 public:
  explicit writer(unsigned seed) : random_(seed) {}

  std::string expression() {
    return field(0, 59, 3) + " " + field(0, 23, 2) + " " + days() + " " + field(1, 12, 2) + " " +
           weekdays();
  }

 private:
  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  std::string text(int low, int high) { return std::to_string(number(low, high)); }
  std::string range(int low, int high) {
    int const first = number(low, high);
    return std::to_string(first) + "-" + text(first, high);
  }
  std::string field(int low, int high, int most) {
    if (number(0, 3) == 0) return "*";
    if (number(0, 3) == 0) return "*/" + text(1, high - low + 1);
    std::string made;
    for (int i = number(1, most); i > 0; --i) {
      made += (made.empty() ? "" : ",") + (number(0, 1) == 0 ? text(low, high) : range(low, high));
    }
    return made;
  }
  std::string days() {
    switch (number(0, 6)) {
      case 0: return "L";
      case 1: return "L-" + text(0, 12);
      case 2: return "LW";
      case 3: return text(1, 31) + "W";
      case 4: return text(1, 28) + ",L-" + text(1, 3) + "," + text(1, 31) + "W";
      default: return field(1, 31, 3);
    }
  }
  std::string weekdays() {
    auto const all = number(0, 2) == 0 ? std::string("+") : std::string();
    switch (number(0, 4)) {
      case 0: return all + text(0, 7) + "#" + text(1, 5);
      case 1: return all + text(0, 7) + "L," + text(0, 7) + "#" + text(1, 5);
      default: return all + field(0, 6, 2);
    }
  }

  std::mt19937 random_;
};

void random_expressions(tally& into, options const& how) {
  constexpr std::time_t two_years = 2 * 366 * 86400;
  naive::set_zone("UTC");
  writer write(how.seed);
  for (int i = 0; i < how.expressions;) {
    auto const text = write.expression();
    try {
      auto const ours = daybook::cron::parse(text);
      auto const from = start_of(1999 + i % 103);  // with 2000 and 2100, leap and not
      compare(into, "UTC", naive::expression(text), ours, {}, {from, from + two_years});
      ++into.expressions;
      ++i;
    } catch (daybook::error const& e) {
      // A day that is in no month: 31 April.
      if (std::string_view(e.what()).find("in any year") == std::string_view::npos) throw;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  options how;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string_view const name = argv[i];
    int const number = std::atoi(argv[i + 1]);
    if (name == "--from") how.from = number;
    if (name == "--years") how.years = number;
    if (name == "--every") how.every = number;
    if (name == "--expressions") how.expressions = number;
    if (name == "--seed") how.seed = static_cast<unsigned>(number);
  }
  tally found;
  around_all_changes(found, how);
  random_expressions(found, how);
  std::cout << found.zones << " zones, " << found.changes << " changes of clocks, "
            << around_changes.size() << " expressions around each, " << found.expressions
            << " random ones, " << found.ticks << " ticks, " << found.wrong << " differences\n";
  return found.wrong == 0 && found.zones > 300 && found.ticks > 0 ? 0 : 1;
}
