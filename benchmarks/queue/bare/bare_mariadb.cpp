#include "benchmarks/queue/bare/bare_engines.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <stdexcept>

#include <mysql.h>

namespace bench {

namespace {

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%' && at + 2 < text.size()) {
      out.push_back(static_cast<char>(std::stoi(std::string(text.substr(at + 1, 2)), nullptr, 16)));
      at += 2;
    } else {
      out.push_back(text[at]);
    }
  }
  return out;
}

using connection = std::unique_ptr<MYSQL, decltype(&mysql_close)>;
using prepared = std::unique_ptr<MYSQL_STMT, decltype(&mysql_stmt_close)>;

/// mariadb://USER:PASSWORD@HOST:PORT/DATABASE
connection open(std::string const& url) {
  connection on(mysql_init(nullptr), &mysql_close);
  auto const rest = url.substr(url.find("//") + 2);
  auto const user_end = rest.find(':');
  auto const at = rest.find('@');
  auto const colon = rest.find(':', at);
  auto const slash = rest.find('/', at);
  auto const port = std::stoul(rest.substr(colon + 1, slash - colon - 1));
  if (mysql_real_connect(on.get(), rest.substr(at + 1, colon - at - 1).c_str(),
                         decoded(rest.substr(0, user_end)).c_str(),
                         decoded(rest.substr(user_end + 1, at - user_end - 1)).c_str(),
                         rest.substr(slash + 1).c_str(), static_cast<unsigned>(port), nullptr,
                         CLIENT_FOUND_ROWS | CLIENT_MULTI_STATEMENTS) == nullptr) {
    throw std::runtime_error(mysql_error(on.get()));
  }
  return on;
}

using result = std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)>;

/// All results of a text of statements; nothing where the server rolled it back for a deadlock.
std::optional<std::vector<result>> answers(MYSQL* on, std::string const& text) {
  constexpr unsigned deadlock = 1213;
  std::vector<result> out;
  int failed = mysql_real_query(on, text.data(), text.size());
  while (failed == 0) {
    out.emplace_back(mysql_store_result(on), &mysql_free_result);
    failed = mysql_next_result(on);
    if (failed < 0) return out;
  }
  if (mysql_errno(on) == deadlock) return std::nullopt;
  throw std::runtime_error(mysql_error(on));
}

/// Each row of each result goes to `row`, and none before the whole text has succeeded: until then
/// a claim may be rolled back, and is sent again.
template <class Row>
void each(MYSQL* on, std::string const& text, Row row) {
  auto all = answers(on, text);
  while (!all) all = answers(on, text);
  for (auto const& got : *all) {
    while (got) {
      auto* const one = mysql_fetch_row(got.get());
      if (one == nullptr) break;
      row(one, mysql_fetch_lengths(got.get()));
    }
  }
}
void run(MYSQL* on, std::string const& text) {
  each(on, text, [](MYSQL_ROW, unsigned long const*) {});
}

// The claim inside the compound statement; @B, @N and @H stand for batch, claim and holder.
constexpr auto take_text = R"(
set got = 0, none = 0;
take: while got < @B do
  select due, lo, hi into d, l, h from segment where queue = 1 and due <= @T order by due, lo
    limit 1 for update skip locked;
  if none then leave take; end if;
  set u = least(h, l + @B - got);
  if u = h then delete from segment where queue = 1 and due = d and lo = l;
  else update segment set lo = u where queue = 1 and due = d and lo = l; end if;
  if got = 0 then insert into claim values (@N, 1, @H, @T + 300, @T, 1); end if;
  insert into claim_range values (@N, l, u);
  set got = got + u - l;
  select id, payload from member where id >= l and id < u;
end while;)";

// Where every segment is one task: all of them in one statement.
constexpr auto take_ones_text = R"(
insert into claim_range select @N, lo, hi from segment where queue = 1 and due <= @T
  order by due, lo limit @B for update skip locked;
if row_count() > 0 then
  insert into claim values (@N, 1, @H, @T + 300, @T, 1);
  delete s from claim_range r join segment s on s.queue = 1 and s.due = 1 + r.lo div 1000
    and s.lo = r.lo where r.claim = @N;
  select m.id, m.payload from claim_range r join member m on m.id = r.lo where r.claim = @N;
end if;)";

constexpr long now_ = 1'000'000;
constexpr long period = 86'400;

std::string with_values(std::string_view text, long batch, long claim, long holder) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '@') {
      out += text[at];
      continue;
    }
    switch (text[++at]) {
      case 'B': out += std::to_string(batch); break;
      case 'N': out += std::to_string(claim); break;
      case 'H': out += std::to_string(holder); break;
      default: out += std::to_string(now_); break;
    }
  }
  return out;
}

std::string joined(std::initializer_list<long> of) {
  std::string out = "(";
  for (auto const one : of) {
    if (out.size() > 1) out += ',';
    out += std::to_string(one);
  }
  return out + ")";
}

/// "insert into TABLE values (..),(..);", or nothing for no rows.
std::string insert(std::string const& into, std::vector<std::string> const& rows) {
  if (rows.empty()) return {};
  std::string out = "insert into " + into + " values ";
  for (std::size_t at = 0; at < rows.size(); ++at) out += (at > 0 ? "," : "") + rows[at];
  return out + ";\n";
}

class worker final : public bare_worker {
 public:
  worker(std::string const& url, keeps what, int number, tally& seen)
      : on_(open(url)),
        effect_(nullptr, &mysql_stmt_close),
        ledger_(nullptr, &mysql_stmt_close),
        what_(what),
        holder_(number),
        claim_(number * 1'000'000'000L),
        seen_(&seen) {
    run(on_.get(), "set session transaction isolation level read committed");
    if (what != keeps::singly) return;
    effect_ = prepare("insert into effect values (?, 'paid')");
    ledger_ = prepare(
        "insert into done select c.id, ? from claim c join claim_range r on r.claim = c.id "
        "where c.id = ? and c.epoch = 1 and r.lo <= ? and r.hi > ? lock in share mode");
  }

  /// One round trip; the server itself rolls back where the fence finds no row.
  long turn(int batch) override {
    bool const ends = !held_.empty();
    if (!ends && batch == 0) return 0;
    std::string text =
        "begin not atomic\n"
        "declare d, l, h, u, got bigint; declare none int default 0;\n"
        "declare continue handler for not found set none = 1;\n"
        "start transaction;\n";
    if (ends) text += complete();
    held_.clear();
    ++claim_;
    if (batch > 0) {
      text +=
          with_values(what_ == keeps::ones ? take_ones_text : take_text, batch, claim_, holder_);
    }
    text += "\ncommit; end";
    each(on_.get(), text, [&](MYSQL_ROW row, unsigned long const* lengths) {
      auto const id = std::stol(row[0]);
      seen_->see(id, {row[1], lengths[1]});
      held_.push_back(id);
    });
    return static_cast<long>(held_.size());
  }

  void single(long id) override {
    run(on_.get(), "begin");
    execute(*effect_, {id});
    if (execute(*ledger_, {id, claim_, id, id}) != 1) {
      run(on_.get(), "rollback");
      throw std::runtime_error("the task was lost");
    }
    run(on_.get(), "commit");
  }

 private:
  prepared prepare(std::string_view text) {
    prepared made(mysql_stmt_init(on_.get()), &mysql_stmt_close);
    if (mysql_stmt_prepare(made.get(), text.data(), text.size()) != 0) {
      throw std::runtime_error(mysql_stmt_error(made.get()));
    }
    return made;
  }

  static long execute(MYSQL_STMT& what, std::initializer_list<long> values) {
    std::array<MYSQL_BIND, 4> binds{};
    std::array<long, 4> room{};
    std::size_t at = 0;
    for (auto const one : values) {
      room[at] = one;
      binds[at].buffer_type = MYSQL_TYPE_LONGLONG;
      binds[at].buffer = &room[at];
      ++at;
    }
    if (mysql_stmt_bind_param(&what, binds.data()) != 0 || mysql_stmt_execute(&what) != 0) {
      throw std::runtime_error(mysql_stmt_error(&what));
    }
    return static_cast<long>(mysql_stmt_affected_rows(&what));
  }

  std::string complete() const {
    auto const mine = std::to_string(claim_);
    std::string out = "delete from claim where id = " + mine +
                      " and epoch = 1 and holder = " + std::to_string(holder_) +
                      ";\nif row_count() <> 1 then rollback; signal sqlstate '45000' "
                      "set message_text = 'the batch was lost'; end if;\n";
    bool const every = what_ == keeps::rows || what_ == keeps::ones;
    if (!every) {
      out += "insert into done_range select lo, hi, claim, " + std::to_string(now_) + ", " +
             std::to_string(now_) + ", 1 from claim_range where claim = " + mine + ";\n";
    }
    out += "delete from claim_range where claim = " + mine + ";\n";
    if (what_ == keeps::singly) {
      return out + "delete from done where claim = " + mine + ";\nif row_count() <> " +
             std::to_string(held_.size()) + " then rollback; signal sqlstate '45000' " +
             "set message_text = 'tasks are not in the ledger'; end if;\n";
    }
    std::vector<std::string> rows;
    std::vector<std::string> segments;
    auto const tail = "," + mine + "," + std::to_string(now_);
    for (auto const id : held_) {
      if (fails(id)) {
        rows.push_back("(" + std::to_string(id) + tail + ",3,1,'" + std::string(remark) + "')");
        segments.push_back(joined({1, now_ + period / 24, id, id + 1, 1, 1}));
      } else if (every) {
        rows.push_back("(" + std::to_string(id) + tail + ",2,1,null)");
      }
    }
    out += insert("outcome", rows);
    if (what_ != keeps::rolling) return out;
    for (auto const& [lo, hi] : successes(held_)) {
      segments.push_back(joined({1, now_ + period, lo, hi, 0, 1}));
    }
    return out + insert("segment", segments);
  }

  connection on_;
  prepared effect_;
  prepared ledger_;
  keeps what_;
  long holder_;
  long claim_;
  tally* seen_;
};

constexpr auto tables = R"(
create table member(id bigint primary key, queue int not null, `key` varchar(64) not null,
  payload varchar(200) not null, unique(queue, `key`)) engine = InnoDB;
create table segment(queue int not null, due bigint not null, lo bigint not null,
  hi bigint not null, attempts int not null default 0, turn int not null default 0,
  primary key(queue, due, lo)) engine = InnoDB;
create table claim(id bigint primary key, epoch int not null, holder int not null,
  lease_until bigint not null, started bigint not null, attempts int not null) engine = InnoDB;
create table claim_range(claim bigint, lo bigint, hi bigint, primary key(claim, lo))
  engine = InnoDB;
create table outcome(id bigint primary key, batch bigint not null, finished bigint not null,
  status int not null, attempts int not null, remark varchar(200)) engine = InnoDB;
create table done_range(lo bigint primary key, hi bigint not null, batch bigint not null,
  started bigint, finished bigint, attempts int) engine = InnoDB;
create table done(claim bigint, id bigint, primary key(claim, id)) engine = InnoDB;
create table effect(task bigint not null, what varchar(20) not null) engine = InnoDB)";

/// INSERT .. VALUES (?, 1, ?, ?) with an array of rows in one round trip.
class bulk_insert {
 public:
  explicit bulk_insert(MYSQL* on) : to_(mysql_stmt_init(on), &mysql_stmt_close) {
    constexpr std::string_view text = "insert into member values (?, 1, ?, ?)";
    if (mysql_stmt_prepare(to_.get(), text.data(), text.size()) != 0) fail();
  }
  void rows(long from, long upto) {
    auto const count = static_cast<std::size_t>(upto - from);
    std::vector<long> ids(count);
    std::vector<std::string> keys(count);
    std::vector<std::string> payloads(count);
    std::array<std::vector<char const*>, 2> texts{std::vector<char const*>(count),
                                                  std::vector<char const*>(count)};
    std::array<std::vector<unsigned long>, 2> lengths{std::vector<unsigned long>(count),
                                                      std::vector<unsigned long>(count)};
    for (std::size_t at = 0; at < count; ++at) {
      ids[at] = from + static_cast<long>(at);
      keys[at] = key_of(ids[at]);
      payloads[at] = payload_of(ids[at]);
      texts[0][at] = keys[at].c_str();
      texts[1][at] = payloads[at].c_str();
      lengths[0][at] = keys[at].size();
      lengths[1][at] = payloads[at].size();
    }
    std::array<MYSQL_BIND, 3> binds{};
    binds[0].buffer_type = MYSQL_TYPE_LONGLONG;
    binds[0].buffer = ids.data();
    for (std::size_t at = 0; at < 2; ++at) {
      binds[at + 1].buffer_type = MYSQL_TYPE_STRING;
      binds[at + 1].buffer = texts[at].data();
      binds[at + 1].length = lengths[at].data();
    }
    auto size = static_cast<unsigned>(count);
    mysql_stmt_attr_set(to_.get(), STMT_ATTR_ARRAY_SIZE, &size);
    if (mysql_stmt_bind_param(to_.get(), binds.data()) != 0 || mysql_stmt_execute(to_.get()) != 0) {
      fail();
    }
  }

 private:
  [[noreturn]] void fail() { throw std::runtime_error(mysql_stmt_error(to_.get())); }
  prepared to_;
};

class queue final : public bare_queue {
 public:
  using bare_queue::bare_queue;

  std::optional<amount> enqueue_unique(long tasks) override { return enqueue(tasks, 1000); }
  std::optional<amount> enqueue_import(long tasks) override { return enqueue(tasks, 10'000); }

 protected:
  void create_tables() override { database().execute(tables); }

  void fill_members(long from, long tasks) override {
    database().execute("insert into member select i, 1, " + sql_key("mariadb") + ", " +
                       sql_payload("mariadb") + " from (select seq i from seq_" +
                       std::to_string(from) + "_to_" + std::to_string(tasks) + ") s");
  }
  void arm(long tasks, long length) override {
    clear();
    database().execute(
        "insert into segment(queue, due, lo, hi) select 1, 1 + seq div 1000, seq, "
        "least(seq + " +
        std::to_string(length) + ", " + std::to_string(tasks + 1) + ") from seq_1_to_" +
        std::to_string(tasks) + "_step_" + std::to_string(length));
    database().execute("analyze table segment");
  }
  std::unique_ptr<bare_worker> worker(int number, int) override {
    return std::make_unique<bench::worker>(database().url(), what(), number, seen());
  }
  void empty() override {
    clear();
    database().execute("truncate table member");
  }

 private:
  void clear() {
    for (auto const* table :
         {"segment", "claim", "claim_range", "outcome", "done_range", "done", "effect"}) {
      database().execute(std::string("truncate table ") + table);
    }
  }

  /// A key that is there already fails the call with 1062, and the program sends it again with
  /// INSERT IGNORE: the common case costs nothing for the rare one.
  std::optional<amount> enqueue(long tasks, long at_once) {
    if (what() != keeps::ranges) return std::nullopt;
    create_once();
    empty();
    forget_members();
    auto const on = open(database().url());
    bulk_insert members(on.get());
    auto const start = std::chrono::steady_clock::now();
    for (long from = 1; from <= tasks; from += at_once) {
      auto const upto = std::min(from + at_once, tasks + 1);
      run(on.get(), "begin");
      members.rows(from, upto);
      std::vector<std::string> segments;
      for (long lo = from; lo < upto; lo += segment_length) {
        segments.push_back(joined({1, 1, lo, std::min(lo + segment_length, upto), 0, 0}));
      }
      run(on.get(), insert("segment", segments) + "commit");
    }
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
    if (number("select sum(hi - lo) from segment") != tasks) {
      throw std::runtime_error("not every task was enqueued");
    }
    return amount{took.count(), tasks};
  }
};

}  // namespace

std::unique_ptr<contestant> bare_mariadb_queue(support::engine const& on, keeps what) {
  return std::make_unique<queue>(on, what);
}

}  // namespace bench
