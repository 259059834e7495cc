#include "proof/torture/runs/ledger.hpp"

#include "proof/torture/job.hpp"

#include <charconv>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace torture {

namespace {
/// The questions, in the order of `flaw`, such that each finds its rows by a key: P is the tables'
/// prefix, K the pattern of keys, N the number of steps with an effect, M that of all.
constexpr std::array<std::string_view, ledger_kinds> questions{
    "select coalesce(sum(n - 1), 0) from (select count(*) as n from effect where run_key like K"
    " group by run_key, run_no, step having count(*) > 1) d",

    "select count(*) from (select epoch, max(epoch) over (partition by run_key order by id"
    " rows between unbounded preceding and 1 preceding) as before_it"
    " from effect where run_key like K) d where epoch < before_it",

    "select count(*) from effect e where e.run_key like K and not exists (select 1 from Pstep s"
    " where s.process = e.process and s.run_key = e.run_key and s.run_no = e.run_no"
    " and s.name = e.step and s.epoch = e.epoch)",

    "select count(*) from Pstep s where s.run_key like K and s.name like 'step%'"
    " and not exists (select 1 from effect e where e.process = s.process"
    " and e.run_key = s.run_key and e.run_no = s.run_no and e.step = s.name)",

    "select count(*) from Pattempt a where a.run_key like K and a.state = 0"
    " and ((select count(distinct e.step) from effect e where e.run_key = a.run_key"
    " and e.run_no = a.run_no) <> N or (select count(*) from Pstep s"
    " where s.process = a.process and s.run_key = a.run_key and s.run_no = a.run_no) <> M)",

    "select count(*) from (select 1 as one from Pattempt where run_key like K and state = 0"
    " group by run_key, run_no having count(*) > 1) d",

    "select (select count(*) from Prun r where r.run_key like K and ((select count(*) from"
    " Pattempt a"
    " where a.process = r.process and a.run_key = r.run_key and a.run_no = r.run_no)"
    " <> r.attempt - (case when r.state in (9, 8) then 1 else 0 end)"
    " or (select count(distinct a.attempt) from Pattempt a"
    " where a.process = r.process and a.run_key = r.run_key and a.run_no = r.run_no)"
    " <> r.attempt - (case when r.state in (9, 8) then 1 else 0 end)))"
    " + (select count(*) from Pattempt a where a.run_key like K and a.state <> 0"
    " and a.error = '')",

    "select count(*) from Prun r where r.run_key like K and r.steps_done <> (select count(*)"
    " from Pstep s where s.process = r.process and s.run_key = r.run_key"
    " and s.run_no = r.run_no)",

    // A step that a person settled counts for the attempt that began it.
    "select (select count(*) from (select count(*) as n, count(distinct seq) as different,"
    " max(seq) as highest from Pstep where run_key like K group by process, run_key, run_no) d"
    " where n <> different or n <> highest) + (select count(*) from Pstep s"
    " where s.run_key like K and s.mode <> 3 and exists (select 1 from Pstep b"
    " where b.process = s.process and b.run_key = s.run_key and b.run_no = s.run_no"
    " and b.seq < s.seq and b.attempt > s.attempt))",

    "select count(*) from Prun r where r.run_key like K and r.run_no <> (select count(*)"
    " from Pattempt a where a.process = r.process and a.run_key = r.run_key and a.state = 0)"
    " + (case when r.state = 0 then 0 else 1 end)",

    // The attempt that succeeded has written it, and nobody before it has since.
    "select count(*) from Pattempt a where a.run_key like K and a.state = 0 and not exists"
    " (select 1 from Pcarry c where c.process = a.process and c.run_key = a.run_key"
    " and c.run_no = a.run_no and c.epoch <= a.epoch and not exists (select 1 from Pattempt b"
    " where b.process = a.process and b.run_key = a.run_key and b.run_no = a.run_no"
    " and b.epoch < a.epoch and b.epoch >= c.epoch))",

    "select count(*) from Pintent i where i.run_key like K and (exists (select 1 from Pattempt a"
    " where a.process = i.process and a.run_key = i.run_key and a.run_no = i.run_no"
    " and a.state = 0) or exists (select 1 from Pstep s where s.process = i.process"
    " and s.run_key = i.run_key and s.run_no = i.run_no and s.name = i.name))",

    "select (select count(*) from Prun r where r.run_key like K and r.state <> 0)"
    " + (select case when count(*) = 0 then 1 else 0 end from Prun r where r.run_key like K)"};

std::string filled(std::string_view question, std::string const& prefix, std::string const& keys) {
  std::string out;
  for (char const c : question) {
    if (c == 'P') {
      out += prefix;
    } else if (c == 'K') {
      out += "'" + keys + "'";
    } else if (c == 'N') {
      out += std::to_string(effect_steps);
    } else if (c == 'M') {
      out += std::to_string(all_steps);
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string one_row(std::string_view dialect, std::vector<std::string> const& parts) {
  bool const by_function = dialect == "mysql";
  std::string out = by_function ? "select concat_ws(' '" : "select ''";
  for (auto const& part : parts) {
    out += by_function ? ", (" + part + ")" : " || ' ' || cast((" + part + ") as text)";
  }
  return by_function ? out + ")" : out;
}

}  // namespace

findings& findings::operator+=(findings const& other) {
  for (std::size_t at = 0; at < flaw_kinds; ++at) count[at] += other.count[at];
  return *this;
}

std::int64_t findings::all() const {
  return std::accumulate(count.begin(), count.end(), std::int64_t{0});
}

std::string findings::text() const {
  std::string out;
  for (std::size_t at = 0; at < flaw_kinds; ++at) {
    if (count[at] == 0) continue;
    out +=
        (out.empty() ? "" : ", ") + std::string(flaw_names[at]) + " " + std::to_string(count[at]);
  }
  return out;
}

void make_ledger(support::fresh_database const& in, std::string_view dialect) {
  std::string number = "id bigint primary key auto_increment";
  if (dialect == "sqlite") number = "id integer primary key autoincrement";
  if (dialect == "postgres") number = "id bigserial primary key";
  in.execute("create table effect(" + number +
             ", process varchar(255) not null, run_key varchar(255) not null,"
             " run_no bigint not null, step varchar(255) not null, epoch bigint not null,"
             " attempt bigint not null, pid bigint not null)");
  in.execute("create index effect_of_run on effect(run_key, run_no, step)");
}

findings check(support::fresh_database const& in, std::string_view dialect,
               std::string const& prefix, std::string const& keys, moment when) {
  std::vector<std::string> parts;
  for (auto const& one : questions) parts.push_back(filled(one, prefix, keys));
  if (when == moment::amid) parts.pop_back();
  auto const text = in.query(one_row(dialect, parts));
  findings out;
  auto const* at = text.data();
  auto const* const end = at + text.size();
  for (std::size_t kind = 0; kind < parts.size(); ++kind) {
    while (at != end && *at == ' ') ++at;
    auto const [next, problem] = std::from_chars(at, end, out.count[kind]);
    if (problem != std::errc{}) throw std::runtime_error("the check answered '" + text + "'");
    at = next;
  }
  return out;
}

}  // namespace torture
