// What identifies things: uuids, digests, the clock of this machine, the place of a file.
#include "base/digest.hpp"
#include "base/fuse.hpp"
#include "base/platform.hpp"
#include "base/uuid.hpp"

#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace daybook {
namespace {

TEST(uuid, is_version_7_and_in_its_canonical_form) {
  auto const before = std::chrono::system_clock::now();
  auto const uuid = base::new_uuid();
  auto const after = std::chrono::system_clock::now();
  ASSERT_EQ(uuid.size(), 36U);
  for (std::size_t at = 0; at < uuid.size(); ++at) {
    bool const dash = at == 8 || at == 13 || at == 18 || at == 23;
    EXPECT_EQ(uuid[at] == '-', dash) << uuid;
    if (!dash) {
      EXPECT_NE(std::string("0123456789abcdef").find(uuid[at]), std::string::npos) << uuid;
    }
  }
  EXPECT_EQ(uuid[14], '7');
  EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos);
  auto const ms = std::stoll(uuid.substr(0, 8) + uuid.substr(9, 4), nullptr, 16);
  using std::chrono::milliseconds;
  EXPECT_GE(ms, std::chrono::floor<milliseconds>(before.time_since_epoch()).count());
  EXPECT_LE(ms, std::chrono::ceil<milliseconds>(after.time_since_epoch()).count());
}

TEST(uuid, is_never_the_same_also_in_threads) {
  constexpr std::size_t each = 5000;
  std::vector<std::vector<std::string>> made(4);
  {
    std::vector<std::jthread> threads;
    for (auto& into : made) {
      threads.emplace_back([&into] {
        for (std::size_t i = 0; i < each; ++i) into.push_back(base::new_uuid());
      });
    }
  }
  std::set<std::string> all;
  for (auto const& one : made) all.insert(one.begin(), one.end());
  EXPECT_EQ(all.size(), made.size() * each);
}

TEST(uuid, sorts_by_time) {
  auto const first = base::new_uuid();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_LT(first, base::new_uuid());
}

TEST(digest, is_the_same_on_every_machine_and_in_every_version) {
  // printf '3:abc' | openssl sha256 -binary | base32 | tr A-Z a-z | tr -d =
  EXPECT_EQ(base::digest({"abc"}), "vk27tluzwlry7ndcajoi64xvode4qelqluvee564qvox7iut72lq");
  EXPECT_EQ(base::digest({}), "4oymiquy7qobjgx36tejs35zeqt24qpemsnzgtfeswmrw6csxbkq");
}

TEST(digest, no_two_lists_of_parts_are_the_same) {
  std::set<std::string> const all{
      base::digest({"ab", "c"}), base::digest({"a", "bc"}), base::digest({"abc"}),
      base::digest({"abc", ""}), base::digest({"", "abc"}), base::digest({"1:a", "b"}),
      base::digest({"1:a1:b"}),  base::digest({"", ""}),    base::digest({""})};
  EXPECT_EQ(all.size(), 9U);
  for (auto const& one : all) EXPECT_EQ(one.size(), 52U);
}

TEST(platform, boot_clock_goes_on) {
  auto const before = base::boot_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  auto const passed = base::boot_clock::now() - before;
  EXPECT_GE(passed, std::chrono::milliseconds(3));
  EXPECT_LT(passed, std::chrono::seconds(10));
}

TEST(platform, jitter_stays_within_its_limit_and_varies) {
  std::set<std::chrono::milliseconds::rep> seen;
  for (int i = 0; i < 1000; ++i) {
    auto const pause = base::jitter(std::chrono::milliseconds(20)).count();
    EXPECT_GE(pause, 0);
    EXPECT_LE(pause, 20);
    seen.insert(pause);
  }
  EXPECT_GT(seen.size(), 10U);
  EXPECT_EQ(base::jitter(std::chrono::milliseconds(0)).count(), 0);
}

TEST(platform, files_of_this_machine_are_local) {
  auto const folder = std::filesystem::temp_directory_path();
  EXPECT_EQ(base::network_file_system(folder.string()), "");
  EXPECT_EQ(base::network_file_system((folder / "not there yet.db").string()), "");
  EXPECT_EQ(base::network_file_system("not there either.db"), "");
  EXPECT_EQ(base::network_file_system("/no/such/folder/file.db"), "");
  EXPECT_EQ(base::fuse_type(folder.string()), "");
}

TEST(platform, file_systems_of_other_machines_are_known_by_their_number) {
  EXPECT_EQ(base::network_file_system_of(0x6969), "nfs");
  EXPECT_EQ(base::network_file_system_of(0xff534d42), "cifs");
  EXPECT_EQ(base::network_file_system_of(0xfe534d42), "smb2");
  EXPECT_EQ(base::network_file_system_of(0x01021997), "9p");
  EXPECT_EQ(base::network_file_system_of(0x01161970), "gfs2");
  EXPECT_EQ(base::network_file_system_of(0x7461636f), "ocfs2");
  // ext4, xfs, btrfs, tmpfs, overlay
  for (auto const local : {0xef53U, 0x58465342U, 0x9123683eU, 0x01021994U, 0x794c7630U}) {
    EXPECT_EQ(base::network_file_system_of(local), "") << local;
  }
}

TEST(platform, file_systems_of_programs_are_known_by_their_type) {
  constexpr auto* mounts =
      "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
      "40 27 0:45 / /mnt/shop rw,nosuid shared:9 - fuse.sshfs anna@shop:/srv rw,user_id=0\n"
      "41 27 8:17 / /media/stick rw shared:10 master:3 - fuseblk /dev/sdb1 rw\n"
      "42 27 0:4 / /mnt/odd\\040place rw - fuse.bindfs /srv/x rw\n"
      "\n"
      "half a line\n"
      "43 27 0:47 /sub /host rw - virtiofs host rw";
  auto const type = [&](std::uint32_t major, std::uint32_t minor) {
    return base::file_system_type_in(mounts, major, minor);
  };
  EXPECT_EQ(type(254, 0), "ext4");
  EXPECT_EQ(type(0, 45), "fuse.sshfs");
  EXPECT_EQ(type(8, 17), "fuseblk");
  EXPECT_EQ(type(0, 4), "fuse.bindfs") << "no part of another number";
  EXPECT_EQ(type(0, 47), "virtiofs");
  EXPECT_EQ(type(0, 46), "");
  EXPECT_EQ(base::file_system_type_in("", 0, 45), "");
  for (auto const* other :
       {"fuse.sshfs", "fuse.s3fs", "fuse.glusterfs", "fuse.ceph-fuse", "fuse.rclone", "virtiofs"}) {
    EXPECT_TRUE(base::is_network(other)) << other;
  }
  for (auto const* unknown : {"fuseblk", "fuse", "fuse.bindfs", "fuse.encfs", "sshfs", ""}) {
    EXPECT_FALSE(base::is_network(unknown)) << unknown;
  }
  EXPECT_TRUE(base::is_of_a_disk(""));
  EXPECT_TRUE(base::is_of_a_disk("fuseblk"));
  EXPECT_FALSE(base::is_of_a_disk("fuse.bindfs"));
}

TEST(platform, names) {
  EXPECT_FALSE(base::host_name().empty());
  EXPECT_EQ(base::process_id(), ::getpid());
}

}  // namespace
}  // namespace daybook
