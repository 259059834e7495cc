// File systems that a program serves (FUSE): to statfs(2) all are one, and what stands behind them,
// a disk or another machine, only their type tells. Thread-safe.
//
//   if (is_network(fuse_type("/srv/book.db"))) ...        // "fuse.sshfs"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace base {

/// "fuse.sshfs", "fuseblk", "virtiofs", ... of the file, or of its folder; "fuse" where that is not
/// to be found out. Empty: the kernel itself serves it, or there is no such folder.
[[nodiscard]] std::string fuse_type(std::string const& path);
/// The type of a device's file system by the text of /proc/self/mountinfo; empty: it is not there.
[[nodiscard]] std::string file_system_type_in(std::string_view mountinfo, std::uint32_t major,
                                              std::uint32_t minor);
/// Whether files of such a type are another machine's. False for those that nobody knows, too.
[[nodiscard]] bool is_network(std::string_view type);
/// Whether they are on a disk of this machine: of no program (empty), or as of NTFS.
[[nodiscard]] bool is_of_a_disk(std::string_view type);

}  // namespace base
}  // namespace v1
}  // namespace daybook
