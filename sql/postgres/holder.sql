-- Holders: one row for each process that does work, and until when it is presumed alive.
-- Renewal writes nothing but this row. Once ended, a holder never lives again.
-- The clock goes on within a statement; where one instant is meant, it is asked once (`clock`).

-- name: holder.register
-- in: uuid, ttl_us, node, pid
insert into {holder} (uuid, lease_until_us, ttl_us, node, pid, started_us, renewed_us, in_hand)
select :uuid, clock.us + :ttl_us, :ttl_us, :node, :pid, clock.us, clock.us, ''
from (select {now} as us) as clock
on conflict (uuid) do nothing;

-- `recalls` counts renewals (in steps of `beat`) and what people took from this holder (in ones).
-- Where it is another than the holder knows, the holder must look before it renews: more says that a
-- person took something; less, that the book is an older copy of itself.
-- name: holder.renew
-- in: uuid, in_hand, recalls, beat
update {holder} as h set lease_until_us = clock.us + h.ttl_us, renewed_us = clock.us,
  in_hand = :in_hand, recalls = coalesce(h.recalls, 0) + :beat
from (select {now} as us) as clock
where h.uuid = :uuid and h.ended_us is null and coalesce(h.recalls, 0) = :recalls;

-- name: holder.alive
-- in: uuid
-- out: alive
select count(*) from {holder} where uuid = :uuid and ended_us is null;

-- name: holder.recalled
-- in: uuid
-- out: recalls
select coalesce(recalls, 0) from {holder} where uuid = :uuid and ended_us is null;

-- name: holder.end
-- in: uuid, reason
update {holder} set ended_us = {now}, ended_how = :reason
where uuid = :uuid and ended_us is null;

-- The last condition: a clock that stepped back must not freeze work.
-- name: holder.mark_dead
-- in: uuid, max_skew_us
update {holder} set ended_us = {now}, ended_how = 'dead'
where uuid = :uuid and ended_us is null
  and (lease_until_us < {now} or lease_until_us > {now} + ttl_us + :max_skew_us);

-- What the book says is this holder's: its claims; and of the runs that it has ended, rows of
-- [process, key, acquisition] in `ended`, those whose end is not there.
-- name: holder.has
-- in: uuid, ended
-- out: id
select id::text from {claim} where holder = :uuid and reclaimed_us is null
union all
select r.acquisition from json_array_elements(:ended::json) as e
  join {run} r on r.process = e->>0 and r.run_key = e->>1
where r.acquisition = e->>2 and r.state in (9, 8);
