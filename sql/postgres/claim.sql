-- Another may have cut a segment between this statement's snapshot and its lock. By its key it is
-- followed to its newest version, by ctid it would not be found; and a claim is made of nothing but
-- what was really deleted or cut.

-- What asks whether there is any asks for the first: else the planner, who believes that every
-- other row is such, reads the table from its beginning. `segments`: no more than so many are
-- locked. An index probe for each lane. A row for each task, and one without an id: the claim's
-- ranges and the queue's version. A range is never longer than 1000 ids: the limit says so to the
-- planner, who takes it for a 200th of the table.
-- "by index": the plan is made while the table is small, where reading all of it is cheapest, and
-- kept when it has grown: the delete and the update would read the whole table for each claim.
-- name: claim.take
-- by index
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

-- name: claim.tasks
select null::bigint, c.ranges, q.version::text
from {claim} c join {queue} q on q.id = c.queue where c.id = :claim
union all
select m.id, m.member_key, m.payload
from {claim} c cross join json_array_elements(c.ranges::json) as r
  cross join lateral (
    select id, member_key, payload from {member}
    where id >= (r->>0)::bigint and id < (r->>1)::bigint and queue + 0 = c.queue order by id limit 1000) as m
where c.id = :claim;

-- name: claim.due
select exists (
  select from {queue} q cross join (select {now} as us) as clock
    cross join generate_series(:first_lane::int, :first_lane::int + 9) as p(lane)
    cross join lateral (
      select due_us from {segment} where queue = :queue and lane = p.lane
      order by due_us, hi limit 1) as s
  where q.id = :queue and q.paused = 0
    and s.due_us <= case when q.rounds = 1 then least(coalesce(q.round_us, 0), clock.us) else clock.us end);

-- name: claim.beside
select exists (select from {request} where queue = :queue);

-- Ends a claim: its row goes, which only its holder can do, and what hangs on that row is written.
-- Its numbers are taken apart as one array, in a fifth of the time that JSON takes. It is in no
-- condition, for knowing it would seem worth a plan of its own for each execution, which takes as
-- long as the work.
-- name: claim.complete
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

-- name: claim.done
insert into {done} (claim, lo, hi, state, attempts, delay_us, finished_us, remark)
select c.id, (r->>0)::bigint, (r->>1)::bigint, (r->>2)::smallint, (r->>3)::int,
  (r->>4)::bigint, {now}, r->>5
from {claim} c cross join json_array_elements(:rows::json) as r
where c.id = :claim and c.holder = :holder and {in_hand}
for key share of c;

-- name: claim.abandoned
select c.id, c.holder, h.uuid is null or h.ended_us is not null
from {claim} c left join {holder} h on h.uuid = c.holder cross join (select {now} as us) as clock
where c.queue = :queue and c.reclaimed_us is null
  and (h.uuid is null or h.ended_us is not null or h.lease_until_us < clock.us
       or h.lease_until_us > clock.us + h.ttl_us + :max_skew_us)
order by c.claimed_us limit 100;

-- name: claim.seize
select c.queue, c.claimed_us from {claim} c
where c.id = :claim and c.reclaimed_us is null
  and not exists (select from {holder} h where h.uuid = c.holder and h.ended_us is null)
for update of c skip locked;

-- name: claim.settle
insert into {claim} (id, queue, holder, claimed_us, reclaimed_us, size, ranges)
select :claim::uuid, :queue, :holder, clock.us, clock.us, 0, '[]' from (select {now} as us) as clock
on conflict (id) do nothing;

-- name: claim.of_queue
select c.id, c.holder, c.claimed_us, (r->>0)::bigint, (r->>1)::bigint, (r->>3)::int,
  (r->>4)::int, (r->>5)::int, (r->>6)::int, (r->>7)::bigint, (r->>8)::bigint, (r->>9)::bigint
from {claim} c cross join json_array_elements(c.ranges::json) as r
where c.queue = :queue and c.reclaimed_us is null order by 4;
