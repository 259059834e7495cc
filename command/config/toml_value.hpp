// One value of daybook.toml, taken as what it has to be. What it is not is a complaint (65) with
// file, line and column.
// Thread safety: values. Lifetime: the parsed file must outlive it.
//
//   into.attempts = value.number(1, 1000);
//   into.backoff = value.length(1ms, 24h);
#pragma once

#include "cli/nearest.hpp"
#include "cli/words.hpp"
#include "config/options.hpp"

// What we do not use of it takes long to compile.
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <fmt/format.h>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace command {

/// "daybook.toml, line 3, column 7".
[[nodiscard]] std::string place_in_file(std::string_view file, toml::source_region const& where);

/// On failure: complaint (65).
[[noreturn]] void wrong_in_file(std::string_view file, toml::source_region const& where,
                                std::string_view reason);

class toml_value {
 public:
  toml_value(std::string_view file, std::string_view name, toml::node const& node)
      : file_(file), name_(name), node_(&node) {}

  // On failure, all: complaint (65).

  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::int64_t number(std::int64_t low, std::int64_t high) const;
  [[nodiscard]] bool truth() const;
  [[nodiscard]] std::variant<std::int64_t, std::string> number_or_text() const;
  /// A text as "30s".
  [[nodiscard]] std::chrono::milliseconds length(std::chrono::milliseconds low,
                                                 std::chrono::milliseconds high) const;
  /// The same where only whole seconds, or hours, can be.
  template <class Unit>
  [[nodiscard]] Unit whole_length(std::chrono::milliseconds low,
                                  std::chrono::milliseconds high) const;
  /// An array of texts.
  [[nodiscard]] std::vector<std::pair<std::string, toml_value>> texts() const;
  [[nodiscard]] toml::table const& table() const;
  /// A table of texts, as they stand in the file.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> named_texts() const;
  template <class T, std::size_t N>
  [[nodiscard]] T word(words_for<T, N> const& known) const;
  /// What `read` makes of it; its daybook::error or std::invalid_argument is said to be of here.
  template <std::invocable F>
  auto checked(F const& read) const -> decltype(read());

  [[noreturn]] void wrong(std::string_view reason) const;
  /// "daybook.toml, line 3, column 7".
  [[nodiscard]] std::string place() const { return place_in_file(file_, node_->source()); }

  [[nodiscard]] std::string_view file() const noexcept { return file_; }
  [[nodiscard]] std::string_view name() const noexcept { return name_; }

 private:
  std::string_view file_;
  std::string_view name_;
  toml::node const* node_;
};

// --- Inline implementations ---

template <class Unit>
Unit toml_value::whole_length(std::chrono::milliseconds low, std::chrono::milliseconds high) const {
  if (auto const out = whole<Unit>(length(low, high))) return *out;
  wrong(fmt::format("whole {} are wanted", name_of_unit<Unit>));
}

template <class T, std::size_t N>
T toml_value::word(words_for<T, N> const& known) const {
  auto const given = text();
  if (auto const found = value_in(known, given)) return *found;
  wrong("'" + given + "' is not known; " + list_of(given, names_in(known), listed(known)));
}

template <std::invocable F>
auto toml_value::checked(F const& read) const -> decltype(read()) {
  try {
    return read();
  } catch (std::exception const& e) {
    wrong(e.what());
  }
}

}  // namespace command
