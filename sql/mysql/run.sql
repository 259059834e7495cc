-- Runs: start, step, end. `epoch` and `acquisition` change only here, never by a renewal.
-- Several parts of one name run in one transaction.

-- Takes a new key, one that ended, or (:doubt) one that a start with a lost COMMIT reply took.
-- The assignments of an UPDATE happen from left to right and see each other: `acquisition` and
-- `state`, which the others ask for, come last. The update comes first because an insert that
-- finds the row there keeps a lock on it; the loser of two such inserts reads nothing at the end.
-- A holder that is declared dead takes nothing (dead ones would take from one another for ever):
-- the last part, a plain read that locks no holder's row, then returns no row.
-- name: run.start
-- in: process, key, acquisition, holder, once, restart, doubt
-- out: run_no, attempt, epoch, steps_done
update {run} set
  run_no = case when acquisition = :doubt then run_no
                when state in (0, -5) or :restart = 1 then run_no + 1 else run_no end,
  attempt = case when acquisition = :doubt then attempt
                 when state in (0, -5) or :restart = 1 then 1 else attempt + 1 end,
  steps_done = case when state in (0, -5) or :restart = 1 then 0 else steps_done end,
  started_us = case when state in (0, -5) or :restart = 1 then {now} else started_us end,
  epoch = epoch + 1, version = version + 1, attempt_started_us = {now}, ended_us = null,
  error = '', holder = :holder, acquisition = :acquisition, state = 9
where process = :process and run_key = :key
  and ((state in (0, -1, -2, -3, -5) and not (:once = 1 and succeeded_us is not null))
       or (state in (9, 8) and acquisition = :doubt));
-- else
insert ignore into {run} (process, run_key, state, run_no, attempt, epoch, acquisition, holder,
  version, steps_done, first_started_us, started_us, attempt_started_us, ended_us, succeeded_us,
  error)
values (:process, :key, 9, 1, 1, 1, :acquisition, :holder, 1,
  0, {now}, {now}, {now}, null, null, '');
-- then
select r.run_no, r.attempt, r.epoch, r.steps_done
from {run} r join {holder} h on h.uuid = r.holder and h.ended_us is null
where r.process = :process and r.run_key = :key and r.acquisition = :acquisition;

-- Why start() took nothing.
-- name: run.look
-- in: process, key, max_skew_us
-- out: state, succeeded, holder, node, pid, since_us, until_us, in_hand, holder_ended, lease_over
select r.state, r.succeeded_us is not null, r.holder, coalesce(h.node, ''), coalesce(h.pid, 0),
  r.attempt_started_us, coalesce(h.lease_until_us, 0), coalesce(h.in_hand, ''),
  h.uuid is null or h.ended_us is not null,
  coalesce(h.lease_until_us < {now} or h.lease_until_us > {now} + h.ttl_us + :max_skew_us, 1)
from {run} r left join {holder} h on h.uuid = r.holder
where r.process = :process and r.run_key = :key;

-- Frees a run whose holder has ended: the attempt goes to the history, anyone resumes it.
-- `for update`: of two that free the same run, or of one that frees and one that ends it, the
-- second waits for the first and then finds nothing to do, instead of the first's row of history.
-- The second part asks for that row, not for the holder again: it may have ended between the two,
-- and the history would lack the attempt.
-- name: run.free
-- in: process, key, holder
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error)
select r.process, r.run_key, r.epoch, r.run_no, r.attempt, r.acquisition, r.holder,
  r.attempt_started_us, {now}, -2, 'its holder died'
from {run} r
where r.process = :process and r.run_key = :key and r.holder = :holder and r.state in (9, 8)
  and not exists (select 1 from {holder} h where h.uuid = r.holder and h.ended_us is null)
for update;
-- then
update {run} r set state = -2, ended_us = {now}, error = 'its holder died', version = version + 1
where r.process = :process and r.run_key = :key and r.holder = :holder and r.state in (9, 8)
  and exists (select 1 from {attempt} a
              where a.process = r.process and a.run_key = r.run_key and a.epoch = r.epoch);

-- Lets go of an acquisition that this process does not know whether it has: one of a start, or of
-- a run whose end could not be settled. As run.free.
-- name: run.disown
-- in: process, key, acquisition
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error)
select process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
  {now}, -2, 'let go after a lost reply'
from {run} where process = :process and run_key = :key and acquisition = :acquisition
  and state in (9, 8)
for update;
-- then
update {run} r set state = -2, ended_us = {now}, error = 'let go after a lost reply',
  version = version + 1
where r.process = :process and r.run_key = :key and r.acquisition = :acquisition
  and r.state in (9, 8)
  and exists (select 1 from {attempt} a
              where a.process = r.process and a.run_key = r.run_key and a.epoch = r.epoch);

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
update {run} set state = 8, steps_done = steps_done + 1, version = version + 1
where process = :process and run_key = :key and {fence};
-- then
insert into {step} (process, run_key, run_no, name, seq, attempt, epoch, acquisition, ended_us,
  value)
select process, run_key, run_no, :name, steps_done, attempt, epoch, acquisition, {now}, :value
from {run} where process = :process and run_key = :key and {fence};

-- Ends the attempt: 0 succeeded, -1 failed, -2 handed back. One row, or the run was lost.
-- `for update` as in run.free.
-- name: run.end
-- in: process, key, epoch, acquisition, state, error
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error)
select process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
  {now}, :state, :error
from {run} where process = :process and run_key = :key and {fence}
for update;
-- then
update {run} set ended_us = {now}, error = :error, version = version + 1,
  succeeded_us = case when :state = 0 then {now} else succeeded_us end, state = :state
where process = :process and run_key = :key and {fence};

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
