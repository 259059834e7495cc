#include "benchmarks/counts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace bench {

namespace {

std::uint32_t big_endian(std::vector<unsigned char> const& bytes, std::size_t at) {
  return (std::uint32_t{bytes[at]} << 24U) | (std::uint32_t{bytes[at + 1]} << 16U) |
         (std::uint32_t{bytes[at + 2]} << 8U) | std::uint32_t{bytes[at + 3]};
}

/// The last frame of each transaction says how long the database is then; the others say 0.
/// Frames with another salt are left from before the log was begun anew.
counts of_write_ahead_log(std::string const& file) {
  constexpr std::size_t header = 32;
  constexpr std::size_t frame_header = 24;
  std::ifstream in(file + "-wal", std::ios::binary);
  std::vector<unsigned char> const all((std::istreambuf_iterator<char>(in)), {});
  counts out;
  if (all.size() < header) return out;
  std::size_t const frame = frame_header + big_endian(all, 8);
  for (auto at = header; at + frame <= all.size(); at += frame) {
    if (!std::equal(&all[at + 8], &all[at + 16], &all[16])) break;
    if (big_endian(all, at + 4) != 0) out.commits += 1;
    out.log_bytes += static_cast<double>(frame);
  }
  return out;
}

std::string admin_url(support::engine const& on) {
  auto const name = on.environment + "_ADMIN";
  char const* const found = std::getenv(name.c_str());
  if (found == nullptr) throw std::runtime_error(name + " is not set: see tests/servers/servers");
  return found;
}

}  // namespace

counter::counter(support::engine const& on, support::fresh_database const& database)
    : kind_(on.name), file_(database.url().substr(database.url().find(':') + 1)) {
  if (kind_ == "sqlite") return;
  database_ = database.url().substr(database.url().rfind('/') + 1);
  admin_.emplace(admin_url(on));
  if (kind_ == "postgresql") {
    admin_->execute("create extension if not exists pg_stat_statements");
    // It forgets the rarest statements when it is full, and with them their counts.
    admin_->execute("select pg_stat_statements_reset()");
  } else {
    admin_->execute("set global innodb_monitor_enable = 'trx_rw_commits'");
    // Its statistics are written in transactions of its own.
    admin_->execute("set global innodb_stats_auto_recalc = off");
  }
}

double counter::number(std::string const& query) {
  ++asked_;
  return std::stod(admin_->execute(query));
}

double counter::statements() {
  if (kind_ == "sqlite") return 0;
  if (kind_ != "postgresql") {
    auto const all = number(
        "select variable_value from information_schema.global_status "
        "where variable_name = 'QUESTIONS'");
    return all - asked_;
  }
  return number(
      "select coalesce(sum(s.calls), 0) from pg_stat_statements s join pg_database d "
      "on d.oid = s.dbid where d.datname = '" +
      database_ + "'");
}

counts counter::now() {
  if (kind_ == "sqlite") {
    auto const found = of_write_ahead_log(file_);
    so_far_.commits += found.commits;
    so_far_.log_bytes += found.log_bytes;
    // The last connection that is closed writes the log back and removes it.
    support::raw_connection("sqlite:" + file_).execute("pragma user_version");
    return so_far_;
  }
  std::string const there =
      kind_ == "postgresql" ? "select count(*) from pg_stat_activity where "
                              "backend_type = 'client backend' and datname = '"
                            : "select count(*) from information_schema.processlist where db = '";
  while (number(there + database_ + "'") > 0) {
  }
  if (kind_ == "postgresql") {
    auto const of_database = [&](std::string const& what) {
      return number("select " + what + " from pg_stat_database where datname = '" + database_ +
                    "'");
    };
    return {statements(),
            // Of those that wrote: only they take a transaction's number, and wait for the disk.
            number("select pg_snapshot_xmax(pg_current_snapshot())::text"),
            number("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"),
            of_database("blks_hit + blks_read"), of_database("tup_returned")};
  }
  auto const status = [&](std::string const& names) {
    return number(
        "select sum(variable_value) from information_schema.global_status where variable_name " +
        names);
  };
  return {statements(),
          number("select count from information_schema.innodb_metrics "
                 "where name = 'trx_rw_commits'"),
          status("= 'INNODB_OS_LOG_WRITTEN'"), status("= 'INNODB_BUFFER_POOL_READ_REQUESTS'"),
          status("like 'HANDLER\\_READ\\_%'")};
}

counts cost_of(counter& from, int times, std::function<void(int)> const& piece) {
  counts once;
  counts more;
  for (int round = 0; round < 3; ++round) {
    auto const before = from.now();
    piece(1);
    auto const between = from.now();
    piece(times + 1);
    auto const after = from.now();
    auto const least = [&](double counts::*which) {
      auto const first = between.*which - before.*which;
      auto const second = after.*which - between.*which;
      once.*which = round == 0 ? first : std::min(once.*which, first);
      more.*which = round == 0 ? second : std::min(more.*which, second);
    };
    least(&counts::statements);
    least(&counts::commits);
    least(&counts::log_bytes);
  }
  return {(more.statements - once.statements) / times, (more.commits - once.commits) / times,
          (more.log_bytes - once.log_bytes) / times};
}

}  // namespace bench
