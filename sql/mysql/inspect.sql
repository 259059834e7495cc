-- What people look at.

-- name: inspect.runs
-- in: process, key, state, limit
-- out: process, run_key, state, run_no, attempt, epoch, steps_done, first_started_us, started_us,
--      attempt_started_us, ended_us, succeeded_us, error, holder, node, pid, lease_until_us,
--      in_hand, holder_alive
select r.process, r.run_key, r.state, r.run_no, r.attempt, r.epoch, r.steps_done,
  r.first_started_us, r.started_us, r.attempt_started_us, r.ended_us, r.succeeded_us, r.error,
  r.holder,
  coalesce(h.node, ''), coalesce(h.pid, 0), coalesce(h.lease_until_us, 0), coalesce(h.in_hand, ''),
  coalesce(h.ended_us is null and h.lease_until_us >= {now}, 0)
from {run} r left join {holder} h on h.uuid = r.holder
where (:process is null or r.process = :process) and (:key is null or r.run_key = :key)
  and (:state is null or r.state = :state)
order by r.attempt_started_us desc, r.process, r.run_key
limit :limit;

-- name: inspect.steps
-- in: process, key, run_no
-- out: name, attempt, epoch, ended_us, value
select name, attempt, epoch, ended_us, value from {step}
where process = :process and run_key = :key and run_no = :run_no order by seq;

-- name: inspect.attempts
-- in: process, key
-- out: run_no, attempt, epoch, holder, node, pid, started_us, ended_us, state, error
select a.run_no, a.attempt, a.epoch, a.holder, coalesce(h.node, ''), coalesce(h.pid, 0),
  a.started_us, a.ended_us, a.state, a.error
from {attempt} a left join {holder} h on h.uuid = a.holder
where a.process = :process and a.run_key = :key order by a.epoch;
