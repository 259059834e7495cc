// Bytes: how many columns, how many rows, and then column by column its kind and its values.
// Numbers are written seven bits a byte, the lowest first.
#include "planner/sources/keys_coded.hpp"

#include "base/numbers.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace daybook {
inline namespace v1 {
namespace planners {

namespace {

enum class form : std::uint8_t { integers = 0, texts = 1 };

/// The integer of which this is the one text; empty: it is none.
std::optional<std::int64_t> integer_of(std::string_view text) {
  auto const out = base::number_of(text);
  return out && std::to_string(*out) == text ? out : std::nullopt;
}

void put(std::string& output, std::uint64_t number) {
  for (; number > 0x7f; number >>= 7U)
    output.push_back(static_cast<char>((number & 0x7fU) | 0x80U));
  output.push_back(static_cast<char>(number));
}

/// Small numbers of either sign become small numbers without one.
std::uint64_t folded(std::uint64_t difference) {
  auto const sign = difference >> 63U;
  return (difference << 1U) ^ (~sign + 1);
}
std::uint64_t unfolded(std::uint64_t number) { return (number >> 1U) ^ (~(number & 1U) + 1); }

void put_integers(std::string& output, std::vector<std::int64_t> const& numbers) {
  std::uint64_t before = 0;
  for (auto const one : numbers) {
    auto const now = static_cast<std::uint64_t>(one);
    put(output, folded(now - before));  // modulo 2^64, as it is undone
    before = now;
  }
}

void put_texts(std::string& output, std::vector<row_key> const& keys, std::size_t column) {
  std::string_view before;
  for (auto const& one : keys) {
    std::string_view const now = one[column];
    auto const shared = static_cast<std::size_t>(
        std::mismatch(before.begin(), before.end(), now.begin(), now.end()).first - before.begin());
    put(output, shared);
    put(output, now.size() - shared);
    output.append(now.substr(shared));
    before = now;
  }
}

class key_reader {
 public:
  explicit key_reader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      auto const byte = static_cast<std::uint8_t>(bytes(1).front());
      out |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if (byte < 0x80) return out;
    }
    broken();
  }
  std::string_view bytes(std::uint64_t count) {
    if (count > rest_.size()) broken();
    auto const out = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(static_cast<std::size_t>(count));
    return out;
  }
  /// How many things there are, each of which takes a byte at least.
  std::size_t count() {
    auto const out = number();
    if (out > rest_.size()) broken();
    return static_cast<std::size_t>(out);
  }
  [[nodiscard]] bool over() const noexcept { return rest_.empty(); }
  [[noreturn]] static void broken() {
    throw error({.kind = error_code::internal}, "the keys of a page are not as they were written");
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::string coded(std::vector<row_key> const& keys) {
  std::string out;
  auto const width = keys.empty() ? 0 : keys.front().size();
  put(out, width);
  put(out, keys.size());
  for (std::size_t column = 0; column < width; ++column) {
    std::vector<std::int64_t> numbers;
    for (auto const& one : keys) {
      auto const number = integer_of(one[column]);
      if (!number) break;
      numbers.push_back(*number);
    }
    bool const integers = numbers.size() == keys.size();
    put(out, static_cast<std::uint64_t>(integers ? form::integers : form::texts));
    if (integers) {
      put_integers(out, numbers);
    } else {
      put_texts(out, keys, column);
    }
  }
  return out;
}

std::vector<row_key> decoded(std::string_view bytes) {
  key_reader in(bytes);
  auto const width = static_cast<std::size_t>(in.number());
  auto const rows = in.count();
  if (width > 64 || (width == 0 && rows > 0)) key_reader::broken();
  std::vector<row_key> out(rows, row_key(width));
  for (std::size_t column = 0; column < width; ++column) {
    auto const how = in.number();
    if (how > static_cast<std::uint64_t>(form::texts)) key_reader::broken();
    std::uint64_t number = 0;
    std::string text;
    for (auto& one : out) {
      if (how == static_cast<std::uint64_t>(form::integers)) {
        number += unfolded(in.number());
        one[column] = std::to_string(static_cast<std::int64_t>(number));
      } else {
        auto const shared = in.number();
        if (shared > text.size()) key_reader::broken();
        text.resize(static_cast<std::size_t>(shared));
        text.append(in.bytes(in.number()));
        one[column] = text;
      }
    }
  }
  if (!in.over()) key_reader::broken();
  return out;
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
