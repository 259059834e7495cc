-- Holders: one row for each process that does work, and until when it is presumed alive.
-- Renewal writes nothing but this row. Once ended, a holder never lives again.

-- name: holder.register
-- in: uuid, ttl_us, node, pid

-- `recalls` counts renewals (in steps of `beat`) and what people took from this holder (in ones).
-- Where it is another than the holder knows, the holder must look before it renews: more says that a
-- person took something; less, that the book is an older copy of itself.
-- name: holder.renew
-- in: uuid, in_hand, recalls, beat
update {holder} set lease_until_us = {now} + ttl_us, renewed_us = {now}, in_hand = :in_hand,
  recalls = coalesce(recalls, 0) + :beat
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
