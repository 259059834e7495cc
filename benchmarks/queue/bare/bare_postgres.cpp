#include "benchmarks/queue/bare/bare_engines.hpp"
#include "benchmarks/queue/bare/bare_delay.hpp"
#include "benchmarks/queue/postgres_link.hpp"

#include <chrono>
#include <stdexcept>

namespace bench {

namespace {

// One statement claims: segments due, the last one cut, one claim for the batch, the payloads.
// What is claimed is what was deleted or cut, not what was locked: a segment that another has cut
// since the snapshot is locked in its new version, which the snapshot does not see, and so is
// neither deleted nor cut. Claimed from the locked rows it would be given twice.
// $1 how many, $2 the claim, $3 the holder, $4 how many segments at most, $5 no sooner than.
constexpr auto claim_text = R"(
with c as materialized (
  select ctid, due, lo, hi, attempts from segment
  where queue = 1 and $1::bigint > 0 and due <= now() and due >= $5::timestamptz
  order by due limit $4::bigint for update skip locked),
k as (select *, sum(hi - lo) over (order by due, lo) cum from c),
tk as materialized (select ctid, due, lo, hi, least(hi, hi - (cum - $1))::bigint upto, attempts
                    from k where cum - (hi - lo) < $1),
d as (delete from segment t where t.ctid = any(array(select ctid from tk where upto = hi))
      returning t.lo, t.hi upto, t.due, t.attempts),
s as (update segment t set lo = tk.upto from tk
      where t.ctid = any(array(select ctid from tk where upto < hi)) and t.ctid = tk.ctid
      returning tk.lo, tk.upto, tk.due, tk.attempts),
g as (select * from d union all select * from s),
w as (insert into claim(id, epoch, holder, started, los, his, attempts)
      select $2::bigint, 1, $3::int, now(), array_agg(lo), array_agg(upto), max(attempts) + 1
      from g having count(*) > 0 returning 1)
select t.id, t.payload, g.due::text from g
cross join lateral (select id, payload from member m where m.id >= g.lo and m.id < g.upto
                    limit $1) t)";

// $1 the claim, $2 the holder: the delete is the fence, and everything hangs on its row.
constexpr auto fence = R"(
with l as (delete from claim where id = $1::bigint and epoch = 1 and holder = $2::int
           returning *))";
constexpr auto failed_rows = R"(,
u as (insert into outcome(id, batch, finished, status, attempts, remark)
      select x.id, $1, now(), 3, l.attempts, x.r
      from l, unnest($3::bigint[], $4::text[]) x(id, r)))";
constexpr auto done_rows = R"(,
dr as (insert into done_range(lo, hi, batch, started, finished, attempts)
       select r.lo, r.hi, l.id, l.started, now(), l.attempts
       from l, unnest(l.los, l.his) r(lo, hi)))";
constexpr auto rolled_rows = R"(,
sg as (insert into segment(queue, due, lo, hi, turn)
       select 1, date_trunc('day', now()) + interval '2 days', r.lo, r.hi, 1
       from l, unnest($5::bigint[], $6::bigint[]) r(lo, hi)),
sf as (insert into segment(queue, due, lo, hi, attempts, turn)
       select 1, date_trunc('hour', now()) + interval '2 hours', r.id, r.id + 1, l.attempts, 1
       from l, unnest($3::bigint[]) r(id)))";
constexpr auto every_row = R"(,
u as (insert into outcome(id, batch, finished, status, attempts, remark)
      select x.id, $1, now(), x.s, l.attempts, x.r
      from l, unnest($3::bigint[], $4::text[], $5::smallint[]) x(id, r, s) returning 1)
select count(*) from u)";
constexpr auto ledger_gone = R"(,
d as (delete from done using l where done.claim = l.id returning 1))";
constexpr auto fence_held = "\nselect count(*) from l";

// $1 the claim, $2 the task: only inside a range of a claim that is still there.
constexpr auto ledger_text = R"(
insert into done(claim, id) select c.id, $2::bigint from claim c
where c.id = $1::bigint and c.epoch = 1
  and exists (select from unnest(c.los, c.his) r(lo, hi) where $2 >= r.lo and $2 < r.hi)
for share of c)";

std::string complete_text(keeps what) {
  auto const start = std::string(fence);
  switch (what) {
    case keeps::rolling: return start + failed_rows + done_rows + rolled_rows + fence_held;
    case keeps::rows:
    case keeps::ones: return start + every_row;
    case keeps::singly: return start + ledger_gone + done_rows + "\nselect count(*) from d";
    case keeps::ranges: break;
  }
  return start + failed_rows + done_rows + fence_held;
}

std::string number_text(long of) { return std::to_string(of); }

class worker final : public bare_worker {
 public:
  worker(std::string const& url, keeps what, int number, int batch, tally& seen)
      : on_(url),
        what_(what),
        holder_(std::to_string(number)),
        next_(number * 1'000'000'000L),
        seen_(&seen) {
    // A claim needs batch / length segments, and one more where the first was begun by another.
    segments_ = std::to_string(what == keeps::ones ? batch : (batch - 1) / segment_length + 1);
    // The segments are few when the statement is planned, and may be many when it is used.
    on_.text("set enable_seqscan = off");
    on_.prepare("claim", claim_text);
    on_.prepare("complete", complete_text(what));
    if (what == keeps::singly) {
      on_.prepare("begin", "begin");
      on_.prepare("effect", "insert into effect(task, what) values ($1, 'paid')");
      on_.prepare("ledger", ledger_text);
      on_.prepare("commit", "commit");
    }
  }

  long turn(int batch) override {
    bool const ends = !held_.empty();
    if (!ends && batch == 0) return 0;
    auto const next = std::to_string(++next_);
    on_.pipeline();
    if (ends) send_complete();
    if (batch > 0) on_.send("claim", {std::to_string(batch), next, holder_, segments_, floor_});
    on_.sync();
    if (ends) {
      auto const got = on_.answer();
      auto const expected = what_ == keeps::ranges || what_ == keeps::rolling
                                ? 1
                                : static_cast<std::int64_t>(held_.size());
      if (big(got.get(), 0, 0) != expected) throw std::runtime_error("the batch was lost");
    }
    held_.clear();
    if (batch > 0) read(*on_.answer());
    on_.end();
    claim_ = next;
    return static_cast<long>(held_.size());
  }

  void single(long id) override {
    auto const task = std::to_string(id);
    on_.pipeline();
    on_.send("begin", {});
    on_.send("effect", {task});
    on_.sync();
    on_.answer();
    on_.answer();
    on_.end();
    auto const got = on_.run("ledger", {claim_, task});
    if (std::string_view(PQcmdTuples(got.get())) != "1") {
      on_.text("rollback");
      throw std::runtime_error("the task was lost");
    }
    on_.run("commit", {});
  }

 private:
  void read(PGresult const& rows) {
    auto const count = PQntuples(&rows);
    for (int at = 0; at < count; ++at) {
      auto const id = static_cast<long>(big(&rows, at, 0));
      seen_->see(id, words(&rows, at, 1));
      held_.push_back(id);
      if (at == 0 || words(&rows, at, 2) > floor_) floor_ = words(&rows, at, 2);
    }
    // Dead index entries lie before it. It is forgotten when nothing was found behind it. Times
    // of one session compare as texts do.
    if (count == 0) floor_ = "-infinity";
  }

  void send_complete() {
    std::vector<long> which;
    for (auto const id : held_) {
      if (what_ == keeps::rows || what_ == keeps::ones || fails(id)) which.push_back(id);
    }
    auto const ids = array_of(which, number_text);
    auto const remarks = array_of(which, [](long id) {
      return fails(id) ? '"' + std::string(remark) + '"' : std::string("null");
    });
    if (what_ == keeps::singly) {
      on_.send("complete", {claim_, holder_});
    } else if (what_ == keeps::ranges) {
      on_.send("complete", {claim_, holder_, ids, remarks});
    } else if (what_ == keeps::rolling) {
      auto const good = successes(held_);
      on_.send("complete", {claim_, holder_, ids, remarks,
                            array_of(good, [](range const& of) { return std::to_string(of.lo); }),
                            array_of(good, [](range const& of) { return std::to_string(of.hi); })});
    } else {
      auto const states =
          array_of(which, [](long id) { return std::string(fails(id) ? "3" : "2"); });
      on_.send("complete", {claim_, holder_, ids, remarks, states});
    }
  }

  postgres_link on_;
  keeps what_;
  std::string holder_;
  long next_;
  tally* seen_;
  std::string segments_;
  std::string claim_;
  std::string floor_ = "-infinity";
};

constexpr auto tables = R"(
create table member(id bigint primary key, queue int not null, key text not null,
                    payload text not null, unique(queue, key));
create sequence block increment by 1000;
create table segment(queue int not null, due timestamptz not null, lo bigint not null,
                     hi bigint not null, attempts smallint not null default 0,
                     turn smallint not null default 0) with (fillfactor = 90);
create index on segment(queue, due);
create table claim(id bigint primary key, epoch int not null, holder int not null,
                   started timestamptz not null, los bigint[] not null, his bigint[] not null,
                   attempts smallint not null);
create table outcome(id bigint, batch bigint not null, finished timestamptz not null,
                     status smallint not null, attempts smallint not null, remark text,
                     primary key(id));
create table done_range(lo bigint primary key, hi bigint not null, batch bigint not null,
                        started timestamptz not null, finished timestamptz not null,
                        attempts smallint not null);
create table done(claim bigint not null, id bigint not null, primary key(claim, id));
create table effect(task bigint not null, what text not null))";

// $1 keys, $2 payloads. Neighbouring ids become one segment, whichever keys were there already.
constexpr auto enqueue_text = R"(
with b as materialized (select nextval('block') first),
t as (insert into member(id, queue, key, payload)
      select b.first + x.o - 1, 1, x.k, x.p
      from b, unnest($1::text[], $2::text[]) with ordinality x(k, p, o)
      on conflict (queue, key) do nothing returning id),
s as (insert into segment(queue, due, lo, hi)
      select 1, now(), min(id), max(id) + 1
      from (select id, id - row_number() over (order by id) island from t) i group by island)
select count(*) from t)";

class queue final : public bare_queue {
 public:
  using bare_queue::bare_queue;

  std::optional<amount> enqueue_unique(long tasks) override {
    if (what() != keeps::ranges) return std::nullopt;
    begin_anew();
    postgres_link on(database().url());
    on.prepare("enqueue", enqueue_text);
    auto const start = std::chrono::steady_clock::now();
    for (long from = 1; from <= tasks; from += 1000) {
      std::vector<long> ids;
      for (long id = from; id < from + 1000 && id <= tasks; ++id) ids.push_back(id);
      auto const got = on.run("enqueue", {array_of(ids, &key_of), array_of(ids, [](long id) {
                                            std::string out = "\"";
                                            for (char const c : payload_of(id)) {
                                              if (c == '"') out += '\\';
                                              out += c;
                                            }
                                            return out + '"';
                                          })});
      if (big(got.get(), 0, 0) != static_cast<std::int64_t>(ids.size())) {
        throw std::runtime_error("a key was there already");
      }
    }
    return finish(start, tasks);
  }

  /// NOTIFY with the task's own transaction, and a worker that claims one as soon as it hears it.
  std::optional<delay> start_delay(int samples, double gap_ms) override {
    if (what() != keeps::ranges) return std::nullopt;
    begin_anew();
    return bare_start_delay(database().url(), enqueue_text, claim_text, complete_text(what()),
                            samples, gap_ms);
  }

  std::optional<amount> enqueue_import(long tasks) override {
    if (what() != keeps::ranges) return std::nullopt;
    begin_anew();
    postgres_link on(database().url());
    auto const start = std::chrono::steady_clock::now();
    for (long from = 1; from <= tasks; from += 100'000) {
      auto const upto = std::min(from + 100'000, tasks + 1);
      on.text("begin");
      copy(on, "copy member(id, queue, key, payload) from stdin", from, upto, 1, [](long id) {
        return std::to_string(id) + "\t1\t" + key_of(id) + '\t' + payload_of(id) + '\n';
      });
      auto const due = std::string("\t1\tnow\n");
      copy(on, "copy segment(lo, hi, queue, due) from stdin", from, upto, segment_length,
           [&](long lo) {
             return std::to_string(lo) + '\t' +
                    std::to_string(std::min(lo + segment_length, upto)) + due;
           });
      on.text("commit");
    }
    return finish(start, tasks);
  }

 protected:
  void create_tables() override {
    database().execute(tables);
    if (what() == keeps::rolling) {
      database().execute(
          "alter table outcome drop constraint outcome_pkey, add primary key(id, batch)");
    }
  }
  void fill_members(long from, long tasks) override {
    database().execute("insert into member(id, queue, key, payload) select i, 1, " +
                       sql_key("postgresql") + ", " + sql_payload("postgresql") +
                       " from generate_series(" + std::to_string(from) + "," +
                       std::to_string(tasks) + ") i");
    database().execute("vacuum analyze member");
  }
  void arm(long tasks, long length) override {
    database().execute("truncate segment, claim, outcome, done_range, done, effect");
    database().execute(
        "insert into segment(queue, due, lo, hi) select 1, now() - interval '1 hour' + "
        "i * interval '1 us', i, least(i + " +
        std::to_string(length) + ", " + std::to_string(tasks + 1) + ") from generate_series(1," +
        std::to_string(tasks) + "," + std::to_string(length) + ") i");
    database().execute("vacuum analyze segment");
  }
  std::unique_ptr<bare_worker> worker(int number, int batch) override {
    return std::make_unique<bench::worker>(database().url(), what(), number, batch, seen());
  }
  void empty() override {
    database().execute(
        "truncate member, segment, claim, outcome, done_range, done, effect; "
        "alter sequence block restart");
  }

 private:
  void begin_anew() {
    create_once();
    empty();
    forget_members();
  }

  amount finish(std::chrono::steady_clock::time_point start, long tasks) {
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
    if (number("select sum(hi - lo) from segment") != tasks ||
        number("select count(distinct key) from member") != tasks) {
      throw std::runtime_error("not every task was enqueued");
    }
    return {took.count(), tasks};
  }

  template <class Line>
  static void copy(postgres_link& on, char const* statement, long from, long upto, long step,
                   Line line) {
    postgres_result const into(PQexec(on.raw(), statement), &PQclear);
    std::string buffer;
    auto const put = [&] {
      if (PQputCopyData(on.raw(), buffer.data(), static_cast<int>(buffer.size())) != 1) {
        throw std::runtime_error(PQerrorMessage(on.raw()));
      }
      buffer.clear();
    };
    for (long at = from; at < upto; at += step) {
      buffer += line(at);
      if (buffer.size() > 60'000) put();
    }
    if (!buffer.empty()) put();
    PQputCopyEnd(on.raw(), nullptr);
    postgres_result const got(PQgetResult(on.raw()), &PQclear);
    if (PQresultStatus(got.get()) != PGRES_COMMAND_OK) {
      throw std::runtime_error(PQerrorMessage(on.raw()));
    }
    while (PQgetResult(on.raw()) != nullptr) {
    }
  }
};

}  // namespace

std::unique_ptr<contestant> bare_postgres_queue(support::engine const& on, keeps what) {
  return std::make_unique<queue>(on, what);
}

}  // namespace bench
