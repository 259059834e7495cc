#include "benchmarks/forms.hpp"

#include <array>
#include <stdexcept>

namespace bench {

namespace {

#define PG_NOW "(extract(epoch from clock_timestamp()) * 1000000)::bigint"
#define MY_NOW "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))"
#define SL_NOW "(cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) * 1000)"
#define FENCE(k, e, a)                                                                 \
  "where process = 'bench' and run_key = " k " and epoch = " e " and acquisition = " a \
  " and state in (9, 8)"
#define STEP_COLUMNS \
  "(process, run_key, run_no, name, seq, attempt, epoch, acquisition, ended_us, value)"
#define ATTEMPT_COLUMNS                                                                           \
  "(process, run_key, epoch, run_no, attempt, acquisition, holder, started_us, ended_us, state, " \
  "error)"
#define RUN_STARTS(now)                                                            \
  "state = 9, run_no = run_no + 1, attempt = 1, steps_done = 0, started_us = " now \
  ", attempt_started_us = " now ", ended_us = null, error = '', version = version + 1, "
#define FREE_RUN "where process = 'bench' and state in (0, -1, -2) and run_key = "

using enum what;

form const postgres_control{
    {{"update control set status = 1, token = token + 1, owner = $1, step = 0, "
      "lease = now() + interval '5 min', started = now(), runs = runs + 1 "
      "where name = $2 and (status <> 1 or lease < now()) returning token",
      {holder, key}}},
    {{"update control set step = $1, lease = now() + interval '5 min' "
      "where name = $2 and token = $3 and status = 1",
      {step_number, key, epoch}}},
    {{"update control set status = 2, finished = now(), lease = null, remark = '' "
      "where name = $1 and token = $2 and status = 1",
      {key, epoch}}}};

form const postgres_ledger{
    {{"update bare_run set " RUN_STARTS(PG_NOW) "epoch = epoch + 1, acquisition = $1, "
                                                "holder = $2 " FREE_RUN "$3 returning epoch",
      {acquisition, holder, key}}},
    {{"with fenced as (update bare_run set state = 8, steps_done = steps_done + 1, "
      "version = version + 1 " FENCE(
          "$1", "$2",
          "$3") " returning process, run_key, run_no, steps_done, attempt, epoch, acquisition) "
                "insert into bare_step " STEP_COLUMNS
                " select process, run_key, run_no, $4, steps_done, attempt, epoch, "
                "acquisition, " PG_NOW ", '' from fenced",
      {key, epoch, acquisition, step_name}}},
    {{"with ended as (update bare_run set state = 0, ended_us = " PG_NOW
      ", error = '', version = version + 1, succeeded_us = " PG_NOW
      " " FENCE("$1", "$2",
                "$3") " returning process, run_key, epoch, run_no, attempt, acquisition, holder, "
                      "attempt_started_us, ended_us, state, error) insert into "
                      "bare_attempt " ATTEMPT_COLUMNS " select * from ended",
      {key, epoch, acquisition}}}};

form const mysql_control{
    {{"update control set status = 1, token = last_insert_id(token + 1), owner = ?, step = 0, "
      "lease = " MY_NOW " + 300000000, started = " MY_NOW ", runs = runs + 1 "
      "where name = ? and (status <> 1 or lease < " MY_NOW ")",
      {holder, key}}},
    {{"update control set step = ?, lease = " MY_NOW " + 300000000 "
      "where name = ? and token = ? and status = 1",
      {step_number, key, epoch}}},
    {{"update control set status = 2, finished = " MY_NOW ", lease = null, remark = '' "
      "where name = ? and token = ? and status = 1",
      {key, epoch}}}};

// Two statements, one round trip: the fence is asked on the server, and raises where it is lost.
#define TOGETHER(first, second)                \
  "begin not atomic start transaction; " first \
  "; if row_count() <> 1 then rollback; "      \
  "signal sqlstate '45000'; end if; " second "; commit; end"

form const mysql_ledger{
    {{"update bare_run set " RUN_STARTS(MY_NOW) "epoch = last_insert_id(epoch + 1), "
                                                "acquisition = ?, holder = ? " FREE_RUN "?",
      {acquisition, holder, key}}},
    {{TOGETHER("update bare_run set state = 8, steps_done = steps_done + 1, version = version + "
               "1 " FENCE("?", "?", "?"),
               "insert into bare_step " STEP_COLUMNS " select process, run_key, run_no, ?, "
               "steps_done, attempt, epoch, acquisition, " MY_NOW
               ", '' from bare_run where process = 'bench' and run_key = ?"),
      {key, epoch, acquisition, step_name, key},
      false}},
    {{TOGETHER("update bare_run set state = 0, ended_us = " MY_NOW
               ", error = '', version = version + 1, succeeded_us = " MY_NOW
               " " FENCE("?", "?", "?"),
               "insert into bare_attempt " ATTEMPT_COLUMNS " select process, run_key, epoch, "
               "run_no, attempt, acquisition, holder, attempt_started_us, ended_us, state, error "
               "from bare_run where process = 'bench' and run_key = ?"),
      {key, epoch, acquisition, key},
      false}}};

form const sqlite_control{
    {{"update control set status = 1, token = token + 1, owner = ?1, step = 0, "
      "lease = " SL_NOW " + 300000000, started = " SL_NOW ", runs = runs + 1 "
      "where name = ?2 and (status <> 1 or lease < " SL_NOW ") returning token",
      {holder, key}}},
    {{"update control set step = ?1, lease = " SL_NOW " + 300000000 "
      "where name = ?2 and token = ?3 and status = 1",
      {step_number, key, epoch}}},
    {{"update control set status = 2, finished = " SL_NOW ", lease = null, remark = '' "
      "where name = ?1 and token = ?2 and status = 1",
      {key, epoch}}}};

form const sqlite_ledger{
    {{"update bare_run set " RUN_STARTS(SL_NOW) "epoch = epoch + 1, acquisition = ?1, "
                                                "holder = ?2 " FREE_RUN "?3 returning epoch",
      {acquisition, holder, key}}},
    {{"begin immediate", {}, false},
     {"update bare_run set state = 8, steps_done = steps_done + 1, "
      "version = version + 1 " FENCE("?1", "?2", "?3"),
      {key, epoch, acquisition}},
     {"insert into bare_step " STEP_COLUMNS " select process, run_key, run_no, ?1, steps_done, "
      "attempt, epoch, acquisition, " SL_NOW
      ", '' from bare_run where process = 'bench' and run_key = ?2",
      {step_name, key}},
     {"commit", {}, false}},
    {{"begin immediate", {}, false},
     {"update bare_run set state = 0, ended_us = " SL_NOW
      ", error = '', version = version + 1, succeeded_us = " SL_NOW " " FENCE("?1", "?2", "?3"),
      {key, epoch, acquisition}},
     {"insert into bare_attempt " ATTEMPT_COLUMNS " select process, run_key, epoch, run_no, "
      "attempt, acquisition, holder, attempt_started_us, ended_us, state, error "
      "from bare_run where process = 'bench' and run_key = ?1",
      {key}},
     {"commit", {}, false}}};

}  // namespace

form const& form_of(std::string_view dialect, keeps which) {
  bool const control = which == keeps::control;
  if (dialect == "postgres") return control ? postgres_control : postgres_ledger;
  if (dialect == "sqlite") return control ? sqlite_control : sqlite_ledger;
  return control ? mysql_control : mysql_ledger;
}

std::vector<std::string> set_up(std::string_view dialect, std::string const& name) {
  std::string const instant = dialect == "postgres" ? "timestamptz" : "bigint";
  std::string const text = dialect == "mysql" ? "varchar(255)" : "text";
  std::string const after = dialect == "postgres" ? " with (fillfactor = 50)"
                            : dialect == "mysql"  ? " engine = InnoDB"
                                                  : "";
  return {"create table if not exists control(name " + text +
              " not null primary key, status smallint not null default 0, token bigint not null "
              "default 0, owner " +
              text + ", step int not null default 0, lease " + instant + ", started " + instant +
              ", finished " + instant + ", runs bigint not null default 0, remark " + text + ")" +
              after,
          "insert into control(name) values ('" + name + "')",
          "insert into bare_run(process, run_key, state, run_no, attempt, epoch, acquisition, "
          "holder, version, steps_done, first_started_us, started_us, attempt_started_us, error) "
          "values ('bench', '" +
              name + "', 0, 1, 1, 1, '', '', 1, 0, 0, 0, 0, '')"};
}

hand_written::hand_written(std::string const& url, form const& of, std::string name)
    : on_(open_bare(url)),
      key_(std::move(name)),
      start_(prepared(of.start)),
      step_(prepared(of.step)),
      finish_(prepared(of.finish)) {}

std::vector<hand_written::ready> hand_written::prepared(phase const& from) {
  std::vector<ready> out;
  for (auto const& one : from) out.push_back({on_->prepare(one.text), &one});
  return out;
}

void hand_written::run(int steps) {
  send(start_, true);
  for (step_number_ = 1; step_number_ <= steps; ++step_number_) {
    step_name_ = "step" + std::to_string(step_number_);
    send(step_, false);
  }
  send(finish_, false);
}

void hand_written::send(std::vector<ready> const& all, bool starts) {
  std::array<parameter, 8> values;
  for (auto const& one : all) {
    std::size_t count = 0;
    for (auto const use : one.what->uses) {
      switch (use) {
        case key: values[count++] = std::string_view(key_); break;
        case epoch: values[count++] = epoch_; break;
        case acquisition: values[count++] = std::string_view(acquisition_); break;
        case holder: values[count++] = std::string_view("by hand"); break;
        case step_name: values[count++] = std::string_view(step_name_); break;
        case step_number: values[count++] = step_number_; break;
      }
    }
    auto const came = on_->execute(one.number, std::span(values).first(count));
    if (starts) epoch_ = came.number;
    if (one.what->counts_row && came.affected != 1) throw std::runtime_error("no row was changed");
  }
}

}  // namespace bench
