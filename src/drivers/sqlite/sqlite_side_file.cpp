#include "drivers/sqlite/sqlite_side_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

// A lock needs no permission to write. What else somebody may have put there is not waited for.
constexpr int how = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

int open_beside(std::string const& database, std::string const& name) noexcept {
  int const there = ::open(name.c_str(), how);
  if (there >= 0 || errno != ENOENT) return there;
  struct stat about {};
  if (::stat(database.c_str(), &about) != 0) return -1;
  auto const mode = about.st_mode & 0777U;
  int const made = ::open(name.c_str(), how | O_CREAT | O_EXCL, mode);
  if (made < 0) return errno == EEXIST ? ::open(name.c_str(), how) : -1;
  // Neither is worth more than a try: who cannot open the file waits without it.
  static_cast<void>(::fchmod(made, mode));  // open() has left out what the umask says
  if (::geteuid() == 0 && ::fchown(made, about.st_uid, about.st_gid) != 0) errno = 0;
  return made;
}

}  // namespace

side_file::side_file(std::string const& database, char const* suffix) noexcept
    : file_(open_beside(database, database + suffix)) {}

side_file::~side_file() {
  if (file_ >= 0) ::close(file_);
}

bool side_file::try_lock() const noexcept { return ::flock(file_, LOCK_EX | LOCK_NB) == 0; }

void side_file::lock() const noexcept {
  while (::flock(file_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

void side_file::unlock() const noexcept { ::flock(file_, LOCK_UN); }

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
