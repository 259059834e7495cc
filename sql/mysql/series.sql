-- name: series.add_one
insert into {series} (member, queue, series_key, added_us)
select id, queue, case when instr(member_key, '/') = 0 then member_key
                       else left(member_key, length(member_key) - length(substring_index(member_key, '/', -1))) end, coalesce(:added_us, created_us)
from {member} where id = :member;

-- name: series.add
insert into {series} (member, queue, series_key, added_us)
select id, queue, case when instr(member_key, '/') = 0 then member_key
                       else left(member_key, length(member_key) - length(substring_index(member_key, '/', -1))) end, created_us
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
with busy as (
  select e.series_key from {claim} c
    straight_join json_table(c.ranges, '$[*]' columns (lo bigint path '$[0]')) as r
    straight_join {series} e on e.member = r.lo
  where c.queue = :queue and c.reclaimed_us is null
)
select s.hi from (
  select hi, lo, due_us from {segment}
  where queue = :queue and lane = :lane and due_us <= {now}
  order by due_us, hi limit :among) as s
where not exists (
  select 1 from {series} o
    straight_join {series} e on e.queue = o.queue and e.series_key = o.series_key
      and e.added_us <= o.added_us and (e.added_us < o.added_us or e.member < o.member)
    straight_join {member} m on m.id = e.member
  where o.member = s.lo)
and not exists (
  select 1 from {series} o join busy b on b.series_key = o.series_key where o.member = s.lo)
order by s.due_us, s.hi limit :count;

-- name: series.all_heads
with recursive each_one (series_key) as (
  select min(series_key) from {series} where queue = :queue
  union all
  select (select min(s.series_key) from {series} s
          where s.queue = :queue and s.series_key > k.series_key)
  from each_one k where k.series_key is not null
),
busy as (
  select e.series_key from {claim} c
    straight_join json_table(c.ranges, '$[*]' columns (lo bigint path '$[0]')) as r
    straight_join {series} e on e.member = r.lo
  where c.queue = :queue and c.reclaimed_us is null
)
select s.hi from (
  select (select e.member from {series} e straight_join {member} m on m.id = e.member
          where e.queue = :queue and e.series_key = k.series_key
          order by e.added_us, e.member limit 1) as id
  from each_one k where k.series_key is not null
    and not exists (select 1 from busy b where b.series_key = k.series_key)) as head
  join {segment} s on s.hi = head.id + 1
where s.lo = head.id and s.lane = :lane and s.due_us <= {now}
limit :count;

-- name: series.take
/*M! set statement group_concat_max_len = 16777216 for */
insert into {claim} (id, queue, holder, claimed_us, size, ranges)
select :claim, :queue, :holder, {now}, count(*),
  json_arrayagg(json_array(t.lo, t.hi, t.hi, t.lane, t.state, t.attempts, t.crashes, t.turn_us,
                           t.period_us, t.due_us))
from (
  select s.* from json_table(:heads, '$[*]' columns (hi bigint path '$[0]')) as r
    straight_join {segment} s force index (primary) on s.hi = r.hi
  where s.queue = :queue and s.due_us <= {now}
    and exists (select 1 from {queue} q where q.id = :queue and q.paused = 0)
    and exists (select 1 from {holder} where uuid = :holder and ended_us is null)
  for update /*!80000 of s */ skip locked
) as t
having count(*) > 0;
-- then
delete s from {claim} c
  straight_join json_table(c.ranges, '$[*]' columns (hi bigint path '$[1]')) as r
  straight_join {segment} s force index (primary) on s.hi = r.hi
where c.id = :claim;

-- name: series.end
delete s from json_table(:rows, '$[*]' columns (id bigint path '$[0]')) as r
  straight_join {series} s force index (primary) on s.member = r.id;

-- name: series.strays
select member from {series} o
where queue = :queue and not exists (select 1 from {member} m where m.id = o.member)
  and member not in (
    select r.lo from {claim} c straight_join json_table(c.ranges, '$[*]'
      columns (lo bigint path '$[0]')) as r
    where c.queue = :queue and c.reclaimed_us is null)
limit :count;
