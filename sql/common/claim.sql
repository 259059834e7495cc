-- Claims: a batch of tasks in one holder's hands. The claim's row is the fence of all that is
-- done with it; its id is fresh for each claim.

-- Takes due segments of the most urgent lane that has any, the oldest first; the last one is cut. A
-- holder that was declared dead takes nothing.
-- name: claim.take
-- in: claim, queue, holder, count, segments, first_lane
-- out: id, member_key, payload

-- What a claim has in hand, in the form of claim.take.
-- name: claim.tasks
-- in: claim
-- out: id, member_key, payload

-- Whether any is due, by a snapshot, in the lanes that a claim looks at: where that found none, others
-- have it locked, or do so no more.
-- name: claim.due
-- in: queue, first_lane
-- out: due

-- Whether more waits: asked for, or claimed singly.
-- name: claim.beside
-- in: queue
-- out: requests
select exists (select 1 from {request} where queue = :queue);

-- Whoever ends a claim that has a ledger locks it first, and then reads that: what was committed
-- while it waited must be seen. Where there is one writer, writers take turns anyway.
-- name: claim.lock
-- in: claim, holder
-- out: id
select id from {claim} where id = :claim and holder = :holder and {in_hand} {for_update};

-- Ends a claim: its row goes, which only its holder can do. Nothing where it is another's.
-- `segments`: what is to be done again, rows of [lo, hi, lane, state, attempts, crashes, turn_us,
-- period_us, how, us], how: 0 due at `us`; 1 the next turn that is not over; 2 a period from now,
-- in grains of `us`; 3 `us` from now. `outcomes`: history, rows of [lo, hi, state, attempts,
-- turn_us, finished_us (or null: now), remark]; each: 1 where every task has a row.
-- name: claim.complete
-- in: claim, holder, segments, outcomes, each

-- name: claim.forget_done
-- in: claim
delete from {done} where claim = :claim;

-- The fence of a task that is finished in a transaction of its own: waits for nobody but one who
-- ends the claim. `rows`: of [lo, hi, state, attempts, delay_us, remark].
-- name: claim.done
-- in: claim, holder, rows

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
from {claim} c left join {holder} h on h.uuid = c.holder join (select {now} as us) as clock
where c.queue = :queue and c.reclaimed_us is null
  and (h.uuid is null or h.ended_us is not null or h.lease_until_us < clock.us
       or h.lease_until_us > clock.us + h.ttl_us + :max_skew_us)
order by c.claimed_us limit 100;

-- Passes over one that a transaction has open: it is asked for again later.
-- name: claim.seize
-- in: claim
-- out: queue, claimed_us

-- In the place of a claim that was ended for its dead holder.
-- name: claim.bury
-- in: claim, queue, holder, claimed_us
insert into {claim} (id, queue, holder, claimed_us, reclaimed_us, size, ranges)
values (:claim, :queue, :holder, :claimed_us, {now}, 0, '[]');

-- What became of a claim whose COMMIT reply was lost. Waits for that transaction, should it still
-- be on its way; where there is no such claim, there will be none.
-- name: claim.settle
-- in: claim, queue, holder

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
