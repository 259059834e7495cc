-- Periods of window planners, and where the tasks of those that were launched stand.
-- `state`: 0 due, 1 launched, 2 done.

-- What there is: the first and the last of all; and since an instant the first due and the first
-- launched.
-- name: period.bounds
-- in: planner, since_us
-- out: now_us, first_us, first_end, first_key, last_us, last_end, last_key, due_us, launched_us
select {now}, f.start_us, f.end_us, f.period_key, l.start_us, l.end_us, l.period_key,
  (select min(start_us) from {planned_period} indexed by {prefix}planned_period_open
   where planner = :planner and state = 0 and state <> 2 and start_us >= :since_us),
  (select min(start_us) from {planned_period} indexed by {prefix}planned_period_open
   where planner = :planner and state = 1 and state <> 2 and start_us >= :since_us)
from (select 1 as one) o
  left join (select start_us, end_us, period_key from {planned_period}
             where planner = :planner order by start_us limit 1) f on true
  left join (select start_us, end_us, period_key from {planned_period}
             where planner = :planner order by start_us desc limit 1) l on true;

-- Rows of [start_us, end_us, key].
-- name: period.add
-- in: planner, rows
insert into {planned_period} (launched_us, done_us, reopened_us, launches, planner, state,
  start_us, end_us, period_key)
select null, null, null, 0, :planner, 0, c0, c1, c2 from daybook_rows(:rows) where true
on conflict do nothing;

-- A page of those that are not done, with the state of the task where it is in no hand, and whether
-- something is asked of it that no claim has done yet. The index is named: by the primary key all
-- that was ever done would be read.
-- name: period.open
-- in: planner, queue, state, mark_us, limit
-- out: start_us, end_us, key, launches, launched_us, reopened_us, member, task_state, asked
-- holes: beyond, order
select p.start_us, p.end_us, p.period_key, p.launches, p.launched_us, p.reopened_us, m.id,
  (select case when s.lo <= m.id then s.state end from {segment} s
   where s.hi > m.id order by s.hi limit 1),
  case when m.id in (select r.member from {request} r where r.queue = :queue and r.at_us >= 0) then 1 else 0 end
from {planned_period} p indexed by {prefix}planned_period_open
  left join {member} m on m.queue = :queue and m.member_key = p.period_key
where p.planner = :planner and p.state = :state and p.state <> 2
  and p.start_us {beyond} :mark_us
order by p.start_us {order} limit :limit;

-- Rows of [start_us], here and below: those whose task has succeeded,
-- name: period.done
-- in: planner, rows
update {planned_period} set state = 2, done_us = {now}
where planner = :planner and state = 1
  and start_us in (select c0 from daybook_rows(:rows));

-- whose task has failed long enough ago,
-- name: period.again
-- in: planner, rows
update {planned_period} set state = 0
where planner = :planner and state = 1
  and start_us in (select c0 from daybook_rows(:rows));

-- that are launched now,
-- name: period.launch
-- in: planner, rows
update {planned_period} set state = 1, launches = launches + 1, launched_us = {now},
  reopened_us = null
where planner = :planner and state = 0
  and start_us in (select c0 from daybook_rows(:rows));

-- and that have a task which is under way, or has succeeded, without this planner.
-- name: period.follow
-- in: planner, rows
update {planned_period} set state = 1, launched_us = coalesce(launched_us, {now})
where planner = :planner and state = 0 and reopened_us is null
  and start_us in (select c0 from daybook_rows(:rows));

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
