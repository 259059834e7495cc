-- Takes a new key, one that ended, or (:doubt) one that a start with a lost COMMIT reply took; and
-- only for a holder that is not declared dead: dead ones would take from one another for ever.
-- name: run.start
insert into {run} as r (process, run_key, state, run_no, attempt, epoch, acquisition, holder,
  version, steps_done, first_started_us, started_us, attempt_started_us, ended_us, succeeded_us,
  error, deadline_us, data_date)
select :process, :key, 9, 1, 1, 1, :acquisition, h.uuid,
  1, 0, {now}, {now}, {now}, null, null, '', {now} + :deadline_us, :date
from {holder} h where h.uuid = :holder and h.ended_us is null
on conflict (process, run_key) do update set
  state = 9,
  run_no = case when r.acquisition = :doubt then r.run_no
                when r.state in (0, -5) or :restart = 1 then r.run_no + 1 else r.run_no end,
  attempt = case when r.acquisition = :doubt then r.attempt
                 when r.state in (0, -5) or :restart = 1 then 1 else r.attempt + 1 end,
  steps_done = case when r.state in (0, -5) or :restart = 1 then 0 else r.steps_done end,
  started_us = case when r.state in (0, -5) or :restart = 1 then {now} else r.started_us end,
  epoch = r.epoch + 1, acquisition = :acquisition, holder = :holder, version = r.version + 1,
  attempt_started_us = {now}, ended_us = null, error = '',
  deadline_us = case when r.acquisition = :doubt then r.deadline_us
                     when r.state = -2 and :restart = 0 and r.deadline_us > {now} then r.deadline_us
                     else {now} + :deadline_us end,
  data_date = case when r.state in (0, -5) or :restart = 1 then :date
                   else coalesce(r.data_date, :date) end,
  open_intents = case when r.state in (0, -5) or :restart = 1 then 0 else r.open_intents end,
  unknown_intents = case when r.state in (0, -5) or :restart = 1 then 0
                         else r.unknown_intents end,
  progress_done = case when r.state in (0, -5) or :restart = 1 then null else r.progress_done end,
  progress_total = case when r.state in (0, -5) or :restart = 1 then null
                        else r.progress_total end,
  progress_note = case when r.state in (0, -5) or :restart = 1 then null else r.progress_note end
where (r.epoch = :epoch and r.state in (0, -1, -2, -3, -5)
       and not (:once = 1 and r.succeeded_us is not null)
       and (:date is null or r.data_date is null or r.state in (0, -5) or :restart = 1
            or r.data_date = :date))
   or (r.state in (9, 8) and r.acquisition = :doubt)
returning run_no, attempt, epoch, deadline_us - attempt_started_us, data_date, version;

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
       or not exists (select 1 from {holder} h where h.uuid = r.holder and h.ended_us is null));
-- then
update {run} as r set state = a.state, ended_us = a.ended_us, error = a.error,
  version = r.version + 1,
  progress_done = coalesce(:progress_done, r.progress_done),
  progress_total = coalesce(:progress_total, r.progress_total),
  progress_note = coalesce(:progress_note, r.progress_note)
from {attempt} a
where r.process = :process and r.run_key = :key and r.holder = :holder
  and r.state in (9, 8)
  and a.process = r.process and a.run_key = r.run_key and a.epoch = r.epoch;

-- name: run.pass_deadline
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error, in_hand, output, exit_code)
select r.process, r.run_key, r.epoch, r.run_no, r.attempt, r.acquisition, r.holder,
  r.attempt_started_us, {now}, -3, 'its deadline passed', :in_hand, :output, :exit_code
from {run} r
where r.process = :process and r.run_key = :key and r.epoch = :epoch
  and r.acquisition = :acquisition and r.state in (9, 8) and r.deadline_us <= {now};
-- then
update {run} as r set state = a.state, ended_us = a.ended_us, error = a.error,
  version = r.version + 1
from {attempt} a
where r.process = :process and r.run_key = :key and r.epoch = :epoch
  and r.acquisition = :acquisition and r.state in (9, 8)
  and a.process = r.process and a.run_key = r.run_key and a.epoch = r.epoch;

-- name: run.disown
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error)
select process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
  {now}, -2, :reason
from {run} where process = :process and run_key = :key and acquisition = :acquisition
  and state in (9, 8) and (:seen = 0 or version < :seen);
-- then
update {run} set state = -2, ended_us = {now}, error = :reason, version = version + 1
where process = :process and run_key = :key and acquisition = :acquisition and state in (9, 8)
  and (:seen = 0 or version < :seen);

-- name: run.carry
insert into {carry} (process, run_key, run_no, name, value, epoch, acquisition, updated_us)
select process, run_key, run_no, :name, :value, epoch, acquisition, {now}
from {run} where process = :process and run_key = :key and {fence}
on conflict (process, run_key, run_no, name) do update set value = excluded.value,
  epoch = excluded.epoch, acquisition = excluded.acquisition, updated_us = excluded.updated_us;
-- then
update {run} set version = {onward} where process = :process and run_key = :key and {fence};

-- name: run.end
insert into {attempt} (process, run_key, epoch, run_no, attempt, acquisition, holder, started_us,
  ended_us, state, error, in_hand, output, exit_code)
select process, run_key, epoch, run_no, attempt, acquisition, holder, attempt_started_us,
  {now}, :state, :error, :in_hand, :output, :exit_code
from {run} r where process = :process and run_key = :key and {fence}
  and case :state when 0 then coalesce(open_intents, 0) = 0
           when -4 then open_intents > 0
           else not (coalesce(open_intents, 0) > 0 and coalesce(unknown_intents, 0) = 1) end;
-- then
update {run} as r set state = :state, ended_us = {now}, error = :error, version = {onward},
  succeeded_us = case when :state = 0 then {now} else succeeded_us end,
  progress_done = coalesce(:progress_done, progress_done),
  progress_total = coalesce(:progress_total, progress_total),
  progress_note = coalesce(:progress_note, progress_note)
where process = :process and run_key = :key and {fence}
  and case :state when 0 then coalesce(open_intents, 0) = 0
           when -4 then open_intents > 0
           else not (coalesce(open_intents, 0) > 0 and coalesce(unknown_intents, 0) = 1) end;
