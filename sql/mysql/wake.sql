-- MariaDB tells nobody that others have committed: here they look.

-- The groups are an index probe for each lane.
-- name: wake.look
select case when q.paused = 1 or (q.rounds = 1 and next.due_us > coalesce(q.round_us, 0)) then null
            else next.due_us - clock.us end,
  exists (select 1 from {request} where queue = :queue)
  or exists (
    select 1 from {claim} c left join {holder} h on h.uuid = c.holder
    where c.queue = q.id and c.reclaimed_us is null
      and (h.uuid is null or h.ended_us is not null or h.lease_until_us < clock.us
           or h.lease_until_us > clock.us + h.ttl_us + :max_skew_us))
from {queue} q, (select {now} as us) as clock, (
  select min(lane_due_us) as due_us from (
    select min(due_us) as lane_due_us from {segment} where queue = :queue group by lane) as lanes
) as next
where q.id = :queue;

-- name: wake.suspects
select exists (
  select 1 from {segment} force index (segment_by_due)
  where queue = :queue and lane between 10 and 19);
