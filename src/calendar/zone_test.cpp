#include <daybook/zone.hpp>

#include "calendar/posix_rule.hpp"
#include "calendar/tzif.hpp"

#include <daybook/error.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace daybook {
namespace {

using namespace std::chrono_literals;
using calendar::read_posix_rule;
using calendar::read_tzif;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::year;

sys_seconds day(int y, unsigned m, unsigned d) {
  return sys_days{year{y} / std::chrono::month{m} / std::chrono::day{d}};
}

local_timestamp local(sys_seconds shown) { return local_timestamp{shown.time_since_epoch()}; }

TEST(zone, shows_local_time) {
  zone const berlin("Europe/Berlin");
  auto const before = berlin.to_local(day(2027, 3, 28) + 1h - 1us);
  EXPECT_EQ(before.time, local(day(2027, 3, 28) + 2h) - 1us);
  EXPECT_EQ(before.abbreviation, "CET");
  EXPECT_FALSE(before.daylight);
  auto const after = berlin.to_local(day(2027, 3, 28) + 1h);
  EXPECT_EQ(after.time, local(day(2027, 3, 28) + 3h));
  EXPECT_EQ(after.abbreviation, "CEST");
  EXPECT_EQ(after.offset, 2h);
  EXPECT_TRUE(after.daylight);
  // The rule, and the cycle of 400 years after it.
  EXPECT_EQ(berlin.to_local(day(2300, 7, 1)).offset, 2h);
  EXPECT_EQ(berlin.to_local(day(9999, 7, 1)).offset, 2h);
  EXPECT_EQ(berlin.to_local(day(9999, 12, 1)).offset, 1h);
  EXPECT_EQ(berlin.to_local(day(1800, 1, 1)).offset, 53min + 28s);
  EXPECT_EQ(zone().to_local(day(2027, 7, 1)).abbreviation, "UTC");
  // Ireland's winter is the one with a change, and a negative one.
  EXPECT_EQ(zone("Europe/Dublin").to_local(day(2100, 1, 15)).abbreviation, "GMT");
  EXPECT_EQ(zone("Europe/Dublin").to_local(day(2100, 7, 15)).abbreviation, "IST");
}

TEST(zone, knows_what_a_local_time_means) {
  zone const berlin("Europe/Berlin");
  using kind = local_meaning::kind;
  auto const plain = berlin.to_instants(local(day(2027, 7, 1) + 12h));
  EXPECT_EQ(plain.comes, kind::once);
  EXPECT_EQ(plain.first, day(2027, 7, 1) + 10h);
  auto const skipped = berlin.to_instants(local(day(2027, 3, 28) + 2h + 30min));
  EXPECT_EQ(skipped.comes, kind::never);
  EXPECT_EQ(skipped.first, day(2027, 3, 28) + 1h);
  auto const repeated = berlin.to_instants(local(day(2027, 10, 31) + 2h + 30min));
  EXPECT_EQ(repeated.comes, kind::twice);
  EXPECT_EQ(repeated.first, day(2027, 10, 31) + 30min);
  EXPECT_EQ(repeated.second, day(2027, 10, 31) + 1h + 30min);
  auto const apia = zone("Pacific/Apia").to_instants(local(day(2011, 12, 30) + 12h));
  EXPECT_EQ(apia.comes, kind::never);
  EXPECT_EQ(apia.first, day(2011, 12, 30) + 10h);
  EXPECT_EQ(berlin.to_instants(local_timestamp::max()).comes, kind::never);
  EXPECT_EQ(berlin.to_instants(local_timestamp::min()).comes, kind::never);
}

std::pair<error_code, std::string> zone_mistake(std::string const& name) {
  try {
    zone const made(name);
    return {error_code::internal, "nothing"};
  } catch (error const& e) {
    return {e.kind(), e.what()};
  }
}

TEST(zone, refuses_names_that_are_none) {
  for (std::string const& name :
       {std::string(), std::string("../../etc/passwd"), std::string("Europe/../Europe/Berlin"),
        std::string("/etc/localtime"), std::string("Europe/"), std::string("Europe//Berlin"),
        std::string("Europe/.Berlin"), std::string("tzdata.zi"), std::string("Europe/Berlin\0", 14),
        std::string("Europe/Berl\n"), std::string(65, 'a'), std::string("+1"),
        std::string("\xc3\xa4")}) {
    auto const [kind, what] = zone_mistake(name);
    EXPECT_EQ(kind, error_code::bad_argument) << name;
    EXPECT_THAT(what, testing::HasSubstr("is no name: write it as 'Europe/Berlin'"));
    EXPECT_THAT(what, testing::Not(testing::HasSubstr("\n")));
  }
  EXPECT_THAT(zone_mistake("Europe/Berlln").second, testing::HasSubstr("is not in "));
  EXPECT_THAT(zone_mistake("Europe").second, testing::HasSubstr("is not in "));
  EXPECT_EQ(zone_mistake("Europe").first, error_code::bad_argument);
  EXPECT_THAT(zone_mistake("Europe/Berlin/x").second, testing::HasSubstr("is not in "));
  EXPECT_THAT(zone_mistake("localtime").second, testing::HasSubstr("another zone on each machine"));
  EXPECT_THAT(zone_mistake("leapseconds").second, testing::HasSubstr("is broken"));
  EXPECT_EQ(zone_mistake("leapseconds").first, error_code::configuration);
  EXPECT_THAT(zone_mistake("right/Europe/Berlin").second, testing::HasSubstr("without right/"));
}

TEST(zone, honours_tzdir) {
  auto const folder = std::filesystem::temp_directory_path() / "daybook_zone_test";
  std::filesystem::create_directories(folder / "Home");
  std::filesystem::copy_file("/usr/share/zoneinfo/Asia/Tokyo", folder / "Home" / "Town",
                             std::filesystem::copy_options::overwrite_existing);
  std::ofstream(folder / "Broken") << "TZif2";
  setenv("TZDIR", folder.c_str(), 1);
  auto const found = zone_mistake("Home/Town");
  auto const broken = zone_mistake("Broken");
  auto const missing = zone_mistake("Asia/Tokyo");
  auto const utc = zone_mistake("UTC");
  unsetenv("TZDIR");
  EXPECT_EQ(found.second, "nothing");
  EXPECT_THAT(broken.second, testing::HasSubstr("it is cut short"));
  EXPECT_THAT(broken.second, testing::HasSubstr((folder / "Broken").string()));
  EXPECT_THAT(missing.second, testing::HasSubstr("is not in " + folder.string()));
  EXPECT_EQ(utc.second, "nothing");
  std::filesystem::remove_all(folder);
}

std::string number(std::int64_t value, int width) {
  std::string bytes;
  for (int i = width - 1; i >= 0; --i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

/// One change, at `at`, from standard to an hour of daylight saving; `width` 4 is version 1.
std::string file(std::int64_t at, std::string const& footer, int width = 8, std::int64_t leaps = 0,
                 std::int64_t second_change = 0, char version = '3') {
  auto const head = [&](char v, bool empty) {
    std::string bytes = "TZif";
    bytes += v;
    bytes += std::string(15, '\0');
    bytes += number(0, 4) + number(0, 4) + number(empty ? 0 : leaps, 4);
    bytes += number(empty ? 0 : (second_change == 0 ? 1 : 2), 4);
    return bytes + number(empty ? 1 : 2, 4) + number(empty ? 1 : 8, 4);
  };
  std::string bytes;
  if (width == 8) bytes = head(version, true) + number(0, 4) + std::string(2, '\0') + '\0';
  bytes += head(width == 8 ? version : '\0', false) + number(at, width);
  if (second_change != 0) bytes += number(second_change, width);
  bytes += '\1';
  if (second_change != 0) bytes += '\0';
  bytes += number(3600, 4) + std::string("\0\0", 2);
  bytes += number(7200, 4) + std::string("\1\4", 2);
  bytes += std::string("STD\0DST\0", 8);
  bytes += std::string(static_cast<std::size_t>(leaps) * 12, '\0');
  return width == 8 ? bytes + "\n" + footer + "\n" : bytes;
}

TEST(tzif, reads_all_versions) {
  for (char const version : {'2', '3', '4'}) {
    auto const read = read_tzif(file(1000, "", 8, 0, 0, version));
    ASSERT_TRUE(read.table) << read.broken;
    EXPECT_EQ(read.table->at(sys_seconds{999s}).offset, 1h);
    EXPECT_EQ(read.table->at(sys_seconds{1000s}).offset, 2h);
    EXPECT_EQ(read.table->at(day(5000, 1, 1)).offset, 2h);
  }
  auto const first = read_tzif(file(-5, "", 4));
  ASSERT_TRUE(first.table) << first.broken;
  EXPECT_EQ(first.table->at(sys_seconds{-6s}).offset, 1h);
  EXPECT_EQ(first.table->at(sys_seconds{-5s}).offset, 2h);
  EXPECT_EQ(first.table->kind(first.table->at(sys_seconds{0s}).kind).abbreviation, "DST");
}

TEST(tzif, says_why_a_file_is_broken) {
  std::vector<std::pair<std::string, std::string>> const table{
      {"", "no zone file"},
      {"TZ", "no zone file"},
      {"GIF89a...........................", "no zone file"},
      {"TZif2", "cut short"},
      {file(0, "").substr(0, 100), "cut short"},
      {file(0, "STD-1", 8, 1), "leap seconds"},
      {file(10, "", 8, 0, 10), "not in their order"},
      {file(10, "", 8, 0, 9), "not in their order"},
      {file(0, "nonsense!"), "no rule of POSIX"},
      {file(0, "").substr(0, file(0, "").size() - 1), "footer is missing"},
      {file(0, "STD-1").substr(0, file(0, "STD-1").size() - 1), "footer has no end"},
      {file(std::int64_t{1} << 50U, ""), "in no year"},
  };
  for (auto const& [bytes, wanted] : table) {
    auto const read = read_tzif(bytes);
    EXPECT_FALSE(read.table) << wanted;
    EXPECT_THAT(std::string(read.broken), testing::HasSubstr(wanted));
  }
  // Every count of the header as large as can be.
  for (std::size_t at = 20; at < 44; at += 4) {
    auto bytes = file(0, "");
    bytes.replace(at, 4, "\xff\xff\xff\xff");
    EXPECT_FALSE(read_tzif(bytes).table);
    bytes.replace(at, 4, std::string("\0\1\0\0", 4));
    EXPECT_FALSE(read_tzif(bytes).table);
  }
}

TEST(posix_rule, is_read) {
  auto const berlin = read_posix_rule("CET-1CEST,M3.5.0,M10.5.0/3");
  ASSERT_TRUE(berlin && berlin->summer);
  EXPECT_EQ(berlin->standard.offset, 1h);
  EXPECT_EQ(berlin->summer->kind.offset, 2h);
  EXPECT_EQ(berlin->summer->start.in(year{2027}).time_since_epoch(),
            (day(2027, 3, 28) + 2h).time_since_epoch());
  EXPECT_EQ(berlin->summer->end.in(year{2027}).time_since_epoch(),
            (day(2027, 10, 31) + 3h).time_since_epoch());
  auto const days = read_posix_rule("<-03>3<+0130>-1:30,J60/-167:00:01,365/167");
  ASSERT_TRUE(days && days->summer);
  EXPECT_EQ(days->standard.abbreviation, "-03");
  EXPECT_EQ(days->summer->kind.offset, 90min);
  for (int const y : {2027, 2028}) {  // J60 is 1 March, leap year or not
    EXPECT_EQ(days->summer->start.in(year{y}).time_since_epoch(),
              (day(y, 3, 1) - 167h - 1s).time_since_epoch());
  }
  EXPECT_EQ(days->summer->end.in(year{2028}).time_since_epoch(),
            (day(2028, 12, 31) + 167h).time_since_epoch());
  for (auto const* const wrong :
       {"", "C", "CET", "CET-1CEST", "CET-25", "CET-1CEST,M13.1.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,M3.5.0",
        "CET-1CEST,J0,J365", "CET-1CEST,366,1", "CET-1CEST,M3.5.0/168,M10.5.0",
        "CET-1CEST,M3.5.0,M10.5.0x", "<CET-1", "CE1-1", "CET99999999999999999999"}) {
    EXPECT_FALSE(read_posix_rule(wrong)) << wrong;
  }
}

TEST(posix_rule, a_summer_of_the_whole_year_has_no_changes) {
  auto const read = read_tzif(file(1000, "STD-1DST,0/0,J365/25"));
  ASSERT_TRUE(read.table) << read.broken;
  auto const found = read.table->at(day(3000, 1, 1));
  EXPECT_EQ(found.offset, 2h);
  EXPECT_EQ(found.begin, sys_seconds{1000s});
  EXPECT_EQ(found.end, calendar::after_time);
}

TEST(zone_table, the_cycle_is_seamless) {
  auto const table = read_tzif(file(1000, "STD-1DST,M3.5.0,M10.5.0/3")).table.value();
  auto at = table.at(day(1980, 1, 1));
  // Each stretch ends where the next begins, and what is after one is beside the other.
  for (int i = 0; i < 2000; ++i) {
    auto const next = table.at(at.end);
    ASSERT_EQ(next.begin, at.end);
    ASSERT_EQ(next.before, at.offset);
    ASSERT_EQ(next.offset, at.after);
    ASSERT_NE(next.offset, at.offset);
    ASSERT_LT(next.end - next.begin, std::chrono::days{250});
    at = next;
  }
  EXPECT_EQ(at.end.time_since_epoch() / std::chrono::years{1} + 1970, 2980);
}

}  // namespace
}  // namespace daybook
