#include "base/fuse.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

namespace daybook {
inline namespace v1 {
namespace base {

std::string fuse_type(std::string const& path) {
  constexpr std::uint32_t magic = 0x65735546;
  auto where = std::filesystem::path(path);
  struct statfs about {};
  struct stat file {};
  auto const look = [&] {
    return ::statfs(where.c_str(), &about) == 0 && ::stat(where.c_str(), &file) == 0;
  };
  if (!look()) {
    where = where.has_parent_path() ? where.parent_path() : std::filesystem::path(".");
    if (!look()) return {};
  }
  if (static_cast<std::uint32_t>(about.f_type) != magic) return {};
  std::ifstream from("/proc/self/mountinfo");
  std::string const all{std::istreambuf_iterator<char>(from), {}};
  auto type = file_system_type_in(all, major(file.st_dev), minor(file.st_dev));
  return type.empty() ? "fuse" : type;
}

std::string file_system_type_in(std::string_view mountinfo, std::uint32_t major,
                                std::uint32_t minor) {
  // "36 35 98:0 /root /where options... - TYPE source more": proc(5).
  auto const device = std::to_string(major) + ":" + std::to_string(minor);
  while (!mountinfo.empty()) {
    auto const end = std::min(mountinfo.find('\n'), mountinfo.size());
    auto const line = mountinfo.substr(0, end);
    mountinfo.remove_prefix(std::min(end + 1, mountinfo.size()));
    auto const parent = line.find(' ');
    auto const at = parent == line.npos ? line.npos : line.find(' ', parent + 1);
    auto const type = line.find(" - ");
    if (at == line.npos || type == line.npos) continue;
    if (line.substr(at + 1, line.find(' ', at + 1) - at - 1) != device) continue;
    auto const rest = line.substr(type + 3);
    return std::string(rest.substr(0, rest.find(' ')));
  }
  return {};
}

bool is_network(std::string_view fuse_type) {
  // Of virtual machines and containers: the files are the host's.
  if (fuse_type == "virtiofs") return true;
  constexpr std::string_view known =
      "|afpfs|blobfuse|blobfuse2|ceph|ceph-fuse|curlftpfs|cvmfs2|davfs|fuse-nfs|fuse_dfs|gcsfuse|"
      "geesefs|glusterfs|google-drive-ocamlfuse|goofys|grpcfuse|gvfsd-fuse|juicefs|kio-fuse|"
      "lizardfs|mfs|mount-s3|mountpoint-s3|nfs|objectivefs|onedriver|osxfs|rclone|s3fs|saunafs|"
      "seaweedfs|smbnetfs|sshfs|";
  constexpr std::string_view prefix = "fuse.";
  if (!fuse_type.starts_with(prefix)) return false;
  return known.find("|" + std::string(fuse_type.substr(prefix.size())) + "|") != known.npos;
}

bool is_of_a_disk(std::string_view type) { return type.empty() || type == "fuseblk"; }

}  // namespace base
}  // namespace v1
}  // namespace daybook
