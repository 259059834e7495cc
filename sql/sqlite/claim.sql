-- Rows in a text are read as the columns c0, c1, ... of daybook_rows(text)
-- (src/drivers/sqlite/sqlite_rows.hpp).

-- `segments`: no more than so many are looked at. An index probe for each lane. A row without an
-- id: the claim's ranges and the queue's version. Its tasks are read (claim.tasks) when it is
-- committed and others may write.
-- name: claim.take
with u as materialized (
  select case when q.rounds = 1 then min(coalesce(q.round_us, 0), {now}) else {now} end as until
  from {queue} q where q.id = :queue and q.paused = 0
    and exists (select 1 from {holder} where uuid = :holder and ended_us is null)
), urgent as materialized (
  select coalesce(
    (select lane from {segment} where queue = :queue and lane = :first_lane
       and due_us <= u.until limit 1),
    (select lane from {segment} where queue = :queue and lane = :first_lane + 1
       and due_us <= u.until limit 1),
    (select lane from {segment} where queue = :queue and lane = :first_lane + 2
       and due_us <= u.until limit 1),
    (select lane from {segment} where queue = :queue and lane = :first_lane + 3
       and due_us <= u.until limit 1),
    (select lane from {segment} where queue = :queue and lane = :first_lane + 4
       and due_us <= u.until limit 1),
    (select lane from {segment} where queue = :queue and lane = :first_lane + 5
       and due_us <= u.until limit 1),
    (select lane from {segment} where queue = :queue and lane = :first_lane + 6
       and due_us <= u.until limit 1),
    (select lane from {segment} where queue = :queue and lane = :first_lane + 7
       and due_us <= u.until limit 1),
    (select lane from {segment} where queue = :queue and lane = :first_lane + 8
       and due_us <= u.until limit 1),
    (select lane from {segment} where queue = :queue and lane = :first_lane + 9
       and due_us <= u.until limit 1)) as lane
  from u
)
insert into {claim} (id, queue, holder, claimed_us, size, ranges)
select :claim, :queue, :holder, {now}, sum(k.til - k.lo),
  json_group_array(json_array(k.lo, k.til, k.hi, k.lane, k.state, k.attempts, k.crashes,
                              k.turn_us, k.period_us, k.due_us))
from (
  select t.*, min(t.hi, t.lo + :count - t.ahead) as til
  from (
    select s.*, sum(s.hi - s.lo) over (order by s.due_us, s.hi) - (s.hi - s.lo) as ahead
    from (
      select hi, lo, lane, state, attempts, crashes, turn_us, period_us, due_us from {segment}
      where queue = :queue and lane = (select lane from urgent) and due_us <= (select until from u)
      order by due_us, hi limit :segments
    ) as s
  ) as t
  where t.ahead < :count
) as k
having count(*) > 0;
-- then
delete from {segment} where hi in (
  select r.c2 from {claim} c, daybook_rows(c.ranges) as r
  where c.id = :claim and r.c1 = r.c2);
-- then
update {segment} set lo = (
  select r.c1 from {claim} c, daybook_rows(c.ranges) as r
  where c.id = :claim and r.c2 = {prefix}segment.hi)
where hi in (
  select r.c2 from {claim} c, daybook_rows(c.ranges) as r
  where c.id = :claim and r.c1 < r.c2);
-- then
select null, c.ranges, cast(q.version as text)
from {claim} c join {queue} q on q.id = c.queue where c.id = :claim;

-- What a claim has in hand: the row of claim.take, and one for each task.
-- name: claim.tasks
select null, c.ranges, cast(q.version as text)
from {claim} c join {queue} q on q.id = c.queue where c.id = :claim
union all
select m.id, m.member_key, m.payload
from {claim} c cross join daybook_rows(c.ranges) as r
  cross join {member} m on m.id >= r.c0 and m.id < r.c1 and +m.queue = c.queue
where c.id = :claim;

-- name: claim.due
select exists (
  select 1 from {queue} q, (select {now} as us) as clock,
    json_each('[0,1,2,3,4,5,6,7,8,9]') as p
  where q.id = :queue and q.paused = 0
    and (select min(due_us) from {segment} where queue = :queue and lane = :first_lane + p.value)
        <= case when q.rounds = 1 then min(coalesce(q.round_us, 0), clock.us) else clock.us end);

-- Otherwise the bound is null, and no member is read.
-- name: claim.complete
insert into {segment} (hi, lo, queue, lane, state, attempts, crashes, period_us, turn_us, due_us)
select a.hi, a.lo, a.queue, a.lane, a.state, a.attempts, a.crashes, a.period, a.turn,
  case a.how when 0 then a.us when 3 then (a.at_us + a.us + 999999) / 1000000 * 1000000
             else a.turn end
from (
  select w.lo, w.hi, c.queue, w.lane, w.state, w.attempts, w.crashes, w.period, w.how, w.us,
    clock.us as at_us,
    case w.how
      when 1 then w.turn + w.period * case when clock.us < w.turn then 1
                                           else (clock.us - w.turn) / w.period + 1 end
      when 2 then (clock.us + w.period + w.us - 1) / w.us * w.us
      else w.turn end as turn
  from {claim} c join (select {now} as us) as clock
    cross join (select c0 as lo, c1 as hi, c2 as lane, c3 as state, c4 as attempts, c5 as crashes,
                  c6 as turn, c7 as period, c8 as how, c9 as us
                from daybook_rows(:segments)) as w
  where c.id = :claim and c.holder = :holder and {in_hand}
) as a;
-- then
with w as materialized (
  select c0 as lo, c1 as hi, c2 as state, c3 as attempts, c4 as turn, c5 as finished, c6 as remark
  from daybook_rows(:outcomes)
)
insert into {outcome} (lo, hi, queue, claim, state, attempts, turn_us, started_us, finished_us,
  remark)
select coalesce(m.id, w.lo), coalesce(m.id + 1, w.hi), c.queue, c.id, w.state, w.attempts, w.turn,
  c.claimed_us, coalesce(w.finished, clock.us), w.remark
from {claim} c join (select {now} as us) as clock cross join w
  left join {member} m on m.id >= case when :each = 1 then w.lo end and m.id < w.hi
where c.id = :claim and c.holder = :holder and {in_hand};
-- then
delete from {claim} where id = :claim and holder = :holder and {in_hand};

-- name: claim.done
insert into {done} (claim, lo, hi, state, attempts, delay_us, finished_us, remark)
select c.id, w.lo, w.hi, w.state, w.attempts, w.delay_us, {now}, w.remark
from (select id from {claim}
      where id = :claim and holder = :holder and {in_hand}) as c
  join (select c0 as lo, c1 as hi, c2 as state, c3 as attempts, c4 as delay_us, c5 as remark
        from daybook_rows(:rows)) as w;

-- name: claim.seize
select c.queue, c.claimed_us from {claim} c
where c.id = :claim and c.reclaimed_us is null
  and not exists (select 1 from {holder} h where h.uuid = c.holder and h.ended_us is null);

-- name: claim.settle
insert into {claim} (id, queue, holder, claimed_us, reclaimed_us, size, ranges)
select :claim, :queue, :holder, clock.us, clock.us, 0, '[]' from (select {now} as us) as clock
where true on conflict (id) do nothing;

-- name: claim.of_queue
select c.id, c.holder, c.claimed_us, r.c0, r.c1, r.c3, r.c4, r.c5, r.c6, r.c7, r.c8, r.c9
from {claim} c join daybook_rows(c.ranges) as r
where c.queue = :queue and c.reclaimed_us is null order by 4;
