-- Periods of window planners, and where the tasks of those that were launched stand.
-- `state`: 0 due, 1 launched, 2 done.

-- What there is: the first and the last of all; and since an instant the first due and the first
-- launched.
-- name: period.bounds
-- in: planner, since_us
-- out: now_us, first_us, first_end, first_key, last_us, last_end, last_key, due_us, launched_us

-- Rows of [start_us, end_us, key].
-- name: period.add
-- in: planner, rows

-- A page of those that are not done, with the state of the task where it is in no hand, and whether
-- something is asked of it that no claim has done yet.
-- name: period.open
-- in: planner, queue, state, mark_us, limit
-- out: start_us, end_us, key, launches, launched_us, reopened_us, member, task_state, asked
-- holes: beyond, order

-- Rows of [start_us], here and below: those whose task has succeeded,
-- name: period.done
-- in: planner, rows

-- whose task has failed long enough ago,
-- name: period.again
-- in: planner, rows

-- that are launched now,
-- name: period.launch
-- in: planner, rows

-- and that have a task which is under way, or has succeeded, without this planner.
-- name: period.follow
-- in: planner, rows

-- What was launched is launched once more, whatever came of it.
-- name: period.reopen
-- in: planner, key
update {planned_period} set state = 0, reopened_us = {now}, done_us = null
where planner = :planner and period_key = :key and reopened_us is null
  and (state <> 0 or launches > 0);

-- As if it had never been launched.
-- name: period.forget
-- in: planner, key
update {planned_period} set state = 0, launches = 0, launched_us = null, reopened_us = null,
  done_us = null
where planner = :planner and period_key = :key;

-- What has a row, whole, between two instants.
-- name: period.list
-- in: planner, from_us, to_us, limit
-- out: start_us, end_us, key, state, launches, launched_us, reopened_us, done_us
-- holes: order
select start_us, end_us, period_key, state, launches, launched_us, reopened_us, done_us
from {planned_period}
where planner = :planner and start_us >= :from_us and start_us < :to_us and end_us <= :to_us
order by start_us {order} limit :limit;
