#include "attempt/step_list.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace command {

namespace {

constexpr char const* variable_name = "DAYBOOK_STEPS";

void append(int file, std::string_view text) noexcept {
  while (!text.empty()) {
    auto const written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string all_of(int file) {
  std::string out;
  std::array<char, 65536> piece{};
  for (off_t at = 0;;) {
    auto const got = ::pread(file, piece.data(), piece.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return out;
    out.append(piece.data(), static_cast<std::size_t>(got));
    at += got;
  }
}

/// Not the words: a password may be among them.
std::string mark_of(arguments const& words) {
  std::error_code unknown;
  auto text = std::filesystem::current_path(unknown).string();
  for (auto const& one : words) text.append(1, '\0').append(one);
  return fmt::format("{:016x}", std::hash<std::string>{}(text));
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

step_list::step_list(std::string_view token) : file_(::memfd_create("daybook-steps", MFD_CLOEXEC)) {
  if (file_ >= 0) append(file_, fmt::format("{}\n", token));
}

step_list::~step_list() {
  if (file_ >= 0) ::close(file_);
}

std::pair<std::string, std::string> step_list::variable() const {
  auto path = file_ < 0 ? std::string() : fmt::format("/proc/{}/fd/{}", ::getpid(), file_);
  return {variable_name, std::move(path)};
}

step_list_around::step_list_around(std::string const& token) {
  char const* const path = std::getenv(variable_name);
  if (path == nullptr || *path == '\0') return;
  file_ = ::open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file_ < 0) return;
  // Beneath another machine's or container's processes the path names anything.
  struct stat found {};
  bool const ours = ::fstat(file_, &found) == 0 && S_ISREG(found.st_mode) &&
                    all_of(file_).starts_with(token + "\n");
  if (ours) return;
  ::close(file_);
  file_ = -1;
}

step_list_around::~step_list_around() {
  if (file_ >= 0) ::close(file_);
}

bool step_list_around::take(std::string_view step, arguments const& words) const {
  if (file_ < 0) return true;
  auto const mark = mark_of(words);
  file_lock const alone(file_);
  auto const list = all_of(file_);
  // A mark has no tab, nor has a name any.
  auto const at = list.find(fmt::format("\t{}\n", step));
  if (at != std::string::npos) {
    return std::string_view(list).substr(0, at).ends_with(mark);
  }
  append(file_, fmt::format("{}\t{}\n", mark, step));
  return true;
}

}  // namespace command
