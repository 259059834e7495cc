-- The clock goes on within a statement; where one instant is meant, it is asked once (`clock`).

-- name: holder.register
insert into {holder} (uuid, lease_until_us, ttl_us, node, pid, started_us, renewed_us, in_hand)
select :uuid, clock.us + :ttl_us, :ttl_us, :node, :pid, clock.us, clock.us, ''
from (select {now} as us) as clock
on conflict (uuid) do nothing;

-- name: holder.renew
update {holder} as h set lease_until_us = clock.us + h.ttl_us, renewed_us = clock.us,
  in_hand = :in_hand, recalls = coalesce(h.recalls, 0) + :beat
from (select {now} as us) as clock
where h.uuid = :uuid and h.ended_us is null and coalesce(h.recalls, 0) = :recalls;

-- name: holder.has
select id::text from {claim} where holder = :uuid and reclaimed_us is null
union all
select r.acquisition from json_array_elements(:ended::json) as e
  join {run} r on r.process = e->>0 and r.run_key = e->>1
where r.acquisition = e->>2 and r.state in (9, 8);
