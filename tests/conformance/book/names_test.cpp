// Names and keys: which are refused, and that they are compared byte by byte.
#include "conformance/fixture.hpp"

#include <functional>

namespace conformance {
namespace {

class names : public on_engine {};

std::vector<std::string> good_names() {
  return {"a",
          "A",
          "a ",
          " a",
          "\xc3\xa4",   // composed
          "a\xcc\x88",  // decomposed
          "ae",
          "a%",
          "a_",
          "a\\",
          "a'",
          "a\"",
          "a`b",
          ":name",
          "$1",
          "?1",
          "a--b",
          "/*",
          "{run}",
          "\xf0\x9d\x84\x9e",
          "\xc3\x9f",
          "ss",
          "0",
          "00",
          "1e1",
          "null",
          std::string(255, 'x'),
          std::string(254, 'x') + "y",
          std::string(253, 'x') + "\xc3\xa4"};
}

std::vector<std::string> bad_names() {
  return {"",
          std::string(256, 'x'),
          "a\nb",
          "a\tb",
          std::string("a\0b", 3),
          "\x7f",
          "\xc2\x85",  // a control character of C1
          "\xff",
          "\xc3",
          "\xc0\xaf",
          "\xed\xa0\x80",
          "\xf4\x90\x80\x80"};
}

TEST_P(names, keys_are_compared_byte_by_byte) {
  for (auto const& text : good_names()) {
    auto run = taken(book_.start(nightly_, key{text}));
    EXPECT_EQ(run.number(), 1) << text;
    EXPECT_TRUE(std::move(run).finish());
  }
  for (auto const& text : good_names()) {
    EXPECT_EQ(book_.start(nightly_, key{text}, {.once = true}).why(), start_refusal::done_before)
        << text;
    EXPECT_EQ(seen(key{text}).info.key, text);
  }
  EXPECT_EQ(rows_of("run"), std::to_string(good_names().size()));
}

TEST_P(names, steps_are_compared_byte_by_byte) {
  auto run = taken(book_.start(nightly_, day_));
  for (auto const& text : good_names()) {
    EXPECT_EQ(run.step(text, insert("one")).what(), outcome::done) << text;
  }
  EXPECT_TRUE(std::move(run).fail("no"));
  auto next = taken(book_.start(nightly_, day_));
  for (auto const& text : good_names()) {
    EXPECT_EQ(next.step(text, insert("one")).what(), outcome::skipped) << text;
  }
  EXPECT_FALSE(next.done("a  "));
  EXPECT_EQ(effects("one"), std::to_string(good_names().size()));
  auto const steps = seen().steps;
  ASSERT_EQ(steps.size(), good_names().size());
  for (std::size_t at = 0; at < steps.size(); ++at) EXPECT_EQ(steps[at].name, good_names()[at]);
}

TEST_P(names, processes_are_compared_byte_by_byte) {
  for (auto const& text : good_names()) {
    EXPECT_TRUE(taken(book_.start(process{text}, day_)).finish());
  }
  for (auto const& text : good_names()) {
    EXPECT_EQ(book_.runs({.process = text}).size(), 1U) << text;
  }
}

TEST_P(names, bad_ones_are_refused_and_nothing_is_written) {
  auto run = taken(book_.start(nightly_, day_));
  for (auto const& text : bad_names()) {
    EXPECT_EQ(fault_of([&] { process const bad(text); }), error_code::bad_argument) << text;
    EXPECT_EQ(fault_of([&] { key const bad(text); }), error_code::bad_argument) << text;
    EXPECT_EQ(fault_of([&] { static_cast<void>(run.step(text, insert("bad"))); }),
              error_code::bad_argument)
        << text;
    EXPECT_EQ(fault_of([&] { static_cast<void>(run.record(text)); }), error_code::bad_argument)
        << text;
  }
  EXPECT_EQ(effects("bad"), "0");
  EXPECT_EQ(rows_of("step"), "0");
  EXPECT_TRUE(run.step("good", insert("good")));
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(names, the_longest_names_together_in_hand) {
  // The step in hand is shown with its run: three names of 255 bytes, of several runs at once.
  std::string const longest(254, 'n');
  std::vector<daybook::run> runs;
  for (char const last : {'1', '2', '3', '4', '5', '6'}) {
    runs.push_back(taken(book_.start(process{longest + last}, key{longest + last})));
  }
  std::function<void(std::size_t)> nest = [&](std::size_t at) {
    if (at == runs.size()) {
      EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
      return;
    }
    static_cast<void>(runs[at].step(longest + "s", [&](transaction&) { nest(at + 1); }));
  };
  if (on_sqlite()) return;  // one writer: steps do not overlap
  nest(0);
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
}

DAYBOOK_ON_EVERY_ENGINE(names);

}  // namespace
}  // namespace conformance
