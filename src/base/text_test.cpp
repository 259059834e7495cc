#include "base/text.hpp"

#include <daybook/error.hpp>
#include <daybook/names.hpp>

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace daybook {
namespace {

constexpr auto none = std::string_view::npos;

TEST(text, finds_the_first_byte_that_is_not_utf8) {
  std::vector<std::pair<std::string, std::size_t>> const table{
      {"", none},
      {"plain", none},
      {std::string("a\0b", 3), none},
      {"\xc2\x80", none},
      {"\xdf\xbf", none},
      {"\xe0\xa0\x80", none},
      {"\xed\x9f\xbf", none},
      {"\xee\x80\x80", none},
      {"\xef\xbf\xbf", none},
      {"\xf0\x90\x80\x80", none},
      {"\xf4\x8f\xbf\xbf", none},
      {"ab\x80", 2},    // a tail alone
      {"\xc0\x80", 0},  // overlong
      {"\xc1\xbf", 0},
      {"a\xe0\x9f\xbf", 1},     // overlong
      {"\xed\xa0\x80", 0},      // a surrogate
      {"\xf0\x8f\xbf\xbf", 0},  // overlong
      {"\xf4\x90\x80\x80", 0},  // beyond U+10FFFF
      {"\xf5\x80\x80\x80", 0},
      {"\xff", 0},
      {"\xc3", 0},  // cut
      {"a\xe2\x82", 1},
      {"\xf0\x9f\x98", 0},
      {"\xc3\xa4\xc3", 2},
      {"\xe2\x28\xa1", 0},
      {"\xf0\x28\x8c\xbc", 0},
  };
  for (auto const& [input, expected] : table) {
    EXPECT_EQ(base::first_invalid_utf8(input), expected) << testing::PrintToString(input);
  }
}

TEST(text, finds_control_characters) {
  std::vector<std::pair<std::string, std::size_t>> const table{
      {"", none},         {"plain \xc3\xa4", none},  {"a\nb", 1},
      {"\t", 0},          {std::string(1, '\0'), 0}, {"ab\x1f", 2},
      {"a\x7f", 1},       {"\xc2\x80", 0},           {"x\xc2\x9f", 1},
      {"\xc2\xa0", none}, {"\xc3\x80", none}};
  for (auto const& [input, expected] : table) {
    EXPECT_EQ(base::first_control(input), expected) << testing::PrintToString(input);
  }
}

TEST(text, bounded_keeps_whole_characters) {
  EXPECT_EQ(base::bounded("", 10), "");
  EXPECT_EQ(base::bounded("0123456789", 10), "0123456789");
  EXPECT_EQ(base::bounded("0123456789x", 10), "0123456...");
  EXPECT_EQ(base::bounded("a\xff"
                          "b",
                          10),
            "a?b");
  EXPECT_EQ(base::bounded(std::string("a\0b", 3), 10), "a?b");
  EXPECT_EQ(base::bounded("line\nline", 20), "line\nline");
  // Four bytes each: only what fits whole, with the mark.
  std::string const notes = "\xf0\x9d\x84\x9e\xf0\x9d\x84\x9e\xf0\x9d\x84\x9e";
  EXPECT_EQ(base::bounded(notes, 12), notes);
  EXPECT_EQ(base::bounded(notes, 11), notes.substr(0, 8) + "...");
  EXPECT_EQ(base::bounded(notes, 10), notes.substr(0, 4) + "...");
  for (std::size_t limit = 3; limit < 40; ++limit) {
    std::string longer;
    for (int i = 0; i < 20; ++i) longer += "\xc3\xa4\xf0\x9d\x84\x9ex";
    auto const cut = base::bounded(longer, limit);
    EXPECT_LE(cut.size(), limit);
    EXPECT_EQ(base::first_invalid_utf8(cut), none) << limit;
  }
}

TEST(names, say_what_is_wrong_and_where) {
  auto const message = [](std::string const& text) {
    try {
      check_name("step name", text);
    } catch (error const& e) {
      EXPECT_EQ(e.kind(), error_code::bad_argument);
      return std::string(e.what());
    }
    return std::string("fine");
  };
  EXPECT_EQ(message("load"), "fine");
  EXPECT_EQ(message(std::string(255, 'x')), "fine");
  EXPECT_EQ(message(""), "step name is empty: give it 1 to 255 bytes");
  EXPECT_EQ(message(std::string(256, 'x')), "step name is 256 bytes long: at most 255 are allowed");
  EXPECT_EQ(message("ab\xff"), "step name is not valid UTF-8 (at byte 2): convert it first");
  EXPECT_EQ(message("a\n"), "step name holds a control character (at byte 1): remove it");
  EXPECT_EQ(key().str(), "-");
  EXPECT_THROW(process(""), error);
  EXPECT_THROW(key(std::string("\0", 1)), error);
}

TEST(text, is_a_text_of_json) {
  EXPECT_EQ(base::json_text(""), R"("")");
  EXPECT_EQ(base::json_text(R"(a "b" \c)"), R"("a \"b\" \\c")");
  EXPECT_EQ(base::json_text("tab\tend\n\x1f\x7f"), "\"tab\\u0009end\\u000a\\u001f\x7f\"");
  EXPECT_EQ(base::json_text("\xc3\xa4/"), "\"\xc3\xa4/\"");
}

TEST(text, is_listed) {
  EXPECT_EQ(base::listed({}), "");
  EXPECT_EQ(base::listed(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(base::listed(std::vector<std::string>{"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(base::listed(std::vector<std::string>{"a", "b"}, " or "), "a or b");
}

}  // namespace
}  // namespace daybook
