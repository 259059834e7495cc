-- Runs: start, step, end. `epoch` and `acquisition` change only here, never by a renewal.
-- `version` never becomes less, and `seen` is what it was at least after the last write of ours that
-- the database acknowledged: a row below that comes from an older copy of the book, as after a
-- fail-over that lost commits, and the fence does not hold. `stamp` is fresh for each write of the
-- holder ({onward}), and 0 for another process that has the run's token.
-- The run's row and its ledger are written by one statement: one round trip, and `affected`,
-- which is that of the outer insert, is 1 exactly when the fence held.
-- The clock goes on within a statement; where one instant is meant, it is asked once (`clock`).

-- Takes a new key, one that ended, or (:doubt) one that a start with a lost COMMIT reply took.
-- The first `where` refuses what is visibly held without locking or writing anything, so that
-- asking for a busy run neither waits for its fence nor costs a commit on disk. In doubt it must
-- not: only by waiting for the lost transaction's lock is its end known.
-- A holder that is declared dead takes nothing: dead ones would take from one another for ever.
-- `epoch` is what the caller has seen, 0 where there was no row: a start that was lost on its way and
-- is carried out after all, when the work may be over, takes nothing.
-- name: run.start
-- in: process, key, epoch, acquisition, holder, once, restart, doubt, deadline_us, date
-- out: run_no, attempt, epoch, time_left_us, date, version
insert into {run} as r (process, run_key, state, run_no, attempt, epoch, acquisition, holder,
  version, steps_done, first_started_us, started_us, attempt_started_us, ended_us, succeeded_us,
  error, deadline_us, data_date)
select :process::text, :key::text, 9, 1, 1, 1, :acquisition::text, h.uuid, 1,
  0, clock.us, clock.us, clock.us, null, null, '', clock.us + :deadline_us::bigint, :date::text
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
  error = '',
  deadline_us = case when r.acquisition = :doubt::text then r.deadline_us
                     when r.state = -2 and :restart::int = 0
                          and r.deadline_us > excluded.attempt_started_us then r.deadline_us
                     else excluded.deadline_us end,
  data_date = case when r.state in (0, -5) or :restart::int = 1 then excluded.data_date
                   else coalesce(r.data_date, excluded.data_date) end,
  open_intents = case when r.state in (0, -5) or :restart::int = 1 then 0 else r.open_intents end,
  unknown_intents = case when r.state in (0, -5) or :restart::int = 1 then 0
                         else r.unknown_intents end,
  progress_done = case when r.state in (0, -5) or :restart::int = 1 then null
                       else r.progress_done end,
  progress_total = case when r.state in (0, -5) or :restart::int = 1 then null
                        else r.progress_total end,
  progress_note = case when r.state in (0, -5) or :restart::int = 1 then null
                       else r.progress_note end
where (r.epoch = :epoch::bigint and r.state in (0, -1, -2, -3, -5)
       and not (:once::int = 1 and r.succeeded_us is not null)
       and (excluded.data_date is null or r.data_date is null or r.state in (0, -5)
            or :restart::int = 1 or r.data_date = excluded.data_date))
   or (r.state in (9, 8) and r.acquisition = :doubt::text)
returning r.run_no, r.attempt, r.epoch, r.deadline_us - r.attempt_started_us, r.data_date,
  r.version;

-- Why start() took nothing.
-- name: run.look
-- in: process, key, max_skew_us
-- out: state, epoch, succeeded, holder, node, pid, since_us, until_us, in_hand, in_hand_at_us,
--      holder_ended, lease_over, deadline_over, date
select r.state, r.epoch, r.succeeded_us is not null, r.holder, coalesce(h.node, ''), coalesce(h.pid, 0),
  r.attempt_started_us, coalesce(h.lease_until_us, 0), coalesce(h.in_hand, ''),
  coalesce(h.renewed_us, 0), h.uuid is null or h.ended_us is not null,
  coalesce(h.lease_until_us < clock.us or h.lease_until_us > clock.us + h.ttl_us + :max_skew_us,
           true),
  coalesce(r.deadline_us <= clock.us, false), r.data_date
from {run} r left join {holder} h on h.uuid = r.holder
  cross join (select {now} as us) as clock
where r.process = :process and r.run_key = :key;

-- Frees a run whose holder has ended, or whose deadline is past: the attempt goes to the history,
-- with what was in hand as far as it is known; anyone resumes it.
-- name: run.free
-- in: process, key, holder, in_hand, progress_done, progress_total, progress_note
with freed as (
  update {run} as r
  set state = case when r.deadline_us <= clock.us then -3 else -2 end, ended_us = clock.us,
    error = case when r.deadline_us <= clock.us then 'its deadline passed'
                 else 'its holder died' end,
    version = r.version + 1,
    progress_done = coalesce(:progress_done::bigint, r.progress_done),
    progress_total = coalesce(:progress_total::bigint, r.progress_total),
    progress_note = coalesce(:progress_note::text, r.progress_note)
  from (select {now} as us) as clock
  where r.process = :process and r.run_key = :key and r.holder = :holder and r.state in (9, 8)
    and (r.deadline_us <= clock.us
         or not exists (select from {holder} h where h.uuid = r.holder and h.ended_us is null))
  returning r.*
)
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error, in_hand)
select process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
  ended_us, state, error, :in_hand::text from freed;

-- The same for an attempt of our own whose deadline is past.
-- name: run.pass_deadline
-- in: process, key, epoch, acquisition, in_hand, output, exit_code
with ended as (
  update {run} as r
  set state = -3, ended_us = clock.us, error = 'its deadline passed', version = r.version + 1
  from (select {now} as us) as clock
  where r.process = :process and r.run_key = :key and r.epoch = :epoch
    and r.acquisition = :acquisition and r.state in (9, 8) and r.deadline_us <= clock.us
  returning r.*
)
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error, in_hand, output, exit_code)
select process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
  ended_us, state, error, :in_hand::text, :output::text, :exit_code::int from ended;

-- Lets go of an acquisition that this process does not know whether it has: one of a start, or of
-- a run whose end could not be settled (`seen`: 0); or that has a row older than it saw.
-- name: run.disown
-- in: process, key, acquisition, seen, reason
with let_go as (
  update {run} set state = -2, ended_us = clock.us, error = :reason::text, version = version + 1
  from (select {now} as us) as clock
  where process = :process and run_key = :key and acquisition = :acquisition and state in (9, 8)
    and (:seen::bigint = 0 or version < :seen::bigint)
  returning process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
    ended_us, state, error
)
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error)
select process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
  ended_us, state, error from let_go;

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
with fenced as (
  update {run} set state = 8, steps_done = steps_done + 1, version = {onward},
    unknown_intents = case when :mode::smallint = 3 and open_intents <= 1 then 0
      else unknown_intents end,
    open_intents = coalesce(open_intents, 0) - case when :mode::smallint = 3 then 1 else 0 end,
    progress_done = coalesce(:progress_done::bigint, progress_done),
    progress_total = coalesce(:progress_total::bigint, progress_total),
    progress_note = coalesce(:progress_note::text, progress_note)
  where process = :process and run_key = :key and {fence}
  returning process, run_key, run_no, steps_done, attempt, epoch, acquisition
)
insert into {step} (process, run_key, run_no, name, seq, attempt, epoch, acquisition, ended_us,
  value, mode, took_us)
select process, run_key, run_no, :name, steps_done, attempt, epoch, acquisition, {now}, :value,
  :mode::smallint, :took_us::bigint
from fenced;

-- The intent of an at-most-once step. One row, or the run was lost.
-- name: run.intend
-- in: process, key, epoch, acquisition, seen, stamp, name, token
with fenced as (
  update {run} set state = 8, version = {onward},
    open_intents = coalesce(open_intents, 0) + 1
  where process = :process and run_key = :key and {fence}
  returning process, run_key, run_no, attempt, epoch
)
insert into {intent} (process, run_key, run_no, name, state, attempt, epoch, token,
  started_us)
select process, run_key, run_no, :name, 1, attempt, epoch, :token, {now} from fenced;

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

-- Keeps a value for later steps and attempts, with the fence. One row, or the run was lost.
-- name: run.carry
-- in: process, key, epoch, acquisition, seen, stamp, name, value
with fenced as (
  update {run} set version = {onward}
  where process = :process and run_key = :key and {fence}
  returning process, run_key, run_no, epoch, acquisition
)
insert into {carry} (process, run_key, run_no, name, value, epoch, acquisition, updated_us)
select process, run_key, run_no, :name, :value, epoch, acquisition, {now} from fenced
on conflict (process, run_key, run_no, name) do update set value = excluded.value,
  epoch = excluded.epoch, acquisition = excluded.acquisition, updated_us = excluded.updated_us;

-- For a process that is not the holder and cannot leave it to the renewal.
-- name: run.progress
-- in: process, key, epoch, acquisition, seen, stamp, progress_done, progress_total, progress_note
update {run} set version = {onward}, progress_done = :progress_done::bigint,
  progress_total = :progress_total::bigint, progress_note = :progress_note::text
where process = :process and run_key = :key and {fence};

-- Ends the attempt: 0 succeeded, -1 failed, -2 handed back, -4 unknown. One row; or the run was
-- lost, or an at-most-once step is open that allows no such end, and it must be -4: run.standing
-- tells.
-- name: run.end
-- in: process, key, epoch, acquisition, seen, stamp, state, error, in_hand, output, exit_code,
--   progress_done, progress_total, progress_note
with ended as (
  update {run} as r set state = :state::smallint, ended_us = clock.us, error = :error,
    version = {onward},
    succeeded_us = case when :state::smallint = 0 then clock.us else succeeded_us end,
    progress_done = coalesce(:progress_done::bigint, progress_done),
    progress_total = coalesce(:progress_total::bigint, progress_total),
    progress_note = coalesce(:progress_note::text, progress_note)
  from (select {now} as us) as clock
  where process = :process and run_key = :key and {fence}
    and case :state::smallint when 0 then coalesce(open_intents, 0) = 0
             when -4 then open_intents > 0
             else not (coalesce(open_intents, 0) > 0 and coalesce(unknown_intents, 0) = 1) end
  returning process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
    ended_us, state, error
)
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error, in_hand, output, exit_code)
select process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
  ended_us, state, error, :in_hand::text, :output::text, :exit_code::int from ended;

-- Why an end found nothing.
-- name: run.standing
-- in: process, key, epoch, acquisition, seen
-- out: deadline_over, intents, unknown
select coalesce(deadline_us <= {now}, false), coalesce(open_intents, 0),
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
