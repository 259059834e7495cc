#include "attempt/step_log.hpp"

#include "cli/format.hpp"

#include <daybook/error.hpp>
#include <daybook/names.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace command {

namespace {

constexpr char const* variable_name = "DAYBOOK_STEPS";

// The first line is the token. Each other line is a mark, a tab, and a step's name, which has no
// tab: '+' it is in hand, '-' it failed, '.' it is done, or the digest of its command.
constexpr char separator = '\t';

std::string mark_of(step_state state) {
  switch (state) {
    case step_state::in_hand: return "+";
    case step_state::failed: return "-";
    case step_state::done: break;
  }
  return ".";
}

/// Not the words: a password may be among them.
std::string digest_of(arguments const& words) {
  std::error_code unknown;
  auto text = std::filesystem::current_path(unknown).string();
  for (auto const& word : words) text.append(1, '\0').append(word);
  return fmt::format("{:016x}", std::hash<std::string>{}(text));
}

void append(int file, std::string_view text) noexcept {
  while (!text.empty()) {
    auto const written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string content_of(int file) {
  std::string out;
  std::array<char, 65536> piece{};
  for (off_t offset = 0;;) {
    auto const got = ::pread(file, piece.data(), piece.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return out;
    out.append(piece.data(), static_cast<std::size_t>(got));
    offset += got;
  }
}

bool is_step_name(std::string const& name) {
  try {
    daybook::check_name("step name", name);
    return true;
  } catch (daybook::error const&) {
    return false;
  }
}

struct step_standing {
  std::string name;  ///< empty: no step is in hand, and the last did not fail
  bool failed = false;
};

step_standing standing_in(std::string_view content) {
  std::vector<std::string> in_hand;
  std::string failed;
  while (!content.empty()) {
    auto const end = std::min(content.find('\n'), content.size());
    auto const line = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    if (line.size() < 3 || line[1] != separator) continue;
    std::string name(line.substr(2));
    std::erase(in_hand, name);
    failed.clear();
    if (line[0] == '+') in_hand.push_back(std::move(name));
    if (line[0] == '-') failed = std::move(name);
  }
  // Any program of the attempt may have written there.
  auto const& name = in_hand.empty() ? failed : in_hand.back();
  if (name.empty() || !is_step_name(name)) return {};
  return {name, in_hand.empty()};
}

/// For as long as it lives nobody else has the file.
class file_lock {
 public:
  explicit file_lock(int file) noexcept : file_(file) {
    while (::flock(file_, LOCK_EX) != 0 && errno == EINTR) continue;
  }
  file_lock(file_lock const&) = delete;
  file_lock& operator=(file_lock const&) = delete;
  ~file_lock() { ::flock(file_, LOCK_UN); }

 private:
  int file_;
};

}  // namespace

step_log::step_log(std::string_view token) : file_(::memfd_create("daybook-steps", MFD_CLOEXEC)) {
  if (file_ >= 0) append(file_, fmt::format("{}\n", token));
}

step_log::~step_log() {
  if (file_ >= 0) ::close(file_);
}

std::pair<std::string, std::string> step_log::variable() const {
  auto path = file_ < 0 ? std::string() : fmt::format("/proc/{}/fd/{}", ::getpid(), file_);
  return {variable_name, std::move(path)};
}

std::string step_log::in_hand() const {
  auto const seen = standing_in(content_of(file_));
  return seen.failed ? std::string() : seen.name;
}

std::string step_log::step() const { return standing_in(content_of(file_)).name; }

std::string step_log::text() const {
  auto const seen = standing_in(content_of(file_));
  if (seen.name.empty()) return {};
  return fmt::format("; step {} {}", printable(seen.name), seen.failed ? "failed" : "was in hand");
}

step_log_writer::step_log_writer(std::string const& token) {
  char const* const path = std::getenv(variable_name);
  if (path == nullptr || *path == '\0') return;
  file_ = ::open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file_ < 0) return;
  // Beneath another machine's or container's processes the path names anything.
  struct stat found {};
  bool const ours = ::fstat(file_, &found) == 0 && S_ISREG(found.st_mode) &&
                    content_of(file_).starts_with(token + "\n");
  if (ours) return;
  ::close(file_);
  file_ = -1;
}

step_log_writer::~step_log_writer() {
  if (file_ >= 0) ::close(file_);
}

void step_log_writer::write(std::string_view step, step_state state) const {
  if (file_ < 0) return;
  append(file_, fmt::format("{}{}{}\n", mark_of(state), separator, step));
}

bool step_log_writer::take(std::string_view step, arguments const& words) const {
  if (file_ < 0) return true;
  auto const digest = digest_of(words);
  file_lock const alone(file_);
  auto const text = content_of(file_);
  std::string_view const content = text;
  auto const line_end = fmt::format("{}{}\n", separator, step);
  for (auto at = content.find(line_end); at != content.npos; at = content.find(line_end, at + 1)) {
    auto const before = content.substr(0, at);
    auto const mark = before.substr(before.rfind('\n') + 1);
    if (mark.size() == digest.size()) return mark == digest;
  }
  append(file_, fmt::format("{}{}{}\n", digest, separator, step));
  return true;
}

}  // namespace command
