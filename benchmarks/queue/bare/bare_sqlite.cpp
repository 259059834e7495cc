#include "benchmarks/queue/bare/bare_engines.hpp"

#include <array>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <variant>

#include <sqlite3.h>

namespace bench {

namespace {

/// The C functions, with prepared statements that are stepped and reset.
class link {
 public:
  using value = std::variant<long, std::string_view, std::monostate>;

  explicit link(std::string const& url) : on_(nullptr, &sqlite3_close) {
    sqlite3* raw = nullptr;
    int const code = sqlite3_open(url.substr(url.find(':') + 1).c_str(), &raw);
    on_.reset(raw);
    if (code != SQLITE_OK) fail();
    sqlite3_busy_timeout(raw, 60'000);
    now("pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -262144;"
        "pragma mmap_size = 1073741824");
  }

  void now(char const* text) {
    if (sqlite3_exec(on_.get(), text, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }

  sqlite3_stmt* prepare(char const* text) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v3(on_.get(), text, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr) !=
        SQLITE_OK) {
      fail();
    }
    statements_.emplace_back(raw, &sqlite3_finalize);
    return raw;
  }

  /// Every row goes to `row`; how many rows were changed.
  template <class Row>
  int each(sqlite3_stmt* what, std::initializer_list<value> values, Row row) {
    int index = 0;
    for (auto const& one : values) bind(what, ++index, one);
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(what)) == SQLITE_ROW) row(what);
    sqlite3_reset(what);
    if (code != SQLITE_DONE) fail();
    return sqlite3_changes(on_.get());
  }
  int run(sqlite3_stmt* what, std::initializer_list<value> values = {}) {
    return each(what, values, [](sqlite3_stmt*) {});
  }

 private:
  static void bind(sqlite3_stmt* to, int index, value const& what) {
    if (auto const* number = std::get_if<long>(&what)) {
      sqlite3_bind_int64(to, index, *number);
    } else if (auto const* text = std::get_if<std::string_view>(&what)) {
      sqlite3_bind_text(to, index, text->data(), static_cast<int>(text->size()), SQLITE_STATIC);
    } else {
      sqlite3_bind_null(to, index);
    }
  }
  [[noreturn]] void fail() const { throw std::runtime_error(sqlite3_errmsg(on_.get())); }

  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> on_;
  std::vector<std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>> statements_;
};

constexpr long now_ = 1'000'000;  // the due times are numbers, and so is the present
constexpr long period = 86'400;

/// SQLite's busy handler sleeps and starves; who waits in a line is served in turn.
std::mutex& writers() {
  static std::mutex line;
  return line;
}

class worker final : public bare_worker {
 public:
  worker(std::string const& url, keeps what, int number, tally& seen)
      : on_(url), what_(what), holder_(number), claim_(number * 1'000'000'000L), seen_(&seen) {
    begin_ = on_.prepare("begin immediate");
    commit_ = on_.prepare("commit");
    rollback_ = on_.prepare("rollback");
    fence_ = on_.prepare("delete from claim where id = ? and epoch = 1 and holder = ?");
    ranges_gone_ = on_.prepare("delete from claim_range where claim = ?");
    outcome_ = on_.prepare("insert into outcome values (?, ?, ?, ?, 1, ?)");
    done_range_ = on_.prepare("insert into done_range values (?, ?, ?, ?, ?, 1)");
    arm_ = on_.prepare("insert into segment(queue, due, lo, hi, turn) values (1, ?, ?, ?, 1)");
    due_ = on_.prepare(
        "select rowid, lo, hi from segment where queue = 1 and due <= ? order by due limit ?");
    taken_ = on_.prepare("delete from segment where rowid = ?");
    cut_ = on_.prepare("update segment set lo = ? where rowid = ?");
    claim_row_ = on_.prepare("insert into claim values (?, 1, ?, ?, ?, 1)");
    claim_range_ = on_.prepare("insert into claim_range values (?, ?, ?)");
    members_ = on_.prepare("select id, payload from member where id >= ? and id < ?");
    effect_ = on_.prepare("insert into effect values (?, 'paid')");
    ledger_ = on_.prepare(
        "insert into done select c.id, ?2 from claim c join claim_range r on r.claim = c.id "
        "where c.id = ?1 and c.epoch = 1 and r.lo <= ?2 and r.hi > ?2");
    ledger_gone_ = on_.prepare("delete from done where claim = ?");
  }

  long turn(int batch) override {
    if (held_.empty() && batch == 0) return 0;
    std::scoped_lock const turn_of(writers());
    on_.run(begin_);
    if (!held_.empty()) complete();
    held_.clear();
    if (batch > 0) take(batch);
    on_.run(commit_);
    return static_cast<long>(held_.size());
  }

  void single(long id) override {
    std::scoped_lock const turn_of(writers());
    on_.run(begin_);
    on_.run(effect_, {id});
    if (on_.run(ledger_, {claim_, id}) != 1) lost();
    on_.run(commit_);
  }

 private:
  [[noreturn]] void lost() {
    on_.run(rollback_);
    throw std::runtime_error("the batch was lost");
  }

  void complete() {
    if (on_.run(fence_, {claim_, holder_}) != 1) lost();
    on_.run(ranges_gone_, {claim_});
    if (what_ == keeps::singly &&
        on_.run(ledger_gone_, {claim_}) != static_cast<int>(held_.size())) {
      lost();
    }
    bool const every = what_ == keeps::rows || what_ == keeps::ones;
    if (what_ != keeps::singly) {
      for (auto const id : held_) {
        if (fails(id)) {
          on_.run(outcome_, {id, claim_, now_, 3L, remark});
        } else if (every) {
          on_.run(outcome_, {id, claim_, now_, 2L, std::monostate()});
        }
      }
    }
    if (!every) {
      for (auto const& [lo, hi] : taken_ranges_) {
        on_.run(done_range_, {lo, hi, claim_, now_, now_});
      }
    }
    if (what_ != keeps::rolling) return;
    for (auto const& [lo, hi] : successes(held_)) on_.run(arm_, {now_ + period, lo, hi});
    for (auto const id : held_) {
      if (fails(id)) on_.run(arm_, {now_ + period / 24, id, id + 1});
    }
  }

  void take(int batch) {
    struct found {
      long row;
      range ids;
    };
    taken_ranges_.clear();
    std::vector<found> all;
    long const at_once = what_ == keeps::ones ? batch : (batch - 1) / segment_length + 2;
    on_.each(due_, {now_, at_once}, [&](sqlite3_stmt* row) {
      all.push_back({sqlite3_column_int64(row, 0),
                     {sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2)}});
    });
    long left = batch;
    ++claim_;
    for (auto const& one : all) {
      if (left == 0) break;
      auto const upto = std::min(one.ids.hi, one.ids.lo + left);
      if (upto == one.ids.hi) {
        on_.run(taken_, {one.row});
      } else {
        on_.run(cut_, {upto, one.row});
      }
      left -= upto - one.ids.lo;
      taken_ranges_.push_back({one.ids.lo, upto});
    }
    if (taken_ranges_.empty()) return;
    on_.run(claim_row_, {claim_, holder_, now_ + 300, now_});
    for (auto const& [lo, hi] : taken_ranges_) {
      on_.run(claim_range_, {claim_, lo, hi});
      on_.each(members_, {lo, hi}, [&](sqlite3_stmt* row) {
        auto const id = sqlite3_column_int64(row, 0);
        auto const* const text = reinterpret_cast<char const*>(sqlite3_column_text(row, 1));
        seen_->see(id, {text, static_cast<std::size_t>(sqlite3_column_bytes(row, 1))});
        held_.push_back(id);
      });
    }
  }

  link on_;
  keeps what_;
  long holder_;
  long claim_;
  tally* seen_;
  std::vector<range> taken_ranges_;
  sqlite3_stmt *begin_, *commit_, *rollback_, *fence_, *ranges_gone_, *outcome_, *done_range_,
      *arm_, *due_, *taken_, *cut_, *claim_row_, *claim_range_, *members_, *effect_, *ledger_,
      *ledger_gone_;
};

constexpr auto tables = R"(
pragma journal_mode = wal;
create table member(id integer primary key, queue int not null, key text not null,
                    payload text not null, unique(queue, key));
create table segment(queue int not null, due int not null, lo int not null, hi int not null,
                     attempts int not null default 0, turn int not null default 0);
create index segment_due on segment(queue, due);
create table claim(id integer primary key, epoch int not null, holder int not null,
                   lease_until int not null, started int not null, attempts int not null);
create table claim_range(claim int, lo int, hi int, primary key(claim, lo)) without rowid;
create table outcome(id integer primary key, batch int not null, finished int not null,
                     status int not null, attempts int not null, remark text);
create table done_range(lo integer primary key, hi int not null, batch int not null, started int,
                        finished int, attempts int);
create table done(claim int, id int, primary key(claim, id)) without rowid;
create table effect(task int not null, what text not null))";

class queue final : public bare_queue {
 public:
  using bare_queue::bare_queue;

  std::optional<amount> enqueue_unique(long tasks) override { return enqueue(tasks, 1000); }
  std::optional<amount> enqueue_import(long tasks) override { return enqueue(tasks, 100'000); }

 protected:
  void create_tables() override { database().execute(tables); }

  void fill_members(long from, long tasks) override {
    database().execute("insert into member select i, 1, " + sql_key("sqlite") + ", " +
                       sql_payload("sqlite") + " from (" + series(from, tasks, 1) + ")");
  }
  void arm(long tasks, long length) override {
    database().execute(
        "begin; delete from segment; delete from claim; delete from claim_range;"
        "delete from outcome; delete from done_range; delete from done; delete from effect;"
        "insert into segment(queue, due, lo, hi) select 1, 1 + i / 1000, i, min(i + " +
        std::to_string(length) + ", " + std::to_string(tasks + 1) + ") from (" +
        series(1, tasks, length) + "); commit; pragma wal_checkpoint(truncate)");
  }
  std::unique_ptr<bare_worker> worker(int number, int) override {
    return std::make_unique<bench::worker>(database().url(), what(), number, seen());
  }
  void empty() override {
    database().execute("delete from member; delete from segment; pragma wal_checkpoint(truncate)");
  }

 private:
  static std::string series(long from, long upto, long step) {
    return "with recursive s(i) as (values(" + std::to_string(from) + ") union all select i + " +
           std::to_string(step) + " from s where i + " + std::to_string(step) +
           " <= " + std::to_string(upto) + ") select i from s";
  }

  std::optional<amount> enqueue(long tasks, long in_a_transaction) {
    if (what() != keeps::ranges) return std::nullopt;
    create_once();
    empty();
    forget_members();
    link on(database().url());
    auto* const member =
        on.prepare("insert into member values (?, 1, ?, ?) on conflict (queue, key) do nothing");
    auto* const segment = on.prepare("insert into segment(queue, due, lo, hi) values (1, ?, ?, ?)");
    auto const start = std::chrono::steady_clock::now();
    for (long from = 1; from <= tasks; from += in_a_transaction) {
      auto const upto = std::min(from + in_a_transaction, tasks + 1);
      on.now("begin immediate");
      for (long id = from; id < upto; ++id) {
        auto const key = key_of(id);
        auto const payload = payload_of(id);
        if (on.run(member, {id, std::string_view(key), std::string_view(payload)}) != 1) {
          throw std::runtime_error("a key was there already");
        }
      }
      for (long lo = from; lo < upto; lo += segment_length) {
        on.run(segment, {1L, lo, std::min(lo + segment_length, upto)});
      }
      on.now("commit");
    }
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
    if (number("select sum(hi - lo) from segment") != tasks) {
      throw std::runtime_error("not every task was enqueued");
    }
    return amount{took.count(), tasks};
  }
};

}  // namespace

std::unique_ptr<contestant> bare_sqlite_queue(support::engine const& on, keeps what) {
  return std::make_unique<queue>(on, what);
}

}  // namespace bench
