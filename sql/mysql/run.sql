-- Several parts of one name run in one transaction.

-- The assignments of an UPDATE happen from left to right and see each other: `acquisition` and
-- `state`, which the others ask for, come last. The update comes first because an insert that finds
-- the row there keeps a lock on it; the loser of two such inserts reads nothing at the end. A
-- holder that is declared dead takes nothing (dead ones would take from one another for ever): the
-- last part, a plain read that locks no holder's row, then returns no row.
-- name: run.start
update {run} set
  run_no = case when acquisition = :doubt then run_no
                when state in (0, -5) or :restart = 1 then run_no + 1 else run_no end,
  attempt = case when acquisition = :doubt then attempt
                 when state in (0, -5) or :restart = 1 then 1 else attempt + 1 end,
  steps_done = case when state in (0, -5) or :restart = 1 then 0 else steps_done end,
  started_us = case when state in (0, -5) or :restart = 1 then {now} else started_us end,
  deadline_us = case when acquisition = :doubt then deadline_us
                     when state = -2 and :restart = 0 and deadline_us > {now} then deadline_us
                     else {now} + :deadline_us end,
  data_date = case when state in (0, -5) or :restart = 1 then :date
                   else coalesce(data_date, :date) end,
  open_intents = case when state in (0, -5) or :restart = 1 then 0 else open_intents end,
  unknown_intents = case when state in (0, -5) or :restart = 1 then 0 else unknown_intents end,
  progress_done = case when state in (0, -5) or :restart = 1 then null else progress_done end,
  progress_total = case when state in (0, -5) or :restart = 1 then null else progress_total end,
  progress_note = case when state in (0, -5) or :restart = 1 then null else progress_note end,
  epoch = epoch + 1, version = version + 1, attempt_started_us = {now}, ended_us = null,
  error = '', holder = :holder, acquisition = :acquisition, state = 9
where process = :process and run_key = :key
  and ((epoch = :epoch and state in (0, -1, -2, -3, -5)
        and not (:once = 1 and succeeded_us is not null)
        and (:date is null or data_date is null or state in (0, -5) or :restart = 1
             or data_date = :date))
       or (state in (9, 8) and acquisition = :doubt));
-- else
insert ignore into {run} (process, run_key, state, run_no, attempt, epoch, acquisition, holder,
  version, steps_done, first_started_us, started_us, attempt_started_us, ended_us, succeeded_us,
  error, deadline_us, data_date)
select :process, :key, 9, 1, 1, 1, :acquisition, :holder, 1,
  0, {now}, {now}, {now}, null, null, '', {now} + :deadline_us, :date
from dual where :epoch = 0;
-- then
select r.run_no, r.attempt, r.epoch, r.deadline_us - r.attempt_started_us, r.data_date, r.version
from {run} r join {holder} h on h.uuid = r.holder and h.ended_us is null
where r.process = :process and r.run_key = :key and r.acquisition = :acquisition;

-- `for update`: of two that free the same run, or of one that frees and one that ends it, the
-- second waits for the first and then finds nothing to do, instead of the first's row of history.
-- The second part takes over what that row says: the clock goes on between the two, and the holder
-- may end.
-- name: run.free
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error, in_hand)
select r.process, r.run_key, r.epoch, r.run_no, r.attempt, r.acquisition, r.holder,
  r.attempt_started_us, {now}, case when r.deadline_us <= {now} then -3 else -2 end,
  case when r.deadline_us <= {now} then 'its deadline passed' else 'its holder died' end, :in_hand
from {run} r
where r.process = :process and r.run_key = :key and r.holder = :holder and r.state in (9, 8)
  and (r.deadline_us <= {now}
       or not exists (select 1 from {holder} h where h.uuid = r.holder and h.ended_us is null))
for update;
-- then
update {run} r
  join {attempt} a on a.process = r.process and a.run_key = r.run_key and a.epoch = r.epoch
set r.ended_us = a.ended_us, r.error = a.error, r.version = r.version + 1,
  r.progress_done = coalesce(:progress_done, r.progress_done),
  r.progress_total = coalesce(:progress_total, r.progress_total),
  r.progress_note = coalesce(:progress_note, r.progress_note),
  r.state = a.state
where r.process = :process and r.run_key = :key and r.holder = :holder
  and r.state in (9, 8);

-- name: run.pass_deadline
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error, in_hand, output, exit_code)
select r.process, r.run_key, r.epoch, r.run_no, r.attempt, r.acquisition, r.holder,
  r.attempt_started_us, {now}, -3, 'its deadline passed', :in_hand, :output, :exit_code
from {run} r
where r.process = :process and r.run_key = :key and r.epoch = :epoch
  and r.acquisition = :acquisition and r.state in (9, 8) and r.deadline_us <= {now}
for update;
-- then
update {run} r
  join {attempt} a on a.process = r.process and a.run_key = r.run_key and a.epoch = r.epoch
set r.ended_us = a.ended_us, r.error = a.error, r.version = r.version + 1,
  r.state = a.state
where r.process = :process and r.run_key = :key and r.epoch = :epoch
  and r.acquisition = :acquisition and r.state in (9, 8);

-- As run.free.
-- name: run.disown
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error)
select process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
  {now}, -2, :reason
from {run} where process = :process and run_key = :key and acquisition = :acquisition
  and state in (9, 8) and (:seen = 0 or version < :seen)
for update;
-- then
update {run} r set state = -2, ended_us = {now}, error = :reason, version = version + 1
where r.process = :process and r.run_key = :key and r.acquisition = :acquisition
  and r.state in (9, 8)
  and exists (select 1 from {attempt} a
              where a.process = r.process and a.run_key = r.run_key and a.epoch = r.epoch);

-- name: run.carry
insert into {carry} (process, run_key, run_no, name, value, epoch, acquisition, updated_us)
select process, run_key, run_no, :name, :value, epoch, acquisition, {now}
from {run} where process = :process and run_key = :key and {fence}
on duplicate key update value = values(value), epoch = values(epoch),
  acquisition = values(acquisition), updated_us = values(updated_us);
-- then
update {run} set version = {onward} where process = :process and run_key = :key and {fence};

-- `for update` as in run.free.
-- name: run.end
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error, in_hand, output, exit_code)
select process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
  {now}, :state, :error, :in_hand, :output, :exit_code
from {run} r where process = :process and run_key = :key and {fence}
  and case :state when 0 then coalesce(open_intents, 0) = 0
           when -4 then open_intents > 0
           else not (coalesce(open_intents, 0) > 0 and coalesce(unknown_intents, 0) = 1) end
for update;
-- then
update {run} r set ended_us = {now}, error = :error, version = {onward},
  succeeded_us = case when :state = 0 then {now} else succeeded_us end,
  progress_done = coalesce(:progress_done, progress_done),
  progress_total = coalesce(:progress_total, progress_total),
  progress_note = coalesce(:progress_note, progress_note), state = :state
where process = :process and run_key = :key and {fence}
  and case :state when 0 then coalesce(open_intents, 0) = 0
           when -4 then open_intents > 0
           else not (coalesce(open_intents, 0) > 0 and coalesce(unknown_intents, 0) = 1) end;
