-- Waking those who wait for work.

-- name: wake.sleep
-- in: queue
-- out: settled
select :queue is not null;

-- name: wake.up
select 1;

-- Whether a claim would find something: how long until the next is due, and whether anything else
-- waits for a claim: what people asked for, claims of the dead.
-- name: wake.look
-- in: queue, max_skew_us
-- out: due_in_us, beside

-- Whether there are suspects, due or not: the lanes that are claimed singly.
-- name: wake.suspects
-- in: queue
-- out: any
