-- SQLite tells every connection that others have committed: nobody need know who sleeps.

-- An index probe for each lane.
-- name: wake.look
with clock as materialized (select {now} as us),
next as materialized (
  select min((select min(due_us) from {segment} where queue = :queue and lane = p.value)) as due_us
  from json_each('[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]') as p
)
select case when q.paused = 1 or (q.rounds = 1 and next.due_us > coalesce(q.round_us, 0)) then null
            else next.due_us - clock.us end,
  exists (select 1 from {request} where queue = :queue)
  or exists (
    select 1 from {claim} c left join {holder} h on h.uuid = c.holder
    where c.queue = q.id and c.reclaimed_us is null
      and (h.uuid is null or h.ended_us is not null or h.lease_until_us < clock.us
           or h.lease_until_us > clock.us + h.ttl_us + :max_skew_us))
from {queue} q, clock, next where q.id = :queue;

-- name: wake.suspects
select exists (select 1 from {segment} where queue = :queue and lane between 10 and 19);
