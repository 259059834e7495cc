-- The run's row and its ledger are written by one statement: one round trip, and `affected`, which
-- is that of the outer insert, is 1 exactly when the fence held. The clock goes on within a
-- statement; where one instant is meant, it is asked once (`clock`).

-- The first `where` refuses what is visibly held without locking or writing anything, so that
-- asking for a busy run neither waits for its fence nor costs a commit on disk. In doubt it must
-- not: only by waiting for the lost transaction's lock is its end known. A holder that is declared
-- dead takes nothing: dead ones would take from one another for ever.
-- name: run.start
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

-- name: run.look
select r.state, r.epoch, r.succeeded_us is not null, r.holder, coalesce(h.node, ''), coalesce(h.pid, 0),
  r.attempt_started_us, coalesce(h.lease_until_us, 0), coalesce(h.in_hand, ''),
  coalesce(h.renewed_us, 0), h.uuid is null or h.ended_us is not null,
  coalesce(h.lease_until_us < clock.us or h.lease_until_us > clock.us + h.ttl_us + :max_skew_us,
           true),
  coalesce(r.deadline_us <= clock.us, false), r.data_date
from {run} r left join {holder} h on h.uuid = r.holder
  cross join (select {now} as us) as clock
where r.process = :process and r.run_key = :key;

-- name: run.free
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

-- name: run.pass_deadline
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

-- name: run.disown
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

-- name: run.step
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

-- name: run.intend
with fenced as (
  update {run} set state = 8, version = {onward},
    open_intents = coalesce(open_intents, 0) + 1
  where process = :process and run_key = :key and {fence}
  returning process, run_key, run_no, attempt, epoch
)
insert into {intent} (process, run_key, run_no, name, state, attempt, epoch, token,
  started_us)
select process, run_key, run_no, :name, 1, attempt, epoch, :token, {now} from fenced;

-- Keeps a value for later steps and attempts, with the fence. One row, or the run was lost.
-- name: run.carry
with fenced as (
  update {run} set version = {onward}
  where process = :process and run_key = :key and {fence}
  returning process, run_key, run_no, epoch, acquisition
)
insert into {carry} (process, run_key, run_no, name, value, epoch, acquisition, updated_us)
select process, run_key, run_no, :name, :value, epoch, acquisition, {now} from fenced
on conflict (process, run_key, run_no, name) do update set value = excluded.value,
  epoch = excluded.epoch, acquisition = excluded.acquisition, updated_us = excluded.updated_us;

-- name: run.end
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
