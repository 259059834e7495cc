#include "process/inherited.hpp"

#include <algorithm>
#include <cstdlib>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace command {

namespace {

inherited& kept() noexcept {
  static inherited only{};
  return only;
}

/// Calls `each(fd)` for every open file but its own.
template <class F>
void for_open_files(F each) noexcept {
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return;
  while (auto const* const entry = ::readdir(folder)) {
    if (entry->d_name[0] == '.') continue;
    int const file = std::atoi(entry->d_name);
    if (file != ::dirfd(folder)) each(file);
  }
  ::closedir(folder);
}

}  // namespace

void remember_inherited() {
  auto& keep = kept();
  for (int signal = 1; signal < NSIG; ++signal) {
    // KILL and the C library's own cannot be asked; they stay what they are.
    ::sigaction(signal, nullptr, &keep.actions[static_cast<std::size_t>(signal)]);
  }
  ::pthread_sigmask(SIG_SETMASK, nullptr, &keep.mask);
  for_open_files([&keep](int file) { keep.files.push_back(file); });
  std::sort(keep.files.begin(), keep.files.end());
  // A standard file that is closed would be the next one opened: a database's socket. What stands
  // there instead fails as a closed one does, and is closed in a child.
  for (int const file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (was_inherited(file)) continue;
    static_cast<void>(::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

inherited const& what_was_inherited() noexcept { return kept(); }

bool was_inherited(int file) noexcept {
  auto const& files = kept().files;
  return std::binary_search(files.begin(), files.end(), file);
}

void close_own_files_at_exec() noexcept {
  unsigned from = 0;
  for (int const file : kept().files) {
    auto const inherited = static_cast<unsigned>(file);
    if (inherited > from) ::close_range(from, inherited - 1, CLOSE_RANGE_CLOEXEC);
    from = inherited + 1;
  }
  ::close_range(from, ~0U, CLOSE_RANGE_CLOEXEC);
}

void restore_signals_in_child() noexcept {
  auto const& keep = kept();
  for (int signal = 1; signal < NSIG; ++signal) {
    ::sigaction(signal, &keep.actions[static_cast<std::size_t>(signal)], nullptr);
  }
  ::pthread_sigmask(SIG_SETMASK, &keep.mask, nullptr);
}

}  // namespace command
