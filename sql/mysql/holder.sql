-- Holders: one row for each process that does work, and until when it is presumed alive.
-- Renewal writes nothing but this row. Once ended, a holder never lives again.

-- name: holder.register
-- in: uuid, ttl_us, node, pid
insert ignore into {holder} (uuid, lease_until_us, ttl_us, node, pid, started_us, renewed_us,
  in_hand)
values (:uuid, {now} + :ttl_us, :ttl_us, :node, :pid, {now}, {now}, '');

-- A person has taken a run of its from it: `recalls` is another, and it must look before it renews.
-- name: holder.renew
-- in: uuid, in_hand, recalls
update {holder} set lease_until_us = {now} + ttl_us, renewed_us = {now}, in_hand = :in_hand
where uuid = :uuid and ended_us is null and coalesce(recalls, 0) = :recalls;

-- name: holder.alive
-- in: uuid
-- out: alive
select count(*) from {holder} where uuid = :uuid and ended_us is null;

-- name: holder.recalled
-- in: uuid
-- out: recalls
select coalesce(recalls, 0) from {holder} where uuid = :uuid and ended_us is null;

-- name: holder.end
-- in: uuid
update {holder} set ended_us = {now}, ended_how = 'stopped'
where uuid = :uuid and ended_us is null;

-- The last condition: a clock that stepped back must not freeze work.
-- name: holder.mark_dead
-- in: uuid, max_skew_us
update {holder} set ended_us = {now}, ended_how = 'dead'
where uuid = :uuid and ended_us is null
  and (lease_until_us < {now} or lease_until_us > {now} + ttl_us + :max_skew_us);
