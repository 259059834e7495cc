-- NOTIFY makes all who commit one with a notification take turns, through the wait for the disk, so
-- that it is sent only where somebody sleeps. Two locks say so, without a row, and go with the
-- connection of whoever dies:
--   `sleeps`  shared, by each session that listens;
--   `adds`    shared, until its end, by each transaction that adds (member.arm).
-- Who adds takes `adds`, then looks for sleepers, and notifies if there are any. Who goes to sleep takes
-- `sleeps`, then looks for those who add and may not have seen it, and asks again until there are
-- none. Each shows itself before it looks, so that one of the two sees the other. Nobody waits.

-- `settled`: everybody who adds sees it. Else work may come unheard of, and it must look again
-- soon.
-- name: wake.sleep
with asleep as materialized (
  select pg_catalog.pg_advisory_lock_shared(
    pg_catalog.hashtext('{schema}.{prefix}sleeps'), :queue::int)
)
select case when pg_catalog.pg_try_advisory_lock(
                   pg_catalog.hashtext('{schema}.{prefix}adds'), :queue::int)
         then pg_catalog.pg_advisory_unlock(
                pg_catalog.hashtext('{schema}.{prefix}adds'), :queue::int)
         else false end
from asleep;

-- The session has no other locks.
-- name: wake.up
select pg_catalog.pg_advisory_unlock_all();

-- An index probe for each lane.
-- name: wake.look
with clock as materialized (select {now} as us),
next as materialized (
  select min(s.due_us) as due_us
  from generate_series(0, 19) as p(lane) cross join lateral (
    select due_us from {segment} where queue = :queue and lane = p.lane
    order by due_us, hi limit 1) as s
)
select case when q.paused = 1 or (q.rounds = 1 and next.due_us > coalesce(q.round_us, 0)) then null
            else next.due_us - clock.us end,
  exists (select from {request} where queue = :queue)
  or exists (
    select from {claim} c left join {holder} h on h.uuid = c.holder
    where c.queue = q.id and c.reclaimed_us is null
      and (h.uuid is null or h.ended_us is not null or h.lease_until_us < clock.us
           or h.lease_until_us > clock.us + h.ttl_us + :max_skew_us))
from {queue} q, clock, next where q.id = :queue;

-- name: wake.suspects
select exists (select from {segment} where queue = :queue and lane between 10 and 19);
