#include "benchmarks/aggregate/gatherers.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

namespace bench {

namespace {

// The text of one chunk: :lo and :hi stand for its ids, :n for its number, :pay for a new key.

constexpr auto missing_pay =
    "insert into t_move_pay (pay_no, worker_id, status) select :pay, w.worker_id, 1 from (select"
    " distinct worker_id from t_move_brick where id > :lo and id <= :hi and status = 1) w left join"
    " t_move_pay p on p.worker_id = w.worker_id where p.worker_id is null order by"
    " w.worker_id";

constexpr auto history = "; insert into history (n, amount) values (:n, :hi - :lo); commit";

constexpr auto postgres_chunk =
    " on conflict do nothing;"
    " with u as (update t_move_brick b set status = 2, pay_no = p.pay_no from t_move_pay p where"
    " b.id > :lo and b.id <= :hi and b.status = 1 and p.worker_id = b.worker_id returning"
    " b.worker_id, b.move_num), g as materialized (select worker_id, count(*) c, sum(move_num) s"
    " from u group by 1 order by 1), x as (update t_move_pay p set move_count = p.move_count + g.c,"
    " move_sum = p.move_sum + g.s from (select * from g order by worker_id) g where p.worker_id ="
    " g.worker_id returning 1) select (select sum(c) from g)";

constexpr auto sums =
    "(select worker_id as w, count(*) as c, sum(move_num) as s from t_move_brick where id > :lo and"
    " id <= :hi and status = 1 group by worker_id order by worker_id) g";

std::string chunk_text(std::string const& engine) {
  std::string const missing = missing_pay;
  if (engine == "postgresql") return "begin; " + missing + postgres_chunk + history;
  if (engine == "mariadb") {
    // Missing pay by itself: rows that were not inserted stay locked until the end. Then pay in the
    // order of its keys, so that two of them never wait for each other.
    return "insert ignore" + missing.substr(std::string("insert").size()) + "; begin; update " +
           sums +
           " straight_join t_move_pay p force index (uniq_worker) on p.worker_id = g.w set"
           " p.move_count = p.move_count + g.c, p.move_sum = p.move_sum + g.s;"
           " update t_move_brick b join t_move_pay p on p.worker_id = b.worker_id set b.status = 2,"
           " b.pay_no = p.pay_no where b.id > :lo and b.id <= :hi and b.status = 1" +
           history;
  }
  return "begin immediate; " + missing +
         "; update t_move_pay set move_count = move_count + g.c,"
         " move_sum = move_sum + g.s from " +
         sums +
         " where t_move_pay.worker_id = g.w;"
         " update t_move_brick set status = 2, pay_no = p.pay_no from t_move_pay p where"
         " t_move_brick.id > :lo and t_move_brick.id <= :hi and t_move_brick.status = 1 and"
         " p.worker_id = t_move_brick.worker_id" +
         history;
}

void replace(std::string& in, std::string const& what, std::string const& by) {
  for (auto at = in.find(what); at != std::string::npos; at = in.find(what, at + by.size())) {
    in.replace(at, what.size(), by);
  }
}

/// Sortable, unique, and as long as the library's.
std::string new_key(std::string const& engine, std::string const& n) {
  if (engine == "sqlite") return "printf('P%013d%013d', " + n + ", w.worker_id)";
  auto const text = engine == "mariadb" ? "w.worker_id" : "w.worker_id::text";
  auto const last = "lpad(" + std::string(text) + ", 13, '0')";
  auto const first = "P" + std::string(13 - n.size(), '0') + n;
  return engine == "mariadb" ? "concat('" + first + "', " + last + ")"
                             : "'" + first + "' || " + last;
}

std::string filled(std::string text, field const& in, long lo, long hi, int chunk) {
  auto const n = std::to_string(lo / chunk);
  replace(text, ":pay", new_key(in.engine(), n));
  replace(text, ":lo", std::to_string(lo));
  replace(text, ":hi", std::to_string(hi));
  replace(text, ":n", n);
  return text;
}

/// The server's word for two that waited for each other, or that took too long.
bool may_be_tried_again(std::string const& why) {
  return why.find("eadlock") != std::string::npos || why.find("timeout") != std::string::npos;
}

}  // namespace

amount bare(field& in, order const& how) {
  in.index_pay();
  in.database().execute("drop table if exists history");
  in.database().execute("create table history (n bigint not null, amount bigint not null)");
  auto const text = chunk_text(in.engine());
  std::atomic<long> next = 0;
  std::vector<std::function<long()>> jobs;
  for (int at = 0; at < how.aggregators; ++at) {
    auto on = std::make_shared<support::raw_connection>(in.url());
    if (in.engine() == "sqlite") {
      on->execute(
          "pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout ="
          " 60000");
    }
    // As the library has its sessions.
    if (in.engine() == "mariadb")
      on->execute("set session transaction isolation level read committed");
    jobs.emplace_back([&, on] {
      long done = 0;
      for (;;) {
        auto const lo = next.fetch_add(how.chunk);
        auto const hi = std::min(how.rows, lo + how.chunk);
        if (lo >= hi) return done;
        for (auto const sent = filled(text, in, lo, hi, how.chunk);;) {
          try {
            on->execute(sent);
            break;
          } catch (std::runtime_error const& e) {
            if (!may_be_tried_again(e.what())) throw;
            on->execute("rollback");
          }
        }
        done += hi - lo;
      }
    });
  }
  return together(jobs);
}

}  // namespace bench
