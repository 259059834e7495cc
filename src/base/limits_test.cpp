#include "base/limits.hpp"

#include <daybook/error.hpp>

#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace daybook {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

template <class F>
std::string message(F const& check) {
  try {
    check(base::limits("queue", "emails"));
  } catch (error const& e) {
    EXPECT_EQ(e.kind(), error_code::bad_argument);
    return e.what();
  }
  return "";
}

TEST(limits, are_themselves_allowed) {
  EXPECT_EQ(message([](auto in) { in.between("the page", 1, 1, 10); }), "");
  EXPECT_EQ(message([](auto in) { in.between("the page", 10, 1, 10); }), "");
  EXPECT_EQ(message([](auto in) { in.between("the poll", seconds{1}, seconds{1}, hours{1}); }), "");
  EXPECT_EQ(message([](auto in) { in.between("the poll", seconds{3600}, seconds{1}, hours{1}); }),
            "");
  EXPECT_EQ(message([](auto in) { in.length("the note", "abc", 3); }), "");
}

TEST(limits, name_the_thing_the_value_and_the_limits) {
  EXPECT_EQ(message([](auto in) { in.between("the page", 0, 1, 10'000); }),
            "queue 'emails': the page is 0: it must be between 1 and 10000");
  EXPECT_EQ(message([](auto in) { in.between("the page", std::size_t{11}, 1, 10); }),
            "queue 'emails': the page is 11: it must be between 1 and 10");
  EXPECT_EQ(message([](auto in) { in.length("the note", "abcd", 3); }),
            "queue 'emails': the note is 4 bytes long: at most 3 are allowed");
  EXPECT_EQ(message([](auto in) { in.refuse("it has no keys"); }),
            "queue 'emails': it has no keys");
  try {
    base::limits("book_options").between("the lease", milliseconds{999}, seconds{1}, hours{12});
    FAIL();
  } catch (error const& e) {
    EXPECT_STREQ(e.what(),
                 "book_options: the lease is 999 ms: it must be between 1 second and 12 hours");
  }
}

TEST(limits, say_lengths_of_time_as_people_do) {
  auto const of = [](auto value, decltype(value) least, decltype(value) most) {
    auto const all = message([&](auto in) { in.between("it", value, least, most); });
    auto const start = std::string("queue 'emails': it is ").size();
    return all.size() < start ? all : all.substr(start);
  };
  EXPECT_EQ(of(microseconds{1'500'000}, seconds{2}, minutes{1}),
            "1500 ms: it must be between 2 seconds and 1 minute");
  EXPECT_EQ(of(microseconds{1}, milliseconds{10}, hours{24}),
            "1 us: it must be between 10 ms and 1 day");
  EXPECT_EQ(of(milliseconds{-1}, milliseconds{0}, hours{24 * 3653}),
            "-1 ms: it must be between 0 and 10 years");
  EXPECT_EQ(of(hours{24 * 367}, hours{1}, hours{24 * 366}),
            "367 days: it must be between 1 hour and 1 year");
  EXPECT_EQ(of(hours{24 * 366}, hours{1}, hours{24 * 365}),
            "366 days: it must be between 1 hour and 1 year");
  EXPECT_EQ(of(hours{0}, hours{1}, hours{24 * 36525}),
            "0: it must be between 1 hour and 100 years");
  EXPECT_EQ(of(seconds{-1}, seconds{0}, hours{24 * 3660}),
            "-1 seconds: it must be between 0 and 3660 days");
  // The longest there is in hours is none in microseconds.
  EXPECT_EQ(of(hours::max(), hours{1}, hours{2}),
            std::to_string(hours::max().count()) + " hours: it must be between 1 hour and 2 hours");
}

}  // namespace
}  // namespace daybook
