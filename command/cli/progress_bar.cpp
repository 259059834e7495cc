#include "cli/progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

namespace command {

namespace {

using exact_seconds = std::chrono::duration<double>;
using std::chrono::milliseconds;

constexpr milliseconds pause_between{100};
/// What is over sooner needs no bar.
constexpr milliseconds first_after{300};
constexpr std::size_t widest_bar = 30;

bool goes_back() {
  char const* const terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && terminal != nullptr && *terminal != '\0' &&
         std::string_view(terminal) != "dumb";
}

std::size_t width_of_terminal() {
  ::winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

/// "1h2m", "3m20s", "5s".
std::string time_text(exact_seconds length) {
  auto const all = static_cast<std::int64_t>(std::ceil(length.count()));
  if (all >= 3600) return fmt::format("{}h{}m", all / 3600, all / 60 % 60);
  if (all >= 60) return fmt::format("{}m{}s", all / 60, all % 60);
  return fmt::format("{}s", all);
}

std::string rate_text(std::int64_t count, exact_seconds since) {
  auto const rate = static_cast<double>(count) / std::max(since.count(), 1e-3);
  return rate < 10 ? fmt::format("{:.1f}/s", rate) : fmt::format("{:.0f}/s", rate);
}

void put(std::string const& text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

/// The line: "stock  [####      ]  40%  4000  8130/s  1s left", as much of it as `columns` hold.
std::string bar_text(std::string const& label, std::int64_t count, std::optional<double> part,
                     exact_seconds since, std::size_t columns) {
  auto const numbers = fmt::format("  {}  {}", count, rate_text(count, since));
  auto line = label + numbers;
  if (part) {
    auto const share = std::clamp(*part, 0.0, 1.0);
    auto tail = fmt::format("  {:3.0f}%{}", std::floor(share * 100), numbers);
    if (share > 0) tail += fmt::format("  {} left", time_text(since * ((1 - share) / share)));
    auto const used = label.size() + tail.size() + 4;
    auto const width = std::min(widest_bar, columns > used ? columns - used : 0);
    auto const full = static_cast<std::size_t>(share * static_cast<double>(width));
    line = width < 5
               ? label + tail
               : fmt::format("{}  [{:#<{}}{:<{}}]{}", label, "", full, "", width - full, tail);
  }
  if (line.size() > columns) line.resize(columns);
  return line;
}

}  // namespace

progress_bar::progress_bar(std::string label)
    : label_(std::move(label)), next_(began_ + first_after), terminal_(goes_back()) {}

void progress_bar::at(std::int64_t count, std::optional<double> part) {
  if (!terminal_) return;
  auto const now = clock::now();
  if (now < next_) return;
  next_ = now + pause_between;
  // A character in the last column would make some terminals go on to the next line.
  put("\r" + bar_text(label_, count, part, now - began_, width_of_terminal() - 1) + "\x1b[K");
  drawn_ = true;
}

void progress_bar::wipe() noexcept {
  if (!std::exchange(drawn_, false)) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

std::string progress_bar::pace(std::int64_t count) const {
  exact_seconds const since = clock::now() - began_;
  return fmt::format("{:.1f}s, {}", since.count(), rate_text(count, since));
}

}  // namespace command
