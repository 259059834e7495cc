#include "base/platform.hpp"

#include "base/fuse.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace daybook {
inline namespace v1 {
namespace base {

boot_clock::time_point boot_clock::now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return time_point(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::int64_t process_id() noexcept { return ::getpid(); }

void random_bytes(unsigned char* out, std::size_t size) {
  while (size > 0) {
    auto const got = ::getrandom(out, size, 0);
    if (got < 0) {
      if (errno == EINTR) continue;
      throw std::system_error(errno, std::generic_category(), "getrandom");
    }
    out += got;
    size -= static_cast<std::size_t>(got);
  }
}

std::chrono::milliseconds jitter(std::chrono::milliseconds at_most) {
  thread_local std::minstd_rand generator{std::random_device{}()};
  std::uniform_int_distribution<std::int64_t> pick(0, at_most.count());
  return std::chrono::milliseconds(pick(generator));
}

std::string network_file_system(std::string const& path) {
  struct statfs about {};
  auto where = std::filesystem::path(path);
  if (::statfs(where.c_str(), &about) != 0) {
    where = where.has_parent_path() ? where.parent_path() : std::filesystem::path(".");
    if (::statfs(where.c_str(), &about) != 0) return {};
  }
  auto const type = fuse_type(where.string());
  if (is_network(type)) return type;
  return network_file_system_of(static_cast<std::uint32_t>(about.f_type));
}

std::string network_file_system_of(std::uint32_t magic) {
  // The numbers of statfs(2) and linux/magic.h, of other file systems those that stat(1) knows.
  constexpr std::array<std::pair<std::uint32_t, char const*>, 17> known{{
      {0x6969, "nfs"},
      {0x517b, "smb"},
      {0xff534d42, "cifs"},
      {0xfe534d42, "smb2"},
      {0x01021997, "9p"},
      {0x5346414f, "afs"},
      {0x6b414653, "afs"},
      {0x73757245, "coda"},
      {0x00c36400, "ceph"},
      {0x01161970, "gfs2"},
      {0x7461636f, "ocfs2"},
      {0x0bd00bd0, "lustre"},
      {0x19830326, "beegfs"},
      {0x47504653, "gpfs"},
      {0xaad7aaea, "panfs"},
      {0x20030528, "orangefs"},
      {0x786f4256, "vboxsf"},
  }};
  for (auto const& [number, name] : known) {
    if (number == magic) return name;
  }
  return {};
}

void kill_self() noexcept {
  ::kill(::getpid(), SIGKILL);
  std::abort();
}

void stop_self() noexcept { ::kill(::getpid(), SIGSTOP); }

}  // namespace base
}  // namespace v1
}  // namespace daybook
