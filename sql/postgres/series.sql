-- name: series.add_one
insert into {series} (member, queue, series_key, added_us)
select id, queue, case when strpos(member_key, '/') = 0 then member_key
                       else left(member_key, length(member_key) - strpos(reverse(member_key), '/') + 1) end, coalesce(:added_us::bigint, created_us)
from {member} where id = :member;

-- name: series.add
insert into {series} (member, queue, series_key, added_us)
select id, queue, case when strpos(member_key, '/') = 0 then member_key
                       else left(member_key, length(member_key) - strpos(reverse(member_key), '/') + 1) end, created_us
from {member} where id >= :lo and id < :hi;
-- then
insert into {segment} (hi, lo, queue, lane, state, attempts, crashes, period_us, turn_us, due_us)
select m.id + 1, m.id, s.queue, s.lane, s.state, s.attempts, s.crashes, s.period_us, s.turn_us,
  s.due_us
from {segment} s join {member} m on m.id >= s.lo and m.id < s.hi - 1
where s.hi = :hi and s.lo = :lo;
-- then
update {segment} set lo = hi - 1 where hi = :hi and lo = :lo;

-- name: series.heads
with busy as materialized (
  select e.series_key from {claim} c
    cross join json_array_elements(c.ranges::json) as r
    join {series} e on e.member = (r->>0)::bigint
  where c.queue = :queue and c.reclaimed_us is null
)
select s.hi from (
  select hi, lo, due_us from {segment}
  where queue = :queue and lane = :lane::int and due_us <= {now}
  order by due_us, hi limit :among::bigint) as s
where not exists (
  select from {series} o
    join {series} e on e.queue = o.queue and e.series_key = o.series_key
      and (e.added_us, e.member) < (o.added_us, o.member)
    join {member} m on m.id = e.member
  where o.member = s.lo)
and not exists (
  select from {series} o join busy b on b.series_key = o.series_key where o.member = s.lo)
order by s.due_us, s.hi limit :count::bigint;

-- name: series.all_heads
with recursive each_one (series_key) as (
  select min(series_key) from {series} where queue = :queue
  union all
  select (select min(s.series_key) from {series} s
          where s.queue = :queue and s.series_key > k.series_key)
  from each_one k where k.series_key is not null
),
busy as materialized (
  select e.series_key from {claim} c
    cross join json_array_elements(c.ranges::json) as r
    join {series} e on e.member = (r->>0)::bigint
  where c.queue = :queue and c.reclaimed_us is null
)
select s.hi from (
  select (select e.member from {series} e join {member} m on m.id = e.member
          where e.queue = :queue and e.series_key = k.series_key
          order by e.added_us, e.member limit 1) as id
  from each_one k where k.series_key is not null
    and not exists (select from busy b where b.series_key = k.series_key)) as head
  join {segment} s on s.hi = head.id + 1
where s.lo = head.id and s.lane = :lane::int and s.due_us <= {now}
limit :count::bigint;

-- name: series.take
with found as materialized (
  select * from {segment}
  where hi = any (array(select (r->>0)::bigint from json_array_elements(:heads::json) as r))
    and queue = :queue and due_us <= {now}
    and exists (select from {queue} q where q.id = :queue and q.paused = 0)
    and exists (select from {holder} where uuid = :holder and ended_us is null)
  for update skip locked
),
gone as (
  delete from {segment} where hi = any (array(select hi from found)) returning hi
)
insert into {claim} (id, queue, holder, claimed_us, size, ranges)
select :claim::uuid, :queue, :holder::text, {now}, count(*),
  json_agg(json_build_array(lo, hi, hi, lane, state, attempts, crashes, turn_us, period_us, due_us))
from found where hi in (select hi from gone) having count(*) > 0;

-- name: series.end
delete from {series} s using json_array_elements(:rows::json) as r
where s.member = (r->>0)::bigint;

-- name: series.strays
select member from {series} o
where queue = :queue and not exists (select from {member} m where m.id = o.member)
  and member not in (
    select (r->>0)::bigint from {claim} c cross join json_array_elements(c.ranges::json) as r
    where c.queue = :queue and c.reclaimed_us is null)
limit :count::bigint;
