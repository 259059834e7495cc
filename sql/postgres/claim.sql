-- Claims: a batch of tasks in one holder's hands. The claim's row is the fence of all that is
-- done with it; its id is fresh for each claim.
-- Another may have cut a segment between this statement's snapshot and its lock. By its key it is
-- followed to its newest version, by ctid it would not be found and be claimed twice; and a claim
-- is made of nothing but what was really deleted or cut.

-- Takes due segments of the most urgent lane that has any, the oldest first; the last one is cut.
-- What asks whether there is any asks for the first: else the planner, who believes that every other
-- row is such, reads the table from its beginning.
-- `segments`: no more than so many are locked. An index probe for each lane. A row for each task, and
-- one without an id: the claim's ranges and the queue's version. A holder that was declared dead
-- takes nothing. A range is never longer than 1000 ids: the limit says so to the planner, who takes
-- it for a 200th of the table.
-- name: claim.take
-- in: claim, queue, holder, count, segments, first_lane
-- out: id, member_key, payload
with clock as materialized (select {now} as us),
q as materialized (
  select q.id, q.version,
    case when q.rounds = 1 then least(coalesce(q.round_us, 0), clock.us) else clock.us end as until
  from {queue} q, clock where q.id = :queue and q.paused = 0
    and exists (select from {holder} where uuid = :holder and ended_us is null)
),
urgent as materialized (
  select p.lane from q cross join generate_series(0, 9) as n
    cross join lateral (select n + :first_lane::int as lane) as p
    cross join lateral (select from {segment} where queue = q.id and lane = p.lane
                          and due_us <= q.until order by due_us, hi limit 1) as s
  limit 1
),
found as materialized (
  select s.* from q, urgent cross join lateral (
    select hi, lo, lane, state, attempts, crashes, turn_us, period_us, due_us from {segment}
    where queue = q.id and lane = urgent.lane and due_us <= q.until
    order by due_us, hi limit (select :segments::int) for update skip locked) as s
),
counted as (
  select *, sum(hi - lo) over (order by due_us, hi) - (hi - lo) as before from found
),
taken as materialized (
  select *, least(hi, lo + :count::bigint - before)::bigint as til from counted
  where before < :count::bigint
),
gone as (
  delete from {segment} where hi = any (array(select hi from taken where til = hi)) returning hi
),
cut as (
  update {segment} set lo = (select til from taken where til < hi)
  where hi = (select hi from taken where til < hi) returning hi
),
had as materialized (
  select * from taken  -- "is true" makes it a look-up in a hash table, where a join is quadratic
  where (hi in (select hi from gone union all select hi from cut)) is true
),
written as (
  insert into {claim} (id, queue, holder, claimed_us, size, ranges)
  select :claim::uuid, :queue, :holder::text, clock.us, sum(til - lo),
    json_agg(json_build_array(lo, til, hi, lane, state, attempts, crashes, turn_us, period_us,
                              due_us))
  from had, clock group by clock.us
  returning ranges
)
select null::bigint, w.ranges, q.version::text from written w, q
union all
select m.id, m.member_key, m.payload from had cross join lateral (
  select id, member_key, payload from {member} where id >= had.lo and id < had.til and queue + 0 = :queue
  order by id limit 1000) as m;

-- What a claim has in hand, in the form of claim.take.
-- name: claim.tasks
-- in: claim
-- out: id, member_key, payload
select null::bigint, c.ranges, q.version::text
from {claim} c join {queue} q on q.id = c.queue where c.id = :claim
union all
select m.id, m.member_key, m.payload
from {claim} c cross join json_array_elements(c.ranges::json) as r
  cross join lateral (
    select id, member_key, payload from {member}
    where id >= (r->>0)::bigint and id < (r->>1)::bigint and queue + 0 = c.queue order by id limit 1000) as m
where c.id = :claim;

-- Whether any is due, by a snapshot, in the lanes that a claim looks at: where that found none, others
-- have it locked, or do so no more.
-- name: claim.due
-- in: queue, first_lane
-- out: due
select exists (
  select from {queue} q cross join (select {now} as us) as clock
    cross join generate_series(:first_lane::int, :first_lane::int + 9) as p(lane)
    cross join lateral (
      select due_us from {segment} where queue = :queue and lane = p.lane
      order by due_us, hi limit 1) as s
  where q.id = :queue and q.paused = 0
    and s.due_us <= case when q.rounds = 1 then least(coalesce(q.round_us, 0), clock.us) else clock.us end);

-- Whether more waits: asked for, or claimed singly.
-- name: claim.beside
-- in: queue
-- out: requests
select exists (select from {request} where queue = :queue);

-- Whoever ends a claim that has a ledger locks it first, and then reads that: what was committed
-- while it waited must be seen.
-- name: claim.lock
-- in: claim, holder
-- out: id
select id from {claim} where id = :claim and holder = :holder and {in_hand} for update;

-- Ends a claim: its row goes, which only its holder can do, and what hangs on that row is written.
-- Nothing where it is another's.
-- `segments`: what is to be done again, rows of [lo, hi, lane, state, attempts, crashes, turn_us,
-- period_us, how, us], how: 0 due at `us`; 1 the next turn that is not over; 2 a period from now, in
-- grains of `us`; 3 `us` from now. Its numbers are taken apart as one array, in a fifth of the time
-- that JSON takes.
-- `outcomes`: history, rows of [lo, hi, state, attempts, turn_us, finished_us (or null: now),
-- remark]; each: 1 where every task has a row. It is in no condition, for knowing it would seem
-- worth a plan of its own for each execution, which takes as long as the work.
-- name: claim.complete
-- in: claim, holder, segments, outcomes, each
with gone as (
  delete from {claim} where id = :claim and holder = :holder and {in_hand}
  returning id, queue, claimed_us
),
clock as materialized (select {now} as us),
given as materialized (
  select string_to_array(translate(:segments::text, '[]', ''), ',')::bigint[] as n
),
back as (
  insert into {segment} (hi, lo, queue, lane, state, attempts, crashes, period_us, turn_us, due_us)
  select w.hi, w.lo, c.queue, w.lane, w.state, w.attempts, w.crashes, w.period, a.turn,
    case w.how when 0 then w.us when 3 then (clock.us + w.us + 999999) / 1000000 * 1000000
               else a.turn end
  from gone c, clock, (
    select n[i + 1] as lo, n[i + 2] as hi, n[i + 3]::smallint as lane, n[i + 4]::smallint as state,
      n[i + 5]::int as attempts, n[i + 6]::int as crashes, n[i + 7] as turn, n[i + 8] as period,
      n[i + 9] as how, n[i + 10] as us
    from given, generate_series(0, cardinality(n) - 10, 10) as i
  ) as w cross join lateral (
    select case w.how
             when 1 then w.turn + w.period * case when clock.us < w.turn then 1
                                                  else (clock.us - w.turn) / w.period + 1 end
             when 2 then (clock.us + w.period + w.us - 1) / w.us * w.us
             else w.turn end as turn
  ) as a
),
told as materialized (
  select *, case :each::int when 1 then 1 else hi - lo end as wide from (
    select (r->>0)::bigint as lo, (r->>1)::bigint as hi, (r->>2)::smallint as state,
      (r->>3)::int as attempts, (r->>4)::bigint as turn, (r->>5)::bigint as finished,
      r->>6 as remark
    from json_array_elements(:outcomes::json) as r) as o
),
history as (
  insert into {outcome} (lo, hi, queue, claim, state, attempts, turn_us, started_us, finished_us,
    remark)
  select first, first + t.wide, c.queue, c.id, t.state, t.attempts, t.turn, c.claimed_us,
    coalesce(t.finished, clock.us), t.remark
  from gone c, clock, told t, generate_series(t.lo, t.hi - 1, t.wide) as first
)
select 1 from gone;

-- name: claim.forget_done
-- in: claim
delete from {done} where claim = :claim;

-- The fence of a task that is finished in a transaction of its own: waits for nobody but one who
-- ends the claim. `rows`: of [lo, hi, state, attempts, delay_us, remark].
-- name: claim.done
-- in: claim, holder, rows
insert into {done} (claim, lo, hi, state, attempts, delay_us, finished_us, remark)
select c.id, (r->>0)::bigint, (r->>1)::bigint, (r->>2)::smallint, (r->>3)::int,
  (r->>4)::bigint, {now}, r->>5
from {claim} c cross join json_array_elements(:rows::json) as r
where c.id = :claim and c.holder = :holder and {in_hand}
for key share of c;

-- Finished tasks; and begun tasks, with state 1 and negative ids.
-- name: claim.ledger
-- in: claim
-- out: lo, hi, state, delay_us, finished_us, remark
select lo, hi, state, delay_us, finished_us, remark from {done}
where claim = :claim order by lo;

-- name: claim.ranges
-- in: claim
-- out: ranges
select ranges from {claim} where id = :claim;

-- Claims whose holder is over, or looks so. `marked`: it is declared dead already.
-- name: claim.abandoned
-- in: queue, max_skew_us
-- out: id, holder, marked
select c.id, c.holder, h.uuid is null or h.ended_us is not null
from {claim} c left join {holder} h on h.uuid = c.holder cross join (select {now} as us) as clock
where c.queue = :queue and c.reclaimed_us is null
  and (h.uuid is null or h.ended_us is not null or h.lease_until_us < clock.us
       or h.lease_until_us > clock.us + h.ttl_us + :max_skew_us)
order by c.claimed_us limit 100;

-- Passes over one that a transaction has open: it is asked for again later.
-- name: claim.seize
-- in: claim
-- out: queue, claimed_us
select c.queue, c.claimed_us from {claim} c
where c.id = :claim and c.reclaimed_us is null
  and not exists (select from {holder} h where h.uuid = c.holder and h.ended_us is null)
for update of c skip locked;

-- In the place of a claim that was ended for its dead holder.
-- name: claim.bury
-- in: claim, queue, holder, claimed_us
insert into {claim} (id, queue, holder, claimed_us, reclaimed_us, size, ranges)
values (:claim, :queue, :holder, :claimed_us, {now}, 0, '[]');

-- What became of a claim whose COMMIT reply was lost. Waits for that transaction, should it still
-- be on its way; where there is no such claim, there will be none.
-- name: claim.settle
-- in: claim, queue, holder
insert into {claim} (id, queue, holder, claimed_us, reclaimed_us, size, ranges)
select :claim::uuid, :queue, :holder, clock.us, clock.us, 0, '[]' from (select {now} as us) as clock
on conflict (id) do nothing;

-- The mark of what was done once, when nobody asks for it any more.
-- name: claim.unmark
-- in: claim
delete from {claim} where id = :claim and reclaimed_us is not null;

-- name: claim.look
-- in: claim
-- out: reclaimed
select reclaimed_us is not null from {claim} where id = :claim;

-- Whether all that was taken from a holder still has its tombstones, which are made after its end.
-- name: claim.is_known
-- in: holder, kept_us
-- out: known
select 1 from {holder}
where uuid = :holder and (ended_us is null or ended_us > {now} - :kept_us);

-- Claims in hand, for those who ask where a task is.
-- name: claim.of_queue
-- in: queue
-- out: id, holder, claimed_us, lo, hi, lane, state, attempts, crashes, turn_us, period_us, due_us
select c.id, c.holder, c.claimed_us, (r->>0)::bigint, (r->>1)::bigint, (r->>3)::int,
  (r->>4)::int, (r->>5)::int, (r->>6)::int, (r->>7)::bigint, (r->>8)::bigint, (r->>9)::bigint
from {claim} c cross join json_array_elements(c.ranges::json) as r
where c.queue = :queue and c.reclaimed_us is null order by 4;
