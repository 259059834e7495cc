// Reads a cron expression, also while compiling. Users take cron.hpp. docs/reference/cron.md has
// the grammar, cron_grammar.hpp what one field is. Thread safety: values.
//
//   daybook::cron_reader reader("61 * * * *", 0);
//   if (!reader.read()) complain(reader.mistake());  // out_of_range, minute, at 0
#pragma once

#include <daybook/detail/cron_fields.hpp>
#include <daybook/detail/cron_error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace daybook {
inline namespace v1 {

/// The longest expression, in bytes.
inline constexpr std::size_t longest_cron = 255;

/// What `H` is drawn from; the same on every machine and in every version.
[[nodiscard]] constexpr std::uint64_t cron_seed(std::string_view name) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (char const c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

class cron_reader {
 public:
  constexpr cron_reader(std::string_view text, std::uint64_t seed) : text_(text), seed_(seed) {}

  /// Once. False: mistake() says why, and fields() is of no use.
  [[nodiscard]] constexpr bool read();
  [[nodiscard]] constexpr cron_fields const& fields() const noexcept { return said_; }
  [[nodiscard]] constexpr cron_error const& mistake() const noexcept { return mistake_; }

 private:
  struct word {
    std::size_t begin;
    std::size_t end;
  };
  static constexpr char raised(char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; }

  [[nodiscard]] constexpr char peek() const { return at_ < end_ ? raised(text_[at_]) : '\0'; }
  constexpr bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  constexpr bool fail(cron_fault fault, std::size_t offset) {
    mistake_ = {fault, field_, offset};
    return false;
  }
  [[nodiscard]] constexpr bool is(cron_field field) const { return field_ == field; }
  [[nodiscard]] constexpr std::uint64_t& set() { return sets_[static_cast<std::size_t>(field_)]; }
  constexpr void star() { stars_ |= 1U << static_cast<unsigned>(field_); }
  [[nodiscard]] constexpr bool starred(cron_field field) const {
    return (stars_ >> static_cast<unsigned>(field) & 1U) != 0;
  }

  constexpr bool expand_nickname();
  constexpr bool field();
  constexpr bool element();
  constexpr bool value(unsigned& value);
  constexpr bool number(unsigned& value);
  constexpr bool name(unsigned& value);
  constexpr bool range(unsigned low, unsigned& high);
  constexpr bool step(unsigned low, unsigned high, unsigned& value);
  constexpr bool add(unsigned low, unsigned high);
  constexpr bool hash();
  constexpr bool last();
  constexpr bool nth(unsigned weekday);
  constexpr bool conclude();

  std::string_view text_;
  std::uint64_t seed_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  cron_field field_ = cron_field::second;
  std::array<std::uint64_t, 6> sets_{};
  unsigned stars_ = 0;
  bool both_days_ = false;
  cron_fields said_;
  cron_error mistake_;
};

// --- Inline implementations ---

constexpr bool cron_reader::read() {
  if (text_.size() > longest_cron) return fail(cron_fault::too_long, longest_cron);
  std::array<word, 6> words{};
  std::size_t count = 0;
  auto const blank = [&](std::size_t offset) {
    return text_[offset] == ' ' || text_[offset] == '\t';
  };
  for (std::size_t at = 0;;) {
    while (at < text_.size() && blank(at)) ++at;
    if (at == text_.size()) break;
    if (count == words.size()) return fail(cron_fault::too_many_fields, at);
    auto& now = words[count++];
    for (now.begin = at; at < text_.size() && !blank(at);) ++at;
    now.end = at;
  }
  if (count == 1 && text_[words[0].begin] == '@') {
    at_ = words[0].begin;
    end_ = words[0].end;
    return expand_nickname();
  }
  if (count < 5) return fail(cron_fault::too_few_fields, text_.size());
  if (count == 5) sets_[0] = 1;
  for (std::size_t i = 0; i < count; ++i) {
    field_ = static_cast<cron_field>(i + words.size() - count);
    at_ = words[i].begin;
    end_ = words[i].end;
    if (!field()) return false;
  }
  return conclude();
}

constexpr bool cron_reader::expand_nickname() {
  struct meaning {
    std::string_view name;
    std::string_view expression;
  };
  constexpr std::array<meaning, 7> known{{{"@YEARLY", "0 0 1 1 *"},
                                          {"@ANNUALLY", "0 0 1 1 *"},
                                          {"@MONTHLY", "0 0 1 * *"},
                                          {"@WEEKLY", "0 0 * * 0"},
                                          {"@DAILY", "0 0 * * *"},
                                          {"@MIDNIGHT", "0 0 * * *"},
                                          {"@HOURLY", "0 * * * *"}}};
  for (auto const& one : known) {
    bool same = one.name.size() == end_ - at_;
    for (std::size_t i = 0; same && i < one.name.size(); ++i) {
      same = raised(text_[at_ + i]) == one.name[i];
    }
    if (!same) continue;
    text_ = one.expression;
    return read();
  }
  return fail(cron_fault::nickname, at_);
}

constexpr bool cron_reader::conclude() {
  said_.seconds = sets_[0];
  said_.minutes = sets_[1];
  said_.hours = static_cast<std::uint32_t>(sets_[2]);
  said_.days = static_cast<std::uint32_t>(sets_[3]);
  said_.months = static_cast<std::uint16_t>(sets_[4]);
  said_.weekdays = static_cast<std::uint8_t>((sets_[5] | sets_[5] >> 7U) & 127U);
  said_.either_day = !both_days_ && !starred(cron_field::day) && !starred(cron_field::weekday);
  said_.follows_clock = starred(cron_field::minute) || starred(cron_field::hour);
  field_ = cron_field::day;
  // Another name may draw another day: cron::hashed looks again.
  return said_.hashed || said_.possible() || fail(cron_fault::never, 0);
}

}  // namespace v1
}  // namespace daybook

#include <daybook/detail/cron_grammar.hpp>
