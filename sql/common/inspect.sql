-- What people look at.

-- name: inspect.runs
-- in: process, key, state, limit
-- out: process, run_key, state, run_no, attempt, epoch, steps_done, first_started_us, started_us,
--      attempt_started_us, ended_us, succeeded_us, error, holder, node, pid, lease_until_us,
--      in_hand, in_hand_at_us, holder_alive, deadline_us, deadline_over, date, progress_done,
--      progress_total, progress_note
select r.process, r.run_key, r.state, r.run_no, r.attempt, r.epoch, r.steps_done,
  r.first_started_us, r.started_us, r.attempt_started_us, r.ended_us, r.succeeded_us, r.error,
  r.holder, coalesce(h.node, ''), coalesce(h.pid, 0), coalesce(h.lease_until_us, 0),
  coalesce(h.in_hand, ''), coalesce(h.renewed_us, 0),
  coalesce(h.ended_us is null and h.lease_until_us >= {now}, {false}), r.deadline_us,
  coalesce(r.state in (9, 8) and r.deadline_us <= {now}, {false}), r.data_date, r.progress_done,
  r.progress_total, r.progress_note
from {run} r left join {holder} h on h.uuid = r.holder
where (:process{::text} is null or r.process = :process{::text})
  and (:key{::text} is null or r.run_key = :key{::text})
  and (:state{::int} is null or r.state = :state{::int})
order by r.attempt_started_us desc, r.process, r.run_key
limit :limit;

-- name: inspect.steps
-- in: process, key, run_no
-- out: name, attempt, epoch, ended_us, took_us, mode, value
select name, attempt, epoch, ended_us, took_us, coalesce(mode, 0), value from {step}
where process = :process and run_key = :key and run_no = :run_no order by seq;

-- name: inspect.intents
-- in: process, key, run_no
-- out: name, attempt, started_us, state
select name, attempt, started_us, state from {intent}
where process = :process and run_key = :key and run_no = :run_no order by name;

-- name: inspect.carried
-- in: process, key, run_no
-- out: name, value, updated_us
select name, value, updated_us from {carry}
where process = :process and run_key = :key and run_no = :run_no order by name;

-- name: inspect.attempts
-- in: process, key
-- out: run_no, attempt, epoch, holder, node, pid, started_us, ended_us, state, error,
--      in_hand, output, exit_code
select a.run_no, a.attempt, a.epoch, a.holder, coalesce(h.node, ''), coalesce(h.pid, 0),
  a.started_us, a.ended_us, a.state, a.error,
  coalesce(a.in_hand, ''), coalesce(a.output, ''), a.exit_code
from {attempt} a left join {holder} h on h.uuid = a.holder
where a.process = :process and a.run_key = :key order by a.epoch;

-- The book at a glance.
-- name: inspect.status
-- out: now_us, holders_alive, in_hand, abandoned, overdue, succeeded, failed, interrupted, unknown
select {now}, (select count(*) from {holder} where ended_us is null and lease_until_us >= {now}),
  coalesce(sum(case when s.held = 1 and s.overdue = 0 and s.alive = 1 then 1 else 0 end), 0){::bigint},
  coalesce(sum(case when s.held = 1 and s.overdue = 0 and s.alive = 0 then 1 else 0 end), 0){::bigint},
  coalesce(sum(case when s.held = 1 and s.overdue = 1 then 1 else 0 end), 0){::bigint},
  coalesce(sum(case when s.state = 0 then 1 else 0 end), 0){::bigint},
  coalesce(sum(case when s.state in (-1, -3) then 1 else 0 end), 0){::bigint},
  coalesce(sum(case when s.state = -2 then 1 else 0 end), 0){::bigint},
  coalesce(sum(case when s.state = -4 then 1 else 0 end), 0){::bigint}
from (
  select r.state, case when r.state in (9, 8) then 1 else 0 end as held,
    case when r.deadline_us <= {now} then 1 else 0 end as overdue,
    case when h.ended_us is null and h.lease_until_us >= {now} then 1 else 0 end as alive
  from {run} r left join {holder} h on r.state in (9, 8) and h.uuid = r.holder
) s;
