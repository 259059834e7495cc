-- Runs: start, step, end. `epoch` and `acquisition` change only here, never by a renewal.
-- The run's row and its ledger are written by one statement: one round trip, and `affected`,
-- which is that of the outer insert, is 1 exactly when the fence held.
-- The clock goes on within a statement; where one instant is meant, it is asked once (`clock`).

-- Takes a new key, one that ended, or (:doubt) one that a start with a lost COMMIT reply took.
-- The first `where` refuses what is visibly held without locking or writing anything, so that
-- asking for a busy run neither waits for its fence nor costs a commit on disk. In doubt it must
-- not: only by waiting for the lost transaction's lock is its end known.
-- A holder that is declared dead takes nothing: dead ones would take from one another for ever.
-- name: run.start
-- in: process, key, acquisition, holder, once, restart, doubt
-- out: run_no, attempt, epoch, steps_done
insert into {run} as r (process, run_key, state, run_no, attempt, epoch, acquisition, holder,
  version, steps_done, first_started_us, started_us, attempt_started_us, ended_us, succeeded_us,
  error)
select :process::text, :key::text, 9, 1, 1, 1, :acquisition::text, h.uuid, 1,
  0, clock.us, clock.us, clock.us, null, null, ''
from {holder} h, (select {now} as us) as clock
where h.uuid = :holder and h.ended_us is null
  and (:doubt::text <> ''
       or not exists (select from {run} b
            where b.process = :process::text and b.run_key = :key::text
              and (b.state in (9, 8, -4) or (:once::int = 1 and b.succeeded_us is not null))))
on conflict (process, run_key) do update set
  state = 9,
  run_no = case when r.acquisition = :doubt::text then r.run_no
                when r.state in (0, -5) or :restart::int = 1 then r.run_no + 1 else r.run_no end,
  attempt = case when r.acquisition = :doubt::text then r.attempt
                 when r.state in (0, -5) or :restart::int = 1 then 1 else r.attempt + 1 end,
  steps_done = case when r.state in (0, -5) or :restart::int = 1 then 0 else r.steps_done end,
  started_us = case when r.state in (0, -5) or :restart::int = 1 then excluded.started_us
                    else r.started_us end,
  epoch = r.epoch + 1, acquisition = excluded.acquisition, holder = excluded.holder,
  version = r.version + 1, attempt_started_us = excluded.attempt_started_us, ended_us = null,
  error = ''
where (r.state in (0, -1, -2, -3, -5) and not (:once::int = 1 and r.succeeded_us is not null))
   or (r.state in (9, 8) and r.acquisition = :doubt::text)
returning r.run_no, r.attempt, r.epoch, r.steps_done;

-- Why start() took nothing.
-- name: run.look
-- in: process, key, max_skew_us
-- out: state, succeeded, holder, node, pid, since_us, until_us, in_hand, holder_ended, lease_over
select r.state, r.succeeded_us is not null, r.holder, coalesce(h.node, ''), coalesce(h.pid, 0),
  r.attempt_started_us, coalesce(h.lease_until_us, 0), coalesce(h.in_hand, ''),
  h.uuid is null or h.ended_us is not null,
  coalesce(h.lease_until_us < clock.us or h.lease_until_us > clock.us + h.ttl_us + :max_skew_us,
           true)
from {run} r left join {holder} h on h.uuid = r.holder
  cross join (select {now} as us) as clock
where r.process = :process and r.run_key = :key;

-- Frees a run whose holder has ended: the attempt goes to the history, anyone resumes it.
-- name: run.free
-- in: process, key, holder
with freed as (
  update {run} as r
  set state = -2, ended_us = clock.us, error = 'its holder died', version = r.version + 1
  from (select {now} as us) as clock
  where r.process = :process and r.run_key = :key and r.holder = :holder and r.state in (9, 8)
    and not exists (select from {holder} h where h.uuid = r.holder and h.ended_us is null)
  returning r.*
)
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error)
select process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
  ended_us, state, error from freed;

-- Lets go of an acquisition that this process does not know whether it has: one of a start, or of
-- a run whose end could not be settled.
-- name: run.disown
-- in: process, key, acquisition
with let_go as (
  update {run} set state = -2, ended_us = clock.us, error = 'let go after a lost reply',
    version = version + 1
  from (select {now} as us) as clock
  where process = :process and run_key = :key and acquisition = :acquisition and state in (9, 8)
  returning process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
    ended_us, state, error
)
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error)
select process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
  ended_us, state, error from let_go;

-- name: run.steps
-- in: process, key, run_no
-- out: name, value
select name, value from {step}
where process = :process and run_key = :key and run_no = :run_no order by seq;

-- The fence alone: locks the row for a short effect, or asks whether the run is still held.
-- name: run.fence
-- in: process, key, epoch, acquisition
update {run} set version = version + 1 where process = :process and run_key = :key and {fence};

-- The record of a step and the fence. One row, or the run was lost.
-- name: run.step
-- in: process, key, epoch, acquisition, name, value
with fenced as (
  update {run} set state = 8, steps_done = steps_done + 1, version = version + 1
  where process = :process and run_key = :key and {fence}
  returning process, run_key, run_no, steps_done, attempt, epoch, acquisition
)
insert into {step} (process, run_key, run_no, name, seq, attempt, epoch, acquisition, ended_us,
  value)
select process, run_key, run_no, :name, steps_done, attempt, epoch, acquisition, {now}, :value
from fenced;

-- Ends the attempt: 0 succeeded, -1 failed, -2 handed back. One row, or the run was lost.
-- name: run.end
-- in: process, key, epoch, acquisition, state, error
with ended as (
  update {run} set state = :state::smallint, ended_us = clock.us, error = :error,
    version = version + 1,
    succeeded_us = case when :state::smallint = 0 then clock.us else succeeded_us end
  from (select {now} as us) as clock
  where process = :process and run_key = :key and {fence}
  returning process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
    ended_us, state, error
)
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error)
select process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
  ended_us, state, error from ended;

-- A lost COMMIT reply: the fence goes on by one, so that the old transaction is either visible
-- now or can never commit. `acquisition` is one of those that may be on the row.
-- name: run.advance
-- in: process, key, epoch, acquisition, fresh
update {run} set epoch = epoch + 1, acquisition = :fresh, version = version + 1
where process = :process and run_key = :key and {fence};

-- The evidence after run.advance: the step, or the end of an attempt.
-- name: run.step_recorded
-- in: process, key, run_no, name
-- out: acquisition, value
select acquisition, value from {step}
where process = :process and run_key = :key and run_no = :run_no and name = :name;

-- name: run.end_recorded
-- in: process, key, epoch, acquisition
-- out: state
select state from {attempt}
where process = :process and run_key = :key and epoch = :epoch and acquisition = :acquisition;

-- For another process that records steps under this attempt.
-- name: run.held
-- in: process, key, epoch, acquisition
-- out: run_no, attempt
select run_no, attempt from {run} where process = :process and run_key = :key and {fence};
