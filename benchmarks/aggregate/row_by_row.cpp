#include "benchmarks/aggregate/gatherers.hpp"
#include "benchmarks/queue/postgres_link.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>

#include <sqlite3.h>

namespace bench {

namespace {

/// As long as the library's keys.
std::string pay_of(long worker) {
  auto const number = std::to_string(worker);
  return "P" + std::string(26 - number.size(), '0') + number;
}

/// One connection: the story's transaction, with statements prepared where that is of use.
class hand {
 public:
  hand() = default;
  hand(hand const&) = delete;
  hand& operator=(hand const&) = delete;
  virtual ~hand() = default;
  virtual void begin() = 0;
  virtual void row(long id) = 0;
  virtual void commit() = 0;
};

class sqlite_hand final : public hand {
 public:
  explicit sqlite_hand(std::string const& url) : on_(url) {
    on_.execute("pragma busy_timeout = 60000; pragma synchronous = full");
    auto* const raw = std::get<::sqlite3*>(on_.native());
    brick_ = prepared(raw,
                      "update t_move_brick set status = 2, pay_no = ? where id = ?"
                      " and status = 1");
    pay_ = prepared(raw,
                    "update t_move_pay set move_count = move_count + 1, move_sum = move_sum"
                    " + ? where pay_no = ? and status = 1");
  }
  void begin() override { on_.execute("begin immediate"); }
  void row(long id) override {
    auto const pay = pay_of(worker_of(id));
    auto const size = static_cast<int>(pay.size());
    sqlite3_bind_text(brick_.get(), 1, pay.data(), size, SQLITE_STATIC);
    sqlite3_bind_int64(brick_.get(), 2, id);
    run(brick_.get());
    sqlite3_bind_int64(pay_.get(), 1, number_of(id));
    sqlite3_bind_text(pay_.get(), 2, pay.data(), size, SQLITE_STATIC);
    run(pay_.get());
  }
  void commit() override { on_.execute("commit"); }

 private:
  using statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;
  static statement prepared(::sqlite3* on, char const* text) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(on, text, -1, &raw, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(on));
    }
    return {raw, &sqlite3_finalize};
  }
  static void run(sqlite3_stmt* what) {
    int const code = sqlite3_step(what);
    sqlite3_reset(what);
    if (code != SQLITE_DONE) throw std::runtime_error(sqlite3_errstr(code));
  }

  support::raw_connection on_;
  statement brick_{nullptr, &sqlite3_finalize};
  statement pay_{nullptr, &sqlite3_finalize};
};

class postgres_hand final : public hand {
 public:
  explicit postgres_hand(std::string const& url) : on_(url) {
    on_.prepare("begin", "begin");
    on_.prepare("commit", "commit");
    on_.prepare("brick",
                "update t_move_brick set status = 2, pay_no = $1::varchar where id ="
                " $2::bigint and status = 1");
    on_.prepare("pay",
                "update t_move_pay set move_count = move_count + 1, move_sum = move_sum +"
                " $1::int where pay_no = $2::varchar and status = 1");
  }
  void begin() override { on_.run("begin", {}); }
  void row(long id) override {
    auto const pay = pay_of(worker_of(id));
    on_.run("brick", {pay, std::to_string(id)});
    on_.run("pay", {std::to_string(number_of(id)), pay});
  }
  void commit() override { on_.run("commit", {}); }

 private:
  postgres_link on_;
};

class mariadb_hand final : public hand {
 public:
  explicit mariadb_hand(std::string const& url) : on_(url) {}
  void begin() override { on_.execute("begin"); }
  void row(long id) override {
    auto const pay = pay_of(worker_of(id));
    on_.execute("update t_move_brick set status = 2, pay_no = '" + pay +
                "' where id = " + std::to_string(id) + " and status = 1");
    on_.execute("update t_move_pay set move_count = move_count + 1, move_sum = move_sum + " +
                std::to_string(number_of(id)) + " where pay_no = '" + pay + "' and status = 1");
  }
  void commit() override { on_.execute("commit"); }

 private:
  support::raw_connection on_;
};

std::shared_ptr<hand> hand_at(field const& in) {
  if (in.engine() == "sqlite") return std::make_shared<sqlite_hand>(in.url());
  if (in.engine() == "postgresql") return std::make_shared<postgres_hand>(in.url());
  return std::make_shared<mariadb_hand>(in.url());
}

}  // namespace

amount row_by_row(field& in, order const& how, int in_a_transaction) {
  std::string pays;
  for (long worker = 1; worker <= workers; ++worker) {
    pays +=
        (pays.empty() ? "('" : ", ('") + pay_of(worker) + "', " + std::to_string(worker) + ", 1)";
  }
  in.database().execute("insert into t_move_pay (pay_no, worker_id, status) values " + pays);
  std::atomic<long> next = 1;
  std::vector<std::function<long()>> jobs;
  for (int at = 0; at < how.aggregators; ++at) {
    jobs.emplace_back([&, one = hand_at(in)] {
      long done = 0;
      for (;;) {
        auto const from = next.fetch_add(in_a_transaction);
        auto const to = std::min(how.rows + 1, from + in_a_transaction);
        if (from >= to) return done;
        // In the order of their pay, so that two of them never wait for each other.
        std::vector<long> ids;
        for (auto id = from; id < to; ++id) ids.push_back(id);
        std::sort(ids.begin(), ids.end(),
                  [](long a, long b) { return worker_of(a) < worker_of(b); });
        one->begin();
        for (auto const id : ids) one->row(id);
        one->commit();
        done += to - from;
      }
    });
  }
  return together(jobs);
}

}  // namespace bench
