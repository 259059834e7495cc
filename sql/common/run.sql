-- Runs: start, step, end. `epoch` and `acquisition` change only here, never by a renewal.
-- `version` never becomes less, and `seen` is what it was at least after the last write of ours that
-- the database acknowledged: a row below that comes from an older copy of the book, as after a
-- fail-over that lost commits, and the fence does not hold. `stamp` is fresh for each write of the
-- holder ({onward}), and 0 for another process that has the run's token.

-- Takes a new key, one that ended, or (:doubt) one that a start with a lost COMMIT reply took.
-- `epoch` is what the caller has seen, 0 where there was no row: a start that was lost on its way
-- and is carried out after all, when the work may be over, takes nothing.
-- name: run.start
-- in: process, key, epoch, acquisition, holder, once, restart, doubt, deadline_us, date
-- out: run_no, attempt, epoch, time_left_us, date, version

-- Why start() took nothing.
-- name: run.look
-- in: process, key, max_skew_us
-- out: state, epoch, succeeded, holder, node, pid, since_us, until_us, in_hand, in_hand_at_us,
--      holder_ended, lease_over, deadline_over, date
select r.state, r.epoch, r.succeeded_us is not null, r.holder, coalesce(h.node, ''), coalesce(h.pid, 0),
  r.attempt_started_us, coalesce(h.lease_until_us, 0), coalesce(h.in_hand, ''),
  coalesce(h.renewed_us, 0), h.uuid is null or h.ended_us is not null,
  coalesce(h.lease_until_us < {now} or h.lease_until_us > {now} + h.ttl_us + :max_skew_us, 1),
  coalesce(r.deadline_us <= {now}, 0), r.data_date
from {run} r left join {holder} h on h.uuid = r.holder
where r.process = :process and r.run_key = :key;

-- Frees a run whose holder has ended, or whose deadline is past: the attempt goes to the history,
-- with what was in hand as far as it is known; anyone resumes it.
-- name: run.free
-- in: process, key, holder, in_hand, progress_done, progress_total, progress_note

-- The same for an attempt of our own whose deadline is past.
-- name: run.pass_deadline
-- in: process, key, epoch, acquisition, in_hand, output, exit_code

-- Lets go of an acquisition that this process does not know whether it has: one of a start, or of
-- a run whose end could not be settled (`seen`: 0); or that has a row older than it saw.
-- name: run.disown
-- in: process, key, acquisition, seen, reason

-- What earlier attempts at this run did, began, and carried.
-- name: run.memory
-- in: process, key, run_no
-- out: kind, name, value, mode
select 'step', name, value, coalesce(mode, 0) from {step}
where process = :process and run_key = :key and run_no = :run_no
union all
select 'intent', name, '', 3 from {intent}
where process = :process and run_key = :key and run_no = :run_no
union all
select 'carry', name, value, 0 from {carry}
where process = :process and run_key = :key and run_no = :run_no;

-- The fence alone: locks the row for a short effect, or asks whether the run is still held.
-- name: run.fence
-- in: process, key, epoch, acquisition, seen, stamp
update {run} set version = {onward} where process = :process and run_key = :key and {fence};

-- The record of a step and the fence. One row, or the run was lost.
-- name: run.step
-- in: process, key, epoch, acquisition, seen, stamp, name, value, mode, took_us, progress_done,
--   progress_total, progress_note
update {run} set state = 8, steps_done = steps_done + 1, version = {onward},
  unknown_intents = case when :mode = 3 and open_intents <= 1 then 0 else unknown_intents end,
  open_intents = coalesce(open_intents, 0) - case when :mode = 3 then 1 else 0 end,
  progress_done = coalesce(:progress_done, progress_done),
  progress_total = coalesce(:progress_total, progress_total),
  progress_note = coalesce(:progress_note, progress_note)
where process = :process and run_key = :key and {fence};
-- then
insert into {step} (process, run_key, run_no, name, seq, attempt, epoch, acquisition, ended_us,
  value, mode, took_us)
select process, run_key, run_no, :name, steps_done, attempt, epoch, acquisition, {now}, :value,
  :mode, :took_us
from {run} where process = :process and run_key = :key and {fence};

-- The intent of an at-most-once step. One row, or the run was lost.
-- name: run.intend
-- in: process, key, epoch, acquisition, seen, stamp, name, token
update {run} set state = 8, version = {onward},
  open_intents = coalesce(open_intents, 0) + 1
where process = :process and run_key = :key and {fence};
-- then
insert into {intent} (process, run_key, run_no, name, state, attempt, epoch, token,
  started_us)
select process, run_key, run_no, :name, 1, attempt, epoch, :token, {now}
from {run} where process = :process and run_key = :key and {fence};

-- Its outcome is recorded elsewhere in the same transaction, or it was not done.
-- name: run.forget_intent
-- in: process, key, run_no, name
delete from {intent}
where process = :process and run_key = :key and run_no = :run_no and name = :name;

-- The run's part in giving up an intent, and in knowing that nobody knows.
-- name: run.abandon
-- in: process, key, epoch, acquisition, seen, stamp
update {run} set version = {onward},
  unknown_intents = case when open_intents <= 1 then 0 else unknown_intents end,
  open_intents = coalesce(open_intents, 0) - 1
where process = :process and run_key = :key and {fence};

-- name: run.know_unknown
-- in: process, key, epoch, acquisition, seen, stamp
update {run} set version = {onward}, unknown_intents = 1
where process = :process and run_key = :key and {fence};

-- name: run.intent_unknown
-- in: process, key, run_no, name
update {intent} set state = 4
where process = :process and run_key = :key and run_no = :run_no and name = :name;

-- name: run.intent_recorded
-- in: process, key, run_no, name
-- out: token
select token from {intent}
where process = :process and run_key = :key and run_no = :run_no and name = :name;

-- Keeps a value for later steps and attempts, with the fence, which comes last: one row, or the
-- run was lost and all of it is rolled back.
-- name: run.carry
-- in: process, key, epoch, acquisition, seen, stamp, name, value

-- For a process that is not the holder and cannot leave it to the renewal.
-- name: run.progress
-- in: process, key, epoch, acquisition, seen, stamp, progress_done, progress_total, progress_note
update {run} set version = {onward}, progress_done = :progress_done{::bigint},
  progress_total = :progress_total{::bigint}, progress_note = :progress_note{::text}
where process = :process and run_key = :key and {fence};

-- Ends the attempt: 0 succeeded, -1 failed, -2 handed back, -4 unknown. One row; or the run was
-- lost, or an at-most-once step is open that allows no such end, and it must be -4: run.standing
-- tells.
-- name: run.end
-- in: process, key, epoch, acquisition, seen, stamp, state, error, in_hand, output, exit_code,
--   progress_done, progress_total, progress_note

-- Why an end found nothing.
-- name: run.standing
-- in: process, key, epoch, acquisition, seen
-- out: deadline_over, intents, unknown
select coalesce(deadline_us <= {now}, {false}), coalesce(open_intents, 0),
  coalesce(unknown_intents, 0)
from {run} where process = :process and run_key = :key and epoch = :epoch
  and acquisition = :acquisition and version >= :seen and state in (9, 8);

-- A lost COMMIT reply: the fence goes on by one, so that the old transaction is either visible
-- now or can never commit. `acquisition` is one of those that may be on the row. Past the deadline
-- too: PostgreSQL would not wait for a row that it can see fail such a condition.
-- name: run.advance
-- in: process, key, epoch, acquisition, seen, stamp, fresh
update {run} set epoch = epoch + 1, acquisition = :fresh, version = {onward}
where process = :process and run_key = :key and epoch = :epoch
  and acquisition = :acquisition and version >= :seen and state in (9, 8);

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
-- in: process, key, epoch, acquisition, seen
-- out: time_left_us, date, version
select deadline_us - {now}, data_date, version from {run}
where process = :process and run_key = :key and {fence};
