// What the doctor makes of settings that no test server can have.
#include "core/admin/doctor.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace {

using daybook::severity;
namespace core = daybook::core;

/// Of a server that is well and has a binary log.
core::settings mariadb() {
  return {{"innodb_flush_log_at_trx_commit", "1"},
          {"log_bin", "1"},
          {"binlog_format", "MIXED"},
          {"sync_binlog", "1"}};
}

/// "none": nothing is said of it.
std::string worth_of(std::string const& name, core::settings settings,
                     core::settings const& changes = {}) {
  for (auto const& [setting, value] : changes) settings[setting] = value;
  for (auto const& one : core::judged("mysql", settings)) {
    if (one.name != name) continue;
    EXPECT_EQ(one.remedy.empty(), one.severity == severity::ok) << name;
    return one.severity == severity::ok        ? "ok"
           : one.severity == severity::warning ? "warning"
                                               : "void";
  }
  return "none";
}

TEST(doctor, a_binary_log_is_synced_with_each_commit) {
  EXPECT_EQ(worth_of("binary log on disk", mariadb()), "ok");
  EXPECT_EQ(worth_of("replicas", mariadb()), "ok");
  for (auto const* other : {"0", "100"}) {
    EXPECT_EQ(worth_of("binary log on disk", mariadb(), {{"sync_binlog", other}}), "void");
    EXPECT_EQ(worth_of("replicas", mariadb(), {{"sync_binlog", other}}), "warning");
  }
}

TEST(doctor, innodb_that_syncs_twice_needs_no_binary_log) {
  core::settings const twice{{"innodb_flush_log_at_trx_commit", "3"}, {"sync_binlog", "0"}};
  EXPECT_EQ(worth_of("durable commit", mariadb(), twice), "ok");
  EXPECT_EQ(worth_of("binary log on disk", mariadb(), twice), "none");
  EXPECT_EQ(worth_of("replicas", mariadb(), twice), "warning");
  EXPECT_EQ(worth_of("durable commit", mariadb(), {{"innodb_flush_log_at_trx_commit", "2"}}),
            "void");
}

TEST(doctor, a_server_without_a_binary_log_is_not_judged_by_it) {
  core::settings const bad{{"log_bin", "0"}, {"binlog_format", "STATEMENT"}, {"sync_binlog", "0"}};
  for (auto const* name : {"binary log", "binary log on disk", "replicas"}) {
    EXPECT_EQ(worth_of(name, mariadb(), bad), "none") << name;
  }
  EXPECT_EQ(worth_of("binary log", mariadb(), {{"binlog_format", "STATEMENT"}}), "void");
}

TEST(doctor, whether_there_is_a_binary_log_may_not_be_seen) {
  auto some = mariadb();
  some.erase("log_bin");
  EXPECT_EQ(worth_of("binary log", some, {{"binlog_format", "STATEMENT"}}), "void");
  EXPECT_EQ(worth_of("binary log on disk", some, {{"sync_binlog", "0"}}), "void");
}

TEST(doctor, a_file_system_that_a_program_serves_is_warned_of) {
  auto const worth = [](std::string const& local, std::string const& fuse) {
    std::string out;
    for (auto const& one : core::judged("sqlite", {{"file_system", local}, {"fuse", fuse}})) {
      if (one.severity == severity::warning && one.name == "file system") out += "warning ";
      if (one.severity == severity::failed && one.name == "local file") out += "void ";
    }
    return out;
  };
  EXPECT_EQ(worth("local", "no"), "");
  EXPECT_EQ(worth("local", "fuse.bindfs"), "warning ");
  EXPECT_EQ(worth("fuse.sshfs", "no"), "void ") << "and it is not opened at all";
}

TEST(doctor, what_may_not_be_seen_of_standbys_is_warned_of) {
  auto const worth = [](std::string const& name, std::string const& setting,
                        std::string const& value) {
    for (auto const& one : core::judged("postgres", {{setting, value}})) {
      if (one.name == name) return one.severity;
    }
    return severity::failed;
  };
  EXPECT_EQ(worth("asynchronous standbys", "async_standbys", "0"), severity::ok);
  EXPECT_EQ(worth("asynchronous standbys", "async_standbys", "unknown"), severity::warning);
  EXPECT_EQ(worth("standbys connected", "missing_standbys", "unknown"), severity::warning);
  EXPECT_EQ(worth("standbys connected", "missing_standbys", "one"), severity::warning);
  EXPECT_EQ(worth("standbys connected", "missing_standbys", ""), severity::ok);
  // Local, where standbys are named to wait for.
  EXPECT_EQ(worth("standbys waited for", "unwaited_standbys", "one"), severity::warning);
  EXPECT_EQ(worth("one primary", "writable_hosts", "2"), severity::failed);
  EXPECT_EQ(worth("one primary", "writable_hosts", "1"), severity::ok);
}

}  // namespace
