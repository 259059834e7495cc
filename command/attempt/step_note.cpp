#include "attempt/step_note.hpp"

#include "cli/format.hpp"

#include <daybook/error.hpp>
#include <daybook/names.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace command {

namespace {

constexpr char const* note_variable = "DAYBOOK_STEP_NOTE";

/// All of the file: whether the step has failed, and its name, which has at most 255 bytes.
using note_bytes = std::array<char, 257>;
constexpr char in_hand_mark = '+';
constexpr char failed_mark = '-';

struct noted {
  bool failed = false;
  std::string name;
};

/// Anybody may have written there: what cannot be a step's name is none.
noted noted_in(int file) {
  note_bytes all{};
  if (file < 0 || ::pread(file, all.data(), all.size(), 0) <= 0) return {};
  std::string const name(all.data() + 1, std::find(all.begin() + 1, all.end(), '\0'));
  if (name.empty()) return {};
  try {
    daybook::check_name("step name", name);
  } catch (daybook::error const&) {
    return {};
  }
  return {all[0] == failed_mark, name};
}

}  // namespace

step_note::step_note() noexcept : file_(::memfd_create("daybook-step", MFD_CLOEXEC)) {}

step_note::~step_note() {
  if (file_ >= 0) ::close(file_);
}

std::pair<std::string, std::string> step_note::variable() const {
  if (file_ < 0) return {note_variable, ""};
  return {note_variable, fmt::format("/proc/{}/fd/{}", ::getpid(), file_)};
}

std::string step_note::in_hand() const {
  auto const seen = noted_in(file_);
  return seen.failed ? std::string() : seen.name;
}

std::string step_note::step() const { return noted_in(file_).name; }

std::string step_note::text() const {
  auto const seen = noted_in(file_);
  if (seen.name.empty()) return {};
  return fmt::format("; step {} {}", printable(seen.name), seen.failed ? "failed" : "was in hand");
}

void note_step(std::string_view name, step_state state) noexcept {
  char const* const path = std::getenv(note_variable);
  if (path == nullptr || *path == '\0') return;
  int const file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  note_bytes all{};
  if (state != step_state::done) {
    all[0] = state == step_state::failed ? failed_mark : in_hand_mark;
    std::copy_n(name.begin(), std::min(name.size(), all.size() - 2), all.begin() + 1);
  }
  [[maybe_unused]] auto const written = ::pwrite(file, all.data(), all.size(), 0);
  ::close(file);
}

}  // namespace command
