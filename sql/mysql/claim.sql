-- `segments`: no more than so many are locked. A range of the index for each lane, and none is read
-- beyond the first row; by name, for the planner could take the whole queue where it is short. A
-- row for each task, and before them one without an id: the claim's ranges and the queue's version;
-- not in one union, which costs as much as half of the rows themselves. The lane and the instant
-- are variables, because a range of an index takes no subquery for a bound. What goes is found by
-- its key: where the table is short it would be read whole, and wait for segments that others add
-- and have not committed. MariaDB cuts JSON that it puts together at a length that a lent
-- connection may have its own mind about; MySQL does not.
-- name: claim.take
select max(case when q.rounds = 1 then least(coalesce(q.round_us, 0), {now}) else {now} end)
into @daybook_until from {queue} q where q.id = :queue and q.paused = 0
    and exists (select 1 from {holder} where uuid = :holder and ended_us is null);
-- then
select (
  select lane from {segment} force index (segment_by_due)
  where queue = :queue and due_us <= @daybook_until and lane in (:first_lane, :first_lane + 1,
    :first_lane + 2, :first_lane + 3, :first_lane + 4, :first_lane + 5, :first_lane + 6,
    :first_lane + 7, :first_lane + 8, :first_lane + 9)
  order by lane, due_us, hi limit 1)
into @daybook_lane;
-- then
/*M! set statement group_concat_max_len = 16777216 for */
insert into {claim} (id, queue, holder, claimed_us, size, ranges)
select :claim, :queue, :holder, {now}, sum(least(t.hi, t.lo + :count - t.ahead) - t.lo),
  json_arrayagg(json_array(t.lo, least(t.hi, t.lo + :count - t.ahead), t.hi, t.lane, t.state,
                           t.attempts, t.crashes, t.turn_us, t.period_us, t.due_us))
from (
  select s.*, sum(s.hi - s.lo) over (order by s.due_us, s.hi) - (s.hi - s.lo) as ahead
  from (
    select hi, lo, lane, state, attempts, crashes, turn_us, period_us, due_us from {segment}
    where queue = :queue and lane = @daybook_lane and due_us <= @daybook_until
    order by due_us, hi limit :segments for update skip locked
  ) as s
) as t
where t.ahead < :count
having count(*) > 0;
-- then
delete s from {claim} c
  straight_join json_table(c.ranges, '$[*]' columns (hi bigint path '$[1]',
    whole bigint path '$[2]')) as r
  straight_join {segment} s force index (primary) on s.hi = r.whole
where c.id = :claim and r.hi = r.whole;
-- then
update {claim} c
  straight_join json_table(c.ranges, '$[*]' columns (hi bigint path '$[1]',
    whole bigint path '$[2]')) as r
  straight_join {segment} s force index (primary) on s.hi = r.whole
set s.lo = r.hi
where c.id = :claim and r.hi < r.whole;
-- then
select null, c.ranges, cast(q.version as char)
from {claim} c join {queue} q on q.id = c.queue where c.id = :claim;
-- then
select m.id, m.member_key, m.payload
from {claim} c
  straight_join json_table(c.ranges, '$[*]' columns (lo bigint path '$[0]',
    hi bigint path '$[1]')) as r
  straight_join {member} m on m.id >= r.lo and m.id < r.hi and m.queue + 0 = c.queue
where c.id = :claim;

-- name: claim.tasks
select null, c.ranges, cast(q.version as char)
from {claim} c join {queue} q on q.id = c.queue where c.id = :claim;
-- then
select m.id, m.member_key, m.payload
from {claim} c
  straight_join json_table(c.ranges, '$[*]' columns (lo bigint path '$[0]',
    hi bigint path '$[1]')) as r
  straight_join {member} m on m.id >= r.lo and m.id < r.hi and m.queue + 0 = c.queue
where c.id = :claim;

-- name: claim.due
select exists (
  select 1 from {queue} q, (select {now} as us) as clock, (
    select min(due_us) as due_us from {segment}
    where queue = :queue and lane between :first_lane and :first_lane + 9 group by lane) as s
  where q.id = :queue and q.paused = 0
    and s.due_us <= case when q.rounds = 1 then least(coalesce(q.round_us, 0), clock.us) else clock.us end);

-- Locked first, for the other statements read what was committed before and wait for nobody.
-- name: claim.complete
select count(*) into @daybook_mine from {claim}
where id = :claim and holder = :holder and {in_hand} for update;
-- then
insert into {segment} (hi, lo, queue, lane, state, attempts, crashes, period_us, turn_us, due_us)
select a.hi, a.lo, a.queue, a.lane, a.state, a.attempts, a.crashes, a.period, a.turn,
  case a.how when 0 then a.us when 3 then (a.at_us + a.us + 999999) div 1000000 * 1000000
             else a.turn end
from (
  select w.lo, w.hi, c.queue, w.lane, w.state, w.attempts, w.crashes, w.period, w.how, w.us,
    clock.us as at_us,
    case w.how
      when 1 then w.turn + w.period * case when clock.us < w.turn then 1
                                           else (clock.us - w.turn) div w.period + 1 end
      when 2 then (clock.us + w.period + w.us - 1) div w.us * w.us
      else w.turn end as turn
  from {claim} c join (select {now} as us) as clock
    join json_table(:segments, '$[*]' columns (lo bigint path '$[0]', hi bigint path '$[1]',
      lane int path '$[2]', state int path '$[3]', attempts int path '$[4]',
      crashes int path '$[5]', turn bigint path '$[6]', period bigint path '$[7]',
      how int path '$[8]', us bigint path '$[9]')) as w
  where c.id = :claim and c.holder = :holder and {in_hand}
) as a;
-- then
insert into {outcome} (lo, hi, queue, claim, state, attempts, turn_us, started_us, finished_us,
  remark)
select w.lo, w.hi, c.queue, c.id, w.state, w.attempts, w.turn, c.claimed_us,
  coalesce(w.finished, clock.us), w.remark
from {claim} c join (select {now} as us) as clock
  straight_join json_table(:outcomes, '$[*]' columns (lo bigint path '$[0]', hi bigint path '$[1]',
    state int path '$[2]', attempts int path '$[3]', turn bigint path '$[4]',
    finished bigint path '$[5]', remark longtext character set utf8mb4 path '$[6]')) as w
where c.id = :claim and c.holder = :holder and {in_hand} and :each = 0;
-- then
insert into {outcome} (lo, hi, queue, claim, state, attempts, turn_us, started_us, finished_us,
  remark)
select m.id, m.id + 1, c.queue, c.id, w.state, w.attempts, w.turn, c.claimed_us,
  coalesce(w.finished, clock.us), w.remark
from {claim} c join (select {now} as us) as clock
  straight_join json_table(:outcomes, '$[*]' columns (lo bigint path '$[0]', hi bigint path '$[1]',
    state int path '$[2]', attempts int path '$[3]', turn bigint path '$[4]',
    finished bigint path '$[5]', remark longtext character set utf8mb4 path '$[6]')) as w
  straight_join {member} m on m.id >= w.lo and m.id < w.hi
where c.id = :claim and c.holder = :holder and {in_hand} and :each = 1;
-- then
delete from {claim} where id = :claim and holder = :holder and {in_hand};

-- name: claim.done
insert into {done} (claim, lo, hi, state, attempts, delay_us, finished_us, remark)
select c.id, w.lo, w.hi, w.state, w.attempts, w.delay_us, {now}, w.remark
from (select id from {claim}
      where id = :claim and holder = :holder and {in_hand} lock in share mode) as c
  join json_table(:rows, '$[*]' columns (lo bigint path '$[0]', hi bigint path '$[1]',
    state int path '$[2]', attempts int path '$[3]', delay_us bigint path '$[4]',
    remark longtext character set utf8mb4 path '$[5]')) as w;

-- name: claim.seize
select c.queue, c.claimed_us from {claim} c
where c.id = :claim and c.reclaimed_us is null
  and not exists (select 1 from {holder} h where h.uuid = c.holder and h.ended_us is null)
for update skip locked;

-- name: claim.settle
insert ignore into {claim} (id, queue, holder, claimed_us, reclaimed_us, size, ranges)
select :claim, :queue, :holder, clock.us, clock.us, 0, '[]' from (select {now} as us) as clock;

-- name: claim.of_queue
select c.id, c.holder, c.claimed_us, r.lo, r.hi, r.lane, r.state, r.attempts, r.crashes,
  r.turn_us, r.period_us, r.due_us
from {claim} c join json_table(c.ranges, '$[*]' columns (lo bigint path '$[0]',
    hi bigint path '$[1]', lane int path '$[3]', state int path '$[4]', attempts int path '$[5]',
    crashes int path '$[6]', turn_us bigint path '$[7]', period_us bigint path '$[8]',
    due_us bigint path '$[9]')) as r
where c.queue = :queue and c.reclaimed_us is null order by r.lo;
