#include "core/lease/in_hand.hpp"

#include "base/numbers.hpp"

#include <array>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

std::int64_t number_in(std::string_view text) { return base::number_of(text).value_or(0); }

/// Process, key, step, microseconds, done, total, note.
constexpr std::size_t fields = 7;

/// Names and notes hold no control characters, so that tabs and line ends part them.
std::array<std::string_view, fields> split(std::string_view line) {
  std::array<std::string_view, fields> out;
  for (auto& field : out) {
    auto const tab = line.find('\t');
    field = line.substr(0, tab);
    if (tab == std::string_view::npos) break;
    line.remove_prefix(tab + 1);
  }
  return out;
}

}  // namespace

std::chrono::microseconds since(base::boot_clock::time_point began) {
  return std::chrono::duration_cast<std::chrono::microseconds>(base::boot_clock::now() - began);
}

std::string write_line(in_hand const& running) {
  if (running.step.empty() && !running.how_far) return {};
  auto const us = since(running.step_began).count();
  auto line = running.process + "\t" + running.key + "\t" + running.step + "\t" +
              (running.step.empty() ? "" : std::to_string(us)) + "\t";
  if (running.how_far) {
    line += std::to_string(running.how_far->done) + "\t" + std::to_string(running.how_far->total) +
            "\t" + running.how_far->note;
  }
  return line + "\n";
}

std::optional<in_hand_line> find_line(std::string_view lines, std::string_view process,
                                      std::string_view key) {
  while (!lines.empty()) {
    auto const end = lines.find('\n');
    auto const field = split(lines.substr(0, end));
    if (!field[0].empty() && field[0] == process && field[1] == key) {
      in_hand_line out{std::string(field[2]), std::chrono::microseconds(number_in(field[3])), {}};
      if (!field[4].empty()) {
        out.how_far = {number_in(field[4]), number_in(field[5]), std::string(field[6])};
      }
      return out;
    }
    lines = end == std::string_view::npos ? std::string_view{} : lines.substr(end + 1);
  }
  return std::nullopt;
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
